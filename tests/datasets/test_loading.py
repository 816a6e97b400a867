"""Loading, checking, splitting and saving sampled answers."""

import gzip
import json
import math
import os
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import adalib
from adabook.paper.ablations import extra_features
from adalib.datasets import files, loading
from adalib.datasets.files import DataError
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.crossfit import compared
from adalib.evaluate.first_vote import joined

sys.path.insert(0, str(Path(__file__).parents[2] / "data"))
import read_answers

GOOD = {"id": "q1", "question": "2 + 2?", "gold": "4", "answers": ["4", "5", ""]}


def line(**changes):
    record = {**GOOD, **changes}
    return json.dumps({name: value for name, value in record.items() if value is not ...})


def write(folder, *lines, name="mine.jsonl"):
    path = folder / name
    path.write_bytes(
        b"\n".join(part if isinstance(part, bytes) else part.encode() for part in lines)
    )
    return path


def complaint(path):
    """The one line that loading gives, without the path."""
    with pytest.raises(DataError) as caught:
        load(path)
    message = str(caught.value)
    assert "\n" not in message
    assert message.startswith(str(path))
    return message.removeprefix(str(path))


def test_load(tmp_path):
    path = write(
        tmp_path,
        line(level=2, tokens=[3, 4, 5.5], family="sum"),
        "",
        line(id=7, tokens=[1, 1, 1]),
        "",
    )
    mine = adalib.load(str(path))
    assert isinstance(mine, adalib.Responses)
    assert (mine.n, mine.samples) == (2, 3)
    assert list(mine.ids) == ["q1", "7"]
    assert list(mine.questions) == ["2 + 2?"] * 2
    assert list(mine.golds) == ["4", "4"]
    assert mine.answers == [["4", "5", ""]] * 2
    assert mine.levels == [2, None]
    assert mine.tokens.tolist() == [[3, 4, 5.5], [1, 1, 1]]
    assert mine.correct is None
    assert mine.extras == {"family": ["sum", None]}
    assert mine.source == str(path)
    body = (
        b"\xef\xbb\xbf" + (line() + "\r\n\r\n" + line(id="ü") + "\r\n").encode()
    )  # a byte order mark, Windows lines
    for name, content in (("plain.jsonl", body), ("zipped.jsonl.gz", gzip.compress(body))):
        assert list(load(write(tmp_path, content, name=name)).ids) == ["q1", "ü"]


def test_numbers_survive_reading(tmp_path):
    mine = load(
        write(tmp_path, line(id=7.0, gold=4.0, answers=[4, 4.5, -0.0, 1e22, 12345678901234567890]))
    )
    assert list(mine.ids) == ["7"]
    assert list(mine.golds) == ["4"]
    assert mine.answers == [["4", "4.5", "0", "1e+22", "12345678901234567890"]]
    mine = load(
        write(tmp_path, line(question="smile \ud83d", texts=["\ud83d", "b", "\ud83d\ude00"]))
    )
    assert mine.questions == ["smile ?"]
    assert mine.extras["texts"] == [["?", "b", "😀"]]


@pytest.mark.parametrize(
    ("lines", "says"),
    [
        (
            [line(), line(id="b", gold=...)],
            ', line 2: has no "gold"; every line needs id, question, gold, answers',
        ),
        (
            [line(answers=[None])],
            ', line 1: "answers"[0] is null; write it as a text in quotes ("" for no answer)',
        ),
        (
            [line(), "", line(id="b", answers=["4"])],
            ", line 3: has 1 answers, line 1 has 3; give every question",
        ),
        ([line(), line(id="b"), line()], ", line 3: id 'q1' is already on line 1; give it another"),
        ([line(tokens=[1, 2, math.nan])], ", line 1: holds NaN, which is no number"),
        ([line(tokens=[1, 2, -math.inf])], ", line 1: holds -Infinity, which is no number"),
        (
            [line(tokens=[1, 2, 10**400])],
            ", line 1: holds the number 10000000000000000000..., which is too large",
        ),
        (
            [line(tokens=[1, 2, 10**20])],
            ', line 1: "tokens"[2] is 100000000000000000000; give a number',
        ),
        ([line(tokens=[1, 2])], ', line 1: "tokens" has 2 entries for 3 answers; give one each'),
        (
            [line(logprob=[-1, 0, -3]), line(id="b")],
            ', line 2: has no "logprob", line 1 has; give it on every line',
        ),
        ([line(correct=[1, 0, None])], ', line 1: "correct"[2] is null; give 0 or 1'),
        ([line(), b'{"id": "\xff"}'], ", line 2: byte 9 is not UTF-8; save the file as UTF-8"),
        ([line().encode("utf-16")], ", line 1: byte 1 is not UTF-8"),
        ([], ": holds no questions; write one JSON object with id, question, gold, answers a line"),
        (["", "  ", "\t", "\r\n"], ": holds no questions"),
    ],
)
def test_faults_in_a_file(tmp_path, lines, says):
    """The whole of a message; question_cases.json has a case a fault."""
    assert complaint(write(tmp_path, *lines)).startswith(says)


def test_faults_of_the_file_itself(tmp_path, monkeypatch):
    assert complaint(tmp_path) == ": is a folder; give the path of a file in it"
    assert complaint(tmp_path / "gone.jsonl") == ": there is no such file; check the path"
    assert "is not sound gzip data" in complaint(write(tmp_path, line(), name="plain.jsonl.gz"))
    zipped = gzip.compress("\n".join(line(id=i) for i in range(100)).encode())
    assert "cut short or damaged" in complaint(write(tmp_path, zipped[:-20], name="cut.jsonl.gz"))
    assert "cut short or damaged" in complaint(
        write(tmp_path, zipped[:30] + b"?" * 40, name="torn.jsonl.gz")
    )
    assert (
        complaint(write(tmp_path, zipped, name="zipped.jsonl"))
        == ": is gzip data; add .gz to its name"
    )
    assert complaint(write(tmp_path, b"", name="empty.jsonl.gz")).startswith(": holds no questions")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert (
        complaint(tmp_path / "pipe.jsonl") == ": is not a regular file; save the data to one first"
    )
    with pytest.raises(DataError, match=r"cannot be read \(File name too long\)"):
        load("x" * 5000 + ".jsonl")

    def refused(*args, **kwargs):
        raise PermissionError(13, "Permission denied")

    path = write(tmp_path, line())
    monkeypatch.setattr("os.open", refused)
    assert (
        complaint(path)
        == ": cannot be read (Permission denied); check its name and its permissions"
    )


def test_huge_files_are_refused_unread(tmp_path, monkeypatch):
    monkeypatch.setattr(files, "free_memory", lambda: 10**12)  # whatever this machine has
    path = tmp_path / "huge.jsonl"
    sizes = {2 * 10**9: ": is too large (2 GB, at most 1 GB is read); split it"}
    sizes[10**9] = ", line 1: is longer than 64 MB; put one question on a line"
    for size, says in sizes.items():
        with path.open("wb") as file:
            file.truncate(size)  # a sparse file: it takes no room
        assert complaint(path).startswith(says)


def test_bundled_settings(tmp_path, monkeypatch):
    assert (loading.data_folder() / "answers").is_dir()
    (tmp_path / "answers").mkdir()
    load(write(tmp_path, line())).save(tmp_path / "answers" / "toy-one.jsonl.gz")
    monkeypatch.setattr(loading, "data_folder", lambda: tmp_path)
    assert loading.bundled() == ["toy-one"]
    assert load("toy-one").source == "toy-one"
    assert load("toy-one").answers == [GOOD["answers"]]
    message = complaint("toy-two")
    assert "(toy-one)" in message
    assert "path of a .jsonl" in message


def responses(answers, gold="4", **more):
    n = len(answers)
    return Responses([str(i) for i in range(n)], ["?"] * n, [gold] * n, answers, **more)


def test_table(monkeypatch):
    # Right are "4" and "4.0", one class of two; "5" is the other.
    mine = responses([["4", "5", "4.0"]])
    table = mine.table((1, 2, 3))
    assert table.acc == pytest.approx(np.array([[2 / 3, 2 / 3, 1.0]]))
    assert table.cost.tolist() == [1, 2, 3]
    assert table.budgets == (1, 2, 3)
    assert table.ids == ("0",)
    paid = responses([["4", "4"], ["5", "5"]], tokens=[[10, 20], [1, 3]]).table(
        (1, 2), cost="tokens"
    )
    assert paid.cost.tolist() == [[15, 30], [2, 4]]
    first = responses([["5", "4", "4", "5"], ["4", "5", "4", "5"]]).table(
        (1, 2), "windows", "first"
    )
    assert first.acc.tolist() == [[0.5, 0.5], [0.5, 1.0]]
    flags = responses([["4", "5", "5"]], correct=[[0, 1, 1]])  # they replace the comparison
    assert flags.table((1, 3)).acc == pytest.approx(np.array([[2 / 3, 1.0]]))
    monkeypatch.setattr("adalib.datasets.responses.judged", None)  # classes are found once
    mine.table((1, 2), ties="first")


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (
            {"budgets": (1, 4)},
            "file.jsonl: has 2 answers per question, and budget 4 needs as many; lower the largest",
        ),
        (
            {"budgets": (1,), "cost": "tokens"},
            'file.jsonl: has no tokens; add "tokens" to every line',
        ),
        ({"budgets": (2, 1)}, "budgets must increase"),
        ({"budgets": ()}, "budgets must be whole numbers"),
        ({"budgets": (1,), "estimator": "all"}, "'subsets' or 'windows'"),
        ({"budgets": (1,), "ties": "last"}, "'share' or 'first'"),
        ({"budgets": (1,), "cost": "money"}, "'samples' or 'tokens'"),
    ],
)
def test_table_refusals(arguments, says):
    with pytest.raises(ValueError, match=r"\A[^\n]+\Z") as caught:
        responses([["4", "5"]], source="file.jsonl").table(**arguments)
    assert says in str(caught.value)


@pytest.mark.parametrize(
    ("change", "says"),
    [
        ({"questions": ["?"]}, "questions has 1 entries for 2 ids"),
        ({"levels": [1]}, "levels has 1 entries for 2 ids"),
        ({"extras": {"family": []}}, "family has 0 entries for 2 ids"),
        ({"answers": [["4"], ["4", "5"]]}, "question 'b' has 2 answers and the first 1"),
        ({"tokens": [[1], [2, 3]]}, "inhomogeneous"),
        ({"tokens": [[1, 2]]}, r"tokens has shape \(1, 2\); give \(2, 2\)"),
        ({"logprob": [[-1, np.nan], [0, 0]]}, "logprob holds a value that is no number"),
        ({"ids": ["a", "a"]}, "two questions have the same id"),
        ({"ids": [], "questions": [], "golds": [], "answers": []}, "at least one question"),
    ],
)
def test_construction_is_checked(change, says):
    sound = {
        "ids": ["a", "b"],
        "questions": ["?", "?"],
        "golds": ["4", "4"],
        "answers": [["4", "5"], ["4", "5"]],
    }
    with pytest.raises(ValueError, match=says):
        Responses(**{**sound, **change})


FULL = Responses(
    ["a", "b", "c"],
    ["?", "??", "???"],
    ["1", "2", "3"],
    [[f"{q}{s}" for s in range(5)] for q in range(3)],
    levels=[1, 2, None],
    tokens=np.arange(15.0).reshape(3, 5),
    correct=np.arange(15).reshape(3, 5) % 2,
    logprob=-np.arange(15).reshape(3, 5) / 4,
    extras={
        "texts": [[f"t{q}{s}" for s in range(5)] for q in range(3)],
        "family": ["x", None, "z"],
    },
)


@pytest.mark.parametrize("rows", [[2, 0], np.array([2, 0]), [-1, 0]])
def test_take(rows):
    part = FULL.take(rows)
    assert part.ids == ["c", "a"]
    assert part.answers == [FULL.answers[2], FULL.answers[0]]
    assert part.tokens[0, 0] == 10
    assert part.correct[0].tolist() == [0, 1, 0, 1, 0]
    assert part.logprob[0, 0] == -10 / 4
    assert part.levels == [None, 1]
    assert part.extras["family"] == ["z", "x"]
    assert FULL.take([True, False, True]).ids == ["a", "c"]


def test_split_samples_deals_everything_once():
    one, two = FULL.split_samples(seed=0)
    assert (one.samples, two.samples) == (2, 3)
    for q in range(3):
        for half in (one, two):
            assert half.answers[q] == sorted(half.answers[q])
            assert half.extras["texts"][q] == [f"t{answer}" for answer in half.answers[q]]
            assert half.tokens[q].tolist() == [5 * q + int(answer[1]) for answer in half.answers[q]]
            assert half.logprob[q].tolist() == [
                -(5 * q + int(answer[1])) / 4 for answer in half.answers[q]
            ]
            assert half.correct[q].tolist() == [
                (5 * q + int(answer[1])) % 2 for answer in half.answers[q]
            ]
        assert sorted(one.answers[q] + two.answers[q]) == FULL.answers[q]
    assert one.extras["family"] == ["x", None, "z"]
    assert one.answers == FULL.split_samples(seed=0)[0].answers
    assert {tuple(FULL.split_samples(seed)[0].answers[0]) for seed in range(50)} >= {
        ("00", "01"),
        ("03", "04"),
    }
    with pytest.raises(DataError, match="sample at least two"):
        responses([["4"]]).split_samples(0)


def test_halves_have_the_classes_of_a_new_comparison():
    drawn = (
        np.random.default_rng(0).choice(["", "7", "1/2", "0.5", "8", "x"], size=(60, 9)).tolist()
    )
    names = [str(i) for i in range(60)]
    compared, fresh = (Responses(names, names, ["7"] * 60, drawn) for _ in range(2))
    assert compared.classes.max() > 2
    for one, two in zip(compared.split_samples(3), fresh.split_samples(3), strict=True):
        assert "classes" in one.__dict__
        np.testing.assert_array_equal(one.classes, two.classes)
        np.testing.assert_array_equal(one.values, two.values)


def test_set_aside_keeps_every_sampled_field():
    first, rest = FULL.set_aside(1)
    assert first.logprob[:, 0].tolist() == FULL.logprob[:, 1].tolist()
    assert rest.logprob.tolist() == np.delete(FULL.logprob, 1, axis=1).tolist()
    votes = compared(FULL)
    for name in ("tokens", "logprob"):
        assert getattr(votes, name).tolist() == getattr(FULL, name).tolist()
        assert (
            getattr(joined(first, rest), name)[:, 0].tolist() == getattr(FULL, name)[:, 1].tolist()
        )
    assert joined(replace(first, logprob=None), rest).logprob is None


def same(one, two):
    for name in ("ids", "questions", "golds", "answers", "levels", "extras"):
        assert getattr(one, name) == getattr(two, name)
    for name in ("tokens", "correct", "logprob"):
        np.testing.assert_array_equal(getattr(one, name), getattr(two, name))


@pytest.mark.parametrize("name", ["out.jsonl", "out.jsonl.gz"])
def test_what_was_saved_is_loaded(tmp_path, name):
    FULL.save(tmp_path / name)
    first = (tmp_path / name).read_bytes()
    same(load(tmp_path / name), FULL)
    FULL.save(tmp_path / name)
    assert (tmp_path / name).read_bytes() == first
    assert os.listdir(tmp_path) == [name]


texts = st.text(st.characters(exclude_categories=["Cs"]))
plain = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | texts
)


@settings(deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), n=st.integers(1, 4), r=st.integers(1, 4))
def test_any_text_survives_a_file(tmp_path, data, n, r):
    def column(each):
        return data.draw(st.lists(each, min_size=n, max_size=n))

    samples = st.lists(texts, min_size=r, max_size=r)
    counts = st.lists(st.floats(0, 1e15), min_size=r, max_size=r)
    made = Responses(
        data.draw(st.lists(texts, min_size=n, max_size=n, unique=True)),
        column(texts),
        column(texts.filter(str.strip)),
        column(samples),
        levels=data.draw(st.none() | st.just([1] * n)),
        tokens=np.array(column(counts)),
        extras={"note": ["x", *column(plain)[1:]]},
    )
    made.save(tmp_path / "round.jsonl.gz")
    back = load(tmp_path / "round.jsonl.gz")
    same(back, made)


def test_a_failed_save_leaves_the_old_file(tmp_path):
    path = tmp_path / "out.jsonl"
    FULL.save(path)
    before = path.read_bytes()
    for bad in (math.nan, object(), {1, 2}):
        with pytest.raises(DataError, match="line 2: cannot be written as JSON"):
            responses([["4"], ["5"]], extras={"note": ["fine", bad]}).save(path)
    assert path.read_bytes() == before
    assert os.listdir(tmp_path) == ["out.jsonl"]
    with pytest.raises(
        DataError, match=r"cannot be written \(No such file or directory\); check the folder"
    ):
        FULL.save(tmp_path / "gone" / "out.jsonl")


def test_save_through_a_link(tmp_path):
    (tmp_path / "real.jsonl").write_text("old")
    (tmp_path / "link.jsonl").symlink_to(tmp_path / "real.jsonl")
    responses([["4"]], extras={"share": [np.array([0.5])], "size": [np.int64(3)]}).save(
        tmp_path / "link.jsonl"
    )
    assert (tmp_path / "link.jsonl").is_symlink()
    assert load(tmp_path / "real.jsonl").extras == {"share": [[0.5]], "size": [3]}


def test_given_classes_are_used_instead_of_comparing(tmp_path):
    path = write(
        tmp_path, line(classes=[7, 7, -1], correct=[1, 1, 0]), line(id="q2", classes=[3, 9, -1])
    )
    assert 'line 2: has no "correct"' in complaint(path)
    mine = load(write(tmp_path, line(classes=[7, 7, -1]), line(id="q2", classes=[9, 3, -1])))
    assert mine.classes.tolist() == [[0, 0, -1], [0, 1, -1]]
    mine.save(tmp_path / "again.jsonl")
    assert load(tmp_path / "again.jsonl").take([1]).classes.tolist() == [[0, 1, -1]]
    assert "-1 where the answer is empty" in complaint(write(tmp_path, line(classes=[0, 1, 2])))
    assert "is 0.5; give a class number" in complaint(write(tmp_path, line(classes=[0, 0.5, -1])))


def test_texts_are_joined_by_id_or_line(tmp_path):
    questions = [
        "If $x = 3$, what is $x^2$?",
        "Ann has 12 hens.\nShe buys 5% more. How many has she?",
        "Is $\\sqrt{2}<2$?",
    ]
    lines = [
        {
            "id": f"toy-test-{i}",
            "question": text,
            "gold": "9",
            "texts": ["Answer: 9", "8"],
            "finish": ["stop"] * 2,
        }
        for i, text in enumerate(questions)
    ]
    asked = [1, 2]
    path = write(tmp_path, *(json.dumps(read_answers.without_texts(dict(lines[i]))) for i in asked))
    apart = load(path)
    assert apart.questions == apart.ids == ["toy-test-1", "toy-test-2"]
    assert apart.answers == [["9", "8"]] * 2
    assert apart.values.tolist() == [[1, 0]] * 2
    own = write(tmp_path, *(json.dumps(lines[i]) for i in (2, 0, 1)), name="own.jsonl")
    official = write(
        tmp_path, *(json.dumps({"problem": text}) for text in questions), name="official.jsonl"
    )
    for texts in (own, official):
        whole = load(path, texts=texts)
        assert whole.questions == [questions[i] for i in asked]
        for features in (adalib.text_features, extra_features):
            assert features(apart.questions).equals(features([questions[i] for i in asked]))
            assert features(whole.questions).equals(features(apart.questions))
    whole.save(tmp_path / "whole.jsonl")
    assert [text.ngrams for text in load(tmp_path / "whole.jsonl").questions] == [
        t.ngrams for t in apart.questions
    ]
    other = write(
        tmp_path,
        *(json.dumps({"question": text}) for text in reversed(questions)),
        name="other.jsonl",
    )
    with pytest.raises(
        DataError, match="'toy-test-2' has another text in .*give the benchmark's own"
    ):
        load(path, texts=other)
    with pytest.raises(DataError, match="has no question 'toy-test-2'"):
        load(path, texts=write(tmp_path, json.dumps(lines[1]), name="one.jsonl"))
    broken = json.loads(path.read_text().splitlines()[0])
    broken["read"]["ngrams"].pop()
    assert '"ngrams" has 511 entries; give 512' in complaint(write(tmp_path, json.dumps(broken)))
