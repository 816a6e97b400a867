"""Files that nobody vouches for: opened in one place, written in one place."""

import gzip
import os
import resource
import subprocess
import sys
from functools import partial

import pytest

from adalib.collect import load_prompt
from adalib.datasets import files
from adalib.datasets.files import DataError, free_memory, open_lines, written
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.explorer import page, read_csv
from adalib.table import UtilityTable

READERS = {"csv": read_csv, "jsonl": load, "prompt": load_prompt}


@pytest.mark.parametrize("reader", READERS)
def test_only_regular_files_are_read(tmp_path, reader):
    pipe = tmp_path / f"pipe.{reader}"
    os.mkfifo(pipe)
    (tmp_path / f"folder.{reader}").mkdir()
    for path in (pipe, tmp_path / f"folder.{reader}", "/dev/zero"):
        with pytest.raises(DataError, match="is not a regular file|is a folder") as caught:
            READERS[reader](path)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("kind", "limit", "content", "message"),
    [
        (
            "jsonl",
            "MAX_FILE",
            b" \n" * 10**6,
            r"is too large \(decompressed, at most 0.1 MB is read\); split it",
        ),
        ("csv", "MAX_FILE", b"1,2\n" + b"0.5,0.5\n" * 10**5, "is too large"),
        ("csv", "MAX_LINE", b"1," * 5000, "line 1: is longer than"),
    ],
)
def test_bombs_are_refused_early(tmp_path, monkeypatch, kind, limit, content, message):
    monkeypatch.setattr(files, limit, 10**5 if limit == "MAX_FILE" else 1000)
    path = tmp_path / f"bomb.{kind}.gz"
    path.write_bytes(gzip.compress(content))
    with pytest.raises(DataError, match=message):
        READERS[kind](path)


def test_too_little_memory_is_reported_early(tmp_path, monkeypatch):
    path = tmp_path / "large.jsonl"
    path.write_text('{"id": "a"}\n' * 1000)
    monkeypatch.setattr(files, "free_memory", lambda: 1000)
    with pytest.raises(
        DataError, match=r"needs about \d+\.\d GB of memory and 0\.\d GB are free; split it"
    ):
        list(open_lines(path))
    assert len(list(open_lines(path, part=(0, 0, 10)))) == 10  # a part of it does fit


def test_free_memory_respects_the_process_limit():
    code = "from adalib.datasets.files import free_memory; print(free_memory())"

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (2 << 30, 2 << 30))

    left = subprocess.run(
        [sys.executable, "-c", code], preexec_fn=limit, capture_output=True, text=True, check=True
    )
    assert 0 <= int(left.stdout) < 2 << 30
    assert free_memory() > 0


def test_interrupted_writing_leaves_the_old_file(tmp_path, monkeypatch):
    path = tmp_path / "page.html"
    path.write_text("old")

    def fail():
        with written(path) as file:
            file.write(b"half")
            raise RuntimeError("in the middle")

    def full(_):
        raise OSError(28, "No space left on device")

    with pytest.raises(RuntimeError, match="in the middle"):
        fail()
    monkeypatch.setattr(os, "fsync", full)
    for write in (
        partial(page, UtilityTable([[0.2, 0.4]], [1, 2])),
        Responses(["a"], ["?"], ["4"], [["4"]]).save,
    ):
        with pytest.raises(DataError, match=r"cannot be written \(No space left on device\)"):
            write(path)
    assert path.read_text() == "old"
    assert os.listdir(tmp_path) == ["page.html"]


def test_only_drafts_of_dead_programs_are_cleared(tmp_path):
    path = tmp_path / "page.html"
    gone = subprocess.Popen([sys.executable, "-c", ""])
    gone.wait()
    left, living = (tmp_path / f".page.html.{pid}-0123abcd.part" for pid in (gone.pid, os.getpid()))
    mine = tmp_path / ".page.html.notes.part"
    for file in (left, living, mine):
        file.write_text("x")
    with written(path) as file:
        file.write(b"new")
    assert [draft.exists() for draft in (left, living, mine)] == [False, True, True]


@pytest.mark.parametrize("name", ["", ".", "no/such/folder.html"])
def test_a_bad_page_name_is_one_line(tmp_path, refused, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.csv").write_text("1,2\n0.1,0.2\n")
    refused(["explore", "mine.csv", "--out", name], "")
    assert os.listdir(tmp_path) == ["mine.csv"]


def test_explore_does_not_write_over_its_own_input(tmp_path, refused):
    path = tmp_path / "mine.csv"
    path.write_text("1,2\n0.1,0.2\n")
    (tmp_path / "link.csv").symlink_to(path)
    for out in (path, tmp_path / "link.csv"):
        refused(["explore", str(path), "--out", str(out)], "give the page another name")
    assert path.read_text() == "1,2\n0.1,0.2\n"
