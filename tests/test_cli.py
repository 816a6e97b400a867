"""The commands: the promised JSON, and one clear line for bad input."""

import json
import os
import pty
import re
import signal
import subprocess
import sys
import tomllib
from dataclasses import replace
from html import escape
from pathlib import Path

import numpy as np
import pytest
from conftest import ROOT
from fault_server import FaultServer

import adalib
from adalib import cli
from adalib.cli import main
from adalib.datasets.populations import beta_population
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.verdict import reasons, summary, verdict
from adalib.explorer import read_csv
from adalib.extras import EXTRAS, install_words
from adalib.learn.curve_policy import CurvePolicy
from adalib.sequential.rounds import best_rounds

COMMANDS = ("batch", "collect", "convert", "evaluate", "explore", "fit", "serve", "solve")
KEYS = ["policy", "kind", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain"]
KEYS += ["gain_low", "gain_high"]
SECRET = "sk-proj-not-to-be-seen"


@pytest.fixture(scope="module")
def answers():
    """Thirty questions of three kinds with sixteen answers, their tokens and odd content."""
    sampled = beta_population(30, 2, 1).sample(16)
    rows = [list(row) for row in sampled.answers]
    rows[0] = [""] * 16  # nothing was read out of its texts
    rows[1][0] = "七 \u202e\x1b[2J"
    return replace(
        sampled,
        ids=[f"q{i} ✓" for i in range(30)],
        questions=['<script>"x"</script>', "", *(f"多少 {i}?" for i in range(28))],
        answers=rows,
        tokens=np.random.default_rng(1).integers(20, 200, (30, 16)),
        extras={"family": [f"f{i // 3}" for i in range(30)]},
    )


@pytest.fixture
def file(answers, tmp_path):
    path = tmp_path / "mine.jsonl"
    answers.save(path)
    return str(path)


@pytest.fixture(scope="module")
def rows(answers):
    """Rows as `compare` returns them; the policies do not matter, but their names do."""
    learners = {"curve": CurvePolicy(), "race": CurvePolicy()}
    return held_out(
        answers, [2, 3], (1, 4, 8), learners=learners, noises=1, protocol=Protocol(folds=2)
    )


def printed(capsys, *words):
    """What a command prints, which is one JSON object, and its notes."""
    code = main([*words, "--json"])
    shown = capsys.readouterr()
    assert code == 0, shown.err
    assert shown.out.count("\n") == 1
    return json.loads(shown.out), shown.err


@pytest.mark.parametrize(
    ("budget", "more"),
    [("1.23", {}), ("300", {"estimator": "windows", "ties": "first", "cost": "tokens"})],
)
def test_solve_prints_the_exact_solution(file, capsys, budget, more):
    words = [word for name, value in more.items() for word in (f"--{name}", value)]
    found, notes = printed(capsys, "solve", file, "--budget", budget, "--budgets", "1,3,5", *words)
    assert notes == ""
    table = adalib.load(file).table((1, 3, 5), **more)
    best = adalib.frontier(table).at(float(budget))
    numbers = ("budget", "lam", "cost", "accuracy", "bound", "slack")
    assert list(found) == [*numbers, "labels", "split"]
    assert [found[name] for name in numbers] == [getattr(best, name) for name in numbers]
    labels = [table.budgets[column] for column in best.labels]
    assert found["labels"] == dict(zip(table.ids, labels, strict=True))
    row, low, high, share = best.split
    split = {"id": table.ids[row], "low": table.budgets[low], "high": table.budgets[high]}
    assert found["split"] == {**split, "share": share}


PRICES = ("--cost", "dollars", "--prices", "0.5,2")


def test_dollars_are_printed_beside_answers(answers, rows, tmp_path, capsys, monkeypatch):
    billed = replace(answers, extras={**answers.extras, "prompt_tokens": [50] * 30})
    path = tmp_path / "billed.jsonl"
    billed.save(path)
    prices = adalib.Prices(0.5, 2)
    table = billed.table((1, 4), cost=prices)
    budget = float(table.cost[:, 1].mean() / 2)
    words = ["solve", str(path), "--budgets", "1,4", "--budget", str(budget), *PRICES]
    best = adalib.frontier(table).at(budget)
    assert printed(capsys, *words)[0]["cost"] == best.cost
    assert main(words) == 0
    bought = np.take([1, 4], best.labels).mean()
    assert f"answers   {bought:<12.6g}" in capsys.readouterr().out
    monkeypatch.setattr("adalib.evaluate.evaluation.compare", lambda *_, **__: rows)
    assert main(["evaluate", str(path), *PRICES]) == 0
    shown = capsys.readouterr().out
    (best_row, *_) = summary(verdict(rows), float(billed.answer_costs(prices).mean())).to_dict(
        "records"
    )
    assert best_row["$ per 1,000"] in shown
    out = str(tmp_path / "router")
    dollars = 2 * billed.answer_costs(prices).mean()
    assert main(["fit", str(path), "--budget", str(dollars), *PRICES, "--out", out]) == 0
    told = capsys.readouterr().out
    assert f"{2 * billed.tokens.mean():.0f} of them cost ${dollars:g}" in told
    assert adalib.Router.load(out).controller.budget == pytest.approx(2 * billed.tokens.mean())


def test_a_report_is_a_page_with_the_verdict(file, rows, tmp_path, capsys, monkeypatch):
    monkeypatch.setattr("adalib.evaluate.evaluation.compare", lambda *_, **__: rows)
    page = tmp_path / "page.html"
    assert main(["evaluate", file, "--report", str(page)]) == 0
    assert f"wrote {page}" in capsys.readouterr().out
    html = page.read_text(encoding="utf-8")
    for text in (str(verdict(rows)), reasons(verdict(rows)), "30 questions with 16 samples"):
        assert escape(text) in html
    assert main(["evaluate", file, "--report", str(page), "--worth", "1"]) == 2
    assert "--cost dollars" in capsys.readouterr().err


@pytest.mark.parametrize(
    "more", [["--cost", "dollars"], ["--prices", "1,2"], ["--cost", "dollars", "--prices", "1"]]
)
def test_dollars_need_two_prices(file, capsys, more):
    for words in (["evaluate"], ["solve", "--budget", "1"]):
        assert main([*words, file, *more]) == 2
        assert "--cost dollars --prices INPUT,OUTPUT" in capsys.readouterr().err
    assert main(["evaluate", file, *PRICES]) == 2
    assert "has no prompt_tokens" in capsys.readouterr().err


def test_solve_offers_the_budgets_that_the_file_can_fill(file, capsys):
    words = ["solve", file, "--budget", "3", "--budgets"]
    found, notes = printed(capsys, *words, "1,4,99")
    assert "16 answers" in notes
    assert found == printed(capsys, *words, "1,4")[0]


def test_solve_reads_a_table_of_accuracies(tmp_path, capsys):
    path = tmp_path / "mine.csv"
    path.write_text("id,1,2\nq\x1b[2J,0.1,0.9\nr,0.5,0.5\n", encoding="utf-8")
    found, _ = printed(capsys, "solve", str(path), "--budget", "1.5")
    table = read_csv(path)
    best = adalib.frontier(table.acc, table.cost).at(1.5)
    assert (found["cost"], found["accuracy"]) == (best.cost, best.accuracy)
    assert main(["solve", str(path), "--budget", "1.2"]) == 0
    text = capsys.readouterr().out
    assert "2 of 2 questions" in text
    assert "\x1b" not in text  # an id may hold codes that control a terminal


def test_evaluate_prints_the_rows_of_compare(file, rows, capsys, monkeypatch):
    asked = []

    def recorded(*given, **options):
        asked.append((given[1:], options))
        return rows

    monkeypatch.setattr("adalib.evaluate.evaluation.compare", recorded)
    more = ["--targets", "2,3", "--budgets", "1,4,8", "--cost", "tokens", "--groups", "family"]
    found, notes = printed(capsys, "evaluate", file, *more)
    options = {"cost": "tokens", "groups": "family", "policies": {}}
    assert asked == [(((2, 3), (1, 4, 8)), options)]
    assert notes == ""
    told = verdict(rows)
    assert list(found) == ["rows", "verdict", "word", "why"]
    assert found["word"] == told.word
    assert (found["verdict"], found["why"]) == (str(told), reasons(told))
    for row, shown in zip(rows, found["rows"], strict=True):
        assert list(shown) == [*KEYS, "waiting"] if row.policy == "race" else KEYS
        assert all(shown[name] == getattr(row, name) for name in shown)


OWN = """
from dataclasses import dataclass  # a class of another module is no policy
from collections import Counter
class Base:
    def fit(self, answers):
        self.taught = answers.n
class TwoAlike(Base):
    def more(self, seen):
        return max(Counter(one.answer for one in seen).values()) < 2
"""


def test_a_file_with_a_policy_is_a_row_under_its_class_name(file, capsys, tmp_path, monkeypatch):
    monkeypatch.setattr("adalib.evaluate.compare.planning_policies", dict)  # they take seconds
    path = tmp_path / "mine.py"
    path.write_text(OWN, encoding="utf-8")
    words = ["evaluate", file, "--targets", "2", "--budgets", "1,4", "--policy"]
    found, _ = printed(capsys, *words, str(path))
    (row,) = [row for row in found["rows"] if row["policy"] == "TwoAlike"]
    assert row["kind"] == "watches"
    assert 2 <= row["cost"] <= 8
    path.write_text("class Base:\n    pass\n", encoding="utf-8")
    assert main([*words, str(path)]) == 2
    assert "mine.py: has no policy; write a class" in capsys.readouterr().err
    path.write_text(OWN, encoding="utf-8")
    assert main([*words, str(path), "--policy", str(path)]) == 2
    assert "second policy TwoAlike" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("code", "line"),
    [
        ("class Broken(:\n    pass\n", "line 1: SyntaxError"),
        (OWN.replace("< 2", "< two"), "line 9: NameError: name 'two'"),
        (OWN.replace("answers.n", "int('many')"), "line 6: ValueError: invalid literal"),
    ],
)
def test_a_mistake_in_a_policy_is_named_with_its_line(file, capsys, tmp_path, code, line):
    path = tmp_path / "mine.py"
    path.write_text(code, encoding="utf-8")
    assert main(["evaluate", file, "--budgets", "1,4", "--policy", str(path)]) == 2
    assert f"adalib: {path}, {line}" in capsys.readouterr().err


def test_evaluate_shows_the_verdict_first_and_every_policy_if_asked(
    file, rows, capsys, monkeypatch
):
    monkeypatch.setattr("adalib.evaluate.evaluation.compare", lambda *_, **__: rows)
    assert main(["evaluate", file]) == 0
    short = capsys.readouterr().out
    first, _, rest = short.partition("\n\n")
    assert " ".join(first.split()) == str(verdict(rows))
    assert reasons(verdict(rows))[:40] not in rest
    assert "30 questions with 16 samples" in short
    assert "adalib explore" in short or "adalib fit" in short
    assert main(["evaluate", file, "--why"]) == 0
    assert reasons(verdict(rows)) in " ".join(capsys.readouterr().out.split())
    assert main(["evaluate", file, "--all"]) == 0
    every = capsys.readouterr().out
    assert {row.policy for row in rows} <= set(re.findall(r"^ *(\w+)", every, re.MULTILINE))


def test_explore_writes_a_page_with_costs_in_tokens_if_asked(file, tmp_path):
    page = tmp_path / "page.html"
    # A page of ours is written again.
    for more, unit in ((["--cost", "tokens"], "tokens"), ([], "answers")):
        assert main(["explore", file, "--out", str(page), *more]) == 0
        html = page.read_text(encoding="utf-8")
        assert re.search(r'"unit": ?"(\w+)"', html)[1] == unit
        assert '<script>"x"</script>' not in html


def test_collect_takes_the_arguments_of_the_function(tmp_path, capsys):
    questions = tmp_path / "questions.jsonl"
    questions.write_text('{"id": 1, "question": "What is 3 + 4?", "gold": 7}')
    out = str(tmp_path / "out")
    with FaultServer() as server:
        words = ["collect", str(questions), "--out", out, "--base-url", server.url, "--model", "m"]
        assert main([*words, "--samples", "2", "--temperature", "none", "--logprobs"]) == 0
    assert str(Path(out, "responses.jsonl")) in capsys.readouterr().out
    assert adalib.load(Path(out, "responses.jsonl")).answers == [["7", "7"]]
    assert "temperature" not in server.seen[0]
    assert server.seen[0]["logprobs"]


def test_fit_saves_a_router_once(file, tmp_path, capsys, refused):
    out = str(tmp_path / "router")
    words = ["fit", file, "--budget", "2.5", "--signals", "votes", "--out", out]
    assert main([*words, "--schedule", "2,4,8"]) == 0
    shown = capsys.readouterr()
    assert "2.5 samples" in shown.out
    assert "30 of 30 questions" in shown.out
    assert "30 questions" in shown.err  # too few
    router = adalib.Router.load(out)
    assert router.controller.budget == 2.5
    assert router.policy.signals == ("votes",)
    assert router.plan("").session.asks == 2
    refused(words, out)


def test_fit_finds_rounds_for_batches(file, tmp_path, capsys, refused):
    out = str(tmp_path / "router")
    words = ["fit", file, "--budget", "2.5", "--signals", "votes", "--rounds", "2"]
    assert main([*words, "--out", out]) == 0
    shown = capsys.readouterr().out
    found = best_rounds(adalib.load(file), 2.5, 2)
    assert f"rounds of {found.schedule[0]}, {found.schedule[1]} answers" in shown
    assert f"adalib batch {out}" in shown
    assert adalib.Router.load(out).policy.schedule.tolist() == list(found.schedule)
    assert found.pays_from == 1 or f"{found.as_right / 5:.0%} of asking one by one" in shown
    refused([*words, "--schedule", "2,4", "--out", "other"], "--schedule")
    refused([*words, "--policy", "race", "--out", "other"], "--rounds")


@pytest.mark.parametrize("word", COMMANDS)
def test_every_command_explains_each_of_its_options(word, capsys):
    assert main([word, "--help"]) == 0
    shown = capsys.readouterr().out
    assert f"adalib {word}" in shown
    assert not re.findall(r"--(?:no|empty)-\w+", shown)
    for argument in cli.app[word].assemble_argument_collection(parse_docstring=True):
        assert argument.parameter.help, argument.name
    assert main(["--help"]) == 0
    assert word in capsys.readouterr().out


RAW = {"id": "1", "question": "?", "gold": "7", "answers": ["So it is 7, I think. " * 30] * 4}
FAULTS = {
    "broken.jsonl": '{"id": "1", "question": "?", "gold": "1", "answers": ["1", "2"]}\n{"id": ',
    "raw.jsonl": json.dumps(RAW),
    "zeros.jsonl": '{"id": 1, "question": "?", "gold": 1, "answers": ["1"], "tokens": [0]}\n',
    "table.csv": "1,2\n0.1,x\n",
}


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("evaluate nosuch.jsonl", "nosuch.jsonl"),
        ("evaluate nosuch", "nosuch"),
        ("evaluate FOLDER", "cannot be read"),
        ("evaluate broken.jsonl", "line 2"),
        ("evaluate raw.jsonl", "extract_answer"),
        ("fit raw.jsonl --budget 2 --out router", "extract_answer"),
        ("evaluate zeros.jsonl --cost tokens", "tokens"),
        ("solve table.csv --budget 1", "table.csv"),
        ("evaluate FILE --targets 0.5", "0.5"),
        ("evaluate FILE --targets nan", "finite"),
        ("evaluate FILE --targets a", "--targets"),
        ("evaluate FILE --budgets 2,1", "budgets"),
        ("evaluate FILE --budgets 1,16", "budgets 1, 16"),
        ("evaluate FILE --groups nosuch", "nosuch"),
        ("evaluate FILE --cost money", "--cost"),
        ("evaluate drill-fewshot --nosuch 1", "--nosuch"),
        ("solve drill-fewshot", "--budget"),
        ("solve drill-fewshot --budget 0.5", "0.5"),
        ("solve drill-fewshot --budget nan", "finite"),
        ("solve drill-fewshot --budget 2 --budgets 200", "200"),
        ("explore FILE --out FILE", "exists already"),
        ("explore FILE --out zeros.jsonl", "zeros.jsonl: exists already and is no page"),
        ("explore FILE --out nosuch/page.html", "nosuch/page.html: cannot be written"),
        ("evaluate FILE --report zeros.jsonl", "zeros.jsonl: exists already and is no page"),
        ("evaluate FILE --policy nosuch.py", "nosuch.py: No such file"),
        ("fit word-fewshot --budget 1000 --out o", "cost 96 samples"),
        ("fit drill-fewshot --budget 2 --signals logprob --out o", "certainty (reads logprob)"),
        ("fit FILE --budget 2 --out FILE", "exists already; remove it, or name another folder"),
        ("explore table.csv --cost tokens", "--cost"),
        ("fit FILE --budget 900 --policy race --schedule 2,4 --out o", "--schedule"),
        ("fit FILE --budget 2 --schedule 4,2 --out o", "schedule"),
        ("serve nosuch --upstream http://x/v1 --model m --port 99999", "99999"),
        ("serve nosuch --upstream x --model m", "upstream"),
        ("serve nosuch --upstream http://x/v1 --model m", "router.json"),
        ("collect nosuch --out o --base-url u --model m", "nosuch"),
        ("batch nosuch word --out o --model m", "router.json"),
        ("batch nosuch word --out o --model m --most-dollars 3", "--prices"),
        ("batch nosuch word --out o --model m --prices 1", "give those of the prompt"),
        ("nosuch FILE", "nosuch"),
        (f"solve drill-fewshot --budget 2 --key {SECRET}", "--key"),
    ],
)
def test_bad_input_is_one_line(words, message, file, tmp_path, monkeypatch, refused):
    monkeypatch.chdir(tmp_path)
    for name, text in FAULTS.items():
        Path(name).write_text(text, encoding="utf-8")
    places = {"FILE": file, "FOLDER": str(tmp_path)}
    line = refused([places.get(word, word) for word in words.split()], message)
    assert SECRET not in line


def test_a_missing_library_names_its_extra(refused, monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    for name in [name for name in sys.modules if name.startswith("adalib.evaluate.")]:
        monkeypatch.delitem(sys.modules, name)  # what is loaded is not asked for again
    refused(["evaluate", "drill-fewshot"], "adalib-book[learn]")


def test_nobody_is_sent_to_an_index_for_an_extra(monkeypatch):
    """No index has the name; a copy that was not installed does not know where it came from."""
    monkeypatch.setattr("adalib.extras.distributions", lambda name: [])
    assert "adalib-book[learn] @ file:" in install_words("learn")


def test_a_missing_library_names_its_extra_in_python_too(monkeypatch):
    monkeypatch.setitem(sys.modules, "anywidget", None)
    monkeypatch.delitem(sys.modules, "adalib.explorer.widget", raising=False)
    monkeypatch.delitem(vars(adalib), "explore", raising=False)
    with pytest.raises(ModuleNotFoundError, match=r"adalib\.explore: .*adalib-book\[notebooks\]"):
        _ = adalib.explore


@pytest.mark.parametrize("words", [["solve", "--budget", "3", "--json"], ["solve", "--help"]])
def test_a_full_disk_is_one_line(words):
    command = [sys.executable, "-m", "adalib", words[0], "word-fewshot", *words[1:]]
    with open("/dev/full", "w") as full:
        buffered = {**os.environ, "PYTHONUNBUFFERED": ""}
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, text=True, env=buffered)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert "standard output: No space left" in done.stderr


def test_every_extra_that_is_named_is_there():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    assert set(EXTRAS.values()) <= set(project["optional-dependencies"])


def test_the_module_is_a_program():
    for words, code in ((["--version"], 0), (["solve", "nosuch", "--budget", "2"], 2)):
        command = [sys.executable, "-m", "adalib", *words]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == code
        assert (adalib.__version__ in done.stdout) == (code == 0)


@pytest.fixture
def _heard():
    """A shell lets what it runs in the background ignore Ctrl-C, and programs inherit that."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("_heard")
def test_evaluate_shows_progress_on_a_terminal_and_can_be_interrupted():
    command = [sys.executable, "-m", "adalib", "evaluate", "gsm8k", "--json"]
    ours, theirs = pty.openpty()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=theirs) as process:
        os.close(theirs)
        shown = b""
        with open(ours, "rb", buffering=0) as terminal:
            while b"evaluating" not in shown:
                shown += terminal.read(1024)
            process.send_signal(signal.SIGINT)
            # The terminal stays open until the program has ended.
            assert process.wait() == 130
            while b"stopped" not in shown:
                shown += terminal.read(1024)
        assert process.stdout.read() == b""


@pytest.mark.usefixtures("_heard")
def test_an_interrupted_program_ends_though_a_thread_works_on_and_the_terminal_is_gone():
    program = (
        "import signal, threading; from adalib import cli; "
        "threading.Thread(target=threading.Event().wait).start(); "
        "cli.main = lambda: signal.raise_signal(signal.SIGINT); cli.run()"
    )
    command = [sys.executable, "-c", program]
    gone, stderr = os.pipe()
    os.close(gone)
    assert subprocess.run(command, stderr=stderr).returncode == 130
    os.close(stderr)
