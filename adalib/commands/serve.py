"""Serve a fitted router as an OpenAI-compatible endpoint in front of another, until interrupted.

A client changes its base URL and nothing else. Chat completions with a short answer are voted on;
all other requests are passed on as they came, and are neither booked nor limited. Watch it at the
address itself, or scrape /metrics. The upstream's key, the server's own token and the address of a
shared store with a password (ADALIB_REDIS) are read from the environment. On SIGHUP the router's
folder is read again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from adalib.commands.asking import AskingOptions, add_asking

if TYPE_CHECKING:
    from socket import socket

    from adalib.router.router import Router
    from adalib.router.server import Service
    from adalib.router.shared import Share

_REDIS = "ADALIB_REDIS"  # the variable with the address of a shared store, password and all


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add("--upstream", metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
    add(
        "--alias",
        action="append",
        default=[],
        metavar="NAME",
        help="another name of the model; may be repeated",
    )
    _add_listening(parser)
    _add_budget(parser)
    _add_defaults(parser)
    _add_records(parser)
    add_asking(parser, tries=3, deadline=120.0)


def _add_listening(parser: argparse.ArgumentParser) -> None:
    """Declare where the server listens, and to whom."""
    add = parser.add_argument
    add(
        "--host",
        default="127.0.0.1",
        help="address to listen at (default 127.0.0.1; any other needs a token)",
    )
    add("--port", type=int, default=8081, metavar="P", help="port, 0 for a free one (default 8081)")
    add(
        "--limit",
        type=int,
        default=64,
        help="votes at a time; further ones get 429 (default 64)",
    )
    add(
        "--token-env",
        default="ADALIB_TOKEN",
        metavar="NAME",
        help="variable with this server's token (ADALIB_TOKEN)",
    )


def _add_budget(parser: argparse.ArgumentParser) -> None:
    """Declare what holds the budget and the total over restarts and servers."""
    add = parser.add_argument
    add(
        "--redis",
        metavar="URL",
        help="share budget and total with other servers, redis://host:6379/0; a server borrows "
        "from the total in advance, so the first one may borrow all of a small total",
    )
    add(
        "--ledger",
        metavar="FILE",
        help="keep what was spent, the budget's debt and the largest concurrency over restarts",
    )
    add(
        "--price-range",
        metavar="LOW:HIGH",
        help="price limits; `0:` removes the lower limit, so the whole budget may be spent",
    )
    add(
        "--own-prices",
        choices=("yes", "no"),
        default="yes",
        help="whether a request may name its price (default yes)",
    )


def _add_defaults(parser: argparse.ArgumentParser) -> None:
    """Declare the settings of requests that do not set them."""
    add = parser.add_argument
    add("--temperature", type=float, help="for requests that set none (default: the upstream's)")
    add(
        "--max-tokens",
        type=int,
        default=1024,
        help="max_tokens for requests that do not set it (default 1024)",
    )


def _add_records(parser: argparse.ArgumentParser) -> None:
    """Declare what is written down of each vote."""
    add = parser.add_argument
    add(
        "--shadow",
        action="store_true",
        help="reply with the first answer; vote in the background, and log what would change",
    )
    add(
        "--log",
        nargs="?",
        const="-",
        metavar="FILE",
        help="one JSON line per request, in FILE or on standard error; "
        "their money sums to the ledger",
    )
    add(
        "--keep",
        metavar="FILE",
        help="append the messages and all answers of each vote to FILE, for evaluate and fit",
    )


@dataclass(frozen=True)
class ServingOptions:
    """The options of the server itself as plain values."""

    folder: str
    upstream: str
    aliases: tuple[str, ...]
    host: str
    port: int
    limit: int
    token: str
    redis: str
    ledger: str | None
    lowest_price: float | None
    highest_price: float
    own_prices: bool
    shadow: bool
    log: str | None
    keep: str | None

    @classmethod
    def of(cls, args: argparse.Namespace) -> ServingOptions:
        """Check what was given, and read what the environment holds."""
        if not args.upstream:
            raise ValueError("name the endpoint: --upstream http://127.0.0.1:8080/v1")
        lowest_price, highest_price = _price_range(args.price_range)
        return cls(
            folder=args.folder,
            upstream=args.upstream,
            aliases=tuple(args.alias),
            host=args.host,
            port=args.port,
            limit=args.limit,
            token=_token(args.host, args.token_env),
            redis=_redis(args.redis),
            ledger=args.ledger,
            lowest_price=lowest_price,
            highest_price=highest_price,
            own_prices=args.own_prices == "yes",
            shadow=args.shadow,
            log=args.log,
            keep=args.keep,
        )


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, and serve until interrupted."""
    try:
        import uvicorn

        from adalib.router.listening import KEEP_ALIVE, listen, patient_protocol
        from adalib.router.server import make_app
    except ModuleNotFoundError as error:
        mend = "run pip install 'adalib[serve]'"
        raise ValueError(f"serve needs the package {error.name}: {mend}") from None
    serving = ServingOptions.of(args)
    asking = AskingOptions.of(args)
    service = _service(serving, asking)
    if serving.log:
        _log_to(serving.log)
    with listen(serving.host, serving.port) as listening:
        _announce(serving, asking.model, service.router, listening)
        config = uvicorn.Config(
            make_app(service, serving.token),
            http=patient_protocol(),
            log_level="warning",
            access_log=False,
            timeout_keep_alive=KEEP_ALIVE,
            # In-flight requests may finish until the deadline.
            timeout_graceful_shutdown=int(asking.deadline) + 5,
        )
        server = uvicorn.Server(config)
        asyncio.run(_serve(server, listening, service, serving.folder, asking.kind))


def _service(serving: ServingOptions, options: AskingOptions) -> Service:
    """Load the router, give it its purse and ledger, and put it in front of the upstream."""
    from adalib.llm.questions import load_prompt
    from adalib.router.keep import VoteFile
    from adalib.router.purse import Ledger, Purse
    from adalib.router.router import Router
    from adalib.router.server import Service

    router = Router.load(serving.folder)
    client = options.client(serving.upstream)
    asking = options.asking(router.kind)
    ledger = Ledger(serving.ledger) if serving.ledger else None
    router.purse = Purse(options.total, ledger)
    controller = router.controller
    if serving.lowest_price is not None:
        controller.low = serving.lowest_price
    controller.high = serving.highest_price
    share = _share(router, serving.redis, options.model) if serving.redis else None
    if ledger is not None and share is None:  # several servers keep their debt in Redis
        controller.keep_in(ledger, router.unit)
    return Service(
        router,
        client,
        asking,
        load_prompt(options.prompt) if options.prompt else None,
        serving.limit,
        share,
        serving.aliases,
        own_prices=serving.own_prices,
        shadow=serving.shadow,
        log=bool(serving.log),
        keep=VoteFile(serving.keep) if serving.keep else None,
    )


def _log_to(file: str) -> None:
    """Write the line of each request to a file, or to standard error for "-"."""
    lines = logging.getLogger("adalib.requests")
    on_terminal = file == "-"
    lines.addHandler(
        logging.StreamHandler(sys.stderr) if on_terminal else logging.FileHandler(file)
    )
    lines.setLevel("INFO")
    lines.propagate = False


def _announce(serving: ServingOptions, model: str, router: Router, listening: socket) -> None:
    """Print where the server listens, and what it does besides answering."""
    host, port = listening.getsockname()[:2]
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    budget = f"budget {router.controller.budget:g} {router.unit} per question"
    print(f"{model} listens at {where}/v1, {budget}")
    if serving.keep:
        print(f"{serving.keep} will hold the messages and answers of every vote")
    if router.reads:
        fields = " and ".join(router.reads)
        print(f"the upstream is asked for one token, which is booked, to see if it gives {fields}")
    print(f"watch it at {where}/ (Ctrl-C ends it when what is in flight is answered)", flush=True)


async def _serve(
    server: Any, listening: socket, service: Service, folder: str, kind: str | None
) -> None:
    """Run the server; on SIGHUP the router's folder is read again."""
    from adalib.router.router import Router
    from adalib.vote.kinds import answer_reader

    def reload() -> None:
        try:
            router = Router.load(folder)
            answer_reader(kind or router.kind)  # a kind that only the user may give is refused
            service.reload(router, kind)
            print(f"adalib serve: read {folder} again", file=sys.stderr, flush=True)
        except ValueError as error:  # the old one goes on
            print(f"adalib serve: note: {error}", file=sys.stderr, flush=True)

    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
    await server.serve(sockets=[listening])


def _token(host: str, variable: str) -> str:
    """Return the server's own token; an address reachable from outside needs one."""
    from adalib.llm.client import is_loopback

    token = os.environ.get(variable, "").strip()
    if not token and not is_loopback(host):
        outside = f"--host {host} can be reached from outside"
        raise ValueError(f"{outside}: put a token into the variable {variable}")
    return token


def _price_range(text: str | None) -> tuple[float | None, float]:
    """Return the lowest price, or None if it was not given, and the highest."""
    low, _, high = (text or "").partition(":")
    try:
        if not 0 <= float(low or 0) <= float(high or "inf"):
            raise ValueError
    except ValueError:
        raise ValueError(f"--price-range is {text!r}; give two prices, such as 0.001:0.5") from None
    return float(low) if low else None, float(high or "inf")


def _redis(given: str | None) -> str:
    """Return the address of a shared store, or ""; one with a password is in the environment."""
    if given and "@" in given:
        mend = f"put the address into the variable {_REDIS} and leave --redis out"
        raise ValueError(f"--redis holds a password: {mend}")
    return given or os.environ.get(_REDIS, "").strip()


def _share(router: Router, url: str, model: str) -> Share:
    """Return the budget that this server shares with others in Redis."""
    try:
        from adalib.router.shared import Share
    except ModuleNotFoundError as error:
        mend = "run pip install 'adalib[serve]'"
        raise ValueError(f"--redis needs the package {error.name}: {mend}") from None
    return Share(router, url, model)
