"""Letters on a slow line: what the browser draws while one of the fonts is late.

Looked at, not asked: text that is drawn in italics looks the same whether it is asked to be in
italics or not.
"""

from __future__ import annotations

import pytest
from conftest import site

from press.offline import FONTS

# A paragraph in one style; resolves once a frame has been drawn so, with where it is.
IN_STYLE = """async (style) => {
  const words = document.querySelector(".bd-article p");
  words.scrollIntoView({ block: "center" });
  words.style.fontStyle = style;
  await new Promise((go) => requestAnimationFrame(() => requestAnimationFrame(go)));
  const { x, y, width, height } = words.getBoundingClientRect();
  return { x: x + scrollX, y: y + scrollY, width, height, scale: 1 };
}"""


def pictures(page) -> list[str]:
    """A paragraph in roman and in italics. (Playwright's own picture would wait for the fonts.)"""
    camera = page.context.new_cdp_session(page)
    shots = [
        camera.send("Page.captureScreenshot", {"clip": page.evaluate(IN_STYLE, style)})["data"]
        for style in ("normal", "italic")
    ]
    camera.detach()
    return shots


@pytest.mark.parametrize("late", FONTS)
def test_roman_text_is_drawn_in_roman_letters_whatever_font_is_late(html, new_page, late):
    page, held = new_page(), []
    page.route(f"**/fonts/{late}", lambda request: held.append(request))
    with site(html) as address:
        page.goto(f"{address}/notebooks/09_stopping.html", wait_until="domcontentloaded")
        page.wait_for_function("painted")
        early = pictures(page)
        for request in held:
            request.continue_()
        page.wait_for_load_state("networkidle")
        for roman, italic in (early, pictures(page)):
            assert roman != italic
