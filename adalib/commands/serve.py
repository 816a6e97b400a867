"""Serve a fitted router as an OpenAI-compatible endpoint in front of another one, until interrupted.

A client changes its base URL and nothing else. Watch it at the address itself, or scrape /metrics. The upstream's key,
the server's own token and the address of a shared store with a password (ADALIB_REDIS) are read from the environment.
"""

from __future__ import annotations

import argparse
import os
import socket
from ipaddress import ip_address
from typing import TYPE_CHECKING, Any

from adalib.commands.cli import check_libraries
from adalib.commands.route import add_asking, at_work

if TYPE_CHECKING:
    from adalib.router.router import Router
    from adalib.router.shared import Share

_KEEP = 75  # seconds for which an idle line stays open: longer than clients keep theirs, or both ends would race
_REDIS = "ADALIB_REDIS"  # the variable with the address of a shared store, password and all


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("folder", metavar="FOLDER", help="a router that `fit` saved")
    add("--upstream", required=True, metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
    add("--host", default="127.0.0.1", help="address to listen at (default 127.0.0.1; any other needs a token)")
    add("--port", type=int, default=8081, metavar="P", help="port, 0 for a free one (default 8081)")
    add("--limit", type=int, default=64, help="requests at a time; further ones get 429 (default 64)")
    add("--temperature", type=float, default=0.7, help="of requests that name none (default 0.7)")
    add("--max-tokens", type=int, default=1024, help="of requests that name none (default 1024)")
    add("--token-env", default="ADALIB_TOKEN", metavar="NAME", help="variable with this server's token (ADALIB_TOKEN)")
    add("--redis", metavar="URL", help="share the budget with other servers of this router, redis://host:6379/0")
    add_asking(parser, tries=3, deadline=120.0)


def run(args: argparse.Namespace) -> None:
    check_libraries(args.folder)
    try:
        import uvicorn

        from adalib.router.server import Service, make_app
    except ModuleNotFoundError as error:
        raise ValueError(f"serve needs the package {error.name}: run pip install 'adalib[serve]'") from None
    from adalib.llm.questions import load_prompt

    token = os.environ.get(args.token_env, "").strip()
    if not token and not _is_loopback(args.host):
        told = f"--host {args.host} can be reached from outside"
        raise ValueError(f"{told}: put a token into the variable {args.token_env}")
    router, endpoint, how = at_work(args, args.upstream)
    prompt = load_prompt(args.prompt) if args.prompt else None
    service = Service(router, endpoint, how, prompt, args.limit, _share(args, router))
    with listen(args.host, args.port) as listening:
        host, port = listening.getsockname()[:2]
        where = f"http://{f'[{host}]' if ':' in host else host}:{port}"
        print(f"{args.model} listens at {where}/v1, budget {router.controller.budget:g} {router.unit} a question")
        print(f"watch it at {where}/ (Ctrl-C ends it when what is in flight is answered)", flush=True)
        # Whoever is being answered may take until the deadline; nobody waits longer.
        times: dict[str, Any] = {"timeout_keep_alive": _KEEP, "timeout_graceful_shutdown": int(args.deadline) + 5}
        config = uvicorn.Config(make_app(service, token), log_level="warning", access_log=False, **times)
        uvicorn.Server(config).run(sockets=[listening])


def _share(args: argparse.Namespace, router: Router) -> Share | None:
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
    return Share(router, url, args.model)


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
