"""The scoreboard as pages and the README show it, with a link to where each row was earned."""

from __future__ import annotations

from adabook.figures.page import HTML, link
from adabook.figures.tables import table
from adabook.scoreboard import BUDGET, PRICE_OUT, PRICED_ON, ROWS, scoreboard

#: Where the book earns each row: a label, and the notebook that has it.
SHOWN_AT = {
    "one": ("motivation-scoreboard", "01_motivation"),
    "three": ("motivation-scoreboard", "01_motivation"),
    "oracle": ("oracle-scoreboard", "02_oracle"),
    "recipe": ("test-scoreboard", "07_test"),
    "noise": ("test-scoreboard", "07_test"),
    "curves": ("ablations-scoreboard", "08_ablations"),
    "watching": ("stopping-scoreboard", "09_stopping"),
    "held": ("deploy-scoreboard", "11_deploy"),
    "rounds": ("costs-scoreboard", "12_costs"),
}
CAPTION = (
    f"**The scoreboard.** GPT-4o-mini, GSM8K, {BUDGET:g} answers per question on average, on "
    "questions that were not learned from. Gains are in points over a random mix of the same cost, "
    "with 95% intervals; dollars are per million questions, for the tokens of the answers at "
    f"{PRICE_OUT:.2f} dollars per million ({PRICED_ON})."
)


def board(upto: str = "rounds") -> HTML:
    """Show the rows that have been earned so far, up to this key of `adabook.scoreboard.ROWS`.

    >>> board("three").html.count("adalib-see")
    2
    """
    rows = scoreboard(upto).reset_index()
    policies, *_ = rows.columns
    labels = [SHOWN_AT[name][0] for name in ROWS]
    linked = [HTML(link(*to)) for to in zip(labels, rows[policies], strict=False)]
    return table(rows.assign(**{policies: linked}), caption=CAPTION)


def in_markdown() -> str:
    """The whole scoreboard as the README prints it."""
    found = scoreboard()
    lines = ["| policy | right | gain | answers | tokens | dollars |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for name, row in zip(ROWS, found.itertuples(), strict=True):
        policy = f"[{row.Index}](notebooks/{SHOWN_AT[name][1]}.ipynb)"
        lines.append(f"| {' | '.join([policy, *map(str, row[1:])])} |")
    return "\n".join(lines)
