"""Homework, tokens that were tampered with, flaws and their nulls."""

from __future__ import annotations

import base64
import json
from datetime import datetime

import pandas as pd
import pytest

from adalib.solve.oracle import oracle_labels
from adalib.teach import find_the_flaw, grade, hand_in, homework
from adalib.teach.__main__ import SECRET, main
from adalib.teach.course import NULLS, SINS, Flaw, _drawn, seal, student_key
from adalib.teach.exercises import checks

CLASS = "a long secret of the class"


def answered(student: str, key: str, wrong: tuple[str, ...] = ()):
    """A student's homework with every question answered, some of them wrongly."""
    mine = homework(student, key=key)
    for name, question in mine.questions.items():
        mine.check(name, 99 if name in wrong else question.answer)
    return mine


def ada(wrong: tuple[str, ...] = ()):
    return answered("ada", student_key(CLASS, "ada"), wrong)


class TestHomework:
    def test_everyone_has_other_numbers_and_the_same_ones_again(self):
        texts = [repr(homework(name)) for name in ("ada", "ben", "ada")]
        assert texts[0] == texts[2]
        assert texts[0].split("\n", 1)[1] != texts[1].split("\n", 1)[1]
        assert repr(homework("ada", "2")) != texts[0]

    @pytest.mark.parametrize("student", [f"student-{number}" for number in range(20)])
    def test_the_truth_is_right_and_a_named_mistake_is_told(self, student):
        for name, question in homework(student).questions.items():
            exercise = question.exercise(name)
            assert exercise.fault(question.answer) is None
            assert exercise.fault(round(question.answer, 4)) is None, "what a person copies down"
            assert {exercise.fault(wrong) for wrong in question.wrong.values()} <= {
                None,
                *question.wrong,
            }, name

    def test_every_question_knows_three_mistakes_by_name_and_a_second_hint(self):
        """Two mistakes may meet in one student's numbers; each is told by its own name to somebody."""
        told = set()
        for student in range(40):
            mine = homework(f"student-{student}")
            for name, question in mine.questions.items():
                exercise = question.exercise(name)
                assert len(question.wrong) >= 3, name
                told |= {
                    (name, said)
                    for said, wrong in question.wrong.items()
                    if exercise.fault(wrong) == said
                }
                checked = mine.check(name, 99)
                assert checked.hint == question.hint, "99 is nobody's mistake"
                assert checked.more not in ("", checked.hint)
                assert f"{question.answer:.4g}" not in checked.more.split() or name == "label"
        asked = homework("ada").questions
        assert told == {(name, said) for name, question in asked.items() for said in question.wrong}

    def test_an_answer_is_told_and_in_an_exam_it_is_not(self):
        assert homework("ada").check("curse", 99).right is False
        exam = homework("ada", exam=True, salt="heron")
        said = exam.check("curse", 99)
        assert (said.right, repr(said)) == (None, "Question curse: taken.")
        assert said.token
        assert all(
            not question.wrong and question.answer != question.answer
            for question in exam.questions.values()
        )
        texts = {
            repr(homework("ada", exam=exam, salt=salt))
            for exam in (True, False)
            for salt in ("", "heron", "owl")
        }
        assert len(texts) == 6, "practice and every salt have their own numbers"
        assert "the names are" in homework("ada").check("no such", 1).hint


class TestTokens:
    def test_right_answers_get_all_points_wrong_ones_none_and_the_last_one_counts(self):
        found = grade(ada().token, CLASS)
        assert (found.student, found.refused, len(found.right)) == ("ada", "", found.of)
        assert found.of >= 5
        found = grade(ada(("bill", "curse")).token, CLASS)
        assert set(homework("ada").questions) - set(found.right) == {"bill", "curse"}
        mine = ada(("bill",))
        assert "bill" in grade(mine.check("bill", mine.questions["bill"].answer).token, CLASS).right

    def test_changed_answers_and_every_changed_character_are_refused(self):
        mark, body, mac = ada(("bill",)).token.split(".")
        content = json.loads(base64.urlsafe_b64decode(body + "=="))
        content["answers"]["bill"] = homework("ada").questions["bill"].answer
        forged = (
            base64.urlsafe_b64encode(json.dumps(content, sort_keys=True).encode())
            .decode()
            .rstrip("=")
        )
        assert "the seal does not fit" in grade(f"{mark}.{forged}.{mac}", CLASS).refused
        token = ada().token
        for place in range(len("adalib1."), len(token), 7):
            other = token[:place] + ("A" if token[place] != "A" else "B") + token[place + 1 :]
            found = grade(other, CLASS)
            # The last character of a part may hold bits that mean nothing.
            assert found.refused or other.split(".")[1] == token.split(".")[1]

    @pytest.mark.parametrize(
        "key",
        ["", "practice", "guess", student_key("another secret", "ada"), student_key(CLASS, "ben")],
    )
    def test_another_key_is_refused(self, key):
        """Ben, too, who seals with his own key and writes Ada's name."""
        assert "the seal does not fit" in grade(answered("ada", key).token, CLASS).refused

    def test_what_is_no_token_and_a_sealed_one_without_a_sheet_and_answers_are_refused(self):
        for token in ("", "adalib1", "adalib1.x.y", "adalib1.W10.x", "hello", "adalib1..", "a.b.c"):
            assert grade(token, CLASS).refused
        deep = base64.urlsafe_b64encode(b"[" * 200_000).decode()
        assert "cannot be read" in grade(f"adalib1.{deep}.x", CLASS).refused
        odd = [{"sheet": "1", "answers": {}, "at": at} for at in (10**20, -1, "now", None)]
        for content in (
            *odd,
            {},
            {"sheet": "1"},
            {"sheet": "1", "answers": [1]},
            {"sheet": {"a": 1}, "answers": {}},
        ):
            token = seal({"student": "ada", **content}, student_key(CLASS, "ada"))
            assert "no sheet and answers" in grade(token, CLASS).refused

    def test_odd_answers_under_a_true_seal_are_wrong_and_a_claim_to_be_right_is_worth_nothing(self):
        odd = {
            "bill": {"x": [1]},
            "curse": None,
            "price": [1e308, 2],
            "bound": "NaN",
            "subsets": "1/0",
            "other": 7,
        }
        token = seal(
            {"student": "ada", "sheet": "1", "answers": odd, "right": ["bill"]},
            student_key(CLASS, "ada"),
        )
        assert (grade(token, CLASS).refused, grade(token, CLASS).right) == ("", ())
        # The student's own copy may say what it likes: the teacher's side grades the answers anew.
        mine = ada(tuple(homework("ada").questions))
        mine.questions = {}
        assert grade(mine.token, CLASS).right == ()

    def test_an_exam_is_graded_with_its_own_numbers_and_other_salts_are_refused(self):
        exam = homework("ada", key=student_key(CLASS, "ada"), exam=True, salt="heron")
        for name, question in _drawn("ada", "1", True, "heron").items():
            exam.check(name, question.answer)
        assert len(grade(exam.token, CLASS, "heron").right) == len(exam.questions)
        assert "another exam" in grade(exam.token, CLASS, "owl").refused
        assert "another exam" in grade(ada().token, CLASS, "heron").refused

    def test_a_chapter_gives_a_token_and_only_values_are_graded_anew(self):
        check, _ = checks("oracle")
        check("oracle", oracle_labels)
        check("letgo", 99)
        key = student_key(CLASS, "ada")
        found = grade(hand_in(check, "ada", key), CLASS)
        assert (found.sheet, found.right, found.of) == (
            "chapter oracle",
            ("oracle",),
            len(check.exercises),
        )
        claim = seal(
            {
                "student": "ada",
                "sheet": "chapter oracle",
                "answers": {"letgo": True, "oracle": True},
            },
            key,
        )
        assert grade(claim, CLASS).right == ("oracle",)


class TestCommand:
    def test_a_class_of_forty(self, tmp_path, monkeypatch, capsys):
        """Doubled, late, forged and missing ones, other sheets, exams, a stranger; and a roster as Excel writes it."""
        monkeypatch.setenv(SECRET, CLASS)
        clock = iter(range(1_000, 10_000, 10))
        monkeypatch.setattr("adalib.teach.course.time.time", lambda: next(clock))
        names = ["Zoe\u0308", *(f"student-{number:02d}" for number in range(1, 40))]
        rows = "".join(f"N;;{n} ;a\n" for n in ("Zoë", *names[1:]))
        text = "Student;SIS Login ID;ID number;Section\n;;;\n" + rows
        (tmp_path / "class.csv").write_text(text, encoding="cp1252")
        first = {n: answered(n, student_key(CLASS, n), ("bill",)).token for n in names[:30]}
        second = {n: answered(n, student_key(CLASS, n)).token for n in names[:10]}
        forged = answered(names[30], student_key(CLASS, names[31])).token
        other = homework(names[32], "2", key=student_key(CLASS, names[32])).token
        stranger = answered("eve", student_key(CLASS, "eve")).token
        exams = [
            homework(n, key=student_key(CLASS, n), exam=n == names[0], salt="own").token
            for n in names[:2]
        ]
        due = next(clock)
        late = answered(names[33], student_key(CLASS, names[33])).token
        lines = [
            *second.values(),
            *first.values(),
            forged,
            other,
            stranger,
            late,
            first[names[5]],
            *exams,
        ]
        (tmp_path / "tokens.txt").write_text("\n".join(lines))
        when = datetime.fromtimestamp(due).isoformat()
        roster, out = str(tmp_path / "class.csv"), str(tmp_path / "out.csv")
        asked = ["--roster", roster, "--sheet", "1", "--due", when, "--csv", out]
        assert main(["grade", str(tmp_path / "tokens.txt"), *asked]) == 1
        told = capsys.readouterr().err.splitlines()
        assert [line.split("\t")[0] for line in told] == [
            names[30],
            names[32],
            "eve",
            names[33],
            "Zoë",
            names[1],
        ]
        whys = (
            "the seal does not fit",
            "sheet '2'",
            "no student",
            "too late",
            "of an exam",
            "of salted homework",
        )
        assert all(why in line for line, why in zip(told, whys, strict=True))
        points = pd.read_csv(tmp_path / "out.csv", sep=";", dtype=str, keep_default_na=False)
        assert list(points.columns[:5]) == [
            "Student",
            "SIS Login ID",
            "ID number",
            "Section",
            "Homework 1",
        ]
        of = len(homework("ada").questions)
        assert list(points["Homework 1"]) == [""] + [str(of)] * 10 + [str(of - 1)] * 20 + [""] * 10
        assert list(points["made at (UTC)"].iloc[[0, *range(31, 41)]]) == [""] + ["absent"] * 10
        (tmp_path / "class.csv").write_text("name\nada\n")
        assert main(["grade", str(tmp_path / "tokens.txt"), *asked[:2]]) == 2
        assert "name one with --id" in capsys.readouterr().err

    def test_keys_then_tokens_then_grades(self, tmp_path, monkeypatch, capsys):
        monkeypatch.setenv(SECRET, CLASS)
        assert main(["keys", "ada"]) == 0
        key = capsys.readouterr().out.split()[1]
        (tmp_path / "tokens.txt").write_text(
            answered("ada", key).token + "\n\n" + answered("ben", key).token + "\n"
        )
        assert main(["grade", str(tmp_path / "tokens.txt"), "--json"]) == 1
        first, second = json.loads(capsys.readouterr().out)["grades"]
        assert first["score"] == first["of"]
        assert second["refused"]
        assert main(["grade", str(tmp_path / "tokens.txt")]) == 1
        assert "refused" in capsys.readouterr().out

    def test_what_is_missing_is_one_line_and_code_2(self, tmp_path, monkeypatch, capsys):
        monkeypatch.delenv(SECRET, raising=False)
        (tmp_path / "none.txt").write_text("")
        assert main(["keys", "ada"]) == 2
        assert main(["grade", str(tmp_path / "none.txt")]) == 2
        assert main(["grade", str(tmp_path / "nowhere.txt")]) == 2
        assert len(capsys.readouterr().err.splitlines()) == 3


class TestFlaws:
    @pytest.mark.parametrize("sin", SINS)
    def test_every_sin_is_shown_by_a_null(self, sin):
        flaw = Flaw(SINS[sin], sin, 1)
        null = "shuffled" if sin == "overspent" else "flat"
        gain = flaw.run(null)["gain"].max()
        assert flaw.check(sin, null, gain).right
        assert not flaw.check(sin, null, gain + 0.01).right
        other = "leak" if sin == "in-sample" else "in-sample"
        assert "not done" in flaw.check(other, null, gain).hint

    def test_an_honest_experiment_shows_nothing_on_either_null(self):
        honest = Flaw("", "none", 1)
        assert max(honest.run("flat")["gain"].max(), honest.run("shuffled")["gain"].max()) < 0.008
        assert honest.table["gain"].max() > 0.02

    @pytest.mark.parametrize("seed", [5, 12, 70])
    def test_what_hides_its_sin_is_drawn_again(self, seed):
        flaw = find_the_flaw(seed)
        gain, null = max((flaw.run(null)["gain"].max(), null) for null in NULLS)
        assert flaw.check(flaw._sin, null, gain).right

    def test_seeds_reach_every_sin_and_what_is_none_is_sent_back(self):
        assert {find_the_flaw(seed)._sin for seed in range(40)} == set(SINS)
        assert "the sins are" in find_the_flaw(0).check("sloth", "flat", 0).hint
        assert "the nulls are" in find_the_flaw(0).check("leak", "void", 0).hint
        assert "next to no gain" in Flaw("", "in-sample", 1).check("in-sample", "shuffled", 0).hint
