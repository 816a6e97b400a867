"""Learn a routing policy from a file of sampled answers, and save it in a folder.

The folder holds JSON and nothing that runs; `serve` reads it, on this machine or another. What the
policy gains on new questions, `evaluate` says.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from adalib.commands.options import check_libraries


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("file", metavar="FILE", help="sampled answers (.jsonl), or a bundled setting")
    add("--budget", type=float, required=True, metavar="B", help="average cost of a question")
    add("--out", required=True, metavar="FOLDER", help="where the router is saved")
    add("--cost", choices=("samples", "tokens"), default="samples", help="what an answer costs")
    add(
        "--race",
        action="store_true",
        help="start several answers at once and cancel those not worth waiting for; "
        "the file needs tokens, and the budget counts tokens",
    )
    add(
        "--certainty",
        action="store_true",
        help="weigh answers by log-probability; the endpoint must give them",
    )


def run(args: argparse.Namespace) -> None:
    """Read, fit and save."""
    check_libraries(args.file)
    from adalib.datasets.loading import load
    from adalib.datasets.responses import Responses
    from adalib.router import Router
    from adalib.sequential.policy import PricedStopping
    from adalib.sequential.race import PricedRace

    if Path(args.out, "router.json").exists():
        raise ValueError(f"{args.out}: holds a router already; remove it, or name another folder")
    responses = load(args.file)
    if not isinstance(responses, Responses):
        raise ValueError(f"{args.file}: holds several models, and a router asks one")
    signals = ("votes", "text", *(("certainty",) if args.certainty else ()))
    policy = PricedRace(signals) if args.race else PricedStopping(signals, cost=args.cost)
    router = Router.fit(responses, args.budget, policy)
    router.save(args.out)
    print(f"wrote {args.out}; next: python -m adalib serve {args.out} --upstream URL --model M")
