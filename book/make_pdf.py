"""Print the built book as one PDF, page by page in the order of its contents, through the browser that the tests use.

Run by ``make pdf``. Figures and formulas wait for a reader who scrolls; printing draws them all first.
"""

from __future__ import annotations

import sys
from io import BytesIO
from pathlib import Path

import yaml
from playwright.sync_api import sync_playwright
from pypdf import PdfWriter
from tqdm import tqdm

ROOT = Path(__file__).resolve().parent.parent
HTML, PDF = ROOT / "_build" / "html", ROOT / "_build" / "book.pdf"
MARGINS = dict.fromkeys(("top", "bottom", "left", "right"), "16mm")
sys.path.insert(0, str(ROOT / "tests"))


def pages() -> list[str]:
    """The pages in the order of the table of contents."""
    contents = yaml.safe_load((ROOT / "_toc.yml").read_text(encoding="utf-8"))
    return [contents["root"], *(chapter["file"] for part in contents["parts"] for chapter in part["chapters"])]


def main() -> None:
    from browser import DRAWN, FLAGS, find_browser

    if not (HTML / "index.html").exists():
        sys.exit("there is no built book in _build/html: run `make book` first")
    book = PdfWriter()
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = chromium.new_page(viewport={"width": 900, "height": 1200}, color_scheme="light")
        page.set_default_timeout(0)
        for name in tqdm(pages(), desc="printing", unit=" pages", disable=None):
            page.goto((HTML / f"{name}.html").as_uri(), wait_until="load")
            page.evaluate(DRAWN)
            book.append(BytesIO(page.pdf(format="A4", margin=MARGINS)))
        chromium.close()
    part = PDF.with_suffix(".part")
    book.write(part)
    part.replace(PDF)  # complete, or not there
    print(f"Printed  {len(book.pages)} pages  file://{PDF}")


if __name__ == "__main__":
    main()
