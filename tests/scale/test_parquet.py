"""Tables in Parquet files against the same table in memory, on threads and on Dask; interrupted,
damaged, resumed.

And tables that are made from streamed files of answers, against those of the same files read whole.
"""

import gzip
import json
import os
import shutil
import signal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from random_tables import random_table

import adalib
from adalib.cli import main
from adalib.datasets.files import line_parts, read_lines
from adalib.evaluate.scores import as_table
from adalib.scale import stream, tables
from adalib.scale.labels import as_values
from adalib.scale.machines import Cluster, Here, Machines, need
from adalib.scale.parquet import open_parquet, write_parquet
from adalib.scale.stream import solve_files
from adalib.scale.tables import tabulate
from adalib.sequential.peers import PEERS, TunedRules

BUDGETS = (1, 2, 4, 8, 16)


def write_table(folder, acc, cost=None, files=3, ids=True):
    folder.mkdir()
    sides = [("acc", acc)] if cost is None else [("acc", acc), ("cost", cost)]
    for number, rows in enumerate(np.array_split(np.arange(len(acc)), files)):
        columns = {
            f"{side}_{BUDGETS[j]}": of[rows, j] for side, of in sides for j in range(acc.shape[1])
        }
        if ids:
            columns["id"] = [f"q{row}" for row in rows]
        write_parquet(folder / f"{number}.parquet", columns)
    return folder


def read_labels(solved):
    """Labels of every budget, as columns of the table, in the order of the rows."""
    table = pq.read_table(solved.folder)
    names = as_values(solved.budgets)
    return [
        [names.index(label) for label in table[f"at_{p.budget:.12g}"].to_pylist()]
        for p in solved.points
    ], table


@pytest.fixture
def table():
    return np.random.default_rng(5).integers(0, 49, (500, 5)) / 48


@pytest.mark.parametrize("kind", ["counted", "tokens", "by row", "concave", "anything"])
def test_any_number_of_files_equals_the_frontier(tmp_path, monkeypatch, kind):
    rng = np.random.default_rng(1)
    acc, cost = random_table(kind, 400, 5, rng)
    if cost.ndim == 1:
        cost = np.tile(cost, (400, 1))
    monkeypatch.setattr(stream, "_MAX_BATCH_ROWS", 23)  # many runs to a file
    whole = adalib.frontier(acc, cost)
    budgets = [whole.cost[0], *rng.uniform(whole.cost[0], whole.cost[-1], 2), whole.cost[-1] + 1]
    one, solved = (
        solve_files(
            write_table(tmp_path / f"t{files}", acc, cost, files), budgets, tmp_path / f"out{files}"
        )
        for files in (1, 7)
    )
    assert (
        len(open_parquet(tmp_path / "t1").pieces(23)) == 1
    )  # a huge row group is read a few rows at a time
    found, written = read_labels(solved)
    assert (one.as_json()["points"], read_labels(one)) == (
        solved.as_json()["points"],
        (found, written),
    )
    assert json.loads((tmp_path / "out7" / "_solution.json").read_text()) == solved.as_json()
    assert written["id"].to_pylist() == [f"q{row}" for row in range(400)]
    for labels, point, name, counts, budget in zip(
        found, solved.points, solved.split_ids, solved.counts, budgets, strict=True
    ):
        best = whole.at(budget)
        assert labels == best.labels.tolist()
        assert point.lam == best.lam
        assert point.accuracy == pytest.approx(best.accuracy, abs=1e-12)
        assert (point.split and point.split[:3]) == (best.split and best.split[:3])
        assert name == (f"q{best.split.row}" if best.split else None)
        assert counts == np.bincount(best.labels, minlength=5).tolist()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out1", "out7", "t1", "t7"]


def test_a_second_table_under_the_same_names(tmp_path, table):
    """In one process, as in a notebook or on a worker: the first run's steps lay in files of the
    same names."""
    for acc in (table, table[:120], 1 - table):
        for folder in ("t", "out"):
            shutil.rmtree(tmp_path / folder, ignore_errors=True)
        solved = solve_files(write_table(tmp_path / "t", acc), [2.5], tmp_path / "out")
        best = adalib.frontier(acc, BUDGETS[: acc.shape[1]]).at(2.5)
        assert read_labels(solved)[0] == [best.labels.tolist()]
        assert solved.points[0].accuracy == pytest.approx(best.accuracy, abs=1e-12)
    solved = solve_files(
        write_table(tmp_path / "unnamed", table, ids=False), [2], tmp_path / "numbered"
    )
    assert read_labels(solved)[1]["row"].to_pylist() == list(range(500))
    assert solved.split_ids == [str(solved.points[0].split.row)]


class InTurn(Machines):
    """One after the other, here, so that what a test patches is patched; stops after some pieces,
    like a power cut."""

    sharing = Here().sharing

    def __init__(self, pieces=-1):
        self.left = pieces

    def results(self, call, items):
        for place, item in enumerate(items):
            if self.left == 0:
                raise KeyboardInterrupt
            self.left -= len(items) > 1  # not the calls of prices
            yield place, call(item)


@pytest.mark.parametrize("pieces", [2, 7])
def test_an_interrupted_run_is_resumed(tmp_path, monkeypatch, table, pieces):
    source = write_table(tmp_path / "t", table, files=5)
    with pytest.raises(KeyboardInterrupt):
        solve_files(source, [1.5, 2.0], tmp_path / "out", machines=InTurn(pieces))
    assert not (tmp_path / "out").exists()
    drafts = list((tmp_path / "out.part").glob("part-*"))
    assert [pq.read_table(draft).num_rows for draft in drafts] == [100] * max(pieces - 5, 0)
    worked = []
    sort = stream.make_run
    monkeypatch.setattr(stream, "make_run", lambda *table: worked.append(1) or sort(*table))
    solved = solve_files(source, [1.5, 2.0], tmp_path / "out")
    assert len(worked) == 5 - min(pieces, 5)
    assert read_labels(solved)[0][0] == adalib.frontier(table, BUDGETS).at(1.5).labels.tolist()


def test_an_unfinished_run_resumes_with_other_budgets(tmp_path, table):
    source, out = write_table(tmp_path / "t", table, files=5), tmp_path / "out"
    for name in ("out", "other"):
        with pytest.raises(KeyboardInterrupt):
            solve_files(source, [1.5], tmp_path / name, machines=InTurn(7))
    solved = solve_files(source, [3.0], out)  # with the same sorted steps, and not with old labels
    assert read_labels(solved)[0][0] == adalib.frontier(table, BUDGETS).at(3.0).labels.tolist()
    with pytest.raises(ValueError, match="out: already exists"):
        solve_files(source, [1.5], out)
    write_parquet(source / "0.parquet", ONE)
    with pytest.raises(ValueError, match=r"other\.part: is an unfinished run with other input"):
        solve_files(source, [1.5], tmp_path / "other")


def twice(whole):
    pq.write_table(pa.table([[0.5], [0.5]], ["acc_1", "acc_1"]), out := pa.BufferOutputStream())
    return out.getvalue().to_pybytes()


ONE = {"id": ["a"], **{f"acc_{b}": [0.5] for b in BUDGETS}}
# What becomes of a sound file's bytes, or what columns are in its place, and what is said of it.
BROKEN = {
    "cut short": (lambda whole: whole[: len(whole) // 2], "is not sound Parquet"),
    "empty": (lambda whole: b"", "is not sound Parquet"),
    "flipped": (
        lambda whole: whole[:4] + b"\xff" * 200 + whole[204:],
        "is not sound Parquet",
    ),  # its footer is sound
    "out of range": ({"acc_4": [1.5]}, r"counting from row 0: acc\[0, 2\] is 1\.5"),
    "null": ({"acc_4": pa.array([None], pa.float64())}, r"counting from row 0: acc\[0, 2\] is nan"),
    "text": ({"acc_4": ["x"]}, "column acc_4 holds no numbers"),
    "a column twice": (twice, "the column 'acc_1' more than once"),
    "a column more": ({"acc_32": [0.5]}, "has other columns than"),
}


def damage(source, fault):
    """Damage the second file of a table; what is said of it."""
    path, (spoil, message) = source / "1.parquet", BROKEN[fault]
    if callable(spoil):
        path.write_bytes(spoil(path.read_bytes()))
    else:
        write_parquet(path, ONE | spoil)
    return message


@pytest.mark.parametrize("fault", BROKEN)
def test_a_broken_shard_is_one_clear_line(tmp_path, table, fault):
    source = write_table(tmp_path / "t", table)
    message = damage(source, fault)
    with pytest.raises(ValueError, match=message) as caught:
        solve_files(source, [2], tmp_path / "out")
    assert "1.parquet" in str(caught.value)
    assert "\n" not in str(caught.value)
    assert not (tmp_path / "out").exists()


def test_bad_tables_or_a_missing_package(tmp_path):
    with pytest.raises(RuntimeError, match=r"pip install 'adalib\[scale\]'"):
        need("nosuchmodule")
    with pytest.raises(ValueError, match="there is no such file or folder"):
        open_parquet(tmp_path / "nosuch.parquet")
    with pytest.raises(ValueError, match=r"holds no \.parquet files"):
        open_parquet(tmp_path)
    for columns, message in [
        ({"x": [1.0]}, "has no accuracies"),
        ({"acc_b": [0.5]}, "no increasing costs"),
        ({"acc_2": [0.5], "acc_1": [0.5]}, "no increasing costs"),
        ({"acc_1": [0.5], "acc_2": [0.5], "cost_1": [1.0]}, "for some budgets only"),
        ({"acc_1": np.empty(0)}, "holds no rows"),
    ]:
        write_parquet(tmp_path / "t.parquet", columns)
        with pytest.raises(ValueError, match=message):
            open_parquet(tmp_path / "t.parquet")


@pytest.fixture(scope="module")
def dask():
    """Two workers of one thread each, on loopback; one that dies is replaced."""
    from distributed import LocalCluster

    with LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None
    ) as cluster:
        yield cluster


class WithADeath(Cluster):
    """Kills a worker once the first piece of each kind of work is done."""

    def __init__(self, address):
        super().__init__(address)
        self.address = address
        self.deaths = 0

    def results(self, call, items):
        from distributed import Client

        for number, result in enumerate(super().results(call, items)):
            if number == 0 and len(items) > 2:
                with Client(self.address, set_as_default=False) as client:
                    pids = client.run(os.getpid)
                os.kill(next(iter(pids.values())), signal.SIGKILL)
                self.deaths += 1
            yield result


def test_dask_survives_the_death_of_workers(tmp_path, table, dask):
    source = write_table(tmp_path / "t", table, files=20)
    here = solve_files(source, [1.5, 2.0], tmp_path / "here", machines=Here())
    with WithADeath(dask.scheduler_address) as machines:
        there = solve_files(source, [1.5, 2.0], tmp_path / "there", machines=machines)
        assert machines.deaths == 2  # while sorting and while labelling
    rows = [
        [{**point, "rounds": 0} for point in solved.as_json()["points"]] for solved in (here, there)
    ]
    assert rows[0] == rows[1]
    assert (
        there.points[0].rounds < here.points[0].rounds / 2
    )  # where answers travel far, more prices at once
    assert read_labels(here)[0] == read_labels(there)[0]
    message = damage(source, "out of range")
    with (
        Cluster(dask.scheduler_address) as machines,
        pytest.raises(ValueError, match=rf"1\.parquet, {message}"),
    ):
        solve_files(source, [2], tmp_path / "out", machines=machines)


def test_the_commands_take_a_scheduler(tmp_path, capsys, refused, dask):
    given = ["--scheduler", dask.scheduler_address, "--json"]
    toy = adalib.load("drill-fewshot").take(range(12))
    toy.save(tmp_path / "toy.jsonl")
    words = [
        "table",
        str(tmp_path / "toy.jsonl"),
        "--out",
        str(tmp_path / "t"),
        "--budgets",
        "1,2,4",
    ]
    assert main([*words, *given[:2]]) == 0
    found = []
    for name, more in (
        ("there", ["--budget", "1.5,2", *given]),
        ("here", ["--budget=1.5", "--budget=2", *given[2:]]),
    ):
        capsys.readouterr()
        assert main(["solve", str(tmp_path / "t"), "--out", str(tmp_path / name), *more]) == 0
        found.append(json.loads(capsys.readouterr().out))
    for one, other in zip(*(part["points"] for part in found), strict=True):
        assert {**one, "rounds": 0} == {**other, "rounds": 0}
    refused(
        ["solve", str(tmp_path / "toy.jsonl"), "--budget", "2", *given],
        "--scheduler are for tables in Parquet",
    )


def test_folds_on_machines_change_no_digit(dask):
    answers = adalib.load("drill-fewshot").take(range(24))
    rule = {"margin": TunedRules(PEERS["margin"])}
    options = {"learners": rule, "noises": 1}
    here = adalib.held_out(answers, [2], (1, 2, 4), **options, protocol=adalib.Protocol(folds=2))
    with Cluster(dask.scheduler_address) as machines:
        there = adalib.held_out(
            answers, [2], (1, 2, 4), **options, protocol=adalib.Protocol(folds=2, machines=machines)
        )
    assert as_table(here).equals(as_table(there))


@pytest.mark.parametrize("word", ["solve", "table", "evaluate"])
def test_a_scheduler_that_does_not_answer_is_one_line(tmp_path, monkeypatch, refused, word):
    monkeypatch.setattr("adalib.scale.machines._PATIENCE", 1)
    write_table(tmp_path / "t", np.array([[0.1, 0.2]]), files=1)
    (tmp_path / "a.jsonl").write_text(
        '{"id": "1", "question": "?", "gold": "1", "answers": ["1", "2", "1", "1"]}\n'
    )
    words = {
        "solve": [str(tmp_path / "t"), "--budget", "1", "--out", str(tmp_path / "out")],
        "table": [str(tmp_path / "a.jsonl"), "--out", str(tmp_path / "out"), "--budgets", "1,2"],
        "evaluate": [str(tmp_path / "a.jsonl"), "--targets", "2", "--budgets", "1,2"],
    }
    message = "no scheduler answers at tcp://127.0.0.1:9"
    refused([word, *words[word], "--scheduler", "tcp://127.0.0.1:9"], message)
    assert not (tmp_path / "out").exists()


# From answers to a table.


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
    assert [
        entry for part in line_parts(path, lines) for entry in read_lines(path, part=part)
    ] == whole


@pytest.mark.parametrize("cost", ["samples", "tokens"])
def test_the_table_is_that_of_the_files_read_whole(tmp_path, monkeypatch, cost):
    monkeypatch.setattr(tables, "_LINES", 7)
    files = [
        write_answers(tmp_path / "b.jsonl", range(25), tokens=True),
        write_answers(tmp_path / "a.jsonl.gz", range(25, 60), tokens=True),
    ]
    assert tabulate(files, tmp_path / "t", budgets=(1, 2, 4), cost=cost, machines=InTurn()) == 60
    written = pq.read_table(tmp_path / "t").to_pandas()
    whole = [adalib.load(file).table(budgets=(1, 2, 4), cost=cost) for file in files]
    assert written["id"].tolist() == [name for table in whole for name in table.ids]
    acc = np.concatenate([table.acc for table in whole])
    np.testing.assert_array_equal(written[["acc_1", "acc_2", "acc_4"]], acc)
    if cost == "tokens":
        paid = np.concatenate([table.cost for table in whole])
        np.testing.assert_array_equal(written[["cost_1", "cost_2", "cost_4"]], paid)
    assert open_parquet(tmp_path / "t").rows == 60


def test_an_interrupted_table_is_resumed(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_LINES", 7)
    source = write_answers(tmp_path / "a.jsonl", range(30))
    with pytest.raises(KeyboardInterrupt):
        tabulate([source], tmp_path / "t", budgets=(1, 2), machines=InTurn(3))
    assert not (tmp_path / "t").exists()
    compared = []
    read = tables.from_records
    monkeypatch.setattr(tables, "from_records", lambda *given: compared.append(1) or read(*given))
    assert tabulate([source], tmp_path / "t", budgets=(1, 2), machines=InTurn()) == 30
    assert len(compared) == 2  # of five parts
    assert open_parquet(tmp_path / "t").rows == 30


def test_faults_across_parts_are_found(tmp_path, monkeypatch):
    monkeypatch.setattr(tables, "_LINES", 7)
    one, two = (
        write_answers(tmp_path / "a.jsonl", range(28)),
        write_answers(tmp_path / "b.jsonl", range(27, 40)),
    )
    with pytest.raises(ValueError, match=r"b\.jsonl: id 'q27' is also in .*a\.jsonl"):
        tabulate([one, two], tmp_path / "t", budgets=(1, 2), machines=InTurn())
    more = write_answers(tmp_path / "c.jsonl", range(50, 57), samples=9)
    one.write_bytes(one.read_bytes() + more.read_bytes())
    with pytest.raises(ValueError, match=r"a\.jsonl: has questions with 8 answers and with 9"):
        tabulate([one], tmp_path / "u", budgets=(1, 2), machines=InTurn())
    assert not (tmp_path / "t").exists()


def test_the_commands_from_answers_to_labels(tmp_path, capsys):
    source = write_answers(tmp_path / "a.jsonl", range(40))
    table, out = str(tmp_path / "t"), str(tmp_path / "labels")
    assert main(["table", str(source), "--out", table, "--budgets", "1,2,4"]) == 0
    assert "40 questions" in capsys.readouterr().out
    assert main(["solve", table, "--budget", "1.5,2", "--out", out, "--json"]) == 0
    printed = json.loads(capsys.readouterr().out)
    assert main(["solve", str(source), "--budget", "1.5", "--budgets", "1,2,4", "--json"]) == 0
    whole = json.loads(capsys.readouterr().out)
    (one, two), labels = printed["points"], pq.read_table(out)
    assert (
        dict(zip(labels["id"].to_pylist(), labels["at_1.5"].to_pylist(), strict=True))
        == whole["labels"]
    )
    assert one["lam"] == whole["lam"]
    assert one["split"] == pytest.approx(whole["split"])
    assert two["budget"] == 2
    assert main(["solve", table, "--budget", "2", "--out", str(tmp_path / "plain")]) == 0
    assert "column at_2" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["solve", "TABLE", "--budget", "2"], "--out FOLDER"),
        (["solve", "TABLE", "--budget", "0.5", "--out", "OUT"], "cheapest allocation costs 1"),
        (
            ["solve", "TABLE", "--budget", "2", "--out", "OUT", "--memory", "much"],
            "--memory is 'much'",
        ),
        (
            ["solve", "TABLE", "--budget", "2", "--out", "OUT", "--memory", "100MB"],
            "are too few for",
        ),
        (["solve", "TABLE", "--budget", "2,2", "--out", "OUT"], "not all different"),
        (["solve", "SOURCE", "--budget", "2,3", "--budgets", "1,2"], "tables in Parquet"),
        (["solve", "nosuch.parquet", "--budget", "2", "--out", "OUT"], "no such file"),
        (["table", "nosuch.jsonl", "--out", "OUT"], "no such file"),
        (["table", "SOURCE", "--out", "OUT", "--budgets", "1,200"], "200"),
        (["table", "SOURCE", "--out", "TABLE"], "already exists"),
    ],
)
def test_bad_input_is_one_line(tmp_path, refused, words, message):
    source = write_answers(tmp_path / "a.jsonl", range(5))
    assert main(["table", str(source), "--out", str(tmp_path / "t"), "--budgets", "1,2"]) == 0
    places = {"TABLE": str(tmp_path / "t"), "SOURCE": str(source), "OUT": str(tmp_path / "out")}
    refused([places.get(word, word) for word in words], message)
