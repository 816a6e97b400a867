"""Serve a fitted router as an OpenAI-compatible endpoint in front of another, until interrupted.

A client changes its base URL and nothing else. Chat completions with a short answer are voted on;
all other requests are passed on as they came. The upstream's key is read from the environment.
"""

from __future__ import annotations

import argparse


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add("--upstream", required=True, metavar="URL", help="for example http://127.0.0.1:8080/v1")
    add("--model", required=True, metavar="M", help="the model's name there")
    add("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1)")
    add("--port", type=int, default=8081, metavar="P", help="port, 0 for a free one (default 8081)")
    add("--key-env", default="OPENAI_API_KEY", metavar="NAME", help="variable with the key")
    add("--debt", metavar="FILE", help="keeps the debt over restarts (default FOLDER/debt.json)")
    add("--keep", metavar="FILE", help="append the answers of each vote to FILE")
    add(
        "--timeout", type=float, default=120.0, metavar="S", help="silence of the upstream, seconds"
    )
    add("--deadline", type=float, default=300.0, metavar="S", help="seconds for a vote")


def run(args: argparse.Namespace) -> None:
    """Serve until interrupted."""
    from adalib.server import serve

    options = vars(args).copy()
    for name in ("word", "run"):
        options.pop(name, None)
    serve(options.pop("folder"), options.pop("upstream"), options.pop("model"), **options)
