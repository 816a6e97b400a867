"""Draw the icon that phones show for the book: ``python book/make_icon.py``, after a change of
``book/_static/icon.svg``.

Phones want a square picture without transparent corners, so the icon's own ground fills them.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

STATIC = Path(__file__).resolve().parent / "_static"
SIDE = 180  # pixels, the size that Apple asks for


def main() -> None:
    """Write ``book/_static/touch-icon.png``."""
    sys.path.insert(0, str(STATIC.parent.parent / "tests" / "helpers"))
    from browser import FLAGS, find_browser

    drawing = (STATIC / "icon.svg").read_text(encoding="utf-8")
    ground = re.search(r'fill="(#\w+)"', drawing)
    if ground is None:
        raise ValueError("icon.svg: begins without a ground; draw a filled rectangle first")
    page_style = f"margin: 0; background: {ground[1]}"
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = chromium.new_page(viewport={"width": SIDE, "height": SIDE})
        page.set_content(f'<body style="{page_style}">{drawing}</body>')
        page.screenshot(path=STATIC / "touch-icon.png")
        chromium.close()


if __name__ == "__main__":
    main()
