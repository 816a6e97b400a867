"""The command line against hostile words: no secrets repeated, no control codes, no traceback."""

import json
import os
import resource
import subprocess
import sys

import pyarrow as pa
import pytest

from adalib.commands.cli import COMMANDS, main
from adalib.commands.terminal import shown
from adalib.scale.parquet import write_parquet

SECRET = "sk-proj-not-to-be-seen"


@pytest.mark.parametrize("word", COMMANDS)
@pytest.mark.parametrize(
    "words", [["--key", SECRET], [f"--key={SECRET}"], ["--k", SECRET], ["--ke=" + SECRET]]
)
def test_unknown_values_are_not_repeated(capsys, word, words):
    with pytest.raises(SystemExit, match="2"):
        main([word, "x", *words, "--out", "o", "--budget", "2", "--targets", "2"])
    errors = capsys.readouterr().err
    assert SECRET not in errors
    assert errors.count("\n") == 1


def test_a_price_is_a_number(capsys):
    for price in ("nan", "inf", "-1", "x"):
        with pytest.raises(SystemExit, match="2"):
            main(["collect", "q", "--out", "o", f"--price-in={price}"])
        assert "--price-in" in capsys.readouterr().err


def test_ids_are_printed_escaped(tmp_path, capsys):
    odd = "q\x1b[2J\u202egnp"
    path = tmp_path / "mine.csv"
    path.write_text(f"id,1,2\n{odd},0.1,0.9\n", encoding="utf-8")
    assert main(["solve", str(path), "--budget", "1.5"]) == 0
    printed = capsys.readouterr().out
    assert "q\\x1b[2J\\u202egnp" in printed
    assert "\x1b" not in printed
    path.write_text(f"id,1,2\n{odd},0.1,9\n{odd},1,x\n", encoding="utf-8")
    assert main(["solve", str(path), "--budget", "1.5"]) == 2
    assert "\x1b" not in capsys.readouterr().err
    assert shown("naïve 数学 ✓\tend\nnext") == "naïve 数学 ✓\\tend next"


def test_a_reader_that_goes_away_ends_it_quietly(tmp_path):
    path = tmp_path / "mine.csv"
    path.write_text("1,2\n" + "0.1,0.2\n" * 20_000)
    command = [sys.executable, "-m", "adalib", "solve", str(path), "--budget", "1.5", "--json"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE) as process:
        process.stdout.read(1)
        process.stdout.close()
        assert process.stderr.read() == b""
    assert process.returncode == 0


@pytest.mark.parametrize(
    "error",
    [
        MemoryError(),
        MemoryError(
            "Unable to allocate 2.98 GiB for an array with shape (20000, 20000) "
            "and data type float64"
        ),
        ImportError("libxgboost.so: failed to map segment from shared object"),
        RuntimeError("can't start new thread"),
        ValueError("std::bad_alloc"),
        SystemError("error return without exception set"),
        SystemError("<function f> returned NULL without setting an exception"),
    ],
)
def test_whoever_runs_out_of_memory_says_it_alike(refused, monkeypatch, error):
    def run(args):
        raise error

    monkeypatch.setattr("adalib.commands.solve.run", run)
    message = refused(["solve", "x.csv", "--budget", "2"], "needs more memory than there is")
    assert ("2.98 GiB at once" in message) == ("2.98 GiB" in str(error))


@pytest.fixture(scope="module")
def heavy(tmp_path_factory):
    """A file of 40 MB that becomes some times as much."""
    path = tmp_path_factory.mktemp("heavy") / "heavy.jsonl"
    answers = json.dumps([f"answer {j}" for j in range(64)])
    line = '{"id": "q%d", "question": "What?", "gold": "1", "answers": ' + answers + "}\n"
    with path.open("w") as file:
        file.writelines(line % i for i in range(40_000_000 // len(line)))
    return path


#: Megabytes of address space: enough to begin, too little to go on.
WORDS = {
    "solve": (350, ["--budget", "2"]),
    "explore": (350, ["--out", "page.html"]),
    "fit": (560, ["--budget", "2", "--out", "router"]),  # too little for the libraries that learn
    "evaluate": (700, ["--targets", "2"]),
    "collect": (280, ["--out", "answers", "--dry-run"]),
    "table": (
        250,
        ["--out", "table"],
    ),  # takes a file of any size: it is what writes the table that has no room
}


@pytest.mark.parametrize("word", WORDS)
def test_a_file_that_does_not_fit_is_one_line_under_ulimit(tmp_path, heavy, word):
    size, more = WORDS[word]

    def limit():
        resource.setrlimit(resource.RLIMIT_AS, (size << 20, size << 20))

    command = [sys.executable, "-m", "adalib", word, str(heavy), *more]
    one = dict.fromkeys(
        ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1"
    )  # threads reserve address space
    done = subprocess.run(
        command,
        cwd=tmp_path,
        env=os.environ | one,
        preexec_fn=limit,
        capture_output=True,
        text=True,
    )
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert " GB" in done.stderr
    assert ("raise the limit" if word in ("table", "fit") else "split") in done.stderr
    assert not list(tmp_path.iterdir())


def test_large_tables_say_what_memory_they_need(tmp_path, refused, monkeypatch):
    answers = tmp_path / "mine.jsonl"
    answers.write_text('{"id": "1", "question": "?", "gold": "1", "answers": ["1", "2"]}\nno\n')
    write_parquet(tmp_path / "table.parquet", {"acc_1": [0.1], "acc_2": [0.2]})
    out = ["--out", str(tmp_path / "out")]
    solve, table = (
        ["solve", str(tmp_path / "table.parquet"), "--budget", "1", *out],
        ["table", str(answers), *out],
    )
    refused(
        [*table, "--budgets", "1,2"], "line 2"
    )  # a fault in the file: the draft came to nothing, and goes
    monkeypatch.setattr("adalib.datasets.files.free_memory", lambda: 100_000_000)
    for words, named in (
        (solve, "--memory 1GB needs about 1.0 GB"),
        (table, "writing Parquet needs about 0.2 GB"),
    ):
        refused(words, f"{named} of memory and 0.1 GB are free")

    def fail(*_, **__):
        raise pa.ArrowMemoryError("malloc of size 2097152 failed")

    monkeypatch.undo()
    monkeypatch.setattr("pyarrow.parquet.ParquetFile", fail)
    refused(solve, "needs more memory than there is")
    assert sorted(file.name for file in tmp_path.iterdir()) == ["mine.jsonl", "table.parquet"]
