"""Commands with one extra installed or none: every other library of this environment is hidden."""

import ast
import json
import re
import subprocess
import sys
import tomllib
from importlib.metadata import PackageNotFoundError, distribution, packages_distributions

import httpx
import numpy as np
import pytest
from conftest import ROOT
from packaging.requirements import Requirement
from upstream import Upstream, listening

from adalib import Router, load
from adalib.extras import EXTRAS

OWN = {"adalib", "adabook"}
HEAVY = {"pandas", "scipy", "sklearn", "xgboost", "sympy", "math_verify", "plotly"}

# Runs before adalib does: what is not in the list cannot be imported.
HIDE = """
import sys
from importlib.machinery import PathFinder
hidden = set({hidden!r})
class Hide(PathFinder):
    @classmethod
    def find_spec(cls, name, path=None, target=None):
        if name.partition(".")[0] not in hidden:
            return super().find_spec(name, path, target)
sys.meta_path[:] = [Hide if finder is PathFinder else finder for finder in sys.meta_path]
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


def lean(extra, *words):
    """Return the words that run a command with the libraries of one extra alone, "" for none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    brought = project["optional-dependencies"][extra] if extra else []
    allowed = installed_with([*project["dependencies"], *brought])
    hidden = sorted(
        module
        for module, names in packages_distributions().items()
        if module not in OWN and not {canonical(name) for name in names} & allowed
    )
    return [sys.executable, "-c", HIDE.format(hidden=hidden, words=list(words))]


def run(extra, command, **places):
    """Run a command with the libraries of one extra, with paths for its words in capitals."""
    words = [str(places.get(word, word)) for word in command.split()]
    return subprocess.run(lean(extra, *words), capture_output=True, text=True, cwd=ROOT)


def test_a_vote_is_served(tmp_path):
    few = load("word-fewshot").take(range(0, 372, 12))
    Router.fit(few, budget=3).save(tmp_path / "router")
    upstream = Upstream()
    with listening(upstream.app()) as address:
        words = ["serve", str(tmp_path / "router"), "--upstream", address]
        command = lean("serve", *words, "--model", "m", "--port", "0")
        assert all(f"'{module}'" in command[-1] for module in HEAVY)
        process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            url = process.stderr.readline().split(" at ")[1].split(",")[0]
            body = {"model": "m", "messages": [{"role": "user", "content": "What is 3 + 4?"}]}
            reply = httpx.post(f"{url}/chat/completions", json=body, timeout=60)
            vote = reply.json()["adalib"]
        finally:
            process.terminate()
            process.communicate(timeout=60)
    assert vote["answer"] == "7"
    assert vote["answers"] == len(upstream.seen)


NEEDS = {
    "evaluate word-fewshot": "learn",
    "fit word-fewshot --budget 3 --out OUT": "learn",
    "solve FORMULAS --budget 2 --budgets 1,2": "math",
    "collect word --out OUT --base-url http://127.0.0.1:9/v1 --model m": "client",
    "serve OUT --upstream http://127.0.0.1:9/v1 --model m": "serve",
}


@pytest.mark.parametrize(
    ("installed", "command"),
    [
        *(("", command) for command in NEEDS),
        *(
            (extra, "serve OUT --upstream http://127.0.0.1:9/v1 --model m")
            for extra in ("learn", "math", "client")
        ),
        ("learn", "collect word --out OUT --base-url http://127.0.0.1:9/v1 --model m"),
        ("serve", "evaluate word-fewshot"),
    ],
)
def test_a_command_names_the_extra_that_it_misses(tmp_path, installed, command):
    file = tmp_path / "formulas.jsonl"
    line = {"id": "1", "question": "?", "gold": "2", "answers": [r"\sqrt{4}", "2", "x^2"]}
    file.write_text(json.dumps(line) + "\n")
    done = run(installed, command, FORMULAS=file, OUT=tmp_path / "out")
    assert done.returncode == 2
    wanted = f"adalib-book[{NEEDS[command]}] @ {ROOT.as_uri()}"  # no index has the name
    assert f"run pip install '{wanted}'" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize(
    ("installed", "command"),
    [
        ("", "solve NUMBERS --budget 2"),
        ("", "explore NUMBERS --out OUT"),
        ("learn", "fit NUMBERS --budget 3 --signals votes --out OUT"),
    ],
)
def test_what_an_extra_is_enough_for(tmp_path, installed, command):
    drawn = np.random.default_rng(0).integers(1, 4, (200, 16)).astype(str).tolist()
    lines = [
        {"id": str(number), "question": "?", "gold": "1", "answers": row}
        for number, row in enumerate(drawn)
    ]
    text = "".join(json.dumps(line) + "\n" for line in lines)
    (tmp_path / "numbers.jsonl").write_text(text)
    done = run(installed, command, NUMBERS=tmp_path / "numbers.jsonl", OUT=tmp_path / "out")
    assert (done.returncode, done.stderr) == (0, "")


def test_every_library_that_the_package_imports_is_declared():
    """Each is a dependency, or an extra that a message can name brings it."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    declared = {
        extra: installed_with(texts) if extra in ("math", "notebooks") else names_of(texts)
        for extra, texts in extras.items()
    }
    base = names_of(project["dependencies"])
    brought_by = packages_distributions()
    for file in sorted((ROOT / "adalib").rglob("*.py")):
        for module in imported(ast.parse(file.read_text(encoding="utf-8"))):
            names = {canonical(name) for name in brought_by.get(module, ())}
            if module in sys.stdlib_module_names or names & base or module in OWN:
                continue
            extra = EXTRAS.get(module)
            where = f"{file.name} imports {module}"
            assert extra or file.name in PAGES, where
            assert names & (declared[extra] if extra else set().union(*declared.values())), where


def names_of(requirements):
    """The names of the distributions that are asked for themselves."""
    return {canonical(Requirement(text).name) for text in requirements}


PAGES = {"widget.py"}  # what only a notebook shows


def imported(tree):
    """The top modules that a file imports, but for its annotations."""
    for node in ast.walk(tree):
        if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
            node.body = []
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and not node.level:
            yield node.module.partition(".")[0]
