"""Tables that are expensive to compute, recorded once by the scripts ``data/record_*.py``.

A script computes a table part by part and keeps it in a file, which a chapter reads.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from tqdm import tqdm

from adalib.datasets.files import read_lines, write_lines
from adalib.datasets.loading import data_folder
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import HeldOutRow, Protocol, held_out
from adalib.evaluate.trials import Learner, Planner
from adalib.learn.policies import CurvePolicy, LabelPolicy
from adalib.sequential.policy import PricedStopping

__all__ = [
    "AS_PUBLISHED",
    "GO_UP",
    "LADDER",
    "MODEL_LEARNERS",
    "REPEATS",
    "STOPS",
    "figures",
    "model_cells",
    "record",
    "recorded",
    "recorded_cells",
]

#: What each rung of the ladder looks at.
LADDER: Mapping[str, tuple[str, ...]] = {
    "votes": ("votes",),
    "votes + text": ("votes", "text"),
    "votes + certainty": ("votes", "certainty"),
    "all three": ("votes", "text", "certainty"),
}

AS_PUBLISHED = "as published"  # said of a peer that is not tuned
GO_UP = "go on or go up"  # priced stopping with escalation, by its name in the table
# Where a priced policy may stop; the mix and the oracle get this menu too.
STOPS = (
    *range(1, 17),
    20,
    24,
    28,
    32,
    40,
)
#: Orders in which a rule sees its training answers: few, so that anyone can compute it again.
REPEATS = 4

#: What is held out for every model, by its name in the table.
MODEL_LEARNERS: Mapping[str, Learner | Planner] = {
    "label policy": LabelPolicy(),
    "curve policy": CurvePolicy(),
    **{
        f"stopping: {name}": PricedStopping(signals, repeats=REPEATS, exact=True)
        for name, signals in LADDER.items()
    },
}

_KEPT = ("cost", "accuracy", "low", "high", "gain", "gain_low", "gain_high", "mix_cost")


def record(
    name: str, parts: Iterable[tuple[str, Callable[[], Iterable[dict]]]], *, anew: bool = False
) -> None:
    """Compute the parts that ``data/recorded/NAME.jsonl`` lacks, and save after each.

    With ``anew`` all parts are computed.
    """
    file = data_folder() / "recorded" / f"{name}.jsonl"
    rows = [] if anew or not file.exists() else [row for _, row in read_lines(file)]
    there = {row["part"] for row in rows}
    for part, compute in tqdm(list(parts), unit=" parts"):
        if part not in there:
            rows += [{"part": part, **row} for row in compute()]
            write_lines(file, rows)


def recorded(name: str) -> dict[str, list[dict]]:
    """Read the rows of a record that `record` wrote, by part."""
    parts: dict[str, list[dict]] = {}
    for _, row in read_lines(data_folder() / "recorded" / f"{name}.jsonl"):
        parts.setdefault(row["part"], []).append(row)
    return parts


def recorded_cells(name: str = "stopping") -> dict[str, dict[tuple[str, float], dict]]:
    """Read a recorded table, "stopping" or "minds", by part, policy and target."""
    return {
        part: {(row["policy"], row["target"]): row for row in rows}
        for part, rows in recorded(name).items()
    }


def model_cells(
    answers: Responses,
    targets: Sequence[float],
    learners: Mapping[str, Learner | Planner] = MODEL_LEARNERS,
) -> list[dict]:
    """Hold out what pays for one model: both oracles, noise, and the learners."""
    rows = held_out(answers, targets, learners=learners, noises=1, protocol=Protocol(folds=2))
    return [
        figures(row)
        for row in rows
        if row.policy in ("oracle", "oracle_in_sample", "noise", *learners)
    ]


def figures(row: HeldOutRow) -> dict:
    """What is recorded of a row: its policy, its target and its figures to five digits."""
    kept = {name: getattr(row, name) for name in _KEPT}
    rounded = {
        name: None if value is None else round(float(value), 5) for name, value in kept.items()
    }
    return {"policy": row.policy, "target": row.target, **rounded}
