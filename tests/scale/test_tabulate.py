"""Tables from streamed files of answers against the table of the same files read whole."""

import gzip
import json

import numpy as np
import pyarrow.parquet as pq
import pytest

import adalib
from adalib.commands.cli import main
from adalib.datasets.files import line_parts, read_lines
from adalib.scale import tables as module
from adalib.scale.machines import Machines
from adalib.scale.tables import open_parquet, tabulate


def write_answers(path, numbers, samples=8, tokens=False, end="\n"):
    rng = np.random.default_rng(len(numbers))
    lines = []
    for i in numbers:
        answers = ["7" if u < 0.6 else str(rng.integers(10, 13)) for u in rng.random(samples)]
        line = {"id": f"q{i}", "question": "?", "gold": "7", "answers": answers}
        if tokens:
            line["tokens"] = rng.integers(5, 50, samples).tolist()
        lines.append(json.dumps(line))
    text = (end.join(lines) + end).encode()
    path.write_bytes(gzip.compress(text) if path.suffix == ".gz" else text)
    return path


@pytest.mark.parametrize("end", ["\n", "\n\n", "\r\n"])
@pytest.mark.parametrize("lines", [1, 3, 10, 100])
def test_parts_of_a_file_hold_every_line_once(tmp_path, lines, end):
    path = write_answers(tmp_path / "a.jsonl", range(23), end=end)
    whole = list(read_lines(path))
    parts = list(line_parts(path, lines))
    assert [entry for part in parts for entry in read_lines(path, part=part)] == whole
    path.write_bytes(path.read_bytes().rstrip())  # no line end after the last line
    assert [entry for part in line_parts(path, lines) for entry in read_lines(path, part=part)] == whole


@pytest.mark.parametrize("cost", ["samples", "tokens"])
def test_the_table_is_that_of_the_files_read_whole(tmp_path, monkeypatch, cost):
    monkeypatch.setattr(module, "_LINES", 7)
    files = [
        write_answers(tmp_path / "b.jsonl", range(25), tokens=True),
        write_answers(tmp_path / "a.jsonl.gz", range(25, 60), tokens=True),
    ]
    assert tabulate(files, tmp_path / "t", budgets=(1, 2, 4), cost=cost, machines=Inline()) == 60
    written = pq.read_table(tmp_path / "t").to_pandas()
    tables = [adalib.load(file).table(budgets=(1, 2, 4), cost=cost) for file in files]
    assert written["id"].tolist() == [name for table in tables for name in table.ids]
    acc = np.concatenate([table.acc for table in tables])
    np.testing.assert_array_equal(written[["acc_1", "acc_2", "acc_4"]], acc)
    if cost == "tokens":
        paid = np.concatenate([table.cost for table in tables])
        np.testing.assert_array_equal(written[["cost_1", "cost_2", "cost_4"]], paid)
    assert open_parquet(tmp_path / "t").rows == 60


class Inline(Machines):
    """One after the other, here: what a test patches is patched. Stops where it is told to."""

    def __init__(self, most=None):
        self.most = most

    def _run(self, call, items):
        for place, item in enumerate(items):
            if place == self.most:
                raise KeyboardInterrupt
            yield place, call(item)


def test_an_interrupted_table_is_none_and_is_gone_on_with(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LINES", 7)
    source = write_answers(tmp_path / "a.jsonl", range(30))
    with pytest.raises(KeyboardInterrupt):
        tabulate([source], tmp_path / "t", budgets=(1, 2), machines=Inline(3))
    assert not (tmp_path / "t").exists()
    compared = []
    read = module.from_records
    monkeypatch.setattr(module, "from_records", lambda *given: compared.append(1) or read(*given))
    assert tabulate([source], tmp_path / "t", budgets=(1, 2), machines=Inline()) == 30
    assert len(compared) == 2  # of five parts
    assert open_parquet(tmp_path / "t").rows == 30


def test_what_no_part_sees_alone_is_seen(tmp_path, monkeypatch):
    monkeypatch.setattr(module, "_LINES", 7)
    one, two = write_answers(tmp_path / "a.jsonl", range(28)), write_answers(tmp_path / "b.jsonl", range(27, 40))
    with pytest.raises(ValueError, match=r"b\.jsonl: id 'q27' is also in .*a\.jsonl"):
        tabulate([one, two], tmp_path / "t", budgets=(1, 2), machines=Inline())
    more = write_answers(tmp_path / "c.jsonl", range(50, 57), samples=9)
    one.write_bytes(one.read_bytes() + more.read_bytes())
    with pytest.raises(ValueError, match=r"a\.jsonl: has questions with 8 answers and with 9"):
        tabulate([one], tmp_path / "u", budgets=(1, 2), machines=Inline())
    assert not (tmp_path / "t").exists()


def test_the_commands_from_answers_to_labels(tmp_path, capsys):
    source = write_answers(tmp_path / "a.jsonl", range(40))
    table, out = str(tmp_path / "t"), str(tmp_path / "labels")
    assert main(["table", str(source), "--out", table, "--budgets", "1,2,4"]) == 0
    assert "40 questions" in capsys.readouterr().out
    assert main(["solve", table, "--budget", "1.5,2", "--out", out, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert main(["solve", str(source), "--budget", "1.5", "--budgets", "1,2,4", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    (one, two), labels = told["points"], pq.read_table(out)
    assert dict(zip(labels["id"].to_pylist(), labels["at_1.5"].to_pylist(), strict=True)) == whole["labels"]
    assert one["lam"] == whole["lam"]
    assert one["split"] == pytest.approx(whole["split"])
    assert two["budget"] == 2
    assert main(["solve", table, "--budget", "2", "--out", str(tmp_path / "plain")]) == 0
    assert "column at_2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["solve", "TABLE", "--budget", "2"], "--out FOLDER"),
        (["solve", "TABLE", "--budget", "0.5", "--out", "OUT"], "cheapest allocation costs 1"),
        (["solve", "TABLE", "--budget", "2", "--out", "OUT", "--memory", "much"], "--memory is 'much'"),
        (["solve", "TABLE", "--budget", "2", "--out", "OUT", "--memory", "100MB"], "at least 500MB"),
        (["solve", "TABLE", "--budget", "2,2", "--out", "OUT"], "not all different"),
        (["solve", "SOURCE", "--budget", "2,3", "--budgets", "1,2"], "tables in Parquet"),
        (["solve", "nosuch.parquet", "--budget", "2", "--out", "OUT"], "no such file"),
        (["table", "nosuch.jsonl", "--out", "OUT"], "no such file"),
        (["table", "SOURCE", "--out", "OUT", "--budgets", "1,200"], "200"),
        (["table", "SOURCE", "--out", "TABLE"], "is there already"),
    ],
)
def test_bad_input_of_large_tables_is_one_line_and_exit_code_2(tmp_path, capsys, words, said):
    source = write_answers(tmp_path / "a.jsonl", range(5))
    assert main(["table", str(source), "--out", str(tmp_path / "t"), "--budgets", "1,2"]) == 0
    capsys.readouterr()
    places = {"TABLE": str(tmp_path / "t"), "SOURCE": str(source), "OUT": str(tmp_path / "out")}
    assert main([places.get(word, word) for word in words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert said in shown.err
    assert shown.err.count("\n") == 1
