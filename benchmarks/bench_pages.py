"""How soon a page of the book can be used in Chromium, and how long it keeps the reader waiting at
a stretch.

Run ``make book``, then ``python benchmarks/bench_pages.py``; with ``--beside FOLDER``, the
``_build/html`` of another build, both are measured in turns in one run and their ratio is printed.
"Ready" is when the load event is over and no task of more than 50 ms has run for half a second;
each figure is the median of the rounds.
"""

from __future__ import annotations

import argparse
import statistics
import sys
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from browser import FLAGS, find_browser

BUILT = Path(__file__).resolve().parents[1] / "_build" / "html"
# From the first moment on: note every task that blocks.
WATCH = """() => {
  window.tasks = [];
  const watch = new PerformanceObserver((list) => tasks.push(...list.getEntries()));
  watch.observe({type: "longtask", buffered: true});
}"""
CALM = """() => new Promise((done) => {
  const look = () => {
    const last = tasks.length ? tasks.at(-1).startTime + tasks.at(-1).duration : 0;
    const begun = performance.getEntriesByType("navigation")[0].loadEventEnd;
    const ready = Math.max(last, begun);
    if (begun && performance.now() - ready > 500)
      done([
        ready,
        Math.max(0, ...tasks.map((task) => task.duration)),
        document.querySelectorAll("*").length,
      ]);
    else setTimeout(look, 50);
  };
  look();
})"""


def measure(chromium: Browser, page: Path) -> tuple[float, float, int]:
    """Milliseconds until the page is ready, those of its longest task, and its DOM nodes before any
    scrolling."""
    context = chromium.new_context(viewport={"width": 1280, "height": 900}, offline=True)
    tab = context.new_page()
    tab.add_init_script(f"({WATCH})()")
    tab.goto(page.as_uri(), wait_until="load")
    found = tab.evaluate(CALM)
    context.close()
    return found


def main() -> None:
    """Print the figures."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--beside", type=Path, help="_build/html of another build")
    parser.add_argument("--rounds", type=int, default=3)
    args = parser.parse_args()
    folders = [BUILT, *([args.beside.resolve()] if args.beside else [])]
    if not (BUILT / "index.html").exists():
        sys.exit("there is no built book: run `make book` first")
    pages = [f"notebooks/{path.name}" for path in sorted((BUILT / "notebooks").glob("*.html"))]
    pages = [
        "book/intro.html",
        *(page for page in pages if all((folder / page).exists() for folder in folders)),
    ]
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for page in pages:
            runs = [
                [measure(chromium, folder / page) for folder in folders] for _ in range(args.rounds)
            ]
            ours, *other = [
                [statistics.median(part) for part in zip(*run, strict=True)]
                for run in zip(*runs, strict=True)
            ]
            line = (
                f"{page:<35} ready after {ours[0]:6.0f} ms, longest task {ours[1]:5.0f} ms, "
                f"{ours[2]:6.0f} nodes"
            )
            for ready, longest, nodes in other:
                line += (
                    f"; beside it {ready:6.0f} ms, {longest:5.0f} ms, {nodes:6.0f}: "
                    f"{ours[0] / ready:.2f} of it"
                )
            print(line)
        chromium.close()


if __name__ == "__main__":
    main()
