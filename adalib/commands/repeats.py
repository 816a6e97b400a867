"""Say how to spend a number of answers over a benchmark's questions, from a pilot.

The pilot is a file of a few answers per question, at least two. The plan gives most answers to the
questions whose answers vary most, so that the mean accuracy has the smallest standard error
(Neyman's allocation). A question that was always right, or always wrong, is not taken to be so: its
accuracy is drawn towards that of the others by a Beta prior. The numbers are of new answers: weigh
the pilot's mean accuracy and theirs by their numbers of answers.
"""

from __future__ import annotations

import argparse
import json
import textwrap
import warnings
from typing import TYPE_CHECKING

from adalib.commands.options import KINDS, add_shared, whole
from adalib.commands.sources import read_source

if TYPE_CHECKING:
    from adalib.datasets.responses import Responses
    from adalib.evaluate.repeats import RepeatPlan


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    parser.add_argument(
        "file",
        metavar="FILE",
        help="the pilot: answers (.jsonl), a log of Inspect (.eval) or lm-eval (samples_*.jsonl), "
        "votes of `serve --keep`, a gateway's log, or a bundled setting",
    )
    parser.add_argument(
        "--answers",
        metavar="M",
        type=whole,
        required=True,
        help="new answers to spend in all, at least one per question",
    )
    parser.add_argument(
        "--gold",
        metavar="FILE",
        help="for votes or a gateway's log: correct answers, .csv or .jsonl with question or id, "
        "or a log's field",
    )
    parser.add_argument("--kind", help=f"{KINDS}; read from the file's texts")
    add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Read the pilot, plan, and print the numbers and the errors to expect."""
    from adalib.evaluate.repeats import plan_repeats

    pilot = _read_pilot(args.file, args.gold, args.kind)
    plan = plan_repeats(pilot.values, args.answers)
    if args.json:
        _print_json(pilot, plan, args.answers)
        return
    _print_counts(pilot, plan, args.answers)
    _print_errors(plan)


def _read_pilot(file: str, gold: str | None, kind: str | None) -> Responses:
    """Read the answers of one model; warn about what was left out of a log."""
    from adalib.datasets.menu import Menu

    pilot, left_out = read_source(file, gold=gold, kind=kind)
    if left_out:
        warnings.warn(left_out, stacklevel=2)
    if isinstance(pilot, Menu):
        raise ValueError(f"{file}: holds several models; give the answers of one model")
    return pilot


def _print_json(pilot: Responses, plan: RepeatPlan, n_answers: int) -> None:
    """Print the plan as one JSON object, with the number for each question."""
    report = {
        "answers": n_answers,
        "error": plan.error,
        "equal_error": plan.equal_error,
        "combined_error": plan.combined_error,
        "question_error": plan.question_error,
        "new_error": plan.new_error,
        "plan": dict(zip(pilot.ids, plan.answers.tolist(), strict=True)),
    }
    print(json.dumps(report, ensure_ascii=False))


def _print_counts(pilot: Responses, plan: RepeatPlan, n_answers: int) -> None:
    """Print how many questions get how many answers: 1, 2 to 3, 4 to 7 and so on."""
    import numpy as np

    print(
        f"{n_answers:,} new answers over {pilot.n:,} questions, planned from {pilot.samples} "
        "answers to each (--json has the number for each question):"
    )
    doublings = np.log2(plan.answers).astype(int)
    for doubling in np.unique(doublings):
        group = plan.answers[doublings == doubling]
        low = group.min()
        high = group.max()
        numbers = f"{low:,}" if low == high else f"{low:,} to {high:,}"
        print(f"  {numbers} answers each: {group.size:,} questions")


def _print_errors(plan: RepeatPlan) -> None:
    """Print the standard errors to expect, on these questions and on others."""
    on_these = (
        f"Standard error of the mean accuracy on these questions: {100 * plan.error:.2f} points, "
        f"and {100 * plan.equal_error:.2f} with equally many answers each, "
        f"which would need {plan.more_if_equal:.0%} more answers for the same error. "
        f"Together with the pilot: {100 * plan.combined_error:.2f}."
    )
    on_others = (
        f"For other questions of the same kind: {100 * plan.new_error:.2f} points. "
        f"The choice of questions alone leaves {100 * plan.question_error:.2f}, "
        "which repeats do not reduce."
    )
    print(textwrap.fill(on_these, 100))
    print(textwrap.fill(on_others, 100))
