"""The server with nothing installed but adalib[serve]: every other library of this environment is
hidden from it."""

import json
import re
import subprocess
import sys
import tomllib
import urllib.request
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from upstream import Upstream, listening

from adalib import Router, load

HEAVY = {"pandas", "scipy", "sklearn", "xgboost", "sympy", "math_verify", "plotly"}

# Runs before adalib does: what is not in the list cannot be imported.
HIDE = """
import sys
hidden = set({hidden!r})
class Hide:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in hidden:
            raise ModuleNotFoundError(f"No module named {{name!r}}", name=name)
sys.meta_path.insert(0, Hide())
sys.argv = ["adalib", *{words!r}]
from adalib.cli import main
sys.exit(main())
"""


def canonical(name):
    return re.sub(r"[-_.]+", "-", name).lower()


def installed_with(requirements):
    """The names of all distributions that pip would install for these requirements."""
    found, open_ = set(), [Requirement(text) for text in requirements]
    while open_:
        requirement = open_.pop()
        name = canonical(requirement.name)
        extras = requirement.extras or {""}
        if name in found or (requirement.marker and not requirement.marker.evaluate()):
            continue
        try:
            needs = distribution(name).requires or []
        except PackageNotFoundError:  # optional here, such as google-re2
            continue
        found.add(name)
        for inner in map(Requirement, needs):
            marker = inner.marker
            if marker is None or any(marker.evaluate({"extra": extra}) for extra in extras):
                open_.append(inner)
    return found


@pytest.fixture(scope="module")
def lean():
    """A function that gives the words of a command with only the libraries of adalib[serve]."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    allowed = installed_with([*project["dependencies"], *project["optional-dependencies"]["serve"]])
    hidden = sorted(
        module
        for module, names in packages_distributions().items()
        if not {canonical(name) for name in names} & (allowed | {"adalib"})
    )
    assert set(hidden) >= HEAVY
    return lambda *words: [sys.executable, "-c", HIDE.format(hidden=hidden, words=list(words))]


def test_a_vote_is_served(tmp_path, lean):
    few = load("word-fewshot").take(range(0, 372, 12))
    Router.fit(few, budget=3).save(tmp_path / "router")
    upstream = Upstream()
    with listening(upstream.app()) as address:
        words = ["serve", str(tmp_path / "router"), "--upstream", address]
        command = lean(*words, "--model", "m", "--port", "0")
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            url = process.stderr.readline().split(" at ")[1].split(",")[0]
            body = {"model": "m", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}
            request = urllib.request.Request(
                f"{url}/chat/completions",
                json.dumps(body).encode(),
                {"Content-Type": "application/json"},
            )
            with urllib.request.urlopen(request, timeout=60) as reply:
                vote = json.load(reply)["adalib"]
        finally:
            process.terminate()
            process.communicate(timeout=60)
    assert vote["answer"] == "7"
    assert vote["answers"] == len(upstream.seen)


@pytest.mark.parametrize(
    ("words", "extra"),
    [
        (["evaluate", "word-fewshot"], "learn"),
        (["solve", "FORMULAS", "--budget", "2", "--budgets", "1,2"], "math"),
    ],
)
def test_a_command_names_the_extra_that_it_misses(tmp_path, lean, words, extra):
    file = tmp_path / "formulas.jsonl"
    line = {"id": "1", "question": "?", "gold": "2", "answers": [r"\sqrt{4}", "2", "x^2"]}
    file.write_text(json.dumps(line) + "\n")
    command = lean(*(str(file) if word == "FORMULAS" else word for word in words))
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT)
    assert done.returncode == 2
    assert f"run pip install 'adalib[{extra}]'" in done.stderr
    assert done.stderr.count("\n") == 1
