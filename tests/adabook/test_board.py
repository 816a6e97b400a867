"""The scoreboard on pages and in the README: the same rows, and links that lead somewhere."""

from __future__ import annotations

from base64 import b64decode
from inspect import signature
from io import BytesIO
from pkgutil import iter_modules

import pandas as pd
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT
from record_policies import written

from adabook import board as board_of_all
from adabook import policies
from adabook.figures.board import SHOWN_AT, board, in_markdown
from adabook.protocol import answers_of
from adabook.scoreboard import ROWS, SET, figures, scoreboard
from adalib.evaluate.baselines import waiting_times

WITHOUT_ROWS = "run `make board`: it computes the rows that data/recorded/policies.jsonl lacks"


def test_the_readme_prints_the_scoreboard():
    readme = (ROOT / "README.md").read_text(encoding="utf-8")
    assert in_markdown() in readme, "paste what adabook.figures.board.in_markdown() returns"


def test_every_row_leads_to_a_section_of_the_notebook_that_the_readme_links_to():
    page = BeautifulSoup(board().html, "html.parser")
    linked = {link.get_text(): link["href"][1:] for link in page.select("tbody a")}
    assert linked == {ROWS[name]: label for name, (label, _) in SHOWN_AT.items()}
    for label, notebook in SHOWN_AT.values():
        text = (ROOT / "notebooks" / f"{notebook}.ipynb").read_text(encoding="utf-8")
        assert f"({label})=" in text


def test_a_chapter_shows_the_rows_that_are_earned():
    shown = BeautifulSoup(board("oracle").html, "html.parser").select("tbody tr")
    assert [row.td.get_text() for row in shown] == scoreboard("oracle").index.tolist()


def test_only_the_first_scoreboard_explains_its_columns():
    texts = [BeautifulSoup(board(upto).html, "html.parser").caption.get_text() for upto in ROWS]
    assert [upto for upto, text in zip(ROWS, texts, strict=True) if "Dollars:" in text] == [
        "one",
        "three",
    ]
    assert "Dollars:" in BeautifulSoup(board(explained=True).html, "html.parser").caption.get_text()


def test_time_is_that_of_the_longest_answer_or_of_all_that_come_in_turn():
    found = figures()
    alone, three = waiting_times(answers_of(SET), (1, 3)).mean(axis=0)
    assert found.time[["one", "three"]].tolist() == pytest.approx([alone, three], abs=1e-4)
    assert found.time[["oracle", "recipe", "noise", "curves", "race"]].between(1, 1.2).all()
    assert found.time["watching"] == pytest.approx(found.dollars["watching"] / found.dollars["one"])


def written_for(name):
    """The classes of all files of adabook/policies that a set's answers allow."""
    files = [module.name for module in iter_modules(policies.__path__)]
    answers = answers_of(name)
    return {of: one for file in files for of, one in written(file, answers).items()}


@pytest.mark.parametrize(("name", "paid"), board_of_all.tables())
def test_every_policy_that_is_written_has_a_row(name, paid):
    allowed = written_for(name)
    rows = {row.policy: row for row in board_of_all.rows(name, paid)}
    assert {*allowed, "all signals"} <= set(rows), WITHOUT_ROWS
    assert ("race" in rows) == (paid == "tokens")
    for policy, cls in allowed.items():
        assert hasattr(rows[policy], "over") == ("budget" not in signature(cls).parameters)


def test_the_download_has_every_row():
    link = BeautifulSoup(board_of_all.download().html, "html.parser").a
    saved = pd.read_csv(BytesIO(b64decode(link["href"].partition(",")[2])))
    rows = [row for of in board_of_all.tables() for row in board_of_all.rows(*of)]
    assert saved.gain.tolist() == pytest.approx([row.gain for row in rows], abs=1e-5)
    assert saved.lead.notna().tolist() == [hasattr(row, "over") for row in rows]


@pytest.mark.parametrize("name", board_of_all.SETS)
def test_with_other_marks_nothing_gains(name):
    rows = board_of_all.rows(name, board_of_all.NULL)
    watching = {of for of, one in written_for(name).items() if hasattr(one, "more")}
    assert {*watching, "votes"} <= {row.policy for row in rows}, WITHOUT_ROWS
    for row in rows:
        # By chance one interval in forty lies above zero, and hardly one of twice its width.
        chance = 2 * (row.gain - row.gain_low)
        assert row.gain <= min(chance, 0.01), f"{row.policy} gains where there is nothing to gain"


def test_giving_up_in_time_is_worth_as_much_as_chapter_nine_says():
    gains = {(row.policy, row.target): row.gain for row in board_of_all.rows("math-1.5b")}
    for budget in (2, 3, 4):
        rivals = [gains[rule, budget] for rule in ("margin", "adaptive_consistency", "esc")]
        assert gains["votes", budget] > 1.8 * max(rivals)


def test_a_rule_that_refuses_a_file_has_no_row_there():
    assert {"Cges", "Uab"} <= set(written_for("math-1.5b"))
    without = set(written_for("gsm8k-gpt4omini"))
    assert "Lead" in without
    assert not {"Cges", "Uab"} & without
