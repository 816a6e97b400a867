"""Say whether adaptive allocation pays on a file of sampled answers, held out.

Policies learn from one half of every question's samples, are scored with the other half, and only
on questions that they have not seen. A gain is counted over the best random mix at the cost that a
policy really had. The verdict comes first, the next command last. The file holds sampled answers
(.jsonl, also of several models) or the votes that `serve --keep` wrote, or is a bundled setting, a
log of Inspect (.eval, an epoch is one answer), samples of lm-eval (samples_*.jsonl, with repeats),
or the log of a gateway (LiteLLM, Helicone, OpenRouter), where requests with the same messages are
one question.
"""

from __future__ import annotations

import argparse
import json
import os
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, replace
from functools import partial
from importlib.util import find_spec
from typing import TYPE_CHECKING, Literal

from adalib.commands.next_steps import NextSteps
from adalib.commands.options import (
    KINDS,
    add_shared,
    check_learn_from,
    check_libraries,
    parse_budgets,
    parse_numbers,
)
from adalib.commands.sources import read_source
from adalib.commands.terminal import note, shown

if TYPE_CHECKING:
    import numpy as np

    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.evaluate.heldout import HeldOutRow
    from adalib.evaluate.trials import Learner, Planner

# The fields of a row that --json prints.
_PROMISED = (
    "policy",
    "target",
    "cost",
    "accuracy",
    "low",
    "high",
    "mix_accuracy",
    "gain",
    "waiting",
)
_SUMMARY = """\
Accuracies are in percent, gains in points and those of the verdict, all with 95% intervals.
"waiting" is how long the best policy waits per question, in average answers.
"mix needs" is what the best random mix would spend to be as accurate as the best policy, – if it
never is.
"""
_COLUMNS = """\
low to high is a 95% interval over {unit}; mix_accuracy is the best random mix at the row's own
cost; oracle is cross-fitted, oracle_in_sample is not and claims too much; noise is the control and
knows nothing; label and curve decide before asking, priced, priced_votes, margin,
adaptive_consistency and esc while answers come in; mix_cost is what the best random mix would spend
to be as accurate, – if it never is; waiting is in average answers: budgets chosen before asking run
side by side, stopping rules ask one by one, and race, where the file has tokens, starts several and
cancels the slow ones.
The oracle decides before asking, from half of the answers. A policy that sees the answers come in
can stop early where they agree, so its gain may exceed the oracle's.
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    _add_source(parser)
    _add_protocol(parser)
    parser.add_argument("--kind", help=f"{KINDS}; read from the file's texts")
    add_shared(parser, "--prices", "--scheduler")
    _add_output(parser)


def _add_source(parser: argparse.ArgumentParser) -> None:
    """Declare the file of answers, and what a log needs in addition."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        help="answers (.jsonl), a log of Inspect (.eval) or lm-eval (samples_*.jsonl), votes of "
        "`serve --keep`, a gateway's log, or a bundled setting",
    )
    add(
        "--gold",
        metavar="FILE",
        help="for votes or a log: correct answers, .csv or .jsonl with question or id, "
        "or a log's field",
    )
    add(
        "--keep",
        metavar="ANSWERS",
        help="for votes or a log: also write the answers as a file that every command reads",
    )


def _add_protocol(parser: argparse.ArgumentParser) -> None:
    """Declare how the policies are held out: targets, budgets, cost and folds."""
    add = parser.add_argument
    add(
        "--targets",
        metavar="LIST",
        help="average costs to aim for, such as 1.5,2,3 (default: 2, 3 and 4 times the cheapest)",
    )
    add_shared(parser, "--budgets")
    add(
        "--cost",
        choices=("samples", "tokens"),
        default="samples",
        help="what is paid: answers, or their tokens, in multiples of an average answer "
        "(default samples)",
    )
    add(
        "--folds",
        metavar="K",
        type=int,
        default=5,
        help="parts into which the questions are dealt (default 5)",
    )
    add(
        "--groups",
        metavar="FIELD",
        help="keep questions with the same value of this field in one fold",
    )
    add(
        "--seed",
        metavar="S",
        type=int,
        default=0,
        help="of the folds, the halves and the models (default 0)",
    )
    add(
        "--learn-from",
        metavar="N",
        type=int,
        default=1000,
        help="training questions per fold at most (default 1000)",
    )


def _add_output(parser: argparse.ArgumentParser) -> None:
    """Declare what the command prints and writes."""
    parser.add_argument("--all", action="store_true", help="print every policy at every target")
    parser.add_argument(
        "--out", metavar="PAGE", help="also write a self-contained page: accuracy against cost"
    )
    add_shared(parser, "--json")


@dataclass(frozen=True)
class _Experiment:
    """How policies are held out: all that the numbers depend on, but for the answers."""

    offered_budgets: tuple[int, ...]
    targets: list[float] | None  # average costs, in answers; None for the usual ones
    cost: Literal["samples", "tokens"]
    folds: int
    groups: str | None  # the field that holds families of questions
    learn_from: int  # training questions per fold, at most
    seed: int
    scheduler: str | None  # address of a Dask scheduler


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, evaluate, and print the verdict before drawing."""
    check_libraries(args.file)
    # Before the file is read, so that a missing library is named before any work.
    from adalib.evaluate.verdict import verdict

    experiment = _Experiment(
        offered_budgets=parse_budgets(args.budgets),
        targets=None if args.targets is None else parse_numbers(args.targets, "--targets"),
        cost=args.cost,
        folds=args.folds,
        groups=args.groups,
        learn_from=check_learn_from(args.learn_from),
        seed=args.seed,
        scheduler=args.scheduler,
    )
    _check_options(args.file, args.seed, args.keep, args.out)
    page = args.out if args.out and _can_draw(args.out) else None
    responses, is_log = _read(args.file, args.gold, args.prices, args.kind, args.keep)
    rows = _evaluate(responses, experiment)
    sentence = verdict(rows)
    next_steps = NextSteps(
        file=args.file,
        gold=args.gold,
        kept=args.keep,
        is_log=is_log,
        prices=args.prices,
        cost=args.cost,
        kind=args.kind,
        folds=args.folds,
        is_grouped=args.groups is not None,
    )
    if args.json:
        _print_json(rows, sentence)
    else:
        _print_report(responses, rows, sentence, args.groups, args.all)
        for line in next_steps.lines(responses, rows):
            print(shown(line), flush=True)
    if page:
        _draw(page, args.file, rows, sentence, args.groups)


def _check_options(file: str, seed: int, keep: str | None, out: str | None) -> None:
    """Refuse what is wrong on its face, before anything is read."""
    if seed < 0:
        raise ValueError(f"--seed is {seed}; give 0 or more")
    if out and os.path.realpath(file) == os.path.realpath(out):
        raise ValueError(f"--out is the file itself, {out}; give the page another name")
    if keep and os.path.exists(keep):
        raise ValueError(f"--keep is {keep}, which exists already; give another name")


def _can_draw(page: str) -> bool:
    """Whether plotly is there; if not, say at once that there will be no page."""
    if find_spec("plotly") is not None:
        return True
    note(
        "evaluate",
        f"{page} will not be written: --out draws with plotly; run pip install 'adalib[pages]'",
    )
    return False


def _read(
    file: str, gold: str | None, prices: str | None, kind: str | None, keep: str | None
) -> tuple[Responses | Menu, bool]:
    """Read the answers, keep those of a log as a file, and return whether it was a log."""
    from adalib.datasets.responses import Responses

    responses, left_out = read_source(file, gold=gold, prices=prices, kind=kind)
    is_log = bool(left_out)
    if keep and not is_log:
        raise ValueError("--keep writes the answers of a log or of votes; leave it out")
    if is_log:
        note("evaluate", f"{left_out} (--keep ANSWERS writes them for other commands)")
    if keep and isinstance(responses, Responses):  # a log is of one model
        responses.save(keep)
    return responses, is_log


def _evaluate(responses: Responses | Menu, experiment: _Experiment) -> list[HeldOutRow]:
    """Return every policy at every target, and say what was not done as asked."""
    import numpy as np

    budgets = _possible_budgets(experiment.offered_budgets, responses)
    if experiment.cost == "tokens":
        _check_tokens(responses)
        cost = np.array(budgets, float)  # in average answers
    else:
        cost = responses.take([0]).table(budgets).cost
    targets = experiment.targets or _usual_targets(cost)
    rows = _held_out_rows(responses, targets, budgets, experiment)
    # After the work, so that an input which cannot be evaluated is one line and no more.
    dropped = experiment.offered_budgets[len(budgets) :]
    folds = experiment.folds
    for text in _notes(responses, dropped, targets, cost[-1], folds, experiment.learn_from):
        note("evaluate", text)
    return rows


def _possible_budgets(offered: Sequence[int], responses: Responses | Menu) -> tuple[int, ...]:
    """The budgets that half of the answers can hold: one half teaches, the other scores."""
    half = responses.samples // 2
    budgets = tuple(budget for budget in offered if budget <= half)
    if len(budgets) < 2:
        raise ValueError(
            f"{responses.source}: has {responses.samples} answers per question, "
            f"and a half of {half} leaves no two of the budgets {','.join(map(str, offered))}; "
            "sample more answers, or offer smaller budgets"
        )
    return budgets


def _check_tokens(responses: Responses | Menu) -> None:
    """Refuse to count tokens where the file has none, or has several models."""
    if getattr(responses, "tokens", None) is None:
        raise ValueError(
            f'{responses.source}: has no tokens for one model; add "tokens" to every line, '
            "or leave --cost out"
        )


def _usual_targets(cost: np.ndarray) -> list[float]:
    """Two, three and four times the cheapest budget's cost, where they lie below the largest."""
    usual = [float(c) for c in (2 * cost[0], 3 * cost[0], 4 * cost[0]) if c < cost[-1]]
    return usual or [float(cost[[0, -1]].mean())]


def _held_out_rows(
    responses: Responses | Menu,
    targets: Sequence[float],
    budgets: Sequence[int],
    experiment: _Experiment,
) -> list[HeldOutRow]:
    """Hold out every policy at every target, on this machine or on a scheduler's workers."""
    import numpy as np

    from adalib.datasets.responses import Responses
    from adalib.evaluate.heldout import Protocol, held_out
    from adalib.scale.machines import Cluster

    table = None
    unit = 1.0  # an average answer, in the unit of the costs
    if experiment.cost == "tokens" and isinstance(responses, Responses):
        table = partial(Responses.table, cost="tokens")
        unit = float(np.asarray(responses.tokens).mean())
    groups = _field(responses, experiment.groups)
    with Cluster(experiment.scheduler) if experiment.scheduler else nullcontext() as machines:
        protocol = Protocol(
            folds=experiment.folds,
            groups=groups,
            taught=experiment.learn_from,
            table=table,
            machines=machines,
            seed=experiment.seed,
        )
        rows = held_out(
            responses,
            [target * unit for target in targets],
            budgets,
            learners=_policies(responses, experiment.cost, experiment.seed),
            protocol=protocol,
        )
    return [_in_average_answers(row, unit) for row in rows]


def _policies(
    responses: Responses | Menu, cost: Literal["samples", "tokens"], seed: int
) -> dict[str, Learner | Planner]:
    """Return the policies that these answers allow."""
    from adalib.datasets.menu import Menu
    from adalib.evaluate.trials import RACE, RaceInAnswers, planning_policies, stopping_policies
    from adalib.sequential.race import PricedRace

    policies = planning_policies(seed)
    if isinstance(responses, Menu):  # a stopping rule asks one model
        return policies
    policies |= stopping_policies(seed, cost)
    if responses.tokens is not None:
        race = PricedRace(seed=seed)
        policies[RACE] = race if cost == "tokens" else RaceInAnswers(race)
    return policies


def _in_average_answers(row: HeldOutRow, unit: float) -> HeldOutRow:
    """Return the row with costs in average answers, of ``unit`` tokens each."""
    mix_cost = None if row.mix_cost is None else row.mix_cost / unit
    return replace(row, target=row.target / unit, cost=row.cost / unit, mix_cost=mix_cost)


def _field(responses: Responses | Menu, name: str | None) -> Sequence | None:
    """The value of a field for every question; None where no field is named."""
    if name is None:
        return None
    columns: dict[str, Sequence] = {"question": responses.questions, **responses.extras}
    if responses.levels is not None:
        columns["level"] = responses.levels
    if name not in columns:
        raise ValueError(
            f"{responses.source}: has no field {name!r} to group by; "
            f"choose one of {', '.join(columns)}"
        )
    return columns[name]


def _notes(
    responses: Responses | Menu,
    dropped: Sequence[int],
    targets: Sequence[float],
    largest: float,
    folds: int,
    learn_from: int,
) -> Iterator[str]:
    """What was not done as asked, one sentence each."""
    from adalib.datasets.menu import Menu
    from adalib.sequential.replay import WHOLE

    n = responses.n
    samples = responses.samples
    tested = n // folds
    if dropped:
        named = ", ".join(map(str, dropped))
        yield (
            f"{samples} answers leave halves of {samples // 2}, so budgets {named} are not on offer"
        )
    if beyond := ", ".join(f"{target:g}" for target in targets if target > largest):
        yield (
            f"target {beyond} is more than the largest budget, {largest:g}, can spend: "
            "see the cost column"
        )
    if n - tested > learn_from:
        yield (
            f"each fold learned from {learn_from:,} of about {n - tested:,} training questions, "
            f"drawn at random, and all {n:,} questions were scored; --learn-from N takes more"
        )
    if tested > WHOLE and not isinstance(responses, Menu):
        yield (
            "with so many questions, answers are played back to the stopping rules in fewer "
            "orders per question"
        )


def _print_json(rows: Sequence[HeldOutRow], verdict: str) -> None:
    """Print the rows and the verdict as one JSON object."""
    promised = [{name: getattr(row, name) for name in _PROMISED} for row in rows]
    print(json.dumps({"rows": promised, "verdict": verdict}), flush=True)


def _print_report(
    responses: Responses | Menu,
    rows: list[HeldOutRow],
    verdict: str,
    groups: str | None,
    every_policy: bool,
) -> None:
    """Print the verdict, then one line per target or, if asked, every policy at every target."""
    by = "" if groups is None else f" by {groups}"
    more = "" if every_policy else " (every policy: --all)"
    print(textwrap.fill(verdict, 100))
    print(f"\nHeld out{by}, {responses.n} questions with {responses.samples} samples{more}:")
    print(_full_table(rows, groups) if every_policy else _short_table(rows))


def _short_table(rows: Sequence[HeldOutRow]) -> str:
    """The best policy at every target, with an explanation of the columns."""
    from adalib.evaluate.verdict import summary

    return f"{summary(rows).to_string(index=False)}\n{_SUMMARY}"


def _full_table(rows: list[HeldOutRow], groups: str | None) -> str:
    """Every policy at every target, with an explanation of the columns."""
    from adalib.evaluate.scores import as_table

    table = as_table(rows).drop(columns="protocol")
    text = table.to_string(index=False, na_rep="–", float_format="{:.4f}".format)
    unit = "questions" if groups is None else "groups"
    return f"{text}\n{_COLUMNS.format(unit=unit)}"


def _draw(page: str, file: str, rows: list[HeldOutRow], verdict: str, groups: str | None) -> None:
    """Write the page: the verdict, accuracy against cost, and both tables."""
    from adalib.commands.evaluate_page import write_page
    from adalib.evaluate.scores import as_table

    title = f"Does adaptive allocation pay? {os.path.basename(file)}"
    tables = [_short_table(rows), _full_table(rows, groups)]
    write_page(page, title, verdict, as_table(rows), tables)
    note("evaluate", f"wrote {page}; open it in a browser, no network needed")
