"""Draw the picture that other sites show for a link to the book: ``python book/make_card.py``,
after ``make book`` and a change of the figure in ``book/summary.md``.

It has the title, the question and that figure, in the fonts of the built book.
"""

from __future__ import annotations

import sys
from pathlib import Path

from playwright.sync_api import sync_playwright

ROOT = Path(__file__).resolve().parents[1]
SUMMARY = ROOT / "_build" / "html" / "book" / "summary.html"
CARD = ROOT / "book" / "_static" / "card.png"
SIZE = {"width": 1200, "height": 630}  # pixels, as sites that show previews ask for

# The page of the summary becomes the card: its figure moves next to the title.
COMPOSE = """async () => {
  const figure = document.querySelector('.js-plotly-plot');
  document.body.innerHTML = `<main style="position: fixed; inset: 0; z-index: 9; display: flex;
    align-items: center; background: white; border-left: 24px solid #17324d; color: #17324d">
    <div style="width: 440px; margin-left: 44px; flex: none">
      <p style="font-size: 60px; font-weight: 700; line-height: 1.12; margin: 0 0 32px">
        Who deserves<br>more samples?</p>
      <p style="font-size: 26px; line-height: 1.4; margin: 0">Gains in accuracy at three answers
        per question, over a random allocation of the same cost</p>
    </div></main>`;
  document.querySelector('main').append(figure);
  await Plotly.relayout(figure, {
    width: 670, height: 600, 'font.size': 19, 'yaxis.title.font.size': 19, 'margin.t': 90,
  });
}"""


def main() -> None:
    """Write ``book/_static/card.png``."""
    sys.path.insert(0, str(ROOT / "tests" / "helpers"))
    from browser import FLAGS, find_browser

    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=find_browser(), args=FLAGS)
        page = chromium.new_page(viewport=SIZE, color_scheme="light")
        page.goto(SUMMARY.as_uri())
        page.wait_for_selector(".js-plotly-plot .main-svg")
        page.evaluate(COMPOSE)
        page.screenshot(path=CARD)
        chromium.close()


if __name__ == "__main__":
    main()
