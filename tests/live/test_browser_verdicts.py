"""The checks say the same in a browser: every solution, and another road to functions and proofs,
judged by Pyodide."""

from __future__ import annotations

import functools
import http.server
import json
import shutil
import threading

import nbformat
import pytest
from conftest import ROOT, live_cells

import contents
from adabook.exercises import JUDGED, value_exercises
from adabook.exercises.behaviour import HOLDS
from editions import pyodide

CODE = ("tests/helpers/verdicts_in_browser.py", "tests/helpers/roads.py")
# The worker of the book's pages runs one cell; the page keeps what the worker posts.
START = """([base, cell]) => {
  window.posted = [];
  const worker = new Worker("live-worker.js", { type: "module" });
  worker.onmessage = ({ data }) => data.kind !== "loading" && window.posted.push(data);
  const first = ["numpy", "lazy_loader", "adalib"];
  worker.postMessage({ kind: "start", base: `${base}/_live/`, code: "live.py", first });
  worker.postMessage({ kind: "run", at: 0, all: false, cells: [[cell, false, false]] });
}"""
ENDED = '() => window.posted.some((one) => one.kind === "done" || one.kind === "broken")'


@pytest.fixture
def served(tmp_path):
    """The address of an empty page with this package and Python beside it."""
    try:
        pyodide.write_live(ROOT, ROOT / ".cache" / "pyodide", tmp_path / "_live")
    except RuntimeError as error:
        pytest.fail(str(error), pytrace=False)
    for name in ("live-worker.js", "live.py"):
        shutil.copy(ROOT / "book" / "_static" / name, tmp_path)
    (tmp_path / "index.html").write_text("<!doctype html><title>Exercises</title>")
    handler = functools.partial(http.server.SimpleHTTPRequestHandler, directory=str(tmp_path))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{server.server_port}"
        server.shutdown()
        thread.join()


def is_live(page) -> bool:
    """Whether a chapter has exercises and runs in its page; trees of XGBoost do not."""
    has_exercises = page.key in {*value_exercises(), *(chapter for chapter, _ in JUDGED)}
    metadata = nbformat.read(page.path, as_version=4).metadata if has_exercises else {}
    return has_exercises and metadata.get("adalib", {}).get("live", True)


def cell_to_run() -> str:
    """All code as one cell: the roads, the chapters, and the call that judges them."""
    chapters = {page.key: live_cells(page.path) for page in contents.pages() if is_live(page)}
    future = "from __future__ import annotations\n"
    code = "".join((ROOT / path).read_text(encoding="utf-8").replace(future, "") for path in CODE)
    return f"{future}{code}\nreport(json.loads({json.dumps(chapters)!r}), ROADS)\n"


@pytest.mark.timeout(3600)  # some minutes where the machine has nothing else to do
def test_verdicts_are_those_of_other_platforms(served, new_page):
    page = new_page()
    page.goto(served)
    page.evaluate(START, [served, cell_to_run()])
    page.wait_for_function(ENDED, polling=1000, timeout=3_300_000)
    posted = page.evaluate("() => window.posted")
    shown = "".join(one["text"] for one in posted if one["kind"] == "shown")
    assert posted[-1]["kind"] == "done", posted[-1]
    assert "failed" not in posted[-1], shown[-2000:]
    verdicts = [json.loads(line) for line in shown.splitlines() if line.startswith('["')]
    well = ("right.", HOLDS)
    differing = [" / ".join(verdict) for verdict in verdicts if verdict[3] not in well]
    assert not differing, "\n".join(differing)
    wanted = {
        *JUDGED,
        *(
            (chapter, name)
            for chapter, exercises in value_exercises().items()
            for name in exercises
        ),
    }
    live = {page.key for page in contents.pages() if is_live(page)}
    judged = {"solution": set(), "other road": set()}
    for kind, chapter, name, _ in verdicts:
        judged[kind].add((chapter, name))
    assert judged["other road"] == set(JUDGED)
    assert judged["solution"] == {one for one in wanted if one[0] in live}
