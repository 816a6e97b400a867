"""A Chromium for the tests: the one that is installed, else one that we install; run as a script,
prints its path."""

from __future__ import annotations

import functools
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from fontTools.ttLib import TTFont
from installing import install_from_system, run

NAMES = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable", "chrome")
FLAGS = [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
]
FLAGS += ["--disable-component-update", "--disable-sync"]
# Milliseconds until what a page should do counts as failed. The longest that was seen, all figures
# of a chapter drawn on a machine with three other tests, took 40 seconds.
PATIENCE = 180_000
# Resolves once all figures and explorers of a page are drawn: as for the Print button, since
# otherwise they wait for a reader who scrolls.
DRAWN = """async () => {
  const late = ".plotly-graph-div:not(:has(.main-svg)), .adalib-explorer:empty";
  const missing = () => document.querySelectorAll(late);
  const deadline = performance.now() + PATIENCE;
  window.dispatchEvent(new Event("adalib-draw-all"));
  while (missing().length) {
    if (performance.now() > deadline) {
      throw new Error("still not drawn: " + missing()[0].outerHTML.slice(0, 160));
    }
    await new Promise((go) => setTimeout(go, 50));
  }
}""".replace("PATIENCE", str(PATIENCE))
PACKAGES = dict.fromkeys(("apt-get", "dnf", "apk"), "chromium")
MEND = (
    "no Chromium could be found or installed: "
    "install Chromium or Chrome, or set ADALIB_BROWSER to its path"
)

# The system's fonts, where there are any, and the book's: without a single font Chromium draws no
# text and dies.
FONTS = """<?xml version="1.0"?><!DOCTYPE fontconfig SYSTEM "urn:fontconfig:fonts.dtd">
<fontconfig>
<include ignore_missing="yes">/etc/fonts/fonts.conf</include>
<dir>{folder}</dir>
</fontconfig>
"""


def environment(folder: Path) -> dict[str, str]:
    """The environment for a browser that finds the book's fonts among the system's, unpacked into
    an empty folder."""
    for packed in (Path(__file__).parents[2] / "book" / "fonts").glob("*.woff2"):
        font = TTFont(packed)
        font.flavor = None  # as a font of the system, Chromium takes no packed one
        font.save(folder / f"{packed.stem}.ttf")
    config = folder / "fonts.conf"
    config.write_text(FONTS.format(folder=folder), encoding="utf-8")
    return {"FONTCONFIG_FILE": str(config), **os.environ}


@functools.cache
def find_browser() -> str:
    """The path of a Chromium that starts.

    Looks at ``ADALIB_BROWSER``, then on the PATH, then at what Playwright has downloaded; else
    installs one with the system's package manager where that is allowed, else with Playwright's own
    download.

    Raises
    ------
    RuntimeError
        If none of this works; the message says what to do.
    """
    named = os.environ.get("ADALIB_BROWSER")
    if named:
        if _starts(named):
            return named
        raise RuntimeError(
            f"ADALIB_BROWSER is {named!r}, which does not start as a browser: "
            "set it to Chromium's path"
        )
    for attempt in (lambda: None, lambda: install_from_system(PACKAGES), _install_from_playwright):
        attempt()
        for path in candidates():
            if _starts(path):
                return path
    raise RuntimeError(MEND)


def candidates() -> Iterator[str]:
    yield from filter(None, map(shutil.which, NAMES))
    # In a process of its own: Playwright does not start twice in one.
    ask = (
        "from playwright.sync_api import sync_playwright\n"
        "with sync_playwright() as playwright: print(playwright.chromium.executable_path)"
    )
    yield subprocess.run([sys.executable, "-c", ask], capture_output=True, text=True).stdout.strip()


def _starts(path: str) -> bool:
    # Some systems install a stand-in that only tells how to get the browser: ask it for its
    # version.
    try:
        answer = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=60)
    except (OSError, subprocess.TimeoutExpired):
        return False
    return answer.returncode == 0 and "chrom" in answer.stdout.lower()


def _install_from_playwright() -> None:
    print("Downloading Chromium with Playwright ...", file=sys.stderr)
    run([sys.executable, "-m", "playwright", "install", "chromium"])


if __name__ == "__main__":
    try:
        print("Browser:", find_browser())
    except RuntimeError as error:
        sys.exit(str(error))
