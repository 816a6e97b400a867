"""Listen at an address, for the hosts that the server is called by."""

from __future__ import annotations

import re
import socket
from collections.abc import Sequence
from contextlib import suppress

import uvicorn
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

GRACE = 8  # seconds that open requests have when the server is to end; Docker kills after ten
LOOPBACK = ("127.0.0.1", "localhost", "::1", "[::1]")
_EVERYWHERE = ("", "0.0.0.0", "::")  # to listen at; nobody calls a server so
_HOST = re.compile(r"\*|(\*\.)?[\w.-]+|\[?[0-9a-fA-F:]+\]?")


def hosts(host: str, allowed: Sequence[str]) -> list[str]:
    """Return the names by which a server may be called; ValueError if they are not known."""
    for name in allowed:
        if not _HOST.fullmatch(name):
            raise ValueError(
                f"--allow-host is {name!r}; give a name without a port, such as gateway.example"
            )
    if host in _EVERYWHERE and not allowed:
        raise ValueError(
            f"--host {host or repr(host)} listens at every address; say by which name the server "
            "is called, with --allow-host NAME"
        )
    return [*LOOPBACK, host, *allowed]


class OfHosts:
    """An application that answers requests for some hosts alone.

    A page that is open in a browser here can give its own name this machine's address, and would
    spend the server's key.
    """

    def __init__(self, app: ASGIApp, known: Sequence[str]) -> None:
        self.app = app
        self.judge = TrustedHostMiddleware(_know, known, www_redirect=False)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it with a reply that names the option."""

        async def drop(_: Message) -> None:
            """Drop Starlette's own refusal, which does not."""

        await self.judge(scope, receive, drop)
        is_known = scope["type"] != "http" or scope.get("adalib.known")
        await (self.app if is_known else _REFUSAL)(scope, receive, send)


async def _know(scope: Scope, receive: Receive, send: Send) -> None:
    scope["adalib.known"] = True


_WHY = "the server is not known by the host of this request; start it with --allow-host NAME"
_REFUSAL = JSONResponse({"error": {"message": _WHY, "type": "server_error", "code": 400}}, 400)


def prepared(app: ASGIApp, listening: socket.socket) -> uvicorn.Server:
    """Return a server for an application and a socket, to be run."""
    _allow_many_files()
    # Without it every small reply waits 40 ms for the client's delayed acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        app,
        log_config=None,  # which would close the handlers of our own log
        log_level="critical",  # the lines of our log say what failed
        access_log=False,
        date_header=False,  # the upstream's own come back
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    return uvicorn.Server(config)


def _allow_many_files() -> None:
    """Let this program open as many connections as its user may, not the 1,024 of a shell."""
    with suppress(ImportError, ValueError, OSError):  # Windows; a system that allows no more
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65_536)), hard))
