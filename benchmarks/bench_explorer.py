"""How fast one slider move is in Chromium, all panels redrawn, and how heavy the front end is.

Run ``python benchmarks/bench_explorer.py``. Script time is the time in the slider's input handler,
in which every panel is redrawn; the browser's layout afterwards is forced and timed as well.
Medians over 120 moves across all prices.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import numpy as np
from playwright.sync_api import sync_playwright

from adalib.explorer import page, setting
from adalib.explorer.static import script, style
from adalib.table import UtilityTable

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "helpers"))
from browser import FLAGS, find_browser

LIMITS = {2_000: 16.0, 20_000: 100.0}  # milliseconds
MOVES = """() => {
  const slider = document.querySelector("[data-control=lambda]");
  const times = [];
  for (let move = 0; move < 120; move++) {
    slider.value = (move * 149) % 401;
    const start = performance.now();
    slider.dispatchEvent(new Event("input"));
    const scripted = performance.now();
    document.documentElement.getBoundingClientRect();
    times.push([scripted - start, performance.now() - start]);
  }
  return times;
}"""


def table(n: int, seed: int = 0) -> UtilityTable:
    """Curves that rise, fall and stay, as majority votes do, with as many distinct breakpoints as
    rows allow."""
    rng = np.random.default_rng(seed)
    rise = np.log2([1, 2, 4, 8, 16]) * rng.uniform(-0.06, 0.15, (n, 1))
    acc = rng.beta(0.6, 0.6, (n, 1)) + rise + rng.normal(0, 0.02, (n, 5))
    return UtilityTable(np.clip(acc, 0, 1), [1, 2, 4, 8, 16])


def main() -> None:
    """Print the figures."""
    with tempfile.TemporaryDirectory() as folder, sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=find_browser(), args=FLAGS)
        for n, limit in LIMITS.items():
            file = page([setting(table(n), title=f"{n} questions")], Path(folder) / f"{n}.html")
            tab = chromium.new_page(viewport={"width": 1200, "height": 900})
            tab.goto(file.as_uri())
            scripted, layout = np.median(tab.evaluate(MOVES), axis=0)
            load = tab.evaluate(
                "performance.timing.loadEventEnd - performance.timing.navigationStart"
            )
            print(
                f"N = {n:>6,}: one slider move takes {scripted:.1f} ms of script (limit {limit:g} "
                f"ms), {layout:.1f} ms with layout; page of {file.stat().st_size / 1024:,.0f} KB, "
                f"ready after {load} ms"
            )
            tab.close()
        chromium.close()
    sizes = {
        name: len(text.encode()) / 1024 for name, text in (("script", script()), ("style", style()))
    }
    print("front end: " + " + ".join(f"{name} {size:.1f}" for name, size in sizes.items()), end=" ")
    print(f"= {sum(sizes.values()):.1f} KB (limit 150 KB)")


if __name__ == "__main__":
    main()
