"""The scoreboard on pages and in the README: the same rows, and links that lead somewhere."""

from __future__ import annotations

from bs4 import BeautifulSoup
from conftest import ROOT

from adabook.figures.board import SHOWN_AT, board, in_markdown
from adabook.scoreboard import ROWS, scoreboard


def test_the_readme_prints_the_scoreboard():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert in_markdown() in readme, "paste what adabook.figures.board.in_markdown() returns"


def test_every_row_leads_to_a_section_of_the_notebook_that_the_readme_links_to():
    page = BeautifulSoup(board().html, "html.parser")
    linked = {link.get_text(): link["href"][1:] for link in page.find_all("a")}
    assert linked == {ROWS[name]: label for name, (label, _) in SHOWN_AT.items()}
    for label, notebook in SHOWN_AT.values():
        text = (ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8")
        assert f"({label})=" in text


def test_a_chapter_shows_the_rows_that_are_earned():
    shown = BeautifulSoup(board("oracle").html, "html.parser").select("tbody tr")
    assert [row.td.get_text() for row in shown] == scoreboard("oracle").index.tolist()
