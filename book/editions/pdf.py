"""Print pages through a browser: the built book as one PDF, or a page of Markdown.

Figures and formulas of the book wait for a reader who scrolls; printing draws them all first.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from io import BytesIO
from pathlib import Path

from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from playwright.sync_api import Browser, sync_playwright
from pypdf import PdfWriter
from tqdm import tqdm

from contents import pages
from mathml import to_mathml

_PAPER = """<!doctype html><meta charset="utf-8"><style>
body {{ font: 11pt/1.45 serif; }}
pre {{ white-space: pre-wrap; }}
h2 {{ break-after: avoid; margin-top: 1.6em; }}
table {{ border-collapse: collapse; }}
td, th {{ border: 1px solid; padding: 0.2em 0.7em; text-align: left; }}
a:not([href^="http"]) {{ color: inherit; text-decoration: none; }}
@page {{ size: A4; margin: 2cm; }}
</style>{body}"""


@contextmanager
def _chromium(root: Path) -> Iterator[Browser]:
    """The browser of the tests."""
    sys.path.insert(0, str(root / "tests" / "helpers"))
    from browser import FLAGS, find_browser

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        yield chromium
        chromium.close()


def print_markdown(root: Path, files: Sequence[Path]) -> list[Path]:
    """Print files of Markdown with formulas, each as a PDF with its name; return the PDFs."""
    markdown = (
        MarkdownIt("commonmark")
        .enable("table")
        .use(
            dollarmath_plugin,
            renderer=lambda tex, options: to_mathml(tex, options["display_mode"]),
        )
    )
    printed = []
    with _chromium(root) as chromium:
        page = chromium.new_page()
        for file in files:
            body = markdown.render(file.read_text(encoding="utf-8"))
            page.set_content(_PAPER.format(body=body))
            printed.append(file.with_suffix(".pdf"))
            page.pdf(path=printed[-1], prefer_css_page_size=True)
    return printed


def print_as_one(root: Path, files: Sequence[Path], target: Path) -> Path:
    """Print files of Markdown one after the other as one PDF, which opens at each by its name."""
    pack = PdfWriter()
    for printed in print_markdown(root, files):
        pack.append(printed, outline_item=printed.stem.replace("_", " "))
        printed.unlink()
    pack.write(target)
    return target


def write_pdf(root: Path, target: Path) -> int:
    """Print the book that is built below ``root``; return how many pages it has."""
    book = PdfWriter()
    with _chromium(root) as chromium:
        from browser import DRAWN

        page = chromium.new_page(viewport={"width": 900, "height": 1200}, color_scheme="light")
        page.set_default_timeout(0)
        for name in tqdm(
            [page.name for page in pages(root)], desc="printing", unit=" pages", disable=None
        ):
            page.goto((root / "_build" / "html" / f"{name}.html").as_uri(), wait_until="load")
            page.evaluate(DRAWN)
            # The style sheet prints page numbers; the book counts on from chapter to chapter.
            page.add_style_tag(content=f"html {{ counter-reset: page {len(book.pages)}; }}")
            book.append(BytesIO(page.pdf(prefer_css_page_size=True)))
    part = target.with_suffix(".part")
    book.write(part)
    part.replace(target)  # complete, or not there
    return len(book.pages)
