"""Learn a routing policy from a file of sampled answers, and save it in a folder.

The folder holds JSON and nothing that runs; `route` and `serve` read it, on this machine or another.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from adalib.commands.cli import KINDS, check_learn_from, check_libraries, read_answers

if TYPE_CHECKING:
    from adalib.sequential.streams import Money


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("file", metavar="FILE", help="sampled answers, JSON Lines, or the name of a bundled setting")
    add("--budget", type=float, required=True, metavar="B", help="average cost of a question")
    add("--out", required=True, metavar="FOLDER", help="where the router is saved")
    choices = ("priced", "curve", "verdict")
    add("--policy", choices=choices, default="priced", help="decide as answers come in, before, or what pays")
    add("--cost", choices=("samples", "tokens", "money"), default="samples", help="what an answer costs (default: 1)")
    add("--per-token", type=float, metavar="$", help="with --cost money: dollars for a token that is written")
    add("--per-answer", type=float, default=0.0, metavar="$", help="with --cost money: dollars to ask at all")
    add("--certainty", action="store_true", help="weigh answers by log-probability; the endpoint must give them")
    add("--entropy", action="store_true", help="weigh answers by the entropy of their tokens; log-probabilities again")
    add("--length", action="store_true", help="weigh answers by their number of tokens; the endpoint must give it")
    told = "training questions for priced stopping at most (default 1000)"
    add("--learn-from", metavar="N", type=int, default=1000, help=told)
    add("--kind", help=f"{KINDS}; read from the file's texts, and kept for route and serve")
    add("--round", type=int, metavar="N", help="ask N answers at a time: fewer rounds to wait for, a little dearer")
    told = "what a round of waiting costs, in accuracy, such as 0.003: ask 1, 2, 4 or 8 at a time, as that pays"
    add("--round-price", type=float, metavar="X", help=told)


def run(args: argparse.Namespace) -> None:
    check_libraries(args.file)
    from adalib.datasets.menu import Menu
    from adalib.learn.policies import CurvePolicy
    from adalib.router.router import Router

    signals = ("votes", "text", *(name for name in ("certainty", "entropy", "length") if getattr(args, name)))
    if args.round is not None and args.round < 1:
        raise ValueError(f"--round is {args.round}; give 1 or more")
    schedule = None if args.round is None else range(args.round, max(40, args.round) + 1, args.round)
    cost = _cost(args)
    if Path(args.out, "router.json").exists():
        raise ValueError(f"{args.out}: holds a router already; remove it, or name another folder")
    responses = read_answers(args.file, kind=args.kind)
    if isinstance(responses, Menu):
        raise ValueError(f"{args.file}: holds several models, and a router asks one; give the answers of one model")
    taught = min(check_learn_from(args.learn_from), responses.n)
    chosen = {"budget": args.budget, "policy": args.policy, "cost": cost, "round_price": args.round_price}
    router = Router.fit(responses, **chosen, signals=signals, schedule=schedule, taught=taught)
    if args.kind and not args.kind.startswith("python:"):  # a function of one's own is named anew where it runs
        router.kind = args.kind
    router.save(args.out)
    policy = router.policy
    learned = responses.n if isinstance(policy, CurvePolicy) else taught
    if learned < responses.n:
        told = f"learned from {learned:,} of {responses.n:,} questions, drawn at random"
        print(f"adalib fit: {told}; --learn-from N takes more", file=sys.stderr)
    if learned < 50:
        print(f"adalib fit: {learned} questions teach little; give 50 or more", file=sys.stderr)
    told = f"{router.name}, budget {args.budget:g} {router.unit} per question"
    print(f"fitted on {learned} questions: {told}, first price {router.controller.price:.4g}")
    if not isinstance(policy, CurvePolicy):
        spent, waited = policy.spends(args.budget), policy.waits(args.budget)
        print(f"on these questions it spends {spent:.3g} {router.unit} and waits {waited:.3g} rounds per question")
    print(f"wrote {args.out}; next: python -m adalib serve {args.out} --upstream URL --model M")


def _cost(args: argparse.Namespace) -> Literal["samples", "tokens"] | Money:
    """The unit, or the price list that the two options make."""
    if (args.cost == "money") != (args.per_token is not None):
        raise ValueError("--cost money and --per-token belong together: dollars for a token that is written")
    if args.cost != "money":
        return args.cost
    if not (args.per_token > 0 and args.per_answer >= 0):
        raise ValueError(f"--per-token is {args.per_token} and --per-answer {args.per_answer}; give dollars above 0")
    from adalib.sequential.streams import Money

    return Money(args.per_token, args.per_answer)
