"""The command line against hostile words: no secrets repeated, no control codes, no traceback."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from adalib.commands.arguments import shown
from adalib.commands.cli import COMMANDS, main

SECRET = "sk-proj-not-to-be-seen"


@pytest.mark.parametrize("word", COMMANDS)
@pytest.mark.parametrize("words", [["--key", SECRET], [f"--key={SECRET}"], ["--k", SECRET], ["--ke=" + SECRET]])
def test_no_abbreviation_and_no_unknown_value_is_repeated(capsys, word, words):
    with pytest.raises(SystemExit, match="2"):
        main([word, "x", *words, "--out", "o", "--budget", "2", "--targets", "2"])
    told = capsys.readouterr().err
    assert SECRET not in told
    assert told.count("\n") == 1


@pytest.mark.parametrize("price", ["nan", "inf", "-1", "x"])
def test_a_price_is_a_number(capsys, price):
    with pytest.raises(SystemExit, match="2"):
        main(["collect", "q", "--out", "o", f"--price-in={price}"])
    assert "--price-in" in capsys.readouterr().err


def test_a_dry_run_of_a_thousand_million_samples_answers(tmp_path, capsys):
    path = tmp_path / "q.jsonl"
    path.write_text(json.dumps({"id": "a", "question": "q", "gold": "7"}) + "\n")
    assert main(["collect", str(path), "--out", str(tmp_path / "out"), "--samples", "1e9", "--dry-run"]) == 0
    assert "1,000,000,000 to make" in capsys.readouterr().out
    asked = [
        "collect",
        str(path),
        "--out",
        str(tmp_path / "out"),
        "--base-url",
        "http://127.0.0.1:1/v1",
        "--model",
        "m",
    ]
    for more in (["--samples", "1e9"], ["--concurrency", "100000"]):
        assert main([*asked, "--model", "m", *more]) == 2
        assert "need samples from 1 to 1,000,000, concurrency from 1 to 1,000" in capsys.readouterr().err


def test_ids_are_printed_escaped(tmp_path, capsys):
    odd = "q\x1b[2J\u202egnp"
    path = tmp_path / "mine.csv"
    path.write_text(f"id,1,2\n{odd},0.1,0.9\n", encoding="utf-8")
    assert main(["solve", str(path), "--budget", "1.5"]) == 0
    told = capsys.readouterr().out
    assert "q\\x1b[2J\\u202egnp" in told
    assert "\x1b" not in told
    path.write_text(f"id,1,2\n{odd},0.1,9\n{odd},1,x\n", encoding="utf-8")
    assert main(["solve", str(path), "--budget", "1.5"]) == 2
    assert "\x1b" not in capsys.readouterr().err


def test_shown_keeps_words_and_escapes_what_moves_the_cursor():
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


def test_too_little_memory_is_one_line(tmp_path, capsys, monkeypatch):
    from adalib.commands import solve

    def run(args):
        raise MemoryError

    monkeypatch.setattr(solve, "run", run)
    assert main(["solve", "x.csv", "--budget", "2"]) == 2
    told = capsys.readouterr().err
    assert "needs more memory than there is" in told
    assert told.count("\n") == 1
