"""Compare priced stopping with every rival on every setting, at the cost really paid; write data/recorded/rivals.jsonl.

Run ``python data/record_rivals.py`` (about an hour on two cores; what is there already is kept, so that it can be
stopped and started again; ``--anew`` begins anew). A budget is a cap here: nobody has to spend it. Rivals are tuned to
every target, and scored as published at what that costs. ``over`` is the lead of one policy on another: gain over the
best mix less gain over the best mix, each at its own cost, with an interval that mirrors.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Sequence
from functools import partial

from record_stopping import cell

import adalib
from adalib.datasets.responses import Responses
from adalib.evaluate.crossfit import compared
from adalib.evaluate.heldout import held_out
from adalib.evaluate.recorded import AS_PUBLISHED, STOPS, record
from adalib.evaluate.trials import Learner, Planner
from adalib.paper.settings import BENCHMARKS, REAL
from adalib.sequential import peers
from adalib.sequential.peers import LearnedPrior, Published, TunedRules
from adalib.sequential.priced import PricedStopping

TARGETS = (1.5, 2, 3, 4, 6, 8)
REASONING = (
    *(f"math500-{model}" for model in ("exaone-deep-32b", "gpt-oss-20b", "qwen3-14b")),
    *(f"gpqa-{model}" for model in ("gpt-oss-20b", "phi-4-reasoning", "qwen3-30b-a3b-thinking-2507")),
    *(f"aime-{model}" for model in ("am-thinking-v1", "gpt-oss-20b", "phi-4-reasoning", "qwen3-14b")),
)
_BARS = {"votes + length": "priced_votes", "votes + certainty + length": "votes + certainty"}


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its cells."""
    for name in (*BENCHMARKS, *REAL, *REASONING):
        yield name, partial(rival_cells, adalib.load(name))


def rival_cells(responses: Responses, targets: Sequence[float] = TARGETS) -> list[dict]:
    """Compute a row for every policy and target, with the lead of ``priced`` on each, and of length on its absence."""
    sure = responses.logprob is not None
    signals = ["votes + length", *(["votes + certainty", "votes + certainty + length"] if sure else [])]
    learners: dict[str, Learner | Planner] = {"priced": PricedStopping(), "priced_votes": PricedStopping(("votes",))}
    learners |= {name: PricedStopping(name.split(" + ")) for name in signals}
    families = {**peers.PEERS, **peers.NEWER, **({**peers.CONFIDENT, **peers.NEWER_CONFIDENT} if sure else {})}
    learners |= {"learned_prior": LearnedPrior(), **{name: TunedRules(rules) for name, rules in families.items()}}
    rules = {**peers.PUBLISHED, **peers.NEWER_PUBLISHED}
    published = {f"{name} {AS_PUBLISHED}": Published(rule) for name, rule in rules.items()}
    votes = compared(responses)
    own = {name: max(round(float(peer.replay(votes)[0].mean()), 2), 1.0) for name, peer in published.items()}
    menu = [b for b in STOPS if b <= responses.samples // 2]
    rows = held_out(responses, [*targets, *own.values()], menu, learners={**learners, **published}, noises=0)
    shown = [
        row
        for row in rows
        if row.policy in ("oracle", "priced")
        or (row.policy in learners and row.target in targets)
        or row.target == own.get(row.policy)
    ]
    return [
        cell(row, shown if row.policy == "priced" else [one for one in shown if one.policy == _BARS.get(row.policy)])
        for row in shown
    ]


if __name__ == "__main__":
    record("rivals", parts(), anew="--anew" in sys.argv)
