"""Claims on a page, as cards with a verdict and a link to the section with the evidence."""

from __future__ import annotations

import html
from typing import Any

import pandas as pd

from adabook.figures.page import HTML, chapter_name, link


def cards(claims: pd.DataFrame) -> HTML:
    """Show claims as cards.

    A closed card has a verdict and a name; an open one the paper's words, why, and the number that
    decides.

    ``claims`` has the columns of ``adabook.paper.referee.claim_table``. The build looks up the
    labels in ``see``; ``book/adabook/games/front/cards.js`` adds buttons that show one verdict
    alone.
    """
    markup = "".join(_card(claim) for claim in claims.itertuples())
    return HTML(
        f'<div class="adalib-cards">{markup}<script type="application/json">{{}}</script></div>'
    )


def _card(claim: Any) -> str:
    """The markup of one row of the table of claims; a star marks an inferred verdict."""
    verdict, name, says, place, reason, number = (
        html.escape(str(text), quote=True)
        for text in (
            claim.verdict,
            claim.name,
            claim.says,
            claim.place,
            claim.reason,
            claim.number,
        )
    )
    star = " *" if claim.inferred else ""
    changed = f"<p>{html.escape(claim.changed)}</p>" if claim.changed else ""
    evidence = link(claim.see, f"The evidence: {chapter_name('in the book')}")
    return (
        f'<details class="adalib-card" data-verdict="{verdict}">'
        f'<summary><span class="card-verdict">{verdict}{star}</span> {name}</summary>'
        f"<p>“{says}” <small>{place}</small></p>"
        f"<p>{reason}</p>{changed}"
        f'<p class="card-number">{number}</p>'
        f"<p>{evidence}</p></details>"
    )
