"""Print the built book as one PDF, in the order of its contents, through a browser.

Figures and formulas wait for a reader who scrolls; printing draws them all first.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

from playwright.sync_api import sync_playwright
from pypdf import PdfWriter
from tqdm import tqdm

from contents import pages


def write_pdf(root: Path, target: Path) -> int:
    """Print the book that is built below ``root``; return how many pages it has."""
    sys.path.insert(0, str(root / "tests"))
    from browser import DRAWN, FLAGS, find_browser

    book = PdfWriter()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
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
        chromium.close()
    part = target.with_suffix(".part")
    book.write(part)
    part.replace(target)  # complete, or not there
    return len(book.pages)
