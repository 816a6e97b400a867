"""Answer a file of questions by a fitted router, from any OpenAI-compatible endpoint.

The same command goes on where an earlier one stopped. The key is read from the environment.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adalib.commands.cli import KINDS, check_libraries

if TYPE_CHECKING:
    from adalib.llm.endpoint import Endpoint
    from adalib.router.ask import Asking
    from adalib.router.controller import Purse
    from adalib.router.router import Router


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add("questions", metavar="QUESTIONS", help="JSON Lines with id, question and gold, or the name of a bundled set")
    add("--out", required=True, metavar="ANSWERS", help="folder for the answers; made, or gone on with")
    add("--base-url", required=True, metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
    add("--concurrency", type=int, default=16, help="questions open at a time (default 16)")
    add("--temperature", type=float, default=0.7, help="default 0.7")
    add("--max-tokens", type=int, default=256, help="tokens at which an answer is cut (default 256)")
    add_asking(parser, tries=8, deadline=3600.0)


def add_asking(parser: argparse.ArgumentParser, tries: int, deadline: float) -> None:
    add = parser.add_argument
    add("--model", metavar="M", help="the model's name at that endpoint")
    add("--prompt", metavar="FILE", help="prompt file or name of a bundled prompt, as the answers were collected with")
    add("--cap", type=float, default=float("inf"), help="most that one question may cost, in the router's unit")
    add("--total", default="inf", metavar="$", help="most that all may cost, or 50/day (hour, month); never passed")
    add("--kind", help=f"{KINDS} (default: as fitted)")
    told = "when words are one answer: an embeddings endpoint (its key: ADALIB_SAME_KEY), or python:module:function"
    add("--same", metavar="URL", help=told)
    add("--same-model", metavar="M", default="text-embedding-3-small", help="its model (text-embedding-3-small)")
    add("--same-at", type=float, default=0.8, metavar="COS", help="cosine from which two are one (default 0.8)")
    add("--same-price", type=float, default=0.0, metavar="$", help="dollars per million tokens that it reads")
    add("--price-in", type=float, default=0.0, metavar="$", help="dollars per million tokens read")
    add("--price-out", type=float, default=0.0, metavar="$", help="dollars per million tokens written")
    add("--deadline", type=float, default=deadline, metavar="S", help=f"seconds a question (default {deadline:g})")
    add("--timeout", type=float, default=60.0, metavar="S", help="seconds for one request (default 60)")
    add("--tries", type=int, default=tries, help=f"requests for one answer before giving up (default {tries})")
    told = "refuse questions without a short answer (default: one answer, passed on)"
    add("--refuse", action="store_true", help=told)
    add("--key-env", default="OPENAI_API_KEY", metavar="NAME", help="variable with the key (default OPENAI_API_KEY)")


def at_work(args: argparse.Namespace, url: str) -> tuple[Router, Endpoint, Asking]:
    """The router of a folder with its purse, the endpoint that it asks, and how, as both commands are told."""
    from adalib.llm.endpoint import Endpoint
    from adalib.router.ask import Asking
    from adalib.router.router import Router
    from adalib.vote.answers import Meaning

    if not args.model:
        raise ValueError("name the model as the endpoint knows it: --model M")
    names = ("cap", "deadline", "price_in", "price_out", "temperature", "max_tokens")
    router, told = Router.load(args.folder), {name: getattr(args, name) for name in names}
    same = Meaning(args.same[7:]) if args.same and args.same.startswith("python:") else None
    if args.same and not same:
        asked = Endpoint(args.same, args.same_model, key_env="ADALIB_SAME_KEY", timeout=args.timeout)
        same = Meaning("", asked.embed, args.same_at, args.same_price)
    how = Asking(**told, kind=args.kind or router.kind, other="refuse" if args.refuse else "pass", same=same)
    router.purse = purse(args.total, args, getattr(args, "ledger", None))
    return router, Endpoint(url, args.model, key_env=args.key_env, timeout=args.timeout, tries=args.tries), how


def purse(total: str | float, args: argparse.Namespace, ledger: str | None = None) -> Purse:
    """The purse of "50" or "50/day"; a total of money needs prices."""
    from adalib.router.controller import Purse

    most, _, period = str(total).partition("/")
    try:
        sum_ = float(most)
    except ValueError:
        raise ValueError(f"--total is {total!r}; give dollars, such as 50, 5/hour, 50/day or 500/month") from None
    if sum_ != float("inf") and not (args.price_in or args.price_out):
        raise ValueError("--total needs --price-in or --price-out, dollars per million tokens: without, nothing costs")
    return Purse(sum_, period, ledger)


def run(args: argparse.Namespace) -> None:
    check_libraries(args.folder)
    from adalib.router.router import route

    router, endpoint, how = at_work(args, args.base_url)
    print(route(router, endpoint, args.questions, args.out, how, prompt=args.prompt, concurrency=args.concurrency))
