"""Loading files of sampled answers, and what is wrong with those that cannot be loaded."""

import gzip
import json

import pytest
import read_answers

import adalib
from adabook.paper.ablations import extra_features
from adalib.datasets import loading
from adalib.datasets.files import DataError
from adalib.datasets.loading import load

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
    assert (mine.ids, mine.golds, mine.levels) == (["q1", "7"], ["4", "4"], [2, None])
    assert mine.questions == ["2 + 2?"] * 2
    assert mine.answers == [["4", "5", ""]] * 2
    assert mine.tokens.tolist() == [[3, 4, 5.5], [1, 1, 1]]
    assert mine.correct is None
    assert mine.extras == {"family": ["sum", None]}
    assert mine.source == str(path)
    # A byte order mark, Windows lines.
    body = b"\xef\xbb\xbf" + (line() + "\r\n\r\n" + line(id="ü") + "\r\n").encode()
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
        ([line(), b'{"id": "\xff"}'], ", line 2: byte 9 is not UTF-8"),
        ([line().encode("utf-16")], ", line 1: byte 1 is not UTF-8"),
        (["", "  ", "\t", "\r\n"], ": holds no questions"),
    ],
)
def test_faults_in_a_file(tmp_path, lines, says):
    """A fault is found where it is; question_cases.json has a case for every fault."""
    assert complaint(write(tmp_path, *lines)).startswith(says)


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


def test_given_classes_are_used_instead_of_comparing(tmp_path):
    path = write(
        tmp_path, line(classes=[7, 7, -1], correct=[1, 1, 0]), line(id="q2", classes=[3, 9, -1])
    )
    assert 'line 2: has no "correct"' in complaint(path)
    mine = load(write(tmp_path, line(classes=[7, 7, -1]), line(id="q2", classes=[9, 3, -1])))
    assert mine.classes.tolist() == [[0, 0, -1], [0, 1, -1]]
    mine.save(tmp_path / "again.jsonl")
    assert load(tmp_path / "again.jsonl").take([1]).classes.tolist() == [[0, 1, -1]]
    assert '"classes"' in complaint(write(tmp_path, line(classes=[0, 1, 2])))
    assert "is 0.5" in complaint(write(tmp_path, line(classes=[0, 0.5, -1])))


def test_texts_are_joined_by_id_or_line(tmp_path):
    questions = [
        "If $x = 3$, what is $x^2$?",
        "Ann has 12 hens.\nShe buys 5% more. How many has she?",
        "Is $\\sqrt{2}<2$?",
    ]
    reply = {"gold": "9", "texts": ["Answer: 9", "8"], "finish": ["stop"] * 2}
    lines = [{"id": f"toy-test-{i}", "question": text, **reply} for i, text in enumerate(questions)]

    def written(records, name):
        return write(tmp_path, *map(json.dumps, records), name=name)

    path = written([read_answers.without_texts(dict(one)) for one in lines[1:]], "mine.jsonl")
    apart = load(path)
    assert apart.questions == apart.ids == ["toy-test-1", "toy-test-2"]
    assert apart.answers == [["9", "8"]] * 2
    assert apart.values.tolist() == [[1, 0]] * 2
    for features in (adalib.text_features, extra_features):
        assert features(apart.questions).equals(features(questions[1:]))
    for texts in (lines[::-1], [{"problem": text} for text in questions]):
        whole = load(path, texts=written(texts, "texts.jsonl"))
        assert whole.questions == questions[1:]
    whole.save(tmp_path / "whole.jsonl")
    assert [text.ngrams for text in load(tmp_path / "whole.jsonl").questions] == [
        text.ngrams for text in apart.questions
    ]
    with pytest.raises(DataError, match="'toy-test-2' has another text"):
        load(path, texts=written([{"question": text} for text in questions[::-1]], "other.jsonl"))
    with pytest.raises(DataError, match="has no question 'toy-test-2'"):
        load(path, texts=written(lines[1:2], "one.jsonl"))
    broken = json.loads(path.read_text().splitlines()[0])
    broken["read"]["ngrams"].pop()
    assert "511 ngrams" in complaint(written([broken], "broken.jsonl"))


def test_questions_with_more_answers_than_others_are_cut(tmp_path):
    more = ["4", "5", "", "4", "4"]
    counted = {"tokens": [1, 2, 3, 4, 5], "classes": [0, 1, -1, 0, 0], "note": [9, 9, 9, 9]}
    path = write(
        tmp_path,
        line(answers=more, **counted),
        line(id="q2", tokens=[7, 8, 9], classes=[0, 1, -1], note=[]),
    )
    with pytest.warns(UserWarning, match="line 2: has 3 of up to 5 answers; the first 3"):
        mine = load(path)
    assert mine.answers == [GOOD["answers"]] * 2
    assert mine.tokens.tolist() == [[1, 2, 3], [7, 8, 9]]
    assert mine.classes.tolist() == [[0, 1, -1]] * 2
    assert mine.extras["note"] == [[9, 9, 9, 9], []]
