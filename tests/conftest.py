"""What several test files share: the repository, the pages of the book, the built book and the browser."""

from __future__ import annotations

import asyncio
import functools
import os
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
import yaml
from browser import FLAGS, environment, find_browser
from bs4 import BeautifulSoup
from hypothesis import settings

from adalib.commands.cli import main

# The same cases on every machine and every run: a failure is then about the change, never about the day.
# HYPOTHESIS_PROFILE=explore draws fresh ones.
settings.register_profile("steady", derandomize=True, deadline=None)
settings.register_profile("explore", deadline=None, print_blob=True)
settings.load_profile(os.environ.get("HYPOTHESIS_PROFILE", "steady"))

pytest.register_assert_rewrite("explorer_page")  # its checks tell what they compared, as those of a test do


ROOT = Path(__file__).resolve().parent.parent
HTML = ROOT / "_build" / "html"


def run_to_end(coroutine):
    """Run a coroutine to its end, in a thread of its own: while a browser is open, this thread's loop is taken."""
    with ThreadPoolExecutor(1) as thread:
        return thread.submit(asyncio.run, coroutine).result()


def on_a_loop(test):
    """Run a test that is a coroutine to its end."""

    @functools.wraps(test)
    def run(*args, **given):
        run_to_end(test(*args, **given))

    return run


def toc_pages() -> list[str]:
    """The pages that _toc.yml names, in order, without suffix: "book/intro", "notebooks/00_data", ..."""

    def walk(entry):
        if isinstance(entry, dict):
            for key, value in entry.items():
                if key in ("root", "file"):
                    yield value
                elif isinstance(value, list):
                    yield from walk(value)
        elif isinstance(entry, list):
            for item in entry:
                yield from walk(item)

    return list(walk(yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))))


@functools.cache
def soup(page: str) -> BeautifulSoup:
    """A page of the built book, parsed once for all tests: copy what you change."""
    return BeautifulSoup((HTML / f"{page}.html").read_text(encoding="utf-8"), "html.parser")


@pytest.fixture
def refused(capsys):
    """Give words to the command line that it refuses, with exit code 2 and one line that says why."""

    def run(words: list[str], told: str) -> str:
        capsys.readouterr()
        assert main(words) == 2
        shown = capsys.readouterr()
        assert shown.out == ""
        assert told in shown.err
        assert shown.err.count("\n") == 1
        return shown.err

    return run


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
            executable_path=find_browser(), args=FLAGS, env=environment(tmp_path_factory.mktemp("fonts"))
        )
        yield chromium
        chromium.close()


@pytest.fixture(scope="session")
def styles(html) -> str:
    """The style sheets of a chapter, for a page that stands elsewhere: fonts, theme and our own."""
    page = html / "notebooks" / "02_oracle.html"
    linked = re.findall(r'<link[^>]*rel="stylesheet"[^>]*href="([^"?]+)', page.read_text(encoding="utf-8"))
    assert linked
    files = dict.fromkeys((page.parent / href).resolve().as_uri() for href in linked)
    return "".join(f'<link rel="stylesheet" href="{file}">' for file in files)


@pytest.fixture
def play(styles, browser, tmp_path):
    """Open a game of the book, with its script and the book's style sheets, on a page of its own and on a phone."""
    opened = []

    def open_page(markup: str, script: str):
        static = ROOT / "book" / "_static"
        code = "".join((static / name).read_text(encoding="utf-8") for name in ("parts.js", script))
        file = tmp_path / "page.html"
        article = f'<article class="bd-article">{markup}</article>'
        file.write_text(f'<!doctype html><meta charset="utf-8">{styles}{article}<script>{code}</script>', "utf-8")
        opened.append(browser.new_page(viewport={"width": 390, "height": 900}))
        opened[-1].goto(file.as_uri())
        return opened[-1]

    yield open_page
    for page in opened:
        page.close()
