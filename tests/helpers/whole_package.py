"""The heart of the package, run once from end to end; prints its numbers as JSON. Needs the package
alone.

``python whole_package.py FOLDER`` runs it as it is, on any system (``.ci/laptop`` does). With
``bare`` behind the folder it first takes away what Windows, macOS or a browser may lack: some
modules, XGBoost, threads, and the start of processes.
"""

from __future__ import annotations

import contextlib
import io
import json
import os
import sys
import threading
from importlib.abc import MetaPathFinder
from pathlib import Path

LACKING = {"resource", "fcntl", "termios", "pwd", "grp", "xgboost"}
LACKING |= {"pyarrow", "dask", "distributed", "myst_nb", "starlette", "uvicorn"}  # optional ones
STARTS = {f"os.{name}" for name in ("fork", "forkpty", "posix_spawn", "spawn", "system", "exec")}
STARTS |= {"subprocess.Popen"}


class Blocked(MetaPathFinder):
    """Finds nothing where a system would have nothing."""

    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] in LACKING:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


def forbid(event, _):
    if event in STARTS:
        raise RuntimeError(f"a process is started: {event}")


def no_thread(self):
    raise RuntimeError("can't start new thread")


def strip():
    """Take away what other systems may lack."""
    for name in LACKING & set(sys.modules):
        del sys.modules[name]
    sys.meta_path.insert(0, Blocked())
    sys.addaudithook(forbid)
    threading.Thread.start = no_thread
    # scikit-learn asks here how many there are.
    os.environ |= {"OMP_NUM_THREADS": "1", "LOKY_MAX_CPU_COUNT": "1"}


def command(*words):
    """Run a command of the package; what it prints."""
    from adalib.cli import main

    with contextlib.redirect_stdout(io.StringIO()) as printed:
        code = main(words)
    assert code == 0, f"adalib {' '.join(words)} ended with {code}"
    return printed.getvalue()


def core(folder):
    """Load, solve, explore, evaluate, judge, learn, check: the numbers of each."""
    import numpy as np

    import adalib
    from adabook.exercises import checks
    from adalib.datasets.files import write_lines
    from adalib.evaluate.learners import cores
    from adalib.learn import trees

    word = adalib.load("word-fewshot")
    utility = word.table()
    best = adalib.frontier(utility.acc, utility.cost).at(2)
    file, page = folder / "answers.jsonl", folder / "page.html"
    lines = [
        {
            "id": word.ids[i],
            "question": word.questions[i],
            "gold": word.golds[i],
            "answers": list(word.answers[i][:16]),
        }
        for i in range(0, word.n, 12)
    ]
    write_lines(file, lines)
    write_lines(file, lines)  # in the place of one that is there
    solved = json.loads(command("solve", str(file), "--budget", "2", "--json"))
    command("explore", str(file), "--out", str(page))
    # Every budget is a model to train, so two are enough.
    quick = ["--targets", "2", "--budgets", "1,4"]
    judged = json.loads(command("evaluate", str(file), *quick, "--json"))
    rng = np.random.default_rng(0)
    features = rng.random((60, 3))
    curves = np.clip(features[:, :1] * [0.2, 0.6, 1.0], 0, 1)
    learned = adalib.CurvePolicy().fit(features, curves, cost=[1, 2, 4], budget=2)
    labels = adalib.LabelPolicy().fit(features, curves, cost=[1, 2, 4], budget=2)
    with contextlib.redirect_stdout(io.StringIO()):
        checked = checks("oracle")(
            "oracle", lambda acc, cost, lam: (acc - lam * cost).argmax(axis=1)
        )
    return {
        "lam": best.lam,
        "accuracy": best.accuracy,
        "solved": solved["accuracy"],
        "explored": page.stat().st_size > 10_000,
        "rows": {row["policy"]: row["accuracy"] for row in judged["rows"]},
        "same": [adalib.same_answer(r"\frac{1}{2}x", "x/2"), adalib.same_answer("x^2", "2x")],
        "curve error": float(np.abs(learned.curves(features) - curves).mean()),
        "first feature": float(labels.importance().iloc[0]),
        "checked": repr(checked),
        "trees": trees.LIBRARY,
        "cores": cores(),
    }


if __name__ == "__main__":
    if sys.argv[2:] == ["bare"]:
        strip()
    print(json.dumps(core(Path(sys.argv[1]))))
