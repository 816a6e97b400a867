"""A router folder is data: loading one imports, compiles and runs nothing that it names."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from fault_server import FaultServer

from adalib import Router, load
from adalib.datasets.sealed import seal

EVIL = "from pathlib import Path\nPath({marker!r}).write_text('ran')\ndef f(text): return '7'\n"
KINDS = ["python:gift.evil:f", "regex:(?:a|a)+b"]


@pytest.fixture(scope="module")
def honest(tmp_path_factory):
    path = tmp_path_factory.mktemp("honest")
    few = load("word-fewshot").take(range(0, 372, 12))
    Router.fit(few, budget=3, signals=("votes",)).save(path)
    return path


@pytest.fixture
def gift(honest, tmp_path):
    """A folder with a router, changed by make(kind), and a module that leaves a mark when it
    runs."""
    (tmp_path / "gift").mkdir()
    (tmp_path / "gift" / "__init__.py").write_text("")
    (tmp_path / "gift" / "evil.py").write_text(EVIL.format(marker=str(tmp_path / "mark")))
    question = {"id": "a", "question": "What is 3 + 4?", "gold": "7"}
    (tmp_path / "questions.jsonl").write_text(json.dumps(question) + "\n")
    for file in honest.iterdir():
        (tmp_path / file.name).write_bytes(file.read_bytes())
    yield tmp_path
    assert not (tmp_path / "mark").exists()


def wrap(folder: Path, kind: str) -> None:
    """Write the kind into the router, with a checksum that is right."""
    about = json.loads((folder / "router.json").read_text())
    about["kind"] = kind
    (folder / "router.json").write_text(json.dumps(seal([about])[0]) + "\n")


SCRIPT = "import sys; from adalib.cli import main; sys.exit(main())"


def command(folder: Path, way: str, *words: str, **more) -> subprocess.Popen:
    """Run adalib in the folder of the gift, where Python finds the module that it names."""
    # The console script is two lines that an installation writes: these.
    program = ["-m", "adalib"] if way == "module" else ["-c", SCRIPT]
    root = Path(__file__).parents[2]
    path = os.pathsep.join([str(folder), str(root), os.environ.get("PYTHONPATH", "")])
    return subprocess.Popen(
        [sys.executable, *program, *words],
        cwd=folder,
        env=os.environ | {"PYTHONPATH": path},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        **more,
    )


@pytest.mark.parametrize("kind", KINDS)
def test_load(gift, kind, monkeypatch):
    monkeypatch.syspath_prepend(gift)
    wrap(gift, kind)
    word = kind.partition(":")[0]
    assert Router.load(gift).kind == word
    assert "gift" not in sys.modules


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("way", ["module", "script"])
@pytest.mark.parametrize("word", ["route", "serve"])
def test_commands_name_the_option(gift, kind, way, word):
    wrap(gift, kind)
    nobody = "http://127.0.0.1:9/v1"
    words = {
        "route": ["route", ".", "questions.jsonl", "--out", "out", "--base-url", nobody],
        "serve": ["serve", ".", "--upstream", nobody, "--port", "0"],
    }[word]
    process = command(gift, way, *words, "--model", "m")
    out, err = process.communicate(timeout=120)
    assert (process.returncode, out) == (2, "")
    assert f"give --kind {kind.partition(':')[0]}:" in err
    assert err.count("\n") == 1


@pytest.mark.parametrize("kind", KINDS)
def test_reload_goes_on_with_the_router_of_before(gift, kind):
    with FaultServer() as upstream:
        words = ["serve", ".", "--upstream", upstream.url, "--port", "0", "--model", "m"]
        process = command(gift, "module", *words)
        try:
            assert "listens at" in process.stdout.readline()
            wrap(gift, kind)
            time.sleep(0.5)  # uvicorn may still be starting
            process.send_signal(signal.SIGHUP)
            assert "give --kind" in process.stderr.readline()
            assert process.poll() is None
        finally:
            process.kill()
            process.communicate()


def test_the_users_own_kind_still_runs(gift):
    wrap(gift, "regex:ignored")
    with FaultServer(text="The total is 7 apples") as upstream:
        words = ["route", ".", "questions.jsonl", "--out", "out", "--base-url", upstream.url]
        process = command(gift, "module", *words, "--model", "m", "--kind", r"regex:is (\d+)")
        _, err = process.communicate(timeout=120)
    assert process.returncode == 0, err
    assert json.loads((gift / "out" / "routed.jsonl").read_text())["answer"] == "7"
