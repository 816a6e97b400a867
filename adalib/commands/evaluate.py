"""Say whether adaptive allocation pays on a file of sampled answers, held out.

Policies learn from one half of every question's samples, are scored with the other half, and only on questions that
they have not seen. A gain counts over the best random mix at the cost that a policy really had. First comes what was
found, last the next command. The file holds sampled answers (.jsonl, also of several models), or is a bundled setting,
or the log of a gateway (LiteLLM, Helicone, OpenRouter), where requests with the same messages are one question.
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
from html import escape
from typing import TYPE_CHECKING, Any

from adalib.commands import cli

if TYPE_CHECKING:
    import pandas as pd

    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.evaluate.heldout import HeldOutRow

_PROMISED = ("policy", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain")
_CONTROLS = ("oracle_in_sample", "fixed", "random", "length", "noise")

_SUMMARY = """Accuracies are in percent, gains in points and those of the verdict, all with 95% intervals.
"mix needs" is what the best random mix would spend to be as accurate as the best policy, – if it
never is.
"""
_COLUMNS = """low to high is a 95% interval over {unit}; mix_accuracy is the best random mix at the row's own cost;
oracle is cross-fitted, oracle_in_sample is not and claims too much; noise is the control and knows nothing;
label and curve decide before asking, priced, priced_votes, margin, adaptive_consistency and esc while answers come in;
mix_cost is what the best random mix would spend to be as accurate, – if it never is
"""
_PAGE = """<!DOCTYPE html>
<html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>{title}</title>
<meta http-equiv="Content-Security-Policy"
 content="default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; img-src data: blob:">
<style>body {{ margin: auto; max-width: 62rem; font: 1rem/1.5 system-ui, sans-serif }} pre {{ overflow: auto }}</style>
<h1>{title}</h1><p>{verdict}</p>{figure}<pre>{summary}</pre><pre>{table}</pre></html>
"""


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE", help="answers (.jsonl), a gateway's log (.jsonl), or a bundled setting")
    add("--gold", metavar="NAME", help="of a log: a file with question and gold, or a field such as metadata.gold")
    add("--keep", metavar="ANSWERS", help="of a log: also write its answers as a file that every command reads")
    told = "average costs to aim for, such as 1.5,2,3 (default: 2, 3 and 4 times the cheapest)"
    add("--targets", metavar="LIST", help=told)
    cli.add_shared(parser, "--budgets")
    add("--folds", metavar="K", type=int, default=5, help="parts that the questions are dealt into (default 5)")
    add("--groups", metavar="FIELD", help="keep questions with the same value of this field in one fold")
    add("--seed", metavar="S", type=int, default=0, help="of the folds, the halves and the models (default 0)")
    add("--learn-from", metavar="N", type=int, default=1000, help="training questions a fold at most (default 1000)")
    add("--kind", help=f"{cli.KINDS}; read from the file's texts")
    cli.add_shared(parser, "--prices", "--scheduler")
    add("--all", action="store_true", help="print every policy at every target")
    add("--out", metavar="PAGE", help="also write a self-contained page: accuracy against cost")
    cli.add_shared(parser, "--json")


def run(args: argparse.Namespace) -> None:
    cli.check_libraries(args.file)
    from adalib.datasets.menu import Menu
    from adalib.evaluate.heldout import Protocol, as_table, held_out
    from adalib.evaluate.trials import planning_policies, stopping_policies
    from adalib.evaluate.verdict import summary, verdict
    from adalib.scale.machines import Cluster

    offered = cli.parse_budgets(args.budgets)
    given = None if args.targets is None else cli.parse_numbers(args.targets, "--targets")
    if args.seed < 0:
        raise ValueError(f"--seed is {args.seed}; give 0 or more")
    if args.out and os.path.realpath(args.file) == os.path.realpath(args.out):
        raise ValueError(f"--out is the file itself, {args.out}; give the page another name")
    responses = _answers(args)
    half = responses.samples // 2
    budgets = tuple(budget for budget in offered if budget <= half)
    if len(budgets) < 2:
        few = f"{responses.samples} answers per question, and a half of {half} leaves no two of the budgets"
        raise ValueError(f"{args.file}: has {few} {args.budgets}; sample more answers, or offer smaller budgets")
    if args.keep:
        responses.save(args.keep)
    cost = responses.take([0]).table(budgets).cost
    targets = given or [c for c in (2 * cost[0], 3 * cost[0], 4 * cost[0]) if c < cost[-1]] or [cost[[0, -1]].mean()]
    # Those that watch the answers come in know one model; whom to ask is decided before asking.
    watching = {} if isinstance(responses, Menu) else stopping_policies(args.seed)
    learners = planning_policies(args.seed) | watching
    groups, taught = _field(responses, args.groups), cli.check_learn_from(args.learn_from)
    with Cluster(args.scheduler) if args.scheduler else nullcontext() as machines:
        how = Protocol(folds=args.folds, groups=groups, taught=taught, machines=machines, seed=args.seed)
        rows = held_out(responses, targets, budgets, learners=learners, protocol=how)
    # After the work, so that an input which cannot be evaluated is one line and no more.
    for note in _notes(args, responses, offered[len(budgets) :], targets, cost[-1]):
        print(f"adalib evaluate: {note}", file=sys.stderr)
    found, by, unit = verdict(rows), *(("", "questions") if args.groups is None else (f" by {args.groups}", "groups"))
    every = as_table(rows).drop(columns="protocol")
    full = every.to_string(index=False, na_rep="–", float_format="{:.4f}".format) + "\n" + _COLUMNS.format(unit=unit)
    short = f"{summary(rows).to_string(index=False)}\n{_SUMMARY}"
    if args.out:
        _write_page(args, every, verdict=found, summary=short, table=full)
    if args.json:
        kept = [{name: getattr(row, name) for name in _PROMISED} for row in rows]
        print(json.dumps({"rows": kept, "verdict": found}))
        return
    print(textwrap.fill(found, 100))
    more = "" if args.all else " (every policy: --all)"
    print(f"\nHeld out{by}, {responses.n} questions with {responses.samples} samples{more}:")
    print(full if args.all else short)
    for line in _next(args, responses, rows):
        print(cli.shown(line))


def _answers(args: argparse.Namespace) -> Any:
    """What the file holds: answers of one model, a menu of several, or a gateway's log as answers."""
    from adalib.datasets.logs import is_log, read_log

    log = is_log(args.file)
    if log != bool(args.gold):
        mend = "a log takes right answers: give" if log else "is no log of a gateway: leave out"
        raise ValueError(f"{args.file}: {mend} --gold (and --keep)")
    if args.keep and (not log or os.path.exists(args.keep)):
        raise ValueError(f"--keep is {args.keep}; give a file that is not there yet, and a log to read")
    if not log:
        return cli.read_answers(args.file, args.prices, kind=args.kind)
    responses, told = read_log(args.file, args.gold, args.kind or "auto")
    print(f"adalib evaluate: {told} (--keep ANSWERS writes them for other commands)", file=sys.stderr)
    return responses


def _next(args: argparse.Namespace, responses: Any, rows: Sequence[HeldOutRow]) -> Iterator[str]:
    """The commands to type now."""
    import numpy as np

    from adalib.evaluate.verdict import judged

    file = shlex.quote(args.keep or ("ANSWERS" if args.gold else args.file))
    found, command = judged(rows)[0], "python -m adalib"
    best = found.rows[int(np.argmax(found.gain.low))]
    if found.word() != "pays":
        yield f"Next: {command} explore {file} --out explore.html"
    elif hasattr(responses, "models"):  # a router asks one
        prices = f" --prices {shlex.quote(args.prices)}" if args.prices else ""
        yield f"Next: {command} solve {file} --budget {best.target:g}{prices}"
    else:
        how = {"priced": "", "priced_votes": "", "curve": " --policy curve"}.get(best.policy, " --policy verdict")
        for name in ("logprob", "entropy") if best.policy == "priced" else ():
            how += "" if getattr(responses, name) is None else f" --{name.replace('logprob', 'certainty')}"
        how += f" --kind {shlex.quote(args.kind)}" if args.kind else ""
        yield f"Next: {command} fit {file} --budget {best.target:g}{how} --out router"
    named = {name: set(column) for name, column in responses.extras.items() if isinstance(column[0], str)}
    families = (name for name, kinds in named.items() if args.folds <= len(kinds) <= responses.n / 2)
    if args.groups is None and (name := next(families, "")):
        yield f"If questions of one {name} are alike: {command} evaluate {file} --groups {shlex.quote(name)}"


def _write_page(args: argparse.Namespace, rows: pd.DataFrame, **texts: str) -> None:
    """Accuracy against cost, and the texts, in one file that needs no network."""
    try:
        import plotly.express as px
    except ModuleNotFoundError:
        raise ValueError("--out draws with plotly: run pip install 'adalib[pages]'") from None
    from adalib.datasets.files import written

    how: dict[str, Any] = {"color_discrete_sequence": px.colors.qualitative.Dark24, "template": "plotly_white"}
    how |= {"color_discrete_map": {"oracle": "black", "mix": "grey"}, "hover_data": ["target", "low", "high"]}
    fig = px.line(rows, x="cost", y="accuracy", color="policy", markers=True, height=560, **how)
    fig.for_each_trace(lambda line: line.update(visible="legendonly" if line.name in _CONTROLS else True))
    fig.update_layout(xaxis_title="average cost per question", yaxis_tickformat=".0%")
    figure = fig.to_html(full_html=False, include_plotlyjs=True, config={"displaylogo": False})
    title = escape(f"Does adaptive allocation pay? {os.path.basename(args.file)}")
    text = _PAGE.format(title=title, figure=figure, **{name: escape(told) for name, told in texts.items()})
    with written(args.out) as file:
        file.write(text.encode("utf-8", "replace"))
    print(f"adalib evaluate: wrote {cli.shown(args.out)}; open it in a browser, no network needed", file=sys.stderr)


def _field(responses: Responses | Menu, name: str | None) -> Sequence | None:
    if name is None:
        return None
    known: dict[str, Sequence] = {"question": responses.questions, **responses.extras}
    if responses.levels is not None:
        known["level"] = responses.levels
    if name not in known:
        raise ValueError(f"{responses.source}: has no field {name!r} to group by; choose one of {', '.join(known)}")
    return known[name]


def _notes(args: Any, responses: Any, dropped: Sequence, targets: Sequence, most: float) -> Iterator[str]:
    from adalib.datasets.menu import Menu
    from adalib.sequential.streams import WHOLE

    n, samples, taught, tested = responses.n, responses.samples, args.learn_from, responses.n // args.folds
    if dropped:
        named = ", ".join(map(str, dropped))
        yield f"{samples} answers leave halves of {samples // 2}, so budgets {named} are not on offer"
    if beyond := ", ".join(f"{target:g}" for target in targets if target > most):
        yield f"target {beyond} is more than the largest budget, {most:g}, can spend: see the cost column"
    if n - tested > taught:
        told = f"each fold learned from {taught:,} of about {n - tested:,} training questions, drawn at random"
        yield f"{told}, and all {n:,} questions were scored; --learn-from N takes more"
    if tested > WHOLE and not isinstance(responses, Menu):
        yield "with so many questions, answers are played back to the stopping rules in fewer orders a question"
