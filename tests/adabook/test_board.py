"""The scoreboard on pages and in the README: the same rows, and links that lead somewhere."""

from __future__ import annotations

import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from record_board import takes_budget, written

import adalib
from adabook import board as board_of_all
from adabook.figures.board import SHOWN_AT, board, in_markdown
from adabook.recorded import recorded
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


@pytest.mark.parametrize(("name", "paid"), board_of_all.tables())
def test_every_policy_that_is_written_has_a_row(name, paid):
    allowed = written(adalib.load(name))
    rows = {row.policy: row for row in board_of_all.rows(name, paid)}
    assert {*allowed, "curve", "priced", "noise"} <= set(rows)
    assert ("race" in rows) == (paid == "tokens")
    for policy, cls in allowed.items():
        assert hasattr(rows[policy], "over") != takes_budget(cls)
    assert len(board_of_all.at_own_cost(name, paid)) + len(
        board_of_all.by_budget(name, paid)
    ) == len(rows)


@pytest.mark.parametrize("name", {name for name, _ in board_of_all.tables()})
def test_with_other_marks_nothing_gains(name):
    for row in recorded("board")[f"{name}, {board_of_all.NULL}"]:
        assert row["gain"] < 0.01
        assert row["gain_low"] <= 0


def test_a_budget_is_told_in_answers():
    certain = written(adalib.load("math-qwen15"), per_answer=100.0)
    assert certain["Uab"](budget=300.0).budget == 3.0
    assert not takes_budget(certain["Lead"])
    assert not {"Cges", "Uab"} & set(written(adalib.load("gsm8k-gpt4omini")))
