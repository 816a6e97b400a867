"""Files of data: what cannot be read is one sentence, and what is written is written completely."""

import gzip
import os
from functools import partial

import pytest

from adalib.datasets.files import (
    DataError,
    number,
    numbers,
    open_lines,
    read_json,
    read_lines,
    reading,
    whole,
    written,
)
from adalib.datasets.responses import Responses
from adalib.explorer import page, read_csv
from adalib.table import UtilityTable

LINES = b"".join(b'{"id": %d}\n' % i for i in range(100))
ZIPPED = gzip.compress(LINES, mtime=0)


def test_lines_are_numbered_and_blank_ones_left_out(tmp_path):
    path = tmp_path / "mine.jsonl"
    path.write_bytes(b"\xef\xbb\xbf{}\r\n\r\n \t\n{}")
    assert list(open_lines(path)) == [(1, b"{}\r\n"), (4, b"{}")]
    for name, content in (("plain.jsonl", LINES), ("zipped.jsonl.gz", ZIPPED)):
        (tmp_path / name).write_bytes(content)
        records = list(read_lines(tmp_path / name))
        assert records == [(i + 1, {"id": i}) for i in range(100)]


@pytest.mark.parametrize(
    ("name", "content", "says"),
    [
        ("plain.jsonl.gz", LINES, "not sound gzip"),
        ("cut.jsonl.gz", ZIPPED[:-20], "cut short or damaged"),
        ("torn.jsonl.gz", ZIPPED[:30] + b"?" * 40, "cut short or damaged"),
        ("zipped.jsonl", ZIPPED, "is gzip data"),
    ],
)
def test_damaged_files(tmp_path, name, content, says):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(DataError, match=says) as caught:
        list(open_lines(tmp_path / name))
    assert str(tmp_path / name) in str(caught.value)


def test_a_line_that_was_cut_is_faulty_at_its_own_end():
    with pytest.raises(DataError, match=r"^mine.jsonl, line 7: .*column 10\b"):
        read_json(b'{"id": [1\n', "mine.jsonl, line 7")


@pytest.mark.parametrize("reader", [read_csv, lambda path: list(read_lines(path))])
def test_what_is_no_file(tmp_path, reader):
    names = {
        tmp_path: "directory",
        tmp_path / "gone": "No such file",
        tmp_path / ("x" * 999): "long",
    }
    for path, says in names.items():
        with pytest.raises(DataError, match=says) as caught:
            reader(path)
        assert str(caught.value).startswith(str(path))


def test_interrupted_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail():
        with written(path) as file:
            file.write(b"half")
            raise RuntimeError("in the middle")

    def full(*_):
        raise OSError(28, "No space left on device")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    monkeypatch.setattr("pathlib.Path.replace", full)
    for write in (
        partial(page, UtilityTable([[0.2, 0.4]], [1, 2])),
        Responses(["a"], ["?"], ["4"], [["4"]]).save,
    ):
        with pytest.raises(DataError, match="No space left on device"):
            write(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


@pytest.mark.parametrize("value", ["1", None, True, [1], float("nan"), 2.0])
def test_what_is_no_number_of_a_file(value):
    with pytest.raises(ValueError, match="share"):
        number(value, "share", 0, 1)
    with pytest.raises(ValueError, match="count"):
        whole(value, "count", 0, 1)
    with pytest.raises(ValueError, match="table"):
        numbers([[value]] if value != [1] else [[[1]]], "table", (1, 1), 0, 1)


def test_another_kind_version_or_value_is_one_sentence():
    for data in ([], {"kind": "cat"}, {"kind": "dog", "version": 2}, {"kind": "dog", "version": 1}):
        with pytest.raises(DataError, match="dog"), reading(data, "dog", 1):
            data["legs"]
    with reading({"kind": "dog", "version": 1}, "dog", 1):
        pass
