"""Answer a file of questions by a fitted router, from any OpenAI-compatible endpoint.

The same command goes on where an earlier one stopped. The key is read from the environment.
"""

from __future__ import annotations

import argparse
from typing import TYPE_CHECKING

from adalib.commands.cli import KINDS, price

if TYPE_CHECKING:
    from adalib.llm.client import Client
    from adalib.router.ask import Asking
    from adalib.router.router import Router


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add(
        "questions",
        metavar="QUESTIONS",
        help="JSON Lines with id, question and gold, or the name of a bundled set",
    )
    add(
        "--out",
        required=True,
        metavar="ANSWERS",
        help="folder for the answers; made, or gone on with",
    )
    add(
        "--base-url",
        required=True,
        metavar="URL",
        help="the endpoint, for example http://127.0.0.1:8080/v1",
    )
    add("--concurrency", type=int, default=16, help="questions open at a time (default 16)")
    add("--temperature", type=float, default=0.7, help="default 0.7")
    add(
        "--max-tokens", type=int, default=256, help="tokens at which an answer is cut (default 256)"
    )
    add_asking(parser, tries=8, deadline=3600.0)


def add_asking(parser: argparse.ArgumentParser, tries: int, deadline: float) -> None:
    add = parser.add_argument
    add("--model", metavar="M", help="the model's name at that endpoint")
    add(
        "--prompt",
        metavar="FILE",
        help="prompt file or name of a bundled prompt, as the answers were collected with",
    )
    add(
        "--cap",
        type=float,
        default=float("inf"),
        help="most that one question may cost, in the router's unit",
    )
    add(
        "--total",
        type=float,
        default=float("inf"),
        metavar="$",
        help="most dollars that all votes may cost; a hung or cut answer counts at its worst case",
    )
    add("--kind", help=f"{KINDS} (default: as fitted)")
    told = "when words are one answer: an embeddings endpoint (its key: ADALIB_SAME_KEY), or python:module:function"
    add("--same", metavar="URL", help=told)
    add(
        "--same-model",
        metavar="M",
        default="text-embedding-3-small",
        help="its model (text-embedding-3-small)",
    )
    add(
        "--same-at",
        type=float,
        default=0.8,
        metavar="COS",
        help="cosine from which two are one (default 0.8)",
    )
    add("--price-in", type=price, default=0.0, metavar="$", help="dollars per million tokens read")
    add(
        "--price-out",
        type=price,
        default=0.0,
        metavar="$",
        help="dollars per million tokens written",
    )
    add(
        "--price-cached",
        type=price,
        metavar="$",
        help="dollars per million tokens read from the endpoint's cache (default: --price-in)",
    )
    add(
        "--deadline",
        type=float,
        default=deadline,
        metavar="S",
        help=f"seconds a question (default {deadline:g})",
    )
    add(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds for one request (default 60)",
    )
    add(
        "--tries",
        type=int,
        default=tries,
        help=f"requests for one answer before giving up (default {tries})",
    )
    told = "refuse questions without a short answer (default: one answer, passed on)"
    add("--refuse", action="store_true", help=told)
    add(
        "--key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="variable with the key (default OPENAI_API_KEY)",
    )


def client_of(args: argparse.Namespace, url: str) -> Client:
    """The endpoint that is asked. Retries are the vote's own, which puts money aside for each."""
    from adalib.llm.client import Client

    if not args.model:
        raise ValueError("name the model as the endpoint knows it: --model M")
    return Client(url, args.model, key_env=args.key_env, timeout=args.timeout)


def asking_of(args: argparse.Namespace, router: Router) -> Asking:
    """How questions are asked, as the options say."""
    from adalib.llm.client import Client
    from adalib.router.ask import Asking
    from adalib.router.purse import Prices
    from adalib.vote.meaning import Meaning

    same = None
    if args.same and args.same.startswith("python:"):
        same = Meaning(args.same.removeprefix("python:"))
    elif args.same:
        embeddings = Client(
            args.same, args.same_model, key_env="ADALIB_SAME_KEY", timeout=args.timeout
        )
        same = Meaning(embed=embeddings.embed, cosine=args.same_at)
    prices = Prices(args.price_in, args.price_out, args.price_cached)
    if args.total != float("inf") and not prices.any:
        need = "--price-in or --price-out, dollars per million tokens"
        raise ValueError(f"--total needs {need}: without, nothing costs")
    return Asking(
        temperature=args.temperature,
        max_tokens=args.max_tokens,
        kind=args.kind or router.kind,
        cap=args.cap,
        deadline=args.deadline,
        tries=args.tries,
        other="refuse" if args.refuse else "pass",
        prices=prices,
        same=same,
    )


def run(args: argparse.Namespace) -> None:
    from adalib.router.router import Router, route

    router = Router.load(args.folder)
    asking = asking_of(args, router)
    line = route(
        router,
        client_of(args, args.base_url),
        args.questions,
        args.out,
        asking,
        total=args.total,
        prompt=args.prompt,
        concurrency=args.concurrency,
    )
    print(line)
