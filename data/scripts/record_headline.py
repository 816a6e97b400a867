"""Split the book's headline gain by its causes, and write it to data/recorded/headline.jsonl.

A policy that weights votes by the model's certainty and stops when the next answer is not worth its
price gains over the best random mix for two reasons. How much each brings is seen next to a mix
with the same weighted votes: the weighted mix over the plain one is what weighting gains, and the
policy over the weighted mix is what stopping adds. The questions are dealt into folds, and their
answers halved, in five ways, since a gain depends on that.

Intervals are Student's over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from itertools import product

import numpy as np
from record_stopping import TARGETS
from recording import DEALS, STOPS, main

from adabook.paper.settings import benchmark
from adabook.recorded import figures
from adalib.datasets.folds import members
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.evaluate.crossfit import with_class_numbers
from adalib.evaluate.heldout import Protocol, held_out
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.scores import HeldOutRow, Outcome, Scores
from adalib.sequential.alike import Alike
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.streams import make_streams
from adalib.table import UtilityTable

#: What each policy sees, by its name in the record.
SIGNALS = {
    "votes": ("votes",),
    "votes + certainty": ("votes", "certainty"),
    "all three": ("votes", "text", "certainty"),
}
_SHARPNESS = (1.5, 3.0, 6.0, 12.0)  # how steeply certainty may weigh

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
    learners = {name: PricedStopping(seen, exact=True) for name, seen in SIGNALS.items()}
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
    gains = _over_plain_votes(row, rows)
    for other in LEADS.get(row.policy, ()):
        lead = gains
        if other != "mix":
            lead = gains - _over_plain_votes(rows[other, row.target], rows)
        found = mean_interval(lead)
        over[other] = [round(float(end), 5) for end in (found.mean, found.low, found.high)]
    cell = {**figures(row), "over": over, "questions": len(row.gains)}
    if over:
        cell |= dict(zip(("gain", "gain_low", "gain_high"), over["mix"], strict=True))
    return cell


def _over_plain_votes(row: HeldOutRow, rows: Mapping[tuple[str, float], HeldOutRow]) -> np.ndarray:
    """Return the gains of a row over plain votes for everyone.

    One that weighs its votes is held out over everyone's weighted votes, whose own gain is added.
    """
    if "certainty" not in SIGNALS.get(row.policy, ()):
        return row.gains
    return row.gains + rows["mix_weighted", row.target].gains


def weighted_tables(
    responses: Responses, menu: Sequence[int], seed: int
) -> Iterator[tuple[UtilityTable, UtilityTable, UtilityTable]]:
    """Yield, both ways round, the weighted votes that choose and score, and the plain ones.

    How steeply certainty weighs is chosen on the half that teaches.
    """
    halves = with_class_numbers(responses).split_samples(seed)
    voted = [{s: _weighted(half, s, menu) for s in _SHARPNESS} for half in halves]
    for number in range(2):
        teach = voted[number]
        best = max(_SHARPNESS, key=lambda s: teach[s].acc.mean())
        yield teach[best], voted[1 - number][best], halves[1 - number].table(menu)


def weighted_mix(
    responses: Responses,
    targets: Sequence[float],
    menu: Sequence[int] = (1, 2, 4, 8, 16),
    seed: int = 0,
) -> list[HeldOutRow]:
    """Score the best mix with votes weighted by certainty: a better vote, and the same plan.

    Gains count over the mix of plain votes, next to those of `adalib.held_out`, whose answers
    ``seed`` halves alike. An oracle of weighted votes is left out: on so few orders, labels chosen
    question by question follow luck, and its gain would grow with the orders."""
    scores = Scores(["mix_weighted"])
    for chosen, scored, plain in weighted_tables(responses, menu, seed):
        for target in targets:
            mix = best_mix(chosen.acc, chosen.cost, target)
            outcome = Outcome(*mix.outcome(scored))
            scores.add("mix_weighted", target, outcome, Alike.of_tables([plain]))
    return scores.rows(members(responses, None))


def _weighted(half: Responses, sharpness: float, menu: Sequence[int]) -> UtilityTable:
    """What a vote weighted by certainty is worth at every budget, over 48 orders."""
    streams = make_streams(half, menu[-1], repeats=48)
    acc = streams.mean(streams.votes(sharpness).value[:, np.array(menu) - 1])
    return UtilityTable(
        acc.clip(0, 1), np.array(menu, dtype=float), budgets=tuple(menu), ids=tuple(half.ids)
    )


if __name__ == "__main__":
    main(headline=parts())
