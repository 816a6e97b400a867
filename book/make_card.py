"""Draw the picture that other sites show for a link to the book: ``python book/make_card.py``,
after a change of the drawing of the whole.

It has the title, the question and that drawing, in the book's fonts.
"""

from __future__ import annotations

import base64
import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

from adabook.figures import whole

ROOT = Path(__file__).resolve().parents[1]
CARD = ROOT / "book" / "_static" / "card.png"
FACE = (ROOT / "book" / "fonts" / "sans.woff2").read_bytes()
SIZE = {"width": 1200, "height": 630}  # pixels, as sites that show previews ask for
PAGE = """<main style="position: fixed; inset: 0; display: flex; align-items: center;
  font-family: Face, sans-serif; background: white; border-left: 24px solid #17324d;
  color: #17324d">
  <style>@font-face {{ font-family: Face; font-weight: 200 900;
    src: url(data:font/woff2;base64,{face}) }}
    figure {{ margin: 0 }} svg {{ width: 650px; height: auto; display: block }}</style>
  <div style="width: 430px; margin: 0 30px 0 44px; flex: none">
    <p style="font-size: 60px; font-weight: 700; line-height: 1.12; margin: 0 0 32px">
      Who deserves<br>more samples?</p>
    <p style="font-size: 26px; line-height: 1.4; margin: 0">Ask a language model several times and
      let the answers vote. Which questions should get more answers?</p>
  </div>{drawing}</main>"""


def main() -> None:
    """Write ``book/_static/card.png``."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from browser import FLAGS, find_browser

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = chromium.new_page(viewport=SIZE, color_scheme="light")
        page.set_content(PAGE.format(drawing=whole().html, face=base64.b64encode(FACE).decode()))
        page.evaluate("document.fonts.ready")
        page.screenshot(path=CARD)
        chromium.close()


if __name__ == "__main__":
    main()
