"""Serve a fitted router as an OpenAI-compatible endpoint in front of another one, until interrupted.

A client changes its base URL and nothing else. Watch it at the address itself, or scrape /metrics. The upstream's key,
the server's own token and the address of a shared store with a password (ADALIB_REDIS) are read from the environment.
Options may stand in a file of TOML (--config), with tenants: [tenants.NAME] with token_env, and perhaps budget, cap and
total. On SIGHUP the router's folder is read again.
"""

from __future__ import annotations

import argparse
import asyncio
import logging
import os
import signal
import socket
import sys
import tomllib
from dataclasses import replace
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from adalib.commands.cli import check_libraries
from adalib.commands.route import add_asking, at_work, purse

if TYPE_CHECKING:
    from adalib.router.ask import Asking
    from adalib.router.router import Router
    from adalib.router.server import Service, Tenant
    from adalib.router.shared import Share

_KEEP = 75  # seconds for which an idle line stays open: longer than clients keep theirs, or both ends would race
_HEAD = 15.0  # seconds for the head of a request
_CALLERS = 800  # lines open at a time; a process may have 1,024 files open
_TENANT = {"token_env", "budget", "cap", "total", "ledger"}
_REDIS = "ADALIB_REDIS"  # the variable with the address of a shared store, password and all


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add("--upstream", metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
    add("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1; any other needs a token)")
    add("--port", type=int, default=8081, metavar="P", help="port, 0 for a free one (default 8081)")
    add("--limit", type=int, default=64, help="requests at a time; further ones get 429 (default 64)")
    add("--temperature", type=float, help="of requests that name none (default: the upstream's)")
    add("--max-tokens", type=int, default=1024, help="of requests that name none (default 1024)")
    add("--token-env", default="ADALIB_TOKEN", metavar="NAME", help="variable with this server's token (ADALIB_TOKEN)")
    add("--redis", metavar="URL", help="share the budget with other servers of this router, redis://host:6379/0")
    add("--ledger", metavar="FILE", help="keep what was spent of the total here, over restarts")
    add("--alias", action="append", default=[], metavar="NAME", help="another name of the model; may be repeated")
    told = "prices of another model that is asked through this server; may be repeated"
    add("--price-of", action="append", default=[], metavar="M=IN/OUT", help=told)
    add("--price-range", metavar="LOW:HIGH", help="where the price stays; 0: buys also what brings next to nothing")
    add("--own-prices", choices=("yes", "no"), default="yes", help="whether a request may name its price (default yes)")
    add("--shadow", action="store_true", help="reply with the first answer; vote beside, and log what would change")
    add("--log", choices=("text", "json", "no"), default="no", help="a line per request on standard error (default no)")
    add("--config", metavar="FILE", help="options in a file of TOML; those of the command line come first")
    add_asking(parser, tries=3, deadline=120.0)


def run(args: argparse.Namespace) -> None:
    check_libraries(args.folder)
    tenants = _configured(args)
    try:
        import uvicorn

        from adalib.router.server import Service, make_app
    except ModuleNotFoundError as error:
        raise ValueError(f"serve needs the package {error.name}: run pip install 'adalib[serve]'") from None
    from adalib.llm.questions import load_prompt

    if not args.upstream:
        raise ValueError("name the endpoint: --upstream http://127.0.0.1:8080/v1, or upstream in the file of --config")
    token = os.environ.get(args.token_env, "").strip()
    if not token and not _is_loopback(args.host):
        told = f"--host {args.host} can be reached from outside"
        raise ValueError(f"{told}: put a token into the variable {args.token_env}")
    router, endpoint, how = at_work(args, args.upstream)
    prompt = load_prompt(args.prompt) if args.prompt else None
    low, high = _range(args.price_range)
    share, apart = _share(args, router, ""), [_tenant(args, router, how, *one) for one in tenants.items()]
    service = Service(router, endpoint, how, prompt, args.limit, share, tuple(args.alias), tenants=tuple(apart))
    for one in service.everyone:
        steered = one.router.controller
        steered.low, steered.high = steered.low if low is None else low, high
    service.own_prices, service.shadow = args.own_prices == "yes", args.shadow
    service.prices, service.log = dict(map(_price_of, args.price_of)), "" if args.log == "no" else args.log
    if service.log:
        lines = logging.getLogger("adalib.requests")
        lines.addHandler(logging.StreamHandler(sys.stderr))
        lines.setLevel("INFO")
    with listen(args.host, args.port) as listening:
        host, port = listening.getsockname()[:2]
        where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"{args.model} listens at {where}/v1, budget {router.controller.budget:g} {router.unit} per question")
        print(f"watch it at {where}/ (Ctrl-C ends it when what is in flight is answered)", flush=True)
        # Whoever is being answered may take until the deadline; nobody waits longer.
        times: dict[str, Any] = {"timeout_keep_alive": _KEEP, "timeout_graceful_shutdown": int(args.deadline) + 5}
        app = make_app(service, token)
        config = uvicorn.Config(app, http=patient_lines(), log_level="warning", access_log=False, **times)
        asyncio.run(_serve(uvicorn.Server(config), listening, service, args.folder))


async def _serve(server: Any, listening: socket.socket, service: Service, folder: str) -> None:
    from adalib.router.router import Router

    def reload() -> None:
        try:
            service.reload(Router.load(folder))
            print(f"adalib serve: read {folder} again", file=sys.stderr, flush=True)
        except ValueError as error:  # the old one goes on
            print(f"adalib serve: note: {error}", file=sys.stderr, flush=True)

    if hasattr(signal, "SIGHUP"):
        asyncio.get_running_loop().add_signal_handler(signal.SIGHUP, reload)
    await server.serve(sockets=[listening])


def patient_lines() -> type:
    """uvicorn's way to read requests, but no more lines than files may be open, and none that never asks."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class Lines(H11Protocol):
        slow: asyncio.TimerHandle | None = None

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > _CALLERS:
                transport.abort()
            self._hurry()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._hurry()

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
            if self.cycle is None or (self.cycle.response_complete and self.timeout_keep_alive_task is None):
                self.transport.abort()

    return Lines


def _configured(args: argparse.Namespace) -> dict[str, dict[str, Any]]:
    """Take options from a file where the command line has none of them; the tenants it names."""
    if not args.config:
        return {}
    try:
        with open(args.config, "rb") as file:
            told = tomllib.load(file)
    except (OSError, tomllib.TOMLDecodeError) as error:
        why = getattr(error, "strerror", None) or error
        raise ValueError(f"{args.config}: cannot be read ({why}); write options as TOML, such as cap = 8") from None
    tenants = told.pop("tenants", {})
    parser = argparse.ArgumentParser(add_help=False)
    arguments(parser)
    known = {action.dest: action for action in parser._actions if action.option_strings}
    for name, value in told.items():
        action = known.get(name.replace("-", "_"))
        if action is None:
            raise ValueError(f"{args.config}: {name} is no option of serve; see python -m adalib serve --help")
        if getattr(args, action.dest) == action.default:
            setattr(args, action.dest, action.type(value) if callable(action.type) else value)
    for name, one in tenants.items():
        if not isinstance(one, dict) or not {"token_env"} <= set(one) <= _TENANT:
            raise ValueError(
                f"{args.config}: the tenant {name} needs token_env, and may have {', '.join(sorted(_TENANT))}"
            )
    return tenants


def _tenant(args: argparse.Namespace, router: Router, how: Asking, name: str, told: dict[str, Any]) -> Tenant:
    from adalib.router.server import Tenant

    token = os.environ.get(told["token_env"], "").strip()
    if not token:
        raise ValueError(f"the tenant {name} has no token: put one into the variable {told['token_env']}")
    own = router.at_budget(float(told.get("budget", router.controller.budget)))
    own.purse = purse(told.get("total", "inf"), args, told.get("ledger"))
    cap = min(how.cap, float(told.get("cap", how.cap)))
    return Tenant(name, own, replace(how, cap=cap), _share(args, own, name), token)


def _range(text: str | None) -> tuple[float | None, float]:
    low, _, high = (text or "").partition(":")
    try:
        if not 0 <= float(low or 0) <= float(high or "inf"):
            raise ValueError
    except ValueError:
        raise ValueError(f"--price-range is {text!r}; give two prices, such as 0.001:0.5") from None
    return float(low) if low else None, float(high or "inf")


def _price_of(text: str) -> tuple[str, tuple[float, float]]:
    name, _, prices = text.rpartition("=")
    try:
        price_in, price_out = map(float, prices.split("/"))
        if not name or not (price_in >= 0 and price_out >= 0):
            raise ValueError
    except ValueError:
        raise ValueError(f"--price-of is {text!r}; give a model and two prices, such as small=0.1/0.4") from None
    return name, (price_in, price_out)


def _share(args: argparse.Namespace, router: Router, tenant: str) -> Share | None:
    """The shared budget, where one is asked for; an address with a password comes from the environment."""
    if args.redis and "@" in args.redis:
        raise ValueError(f"--redis holds a password: put the address into the variable {_REDIS} and leave --redis out")
    url = args.redis or os.environ.get(_REDIS, "").strip()
    if not url:
        return None
    try:
        from adalib.router.shared import Share
    except ModuleNotFoundError as error:
        raise ValueError(f"--redis needs the package {error.name}: run pip install 'adalib[serve]'") from None
    return Share(router, url, args.model, tenant)


def _is_loopback(host: str) -> bool:
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def listen(host: str, port: int) -> socket.socket:
    """A place where the server is called, whose lines send at once; asyncio sees to it only on sockets of its own."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=1024)
    # A reply goes out in two parts; a second that waits for the first comes 40 ms late. Those that call inherit it.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening
