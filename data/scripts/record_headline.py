"""Split the book's headline gain by its causes, and write it to data/recorded/headline.jsonl.

A policy that weights votes by the model's certainty and stops when the next answer is not worth its
price gains over the best random mix for two reasons. How much each brings is seen next to a mix
with the same weighted votes: the weighted mix over the plain one is what weighting gains, and the
policy over the weighted mix is what stopping adds. The questions are dealt into folds, and their
answers halved, in five ways, since a gain depends on that.

Intervals are Student's over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import product

from record_stopping import TARGETS, weighted_mix
from recording import DEALS, main

from adabook.paper.settings import benchmark
from adabook.recorded import LADDER, STOPS, figures
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.scores import HeldOutRow
from adalib.sequential.priced_stopping import PricedStopping

#: Whose lead over whom is recorded, at equal cost: what is left of the first's gain is the
#: second's own part.
LEADS = {
    "oracle": ("mix",),
    "mix_weighted": ("mix",),
    "votes": ("mix", "oracle"),
    "votes + certainty": ("mix", "votes", "mix_weighted"),
    "all three": ("mix", "votes", "votes + certainty", "mix_weighted", "oracle"),
}


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a part, and a function that computes its cells."""
    for name, seed in product(("gsm8k", "math"), DEALS):
        # The book's own folds and halves come first.
        part = f"{name}-all, deal {seed}" if seed else f"{name}-all"
        yield part, partial(headline_cells, benchmark(name), TARGETS, seed)


def headline_cells(responses: Responses, targets: Sequence[float], seed: int = 0) -> list[dict]:
    """Compute every policy's figures at every target with Student's intervals; ``over`` has leads.

    The mix and the oracle may give any number of answers that the policy may, as far as half of
    the answers allow. ``seed`` deals the questions into folds and the answers into halves."""
    menu = [stop for stop in STOPS if 2 * stop <= responses.samples]
    names = [name for name in LEADS if name in LADDER]
    learners = {name: PricedStopping(LADDER[name], exact=True) for name in names}
    protocol = Protocol(seed=seed)
    rows = held_out(responses, targets, menu, learners=learners, noises=0, protocol=protocol)
    rows += weighted_mix(responses, targets, menu=menu, seed=seed)
    gains = {(row.policy, row.target): row for row in rows}
    return [_cell(row, gains) for row in rows if row.policy == "mix" or row.policy in LEADS]


def _cell(row: HeldOutRow, rows: dict[tuple[str, float], HeldOutRow]) -> dict:
    """Return one row's figures, its gain's Student interval, and its leads.

    A lead is gain less gain, each at its own cost.
    """
    over = {}
    for other in LEADS.get(row.policy, ()):
        lead = row.gains if other == "mix" else row.gains - rows[other, row.target].gains
        found = mean_interval(lead)
        over[other] = [round(float(end), 5) for end in (found.mean, found.low, found.high)]
    cell = {**figures(row), "over": over, "questions": len(row.gains)}
    if over:
        cell |= {"gain_low": over["mix"][1], "gain_high": over["mix"][2]}
    return cell


if __name__ == "__main__":
    main(headline=parts())
