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
import shlex
import sys
import textwrap
from collections.abc import Iterator, Sequence
from contextlib import nullcontext
from dataclasses import replace
from functools import partial
from html import escape
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any

from adalib.commands import cli

if TYPE_CHECKING:
    import numpy as np
    import pandas as pd

    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.evaluate.heldout import HeldOutRow

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
_COMMAND = "python -m adalib"
_CONTROLS = ("oracle_in_sample", "fixed", "random", "length", "noise")

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
_PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width">
<title>{title}</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline';
 img-src data: blob:">
<style>
body {{ margin: auto; max-width: 62rem; font: 1rem/1.5 system-ui, sans-serif }}
pre {{ overflow: auto }}
</style>
<h1>{title}</h1><p>{verdict}</p>{figure}<pre>{summary}</pre><pre>{table}</pre></html>
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    _add_source(parser)
    _add_protocol(parser)
    parser.add_argument("--kind", help=f"{cli.KINDS}; read from the file's texts")
    cli.add_shared(parser, "--prices", "--scheduler")
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
    cli.add_shared(parser, "--budgets")
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
    cli.add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, evaluate, and print the verdict before drawing."""
    cli.check_libraries(args.file)
    import numpy as np

    # Before the file is read, so that a missing library is named before any work.
    import adalib.evaluate.heldout  # noqa: F401
    from adalib.datasets.responses import Responses

    offered = cli.parse_budgets(args.budgets)
    targets = None if args.targets is None else cli.parse_numbers(args.targets, "--targets")
    _check_options(args.file, args.seed, args.keep, args.out)
    can_draw = args.out is not None and find_spec("plotly") is not None
    if args.out and not can_draw:
        _note(
            f"{args.out} will not be written: --out draws with plotly; "
            "run pip install 'adalib[pages]'"
        )
    responses, left_out = cli.read_source(
        args.file, gold=args.gold, prices=args.prices, kind=args.kind
    )
    if args.keep and not left_out:
        raise ValueError("--keep writes the answers of a log or of votes; leave it out")
    if left_out:
        _note(f"{left_out} (--keep ANSWERS writes them for other commands)")
    if args.keep and isinstance(responses, Responses):  # a log is of one model
        responses.save(args.keep)
    budgets = _possible_budgets(offered, responses)
    in_tokens = args.cost == "tokens"
    if in_tokens and getattr(responses, "tokens", None) is None:
        raise ValueError(
            f'{responses.source}: has no tokens for one model; add "tokens" to every line, '
            "or leave --cost out"
        )
    cost = np.array(budgets, float) if in_tokens else responses.take([0]).table(budgets).cost
    targets = targets or _usual_targets(cost)
    rows = _evaluated(responses, targets, budgets, args)
    # After the work, so that an input which cannot be evaluated is one line and no more.
    dropped = offered[len(budgets) :]
    for note in _notes(responses, dropped, targets, cost[-1], args.folds, args.learn_from):
        _note(note)

    _report(args, responses, rows, can_draw, from_log=bool(left_out))


def _report(
    args: argparse.Namespace,
    responses: Responses | Menu,
    rows: list[HeldOutRow],
    can_draw: bool,
    from_log: bool,
) -> None:
    """Print the verdict and the tables, and draw the page."""
    from adalib.evaluate.heldout import as_table
    from adalib.evaluate.verdict import summary, verdict

    sentence = verdict(rows)
    unit = "questions" if args.groups is None else "groups"
    all_rows = as_table(rows).drop(columns="protocol")
    full_table = all_rows.to_string(index=False, na_rep="–", float_format="{:.4f}".format)
    full_table += "\n" + _COLUMNS.format(unit=unit)
    short_table = f"{summary(rows).to_string(index=False)}\n{_SUMMARY}"
    if args.json:
        promised = [{name: getattr(row, name) for name in _PROMISED} for row in rows]
        print(json.dumps({"rows": promised, "verdict": sentence}), flush=True)
    else:
        by = "" if args.groups is None else f" by {args.groups}"
        more = "" if args.all else " (every policy: --all)"
        print(textwrap.fill(sentence, 100))
        print(f"\nHeld out{by}, {responses.n} questions with {responses.samples} samples{more}:")
        print(full_table if args.all else short_table)
        for line in _next_commands(args, responses, rows, from_log=from_log):
            print(cli.shown(line), flush=True)
    if can_draw:
        texts = {"verdict": sentence, "summary": short_table, "table": full_table}
        _write_page(args.file, args.out, all_rows, texts)


def _check_options(file: str, seed: int, keep: str | None, out: str | None) -> None:
    """Refuse what is wrong on its face, before anything is read."""
    if seed < 0:
        raise ValueError(f"--seed is {seed}; give 0 or more")
    if out and os.path.realpath(file) == os.path.realpath(out):
        raise ValueError(f"--out is the file itself, {out}; give the page another name")
    if keep and os.path.exists(keep):
        raise ValueError(f"--keep is {keep}, which exists already; give another name")


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


def _usual_targets(cost: np.ndarray) -> list[float]:
    """Two, three and four times the cheapest budget's cost, where they lie below the largest."""
    usual = [float(c) for c in (2 * cost[0], 3 * cost[0], 4 * cost[0]) if c < cost[-1]]
    return usual or [float(cost[[0, -1]].mean())]


def _evaluated(
    responses: Responses | Menu,
    targets: Sequence[float],
    budgets: Sequence[int],
    args: argparse.Namespace,
) -> list[HeldOutRow]:
    """Every policy at every target, on this machine or on the workers of a scheduler."""
    import numpy as np

    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.evaluate.heldout import Protocol, held_out
    from adalib.evaluate.trials import RACE, RaceInAnswers, planning_policies, stopping_policies
    from adalib.scale.machines import Cluster
    from adalib.sequential.race import PricedRace

    learners = planning_policies(args.seed)
    table = None
    unit = 1.0
    if not isinstance(
        responses, Menu
    ):  # stopping rules know one model; a menu is chosen from before
        learners |= stopping_policies(args.seed, args.cost)
        if responses.tokens is not None:
            race = PricedRace(seed=args.seed)
            learners[RACE] = race if args.cost == "tokens" else RaceInAnswers(race)
        if args.cost == "tokens":
            table = partial(Responses.table, cost="tokens")
            unit = float(np.asarray(responses.tokens).mean())
    groups = _field(responses, args.groups)
    learn_from = cli.check_learn_from(args.learn_from)
    with Cluster(args.scheduler) if args.scheduler else nullcontext() as machines:
        protocol = Protocol(
            folds=args.folds,
            groups=groups,
            taught=learn_from,
            table=table,
            machines=machines,
            seed=args.seed,
        )
        in_unit = [target * unit for target in targets]
        rows = held_out(responses, in_unit, budgets, learners=learners, protocol=protocol)
    return [_in_average_answers(row, unit) for row in rows]


def _in_average_answers(row: HeldOutRow, unit: float) -> HeldOutRow:
    """Return the row with costs in average answers, of ``unit`` tokens each."""
    mix_cost = None if row.mix_cost is None else row.mix_cost / unit
    return replace(row, target=row.target / unit, cost=row.cost / unit, mix_cost=mix_cost)


def _next_commands(
    args: argparse.Namespace,
    responses: Responses | Menu,
    rows: Sequence[HeldOutRow],
    from_log: bool,
) -> Iterator[str]:
    """The commands to type now. Of a log, other commands read only what --keep wrote."""
    import numpy as np

    from adalib.evaluate.verdict import judged

    if args.keep:
        source = shlex.quote(args.keep)
    else:
        source = shlex.quote(args.file) + (f" --gold {shlex.quote(args.gold)}" if args.gold else "")
    found = judged(rows)[0]
    best = found.rows[int(np.argmax(found.gain.low))]
    if found.word() == "cannot tell":
        yield from _collecting(
            source, responses, found.needed, joins=bool(args.keep) or not from_log
        )
    elif found.word() != "pays" and from_log and not args.keep:
        explore = f"{_COMMAND} explore answers.jsonl --out explore.html"
        yield f"Next: add --keep answers.jsonl to this command, and then run {explore}"
    elif found.word() != "pays":
        yield f"Next: {_COMMAND} explore {shlex.quote(args.keep or args.file)} --out explore.html"
    elif hasattr(responses, "models"):  # a router asks one model
        prices = f" --prices {shlex.quote(args.prices)}" if args.prices else ""
        yield f"Next: {_COMMAND} solve {source} --budget {best.target:g}{prices}"
    else:
        options = fit_options(best, responses, args.cost, args.kind)
        yield f"Next: {_COMMAND} fit {source} {options} --out router"
    family = _family(responses, args.folds)
    if args.groups is None and family:
        groups = f"--groups {shlex.quote(family)}"
        yield f"If questions of one {family} are alike: {_COMMAND} evaluate {source} {groups}"


def _collecting(
    source: str, responses: Responses | Menu, needed: float, joins: bool
) -> Iterator[str]:
    """The commands that get as many questions as would settle it, and evaluate all of them.

    A file of answers ``joins`` with those that are collected; a log does not.
    """
    missing = max(int(float(f"{needed:.2g}")) - responses.n, 1)
    sample = f"--out more --base-url URL --model M --samples {responses.samples}"
    yield (
        f"Next: put about {missing:,} more questions like these, with gold, into more.jsonl, "
        "and run"
    )
    yield f"  {_COMMAND} collect more.jsonl {sample}"
    if joins and os.path.isfile(shlex.split(source)[0]):
        together = f"cat {source} more/responses.jsonl > all.jsonl"
        yield f"  {together} && {_COMMAND} evaluate all.jsonl"


def fit_options(best: HeldOutRow, responses: Any, cost: str, kind: str | None) -> str:
    """The options of `fit` that make the policy which did best, at its target."""
    from adalib.evaluate.trials import RACE

    known = {"priced": "", "priced_votes": "", "curve": " --policy curve", RACE: " --race"}
    options = known.get(best.policy, " --policy verdict")
    if cost == "tokens" and best.policy != RACE:  # a race counts tokens anyway
        options += " --cost tokens"
    if cost == "tokens" or best.policy == RACE:
        budget = f"{best.target * responses.tokens.mean():.0f}"
    else:
        budget = f"{best.target:g}"
    if best.policy in ("priced", RACE):  # which use every signal that the file has
        options += " --certainty" if responses.logprob is not None else ""
        options += " --entropy" if responses.entropy is not None else ""
    return f"--budget {budget}{options}" + (f" --kind {shlex.quote(kind)}" if kind else "")


def _family(responses: Responses | Menu, folds: int) -> str:
    """Name a field that may hold families of similar questions.

    Its values are texts, neither too few nor too many of them.
    """
    for name, column in responses.extras.items():
        if isinstance(column[0], str) and folds <= len(set(column)) <= responses.n / 2:
            return name
    return ""


def _write_page(file: str, out: str, rows: pd.DataFrame, texts: dict[str, str]) -> None:
    """Accuracy against cost, and the texts, in one file that needs no network."""
    import plotly.express as px

    from adalib.datasets.files import written

    figure = px.line(
        rows,
        x="cost",
        y="accuracy",
        color="policy",
        markers=True,
        height=560,
        color_discrete_sequence=px.colors.qualitative.Dark24,
        color_discrete_map={"oracle": "black", "mix": "grey"},
        hover_data=["target", "low", "high"],
        template="plotly_white",
    )
    figure.for_each_trace(
        lambda line: line.update(visible="legendonly" if line.name in _CONTROLS else True)
    )
    figure.update_layout(xaxis_title="average cost per question", yaxis_tickformat=".0%")
    drawn = figure.to_html(full_html=False, include_plotlyjs=True, config={"displaylogo": False})
    title = escape(f"Does adaptive allocation pay? {os.path.basename(file)}")
    escaped = {name: escape(text) for name, text in texts.items()}
    with written(out) as page:
        page.write(_PAGE.format(title=title, figure=drawn, **escaped).encode("utf-8", "replace"))
    _note(f"wrote {out}; open it in a browser, no network needed")


def _note(text: str) -> None:
    """Say something on standard error that is not part of the result."""
    print(f"adalib evaluate: {cli.shown(text)}", file=sys.stderr, flush=True)


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
