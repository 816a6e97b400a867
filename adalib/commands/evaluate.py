"""Say whether adaptive allocation pays on a file of sampled answers, held out.

Policies learn from one half of every question's samples, are scored with the other half, and only on questions that
they have not seen. A gain counts over the best random mix at the cost that a policy really had. The last line says
what was found. The file holds sampled answers (.jsonl, also of several models), or is a bundled setting.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from typing import TYPE_CHECKING, Any

from adalib.commands import cli

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses

_PROMISED = ("policy", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain")

_COLUMNS = """low to high is a 95% interval over {unit}; mix_accuracy is the best random mix at the row's own cost;
oracle is cross-fitted, oracle_in_sample is not and claims too much; noise is the control and knows nothing
{watching}mix_cost is what the best random mix would spend to be as accurate, – if it never is"""
_WATCHING = """label and curve decide before asking; priced, priced_votes, margin, adaptive_consistency and esc watch
the answers come in
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE", help="answers (.jsonl), or a bundled setting")
    add("--targets", metavar="LIST", required=True, help="average costs to aim for, such as 1.5,2,3")
    cli.add_shared(parser, "--budgets")
    add("--folds", metavar="K", type=int, default=5, help="parts that the questions are dealt into (default 5)")
    add("--groups", metavar="FIELD", help="keep questions with the same value of this field in one fold")
    add("--seed", metavar="S", type=int, default=0, help="of the folds, the halves and the models (default 0)")
    add("--learn-from", metavar="N", type=int, default=1000, help="training questions a fold at most (default 1000)")
    cli.add_shared(parser, "--prices", "--scheduler", "--json")


def run(args: argparse.Namespace) -> None:
    cli.check_libraries(args.file)
    from adalib.datasets.menu import Menu
    from adalib.evaluate.heldout import Protocol, as_table, held_out
    from adalib.evaluate.trials import planning_policies, stopping_policies
    from adalib.evaluate.verdict import verdict
    from adalib.scale.machines import Cluster

    targets, offered = cli.parse_numbers(args.targets, "--targets"), cli.parse_budgets(args.budgets)
    if args.seed < 0:
        raise ValueError(f"--seed is {args.seed}; give 0 or more")
    responses = cli.read_answers(args.file, args.prices)
    half = responses.samples // 2
    budgets = tuple(budget for budget in offered if budget <= half)
    if len(budgets) < 2:
        few = f"{responses.samples} answers a question, and a half of {half} leaves no two of the budgets"
        mend = "sample more answers, or offer smaller budgets"
        raise ValueError(f"{args.file}: has {few} {args.budgets} to choose from; {mend}")
    # Those that watch the answers come in know one model; whom to ask is decided before asking.
    watching = {} if isinstance(responses, Menu) else stopping_policies(args.seed)
    learners = planning_policies(args.seed) | watching
    groups, taught = _field(responses, args.groups), cli.check_learn_from(args.learn_from)
    with Cluster(args.scheduler) if args.scheduler else nullcontext() as machines:
        how = Protocol(folds=args.folds, groups=groups, taught=taught, machines=machines, seed=args.seed)
        rows = held_out(responses, targets, budgets, learners=learners, protocol=how)
    # After the work, so that an input which cannot be evaluated is one line and no more.
    for note in _notes(args, responses, offered, budgets, targets):
        print(f"adalib evaluate: {note}", file=sys.stderr)
    if args.json:
        kept = [{name: getattr(row, name) for name in _PROMISED} for row in rows]
        print(json.dumps({"rows": kept, "verdict": verdict(rows)}))
        return
    by, unit = ("", "questions") if args.groups is None else (f" by {args.groups}", "groups")
    print(f"Protocol: held out{by}, {responses.n} questions with {responses.samples} samples")
    print(as_table(rows).drop(columns="protocol").to_string(index=False, na_rep="–", float_format="{:.4f}".format))
    print(_COLUMNS.format(unit=unit, watching=_WATCHING if watching else ""))
    print(verdict(rows))


def _field(responses: Responses | Menu, name: str | None) -> Sequence | None:
    if name is None:
        return None
    known: dict[str, Sequence] = {"question": responses.questions, **responses.extras}
    if responses.levels is not None:
        known["level"] = responses.levels
    if name not in known:
        raise ValueError(f"{responses.source}: has no field {name!r} to group by; choose one of {', '.join(known)}")
    return known[name]


def _notes(
    args: argparse.Namespace, responses: Any, offered: Sequence[int], budgets: Sequence[int], targets: Sequence[float]
) -> Iterator[str]:
    from adalib.datasets.menu import Menu
    from adalib.sequential.streams import WHOLE

    n, samples, taught, tested = responses.n, responses.samples, args.learn_from, responses.n // args.folds
    if dropped := ", ".join(map(str, offered[len(budgets) :])):
        yield f"{samples} answers leave halves of {samples // 2}, so budgets {dropped} are not on offer"
    most = responses.take([0]).table(budgets).cost[-1]
    if beyond := ", ".join(f"{target:g}" for target in targets if target > most):
        yield f"target {beyond} is more than the largest budget, {most:g}, can spend: see the cost column"
    if n - tested > taught:
        told = f"each fold learned from {taught:,} of about {n - tested:,} training questions, drawn at random"
        yield f"{told}, and all {n:,} questions were scored; --learn-from N takes more"
    if tested > WHOLE and not isinstance(responses, Menu):
        yield "with so many questions, answers are played back to the stopping rules in fewer orders a question"
