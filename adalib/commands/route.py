"""Answer a file of questions by a fitted router, from any OpenAI-compatible endpoint.

The same command goes on where an earlier one stopped. The key is read from the environment.
"""

from __future__ import annotations

import argparse

from adalib.commands.asking import AskingOptions, add_asking


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
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


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, and route."""
    options = AskingOptions.of(args)
    _route(args.folder, args.questions, args.out, args.base_url, args.concurrency, options)


def _route(
    folder: str, questions: str, out: str, url: str, concurrency: int, options: AskingOptions
) -> None:
    """Answer the questions, and print one line on what came of it."""
    from adalib.router.folder import route
    from adalib.router.router import Router

    router = Router.load(folder)
    line = route(
        router,
        options.client(url),
        questions,
        out,
        options.asking(router.kind),
        total=options.total,
        prompt=options.prompt,
        concurrency=concurrency,
    )
    print(line)
