"""What several test files share: the repository, the pages of the book, the built book and the
browser."""

from __future__ import annotations

import asyncio
import functools
import os
import re
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import nbformat
import numpy as np
import pytest
from browser import FLAGS, PATIENCE, environment, find_browser
from bs4 import BeautifulSoup
from hypothesis import Phase, settings

import adalib
import contents
import serve
from adalib.cli import main

# The same cases on every machine and every run: a failure is then about the change, never about the
# day. HYPOTHESIS_PROFILE=explore draws fresh ones.
# A failure prints its table; an explanation would point into the libraries that read it.
PHASES = [phase for phase in Phase if phase is not Phase.explain]
settings.register_profile("steady", derandomize=True, deadline=None, phases=PHASES)
settings.register_profile("explore", deadline=None, phases=PHASES, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

# Its checks tell what they compared, as those of a test do.
pytest.register_assert_rewrite("explorer_page")


ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html"


def in_own_thread(function, *args, **options):
    """Call a function in its own thread: while a browser is open, this thread's loop is taken."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(function, *args, **options).result()


def run_to_end(coroutine):
    """Run a coroutine to its end."""
    return in_own_thread(asyncio.run, coroutine)


def wait_until(condition, wanted: str, process=None, seconds: float = 600.0) -> None:
    """Wait until a condition holds, as long as the process (if any) runs; else fail, saying what
    was wanted. Ten minutes, because a loaded machine is slow and not wrong."""
    deadline = time.monotonic() + seconds
    while not condition():
        assert process is None or process.poll() is None, f"the process ended before {wanted}"
        assert time.monotonic() < deadline, f"still not after {seconds:g} seconds: {wanted}"
        time.sleep(0.005)


@contextmanager
def site(folder: Path):
    """Serve a folder as `make serve` does; yields its address."""
    with serve.server(str(folder), 0) as running:
        threading.Thread(target=running.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{running.server_port}"
        running.shutdown()


#: What stands for a whole book: its pages, a browser, and the files whose tests take longest.
WHOLE = {"html", "browser"}
LONG = {"test_competition", "test_grade", "test_heldout", "test_lean_install", "test_recorded"}
LONG |= {"test_booking", "test_server", "test_tasks", "test_theorems"}


def pytest_collection_modifyitems(items):
    """Run every docstring's example in a thread of its own, where it may start a loop; mark what
    `make quick` leaves out."""
    for item in items:
        if isinstance(item, pytest.DoctestItem):
            item.runtest = functools.partial(in_own_thread, item.runtest)
        if WHOLE & set(getattr(item, "fixturenames", ())) or item.path.stem in LONG:
            item.add_marker("whole")


def toc_pages() -> list[str]:
    """List the pages that _toc.yml names, in order, without suffix: "book/intro",
    "notebooks/00_data", ..."""
    return [page.name for page in contents.pages()]


@functools.cache
def prose(name: str) -> str:
    """The Markdown of a notebook's page as it is kept."""
    return contents.Page(f"notebooks/{name}", "", ROOT).prose


def live_cells(path: Path) -> list[tuple[str, bool, bool]]:
    """The cells of a notebook that a page runs; whether each is of a solution, and is folded."""
    cells = []
    within_solution = False
    for cell in nbformat.read(path, as_version=4).cells:
        if cell.cell_type == "markdown":
            starts = "{solution-start}" in cell.source
            within_solution = (within_solution or starts) and "{solution-end}" not in cell.source
            continue
        tags = set(cell.metadata.get("tags", []))
        if cell.cell_type == "code" and not tags & {"remove-cell", "skip-execution"}:
            cells.append((cell.source, within_solution, "hide-input" in tags))
    return cells


def luminance(colour: str) -> float:
    """Relative luminance of a colour, "#123456" or "rgb(18, 52, 86)", as the accessibility
    guidelines define it."""
    coded = (
        [int(colour[at : at + 2], 16) for at in (1, 3, 5)]
        if colour[0] == "#"
        else re.findall(r"\d+", colour)[:3]
    )
    channels = np.array(coded, dtype=float) / 255
    linear = np.where(channels <= 0.04045, channels / 12.92, ((channels + 0.055) / 1.055) ** 2.4)
    return float(linear @ [0.2126, 0.7152, 0.0722])


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, as the same guidelines define it."""
    dark, light = sorted([luminance(one), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


@functools.cache
def soup(page: str) -> BeautifulSoup:
    """A page of the built book, parsed once for all tests: copy what you change."""
    return BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def refused(capsys):
    """Give words to the command line that it refuses, with exit code 2 and one line that says
    why."""

    def run(words: list[str], message: str) -> str:
        capsys.readouterr()
        code = main(words)
        shown = capsys.readouterr()
        assert code == 2, f"adalib {' '.join(words)} ended with {code}, not refused with 2: {shown}"
        assert shown.out == "", "what is refused prints nothing but its one line of error"
        assert message in shown.err
        assert shown.err.count("\n") == 1, "an error is one line: who, what and the mend"
        return shown.err

    return run


@pytest.fixture(scope="session")
def word() -> adalib.Responses:
    """The answers that most chapters look at."""
    return adalib.load("word-fewshot")


@pytest.fixture(scope="session")
def html() -> Path:
    """The folder of the built book."""
    if not (HTML / "index.html").exists():
        pytest.fail("there is no built book in _build/html: run `make book` first", pytrace=False)
    return HTML


@pytest.fixture(scope="session")
def browser(tmp_path_factory):
    """A running Chromium."""
    from playwright.sync_api import sync_playwright

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(
            executable_path=find_browser(),
            args=FLAGS,
            env=environment(tmp_path_factory.mktemp("fonts")),
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def styles(html) -> str:
    """The style sheets of a chapter, for a page that stands elsewhere: fonts, theme and our own."""
    page = html / "notebooks" / "02_oracle.html"
    linked = re.findall(
        r'<link[^>]*rel="stylesheet"[^>]*href="([^"?]+)', page.read_text(encoding="utf-8")
    )
    assert linked
    files = dict.fromkeys((page.parent / href).resolve().as_uri() for href in linked)
    return "".join(f'<link rel="stylesheet" href="{file}">' for file in files)


@pytest.fixture
def new_page(browser):
    """Open pages, each in a context of its own and with all the time that a loaded machine needs;
    closed at the end."""
    contexts = []

    def opened(**options):
        contexts.append(browser.new_context(**options))
        page = contexts[-1].new_page()
        page.set_default_timeout(PATIENCE)
        return page

    yield opened
    for context in contexts:
        context.close()


@pytest.fixture
def play(html, styles, new_page, tmp_path):
    """Open markup with scripts of the book and its style sheets, on a phone that is touched,
    without motion."""

    def opened(markup: str, *scripts: str, width: int = 390):
        tags = "".join(
            f'<script src="{(html / "_static" / name).as_uri()}"></script>' for name in scripts
        )
        article = f'<article class="bd-article">{markup}</article>'
        head = f'<!doctype html><html data-theme="light"><meta charset="utf-8">{styles}'
        file = tmp_path / "page.html"
        file.write_text(head + article + tags, encoding="utf-8")
        page = new_page(
            viewport={"width": width, "height": 844}, has_touch=True, reduced_motion="reduce"
        )
        page.goto(file.as_uri())
        return page

    return opened
