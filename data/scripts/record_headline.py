"""Split the book's headline gain by its causes, and write it to data/recorded/headline.jsonl.

A policy that weights votes by the model's certainty and stops when the next answer is not worth its
price gains over the best random mix for two reasons. How much each brings is seen next to a mix
with the same weighted votes: the weighted mix over the plain one is what weighting gains, and the
policy over the weighted mix is what stopping adds. The questions are dealt into folds, and their
answers halved, in five ways, since a gain depends on that. Sets of more questions teach more; so
they are also held out with no more training questions than a set of 300 has.

Intervals are Student's over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import partial

from record_stopping import TARGETS, weighted_mix
from recording import DEALS, FEW, main

import adalib
from adabook.paper.settings import benchmark
from adabook.recorded import LADDER, STOPS, figures
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import TAUGHT, Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.scores import HeldOutRow
from adalib.sequential.priced_stopping import PricedStopping

#: The answers behind every part: 300 questions answered 96 times, or all with 48 answers each.
SETS: dict[str, Callable[[], Responses]] = {
    "gsm8k": partial(adalib.load, "gsm8k-qwen15"),
    "math": partial(adalib.load, "math-qwen15"),
    "gsm8k-all": partial(benchmark, "gsm8k"),
    "math-all": partial(benchmark, "math"),
}


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
    for part, read in SETS.items():
        answers = read()
        for seed in DEALS:
            yield part_name(part, seed), partial(headline_cells, answers, TARGETS, seed)
        if part.endswith("-all"):
            yield f"{part}, {FEW} taught", partial(headline_cells, answers, TARGETS, taught=FEW)


def part_name(part: str, seed: int) -> str:
    """Name a part: ``gsm8k`` for the book's own folds and halves, ``gsm8k, deal 1`` for others."""
    return f"{part}, deal {seed}" if seed else part


def headline_cells(
    responses: Responses, targets: Sequence[float], seed: int = 0, taught: int = TAUGHT
) -> list[dict]:
    """Compute every policy's figures at every target with Student's intervals; ``over`` has leads.

    The mix and the oracle may give any number of answers that the policy may, as far as half of
    the answers allow. ``seed`` deals the questions into folds and the answers into halves;
    ``taught`` is the most questions that teach a policy."""
    menu = [stop for stop in STOPS if 2 * stop <= responses.samples]
    names = [name for name in LEADS if name in LADDER]
    learners = {name: PricedStopping(LADDER[name], exact=True) for name in names}
    protocol = Protocol(seed=seed, taught=taught)
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
