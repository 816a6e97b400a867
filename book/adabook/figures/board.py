"""The scoreboard as pages and the README show it, with a link to where each row was earned."""

from __future__ import annotations

from adabook.figures.page import HTML, chapter_name, link
from adabook.figures.tables import table
from adabook.scoreboard import BUDGET, PRICE_OUT, PRICED_ON, ROWS, figures, scoreboard
from adalib.evaluate.gains import Gain, gains_figure

#: Where the book earns each row: a label, and the notebook that has it.
SHOWN_AT = {
    "one": ("motivation-scoreboard", "01_motivation"),
    "three": ("motivation-scoreboard", "01_motivation"),
    "oracle": ("oracle-scoreboard", "02_oracle"),
    "recipe": ("test-scoreboard", "07_test"),
    "noise": ("test-scoreboard", "07_test"),
    "curves": ("ablations-scoreboard", "08_ablations"),
    "watching": ("stopping-scoreboard", "09_stopping"),
    "race": ("race-results", "11_deploy"),
    "held": ("deploy-scoreboard", "11_deploy"),
    "rounds": ("costs-scoreboard", "12_costs"),
}
CAPTION = (
    f"**The scoreboard.** GPT-4o-mini, GSM8K, {BUDGET:g} answers per question on average, on "
    "questions that were not learned from. Gain: points over the same number of answers for "
    "everyone at the same cost, with its 95% interval. Time: how long a question waits, in the "
    "time that an average answer takes. Dollars: for the answers to a million questions, at "
    f"{PRICE_OUT:.2f} dollars per million tokens ({PRICED_ON})."
)
EXPLAINED_AT = "motivation-scoreboard"
#: Rows that are compared with the others, and ours among them.
COMPARED = tuple(name for name in ROWS if name not in ("one", "three"))
OURS = ("curves", "watching", "race", "held", "rounds")


def board(upto: str = "rounds", explained: bool = False) -> HTML:
    """Show the rows that have been earned so far, up to this key of `adabook.scoreboard.ROWS`.

    The first scoreboard explains its columns. One that is ``explained`` does so too, and has all
    gains as a picture above it.

    >>> board("three").html.count("adalib-see")
    2
    """
    rows = scoreboard(upto).reset_index()
    policies, *_ = rows.columns
    labels = [SHOWN_AT[name][0] for name in ROWS]
    linked = [HTML(link(*to)) for to in zip(labels, rows[policies], strict=False)]
    rows = rows.assign(**{policies: linked})
    if explained:
        return HTML(picture().html + table(rows, caption=CAPTION).html)
    if labels[: len(rows)] == [EXPLAINED_AT] * len(rows):
        return table(rows, caption=CAPTION)
    found = "The scoreboard, complete" if len(rows) == len(ROWS) else "The scoreboard so far"
    shown = table(rows, caption=f"**{found}.** Its columns are explained in")
    where = link(EXPLAINED_AT, chapter_name("the first chapter"))
    return HTML(shown.html.replace("</caption>", f" {where}.</caption>", 1))


def picture() -> HTML:
    """Draw what every row gains, the best first.

    >>> picture().html.count('class="dot"') == len(COMPARED)
    True
    """
    found = figures()
    gains = zip(
        COMPARED, *(found.loc[list(COMPARED), of] for of in ("gain", "low", "high")), strict=True
    )
    words = (
        f"Points gained over the same number of answers for everyone, at the same cost: "
        f"GPT-4o-mini, GSM8K, {BUDGET:g} answers on average, with 95% intervals. The filled dots "
        "are ours."
    )
    return HTML(
        gains_figure(
            (Gain(ROWS[name], gain, low, high, name in OURS) for name, gain, low, high in gains),
            words,
        )
    )


def in_markdown() -> str:
    """The whole scoreboard as the README prints it."""
    found = scoreboard()
    lines = ["| policy | right | gain | answers | time | dollars |"]
    lines += ["| --- | --- | --- | --- | --- | --- |"]
    for name, row in zip(ROWS, found.itertuples(), strict=True):
        policy = f"[{row.Index}](notebooks/{SHOWN_AT[name][1]}.ipynb)"
        lines.append(f"| {' | '.join([policy, *map(str, row[1:])])} |")
    return "\n".join(lines)
