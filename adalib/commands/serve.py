"""Serve a fitted router as an OpenAI-compatible endpoint in front of another one, until interrupted.

A client changes its base URL and nothing else. Chat completions with a short answer are voted on; all
other requests are passed on as they came, and are neither booked nor limited. Watch it at the address
itself, or scrape /metrics. The upstream's key, the server's own token and the address of a shared store
with a password (ADALIB_REDIS) are read from the environment. On SIGHUP the router's folder is read again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
from typing import TYPE_CHECKING, Any

from adalib.commands.route import add_asking, asking_of, client_of

if TYPE_CHECKING:
    from adalib.router.router import Router
    from adalib.router.server import Service
    from adalib.router.shared import Share

_KEEP_ALIVE = 75  # seconds for which an idle connection stays open: longer than clients keep theirs
_HEAD = 15.0  # seconds for the head of a request
_UNREAD = 60.0  # seconds after which a caller who does not read a reply is cut off
_CALLERS = 800  # connections open at a time; a process may have 1,024 files open
_REDIS = "ADALIB_REDIS"  # the variable with the address of a shared store, password and all


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add("--upstream", metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
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
    add("--temperature", type=float, help="for requests that set none (default: the upstream's)")
    add(
        "--max-tokens",
        type=int,
        default=1024,
        help="max_tokens for requests that do not set it (default 1024)",
    )
    add(
        "--token-env",
        default="ADALIB_TOKEN",
        metavar="NAME",
        help="variable with this server's token (ADALIB_TOKEN)",
    )
    add(
        "--redis",
        metavar="URL",
        help="share the budget with other servers of this router, redis://host:6379/0",
    )
    add(
        "--ledger",
        metavar="FILE",
        help="keep what was spent, the budget's debt and the largest concurrency over restarts",
    )
    add(
        "--alias",
        action="append",
        default=[],
        metavar="NAME",
        help="another name of the model; may be repeated",
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
        help="one JSON line per request, in FILE or on standard error; their money sums to the ledger",
    )
    add(
        "--keep",
        metavar="FILE",
        help="append the messages and all answers of each vote to FILE, for evaluate and fit",
    )
    add_asking(parser, tries=3, deadline=120.0)


def run(args: argparse.Namespace) -> None:
    try:
        import uvicorn

        from adalib.router.server import make_app
    except ModuleNotFoundError as error:
        mend = "run pip install 'adalib[serve]'"
        raise ValueError(f"serve needs the package {error.name}: {mend}") from None
    if not args.upstream:
        raise ValueError("name the endpoint: --upstream http://127.0.0.1:8080/v1")
    token = os.environ.get(args.token_env, "").strip()
    from adalib.llm.client import is_loopback

    if not token and not is_loopback(args.host):
        outside = f"--host {args.host} can be reached from outside"
        raise ValueError(f"{outside}: put a token into the variable {args.token_env}")
    service = _service(args)
    if args.log:
        lines = logging.getLogger("adalib.requests")
        on_terminal = args.log == "-"
        lines.addHandler(
            logging.StreamHandler(sys.stderr) if on_terminal else logging.FileHandler(args.log)
        )
        lines.setLevel("INFO")
        lines.propagate = False
    with listen(args.host, args.port) as listening:
        _announce(args, service.router, listening)
        config = uvicorn.Config(
            make_app(service, token),
            http=patient_protocol(),
            log_level="warning",
            access_log=False,
            timeout_keep_alive=_KEEP_ALIVE,
            # In-flight requests may finish until the deadline.
            timeout_graceful_shutdown=int(args.deadline) + 5,
        )
        asyncio.run(_serve(uvicorn.Server(config), listening, service, args.folder, args.kind))


def _service(args: argparse.Namespace) -> Service:
    """The router with its purse and ledger, in front of the upstream, as the options say."""
    from adalib.llm.questions import load_prompt
    from adalib.router.keep import VoteFile
    from adalib.router.purse import Ledger, Purse
    from adalib.router.router import Router
    from adalib.router.server import Service

    router = Router.load(args.folder)
    client = client_of(args, args.upstream)
    asking = asking_of(args, router)
    ledger = Ledger(args.ledger) if args.ledger else None
    router.purse = Purse(args.total, ledger)
    low, high = _price_range(args.price_range)
    controller = router.controller
    controller.low = controller.low if low is None else low
    controller.high = high
    share = _share(args, router)
    if ledger is not None and share is None:  # several servers keep their debt in Redis
        controller.keep_in(ledger, router.unit)
    return Service(
        router,
        client,
        asking,
        load_prompt(args.prompt) if args.prompt else None,
        args.limit,
        share,
        tuple(args.alias),
        own_prices=args.own_prices == "yes",
        shadow=args.shadow,
        log=bool(args.log),
        keep=VoteFile(args.keep) if args.keep else None,
    )


def _announce(args: argparse.Namespace, router: Router, listening: socket.socket) -> None:
    host, port = listening.getsockname()[:2]
    where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
    budget = f"budget {router.controller.budget:g} {router.unit} per question"
    print(f"{args.model} listens at {where}/v1, {budget}")
    if args.keep:
        print(f"{args.keep} will hold the messages and answers of every vote")
    print(f"watch it at {where}/ (Ctrl-C ends it when what is in flight is answered)", flush=True)


async def _serve(
    server: Any, listening: socket.socket, service: Service, folder: str, kind: str | None
) -> None:
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


def patient_protocol() -> type:
    """H11Protocol with a cap on connections, a timeout for heads and one for callers who do not read."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class PatientProtocol(H11Protocol):
        slow: asyncio.TimerHandle | None = None
        unread: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > _CALLERS:
                transport.abort()
            self._hurry()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._hurry()

        def pause_writing(self) -> None:
            super().pause_writing()
            self.unread = self.loop.call_later(_UNREAD, self.transport.abort)

        def resume_writing(self) -> None:
            super().resume_writing()
            if self.unread is not None:
                self.unread.cancel()
                self.unread = None

        def connection_lost(self, exc: Exception | None) -> None:
            super().connection_lost(exc)
            if self.unread is not None:
                self.unread.cancel()

        def _hurry(self) -> None:
            """Give the caller some seconds where the head of a request is still to come."""
            waits = self.cycle is None or self.cycle.response_complete
            if self.slow is None and waits:
                self.slow = self.loop.call_later(_HEAD, self._cut)
            elif self.slow is not None and not waits:
                self.slow.cancel()
                self.slow = None

        def _cut(self) -> None:
            self.slow = None
            if self.cycle is None or (
                self.cycle.response_complete and self.timeout_keep_alive_task is None
            ):
                self.transport.abort()

    return PatientProtocol


def _price_range(text: str | None) -> tuple[float | None, float]:
    low, _, high = (text or "").partition(":")
    try:
        if not 0 <= float(low or 0) <= float(high or "inf"):
            raise ValueError
    except ValueError:
        raise ValueError(f"--price-range is {text!r}; give two prices, such as 0.001:0.5") from None
    return float(low) if low else None, float(high or "inf")


def _share(args: argparse.Namespace, router: Router) -> Share | None:
    """The shared budget, where one is asked for; an address with a password comes from the environment."""
    if args.redis and "@" in args.redis:
        raise ValueError(
            f"--redis holds a password: put the address into the variable {_REDIS} and leave --redis out"
        )
    url = args.redis or os.environ.get(_REDIS, "").strip()
    if not url:
        return None
    try:
        from adalib.router.shared import Share
    except ModuleNotFoundError as error:
        raise ValueError(
            f"--redis needs the package {error.name}: run pip install 'adalib[serve]'"
        ) from None
    return Share(router, url, args.model)


def listen(host: str, port: int) -> socket.socket:
    """Listening socket with TCP_NODELAY, which asyncio sets only on sockets of its own."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=1024)
    # A reply goes out in two parts; a second that waits for the first comes 40 ms late. Those that call inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
