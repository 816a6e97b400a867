"""Learn a routing policy from a file of sampled answers, and save it in a folder.

The folder holds JSON and nothing that runs; `route` and `serve` read it, on this machine or
another. What is printed was measured on questions held out: routers fitted on four fifths of the
questions are scored on the last fifth.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import TYPE_CHECKING, Any

from adalib.commands.options import KINDS, check_learn_from, check_libraries
from adalib.commands.sources import read_source
from adalib.commands.terminal import note

if TYPE_CHECKING:
    from collections.abc import Sequence

    from adalib.datasets.responses import Responses
    from adalib.router.router import Router
    from adalib.sequential.streams import Money

_FEW_QUESTIONS = 50  # fewer teach little
_MOST_ANSWERS = 40  # per question, where --round asks several at a time


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add(
        "file",
        metavar="FILE",
        help="sampled answers (.jsonl), a log of Inspect (.eval) or lm-eval (samples_*.jsonl), "
        "votes of `serve --keep`, or a bundled setting",
    )
    add("--budget", type=float, required=True, metavar="B", help="average cost of a question")
    add("--out", required=True, metavar="FOLDER", help="where the router is saved")
    add("--kind", help=f"{KINDS}; read from the file's texts, and kept for route and serve")
    add(
        "--gold",
        metavar="FILE",
        help="for votes: correct answers, .csv or .jsonl with question or id",
    )
    _add_policies(parser)
    _add_costs(parser)
    _add_signals(parser)


def _add_policies(parser: argparse.ArgumentParser) -> None:
    """Declare when the policy decides, and what it learns from."""
    add = parser.add_argument
    add(
        "--policy",
        choices=("priced", "curve", "verdict"),
        default="priced",
        help="priced: while answers arrive; curve: before asking; "
        "verdict: whichever gains more held out",
    )
    add(
        "--race",
        action="store_true",
        help="start several answers at once and cancel those not worth waiting for; "
        "the file needs tokens, and the budget counts tokens",
    )
    add(
        "--waiting-price",
        type=float,
        metavar="X",
        help="with --race: price of waiting as long as one answer takes, in accuracy (default: the "
        "lowest at which it waits 0.9 answers or less in training, at most 0.07)",
    )
    add(
        "--round",
        type=int,
        metavar="N",
        help="ask N answers at a time: fewer rounds to wait for, slightly more expensive",
    )
    add(
        "--learn-from",
        metavar="N",
        type=int,
        default=1000,
        help="training questions for priced stopping or a race at most (default 1000)",
    )


def _add_costs(parser: argparse.ArgumentParser) -> None:
    """Declare what an answer costs."""
    add = parser.add_argument
    add(
        "--cost",
        choices=("samples", "tokens", "money"),
        help="what an answer costs (default: 1; with --race: its tokens)",
    )
    add("--per-token", type=float, metavar="$", help="with --cost money: dollars per token written")
    add(
        "--per-answer",
        type=float,
        default=0.0,
        metavar="$",
        help="with --cost money: dollars to ask at all",
    )


def _add_signals(parser: argparse.ArgumentParser) -> None:
    """Declare what the policy looks at in addition to votes and text."""
    add = parser.add_argument
    add(
        "--certainty",
        action="store_true",
        help="weigh answers by log-probability; the endpoint must give them",
    )
    add(
        "--entropy",
        action="store_true",
        help="weigh answers by the entropy of their tokens; log-probabilities again",
    )
    add(
        "--length",
        action="store_true",
        help="weigh answers by their number of tokens; the endpoint must give it",
    )


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, then read, fit, save and measure."""
    check_libraries(args.file)
    if args.race:
        _check_race(args.policy, args.cost, args.round)
    elif args.waiting_price is not None:
        raise ValueError("--waiting-price needs --race")
    unit = args.cost or ("tokens" if args.race else "samples")
    options: dict[str, Any] = {
        "budget": args.budget,
        "policy": "race" if args.race else args.policy,
        "signals": _signals(args.certainty, args.entropy, args.length),
        "cost": _cost(unit, args.per_token, args.per_answer),
        "schedule": _schedule(args.round),
        "waiting_price": args.waiting_price,
    }
    learn_from = check_learn_from(args.learn_from)
    if Path(args.out, "router.json").exists():
        raise ValueError(f"{args.out}: holds a router already; remove it, or name another folder")
    responses = _read(args.file, args.gold, args.kind)
    options["taught"] = min(learn_from, responses.n)
    _fit(responses, options, args.kind, args.out)


def _signals(certainty: bool, entropy: bool, length: bool) -> tuple[str, ...]:
    """Name what the policy looks at: always votes and text, the others if asked."""
    asked_for = {"certainty": certainty, "entropy": entropy, "length": length}
    return ("votes", "text", *(name for name, is_asked in asked_for.items() if is_asked))


def _fit(responses: Responses, options: dict[str, Any], kind: str | None, folder: str) -> None:
    """Fit a router with the keyword arguments of `Router.fit`, save it, and print its promise."""
    from adalib.router.router import Router

    router = Router.fit(responses, **options)
    if kind:
        router.kind = kind
    router.save(folder)
    learned_from = responses.n if router.name == "curve" else options["taught"]
    if learned_from < responses.n:
        note(
            "fit",
            f"learned from {learned_from:,} of {responses.n:,} questions, drawn at random; "
            "--learn-from N takes more",
        )
    if learned_from < _FEW_QUESTIONS:
        note("fit", f"{learned_from} questions teach little; give {_FEW_QUESTIONS} or more")
    per_question = f"{router.controller.budget:g} {router.unit} per question"
    first_price = f"first price {router.controller.price:.4g}"
    print(
        f"fitted on {learned_from} questions: {router.name}, budget {per_question}, {first_price}"
    )
    _print_promise(responses, options, router)
    print(f"wrote {folder}; next: python -m adalib serve {folder} --upstream URL --model M")


def _print_promise(responses: Responses, options: dict[str, Any], router: Router) -> None:
    """Measure the promise on held-out questions, and print it next to the best mix."""
    from adalib.evaluate.intervals import in_points
    from adalib.router.promise import held_out_promise

    # The policy that was fitted, since "verdict" would choose anew in every fold.
    try:
        promise = held_out_promise(responses, options | {"policy": router.name})
    except ValueError as error:  # too few questions, or a budget that only some of them can meet
        note("fit", f"no promise can be measured ({error})")
        return
    print(
        f"held out, {promise.questions} questions: accuracy {promise.accuracy:.3f} "
        f"[{promise.low:.3f}, {promise.high:.3f}] for {promise.cost:.3g} {router.unit} "
        f"and {promise.waits:.3g} {promise.waits_for} of waiting per question"
    )
    ends = f"[{in_points(promise.gain_low, 1)}, {in_points(promise.gain_high, 1)}]"
    print(
        f"best random mix at that cost: accuracy {promise.mix_accuracy:.3f}; "
        f"the router gains {in_points(promise.gain, 1)} points {ends}"
    )


def _read(file: str, gold: str | None, kind: str | None) -> Responses:
    """Read the answers of one model, and say what was left out of a log."""
    from adalib.datasets.menu import Menu

    answers, left_out = read_source(file, gold=gold, kind=kind)
    if isinstance(answers, Menu):
        raise ValueError(
            f"{file}: holds several models, and a router asks one; give the answers of one model"
        )
    if left_out:
        note("fit", left_out)
    return answers


def _check_race(policy: str, cost: str | None, answers_per_round: int | None) -> None:
    """Refuse options that contradict a race."""
    if policy != "priced":
        raise ValueError(f"--race and --policy {policy} contradict each other; give one")
    if cost not in (None, "tokens"):
        raise ValueError("--race counts tokens; leave --cost out, and give --budget in tokens")
    if answers_per_round is not None:
        raise ValueError("--race decides at every finish; leave --round out")


def _schedule(answers_per_round: int | None) -> Sequence[int] | None:
    """The numbers of answers at which a vote may stop; None leaves them to the policy."""
    if answers_per_round is None:
        return None
    if answers_per_round < 1:
        raise ValueError(f"--round is {answers_per_round}; give 1 or more")
    most = max(_MOST_ANSWERS, answers_per_round)
    return range(answers_per_round, most + 1, answers_per_round)


def _cost(unit: str, per_token: float | None, per_answer: float) -> str | Money:
    """The unit, "samples" or "tokens", or the price list that the two options make."""
    from adalib.sequential.streams import Money

    if (unit == "money") != (per_token is not None):
        raise ValueError("--cost money and --per-token belong together: dollars per token written")
    if per_token is None:
        return unit
    if not (per_token > 0 and per_answer >= 0):
        raise ValueError(
            f"--per-token is {per_token} and --per-answer {per_answer}; give dollars above 0"
        )
    return Money(per_token, per_answer)
