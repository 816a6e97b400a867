"""Learn a routing policy from a file of sampled answers, and save it in a folder.

The folder holds JSON and nothing that runs; `route` and `serve` read it, on this machine or another.
"""

from __future__ import annotations

import argparse

__all__ = ["arguments", "run"]


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what ``fit`` takes."""
    add = parser.add_argument
    add("file", metavar="FILE", help="sampled answers, JSON Lines, or the name of a bundled setting")
    add("--budget", type=float, required=True, metavar="B", help="average cost of a question")
    add("--out", required=True, metavar="FOLDER", help="where the router is saved")
    add(
        "--policy",
        choices=("priced", "curve", "verdict"),
        default="priced",
        help="decide as answers come in, before, or what pays",
    )
    add("--cost", choices=("samples", "tokens"), default="samples", help="what an answer costs (default: 1)")
    add("--certainty", action="store_true", help="weigh answers by log-probability; the endpoint must give them")
    add("--round", type=int, metavar="N", help="ask N answers at a time: fewer rounds to wait for, a little dearer")


def run(args: argparse.Namespace) -> int:
    """Fit and save."""
    from adalib.datasets.loading import load
    from adalib.router.router import Router

    signals = ("votes", "text", "certainty") if args.certainty else ("votes", "text")
    if args.round is not None and args.round < 1:
        raise ValueError(f"--round is {args.round}; give 1 or more")
    schedule = None if args.round is None else range(args.round, max(40, args.round) + 1, args.round)
    responses = load(args.file)
    router = Router.fit(
        responses, budget=args.budget, policy=args.policy, signals=signals, cost=args.cost, schedule=schedule
    )
    router.save(args.out)
    price = router.controller.price
    print(f"fitted on {responses.n} questions: budget {args.budget:g} {args.cost} a question, first price {price:.4g}")
    print(f"wrote {args.out}; next: python -m adalib serve {args.out} --upstream URL --model M")
    return 0
