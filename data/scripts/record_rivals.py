"""Compare priced stopping with every rival on every setting, at the cost really paid.

The result is data/recorded/rivals.jsonl.

A budget is a cap here, which a policy need not spend. Rivals are tuned to every target, and scored
as published at what that costs. ``over`` is the lead of one policy on another: the difference of
their gains over the best mix, each at its own cost, with Student's interval over the questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial

import rivals
from record_stopping import cell
from recording import main
from rivals import LearnedPrior, Published, TunedRivals

import adalib
from adabook.paper.settings import BENCHMARKS, REAL
from adabook.recorded import AS_PUBLISHED, STOPS
from adalib.datasets.responses import Responses
from adalib.evaluate.crossfit import with_class_numbers
from adalib.evaluate.heldout import held_out
from adalib.evaluate.learners import BASELINES, Learner, Planner
from adalib.evaluate.scores import HeldOutRow
from adalib.sequential.priced_stopping import PricedStopping

TARGETS = (1.5, 2, 3, 4, 6, 8)
REASONING = (
    *(f"math500-{model}" for model in ("exaone-deep-32b", "gpt-oss-20b", "qwen3-14b")),
    *(
        f"gpqa-{model}"
        for model in ("gpt-oss-20b", "phi-4-reasoning", "qwen3-30b-a3b-thinking-2507")
    ),
    *(
        f"aime-{model}"
        for model in ("am-thinking-v1", "gpt-oss-20b", "phi-4-reasoning", "qwen3-14b")
    ),
)
_EVERYWHERE = ("oracle", "priced")  # shown also at what a published rule spends
_NOT_SHOWN = tuple(name for name in BASELINES if name != "oracle")
_WITHOUT_LENGTH = {
    "votes + length": "priced_votes",
    "votes + certainty + length": "votes + certainty",
}


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for name in (*BENCHMARKS, *REAL, *REASONING):
        yield name, partial(compared_cells, name)
    for name in (*BENCHMARKS, *REAL):
        yield f"{name}, posterior", partial(posterior_cells, name)


def compared_cells(name: str) -> list[dict]:
    """Hold everything out on one setting, and compare."""
    return rival_cells(*rival_rows(adalib.load(name)))


def posterior_cells(name: str, targets: Sequence[float] = TARGETS) -> list[dict]:
    """Hold out priced stopping and the posterior of CGES, where there are log-probabilities."""
    responses = adalib.load(name)
    learners = {"priced": PricedStopping(), "cges": TunedRivals(rivals.POSTERIOR["cges"])}
    menu = [b for b in STOPS if b <= responses.samples // 2]
    rows = held_out(responses, list(targets), menu, learners=learners, noises=0)
    return rival_cells([row for row in rows if row.policy in learners], {}, targets)


def rival_rows(
    responses: Responses, targets: Sequence[float] = TARGETS
) -> tuple[list[HeldOutRow], dict[str, float]]:
    """Hold out priced stopping and every rival; also return what each published rule spends."""
    certain = responses.logprob is not None
    signals = ["votes + length"]
    families = {**rivals.PEERS, **rivals.NEWER}
    if certain:
        signals += ["votes + certainty", "votes + certainty + length"]
        families |= {**rivals.CONFIDENT, **rivals.NEWER_CONFIDENT}
    learners: dict[str, Learner | Planner] = {
        "priced": PricedStopping(),
        "priced_votes": PricedStopping(("votes",)),
    }
    learners |= {name: PricedStopping(name.split(" + ")) for name in signals}
    learners["learned_prior"] = LearnedPrior()
    learners |= {name: TunedRivals(rules) for name, rules in families.items()}
    rules = {**rivals.PUBLISHED, **rivals.NEWER_PUBLISHED}
    published = {f"{name} {AS_PUBLISHED}": Published(rule) for name, rule in rules.items()}
    votes = with_class_numbers(responses)
    own_cost = {
        name: max(round(float(peer.replay(votes)[0].mean()), 2), 1.0)
        for name, peer in published.items()
    }
    menu = [b for b in STOPS if b <= responses.samples // 2]
    asked = [*targets, *own_cost.values()]
    rows = held_out(responses, asked, menu, learners={**learners, **published}, noises=0)
    return rows, own_cost


def rival_cells(
    rows: Sequence[HeldOutRow], own_cost: Mapping[str, float], targets: Sequence[float] = TARGETS
) -> list[dict]:
    """Return one cell per policy and target.

    The cells of ``priced`` hold its lead on every other policy, those of ``priced_votes`` its
    lead on every policy that only counts votes, and those with length the lead on its absence.
    """
    shown = []
    for row in rows:
        tuned = row.policy not in own_cost and row.policy not in _NOT_SHOWN
        if (
            row.policy in _EVERYWHERE
            or (tuned and row.target in targets)
            or row.target == own_cost.get(row.policy)
        ):
            shown.append(row)
    counting = [row for row in shown if counts_votes(row.policy)]
    bars = {"priced": shown, "priced_votes": counting}
    for name, without in _WITHOUT_LENGTH.items():
        bars[name] = [row for row in shown if row.policy == without]
    cells = [cell(row, bars.get(row.policy, [])) for row in shown]
    # Of an accuracy no chapter reads the interval; a lead has its own.
    return [{key: one[key] for key in one if key not in ("low", "high")} for one in cells]


def counts_votes(policy: str) -> bool:
    """Whether a rival counts votes and knows nothing else."""
    rule = policy.removesuffix(f" {AS_PUBLISHED}")
    return rule in (*rivals.PEERS, *rivals.NEWER, "learned_prior")


if __name__ == "__main__":
    main(rivals=parts())
