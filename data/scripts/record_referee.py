"""Measure the numbers of the paper's tables, and what decides on each of its claims.

The result is data/recorded/referee.jsonl, which the chapter "What we know" and appendix B show.
What trains long is read from other records, so run ``record_paper.py`` and ``record_policies.py``
first.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from recording import main
from referee import claims, rows
from referee.sources import Sources

from adabook.paper.referee import CLAIMS, ITEMS


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the id of every item and the name of every claim, with what measures it."""
    for item in ITEMS:
        yield item.id, lambda by=item.by: [plain(cell) for cell in getattr(rows, by)()]
    sources = Sources()
    for claim in CLAIMS:
        yield claim.name, lambda by=claim.by: [plain(getattr(claims, by)(sources))]


def plain(measured) -> dict:
    """A measured tuple as the record holds it, without numpy's numbers."""
    return {
        name: value.item() if hasattr(value, "item") else value
        for name, value in measured._asdict().items()
    }


if __name__ == "__main__":
    main(referee=parts())
