"""Listen at an address: what the server adds to uvicorn, so that no caller can hold it up."""

from __future__ import annotations

import asyncio
import socket
from collections import Counter
from contextlib import suppress
from typing import Any

import uvicorn
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

HEAD_SECONDS = 10.0  # in which the head of a request must have come
GRACE = 8  # seconds that open requests have when the server is to end; Docker kills after ten


class OfOneCaller:
    """An application that answers so many requests of one address at a time, and refuses more.

    A request is open until its reply was read, so a caller who does not read holds few of them.
    """

    def __init__(self, app: ASGIApp, most: int) -> None:
        self.app = app
        self.most = most
        self.open: Counter[str] = Counter()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a request, or refuse it."""
        if scope["type"] != "http" or scope["path"] == "/health":
            await self.app(scope, receive, send)
            return
        address = scope["client"][0] if scope.get("client") else ""
        if self.open[address] >= self.most:
            message = f"{self.most} requests of your address are open already; try again later"
            error = {"message": message, "type": "server_error", "code": 503}
            refused = JSONResponse({"error": error}, 503, {"retry-after": "1"})
            await refused(scope, receive, send)
            return
        self.open[address] += 1
        try:
            await self.app(scope, receive, send)
        finally:
            self.open[address] -= 1
            self.open += Counter()  # forgets addresses that have none


class Connection(H11Protocol):
    """A connection that is closed where no request comes, however slowly its bytes do."""

    _waiting: asyncio.TimerHandle | None = None

    def connection_made(self, transport: Any) -> None:
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._wait()

    def data_received(self, data: bytes) -> None:
        """Stop waiting once the head of a request is there."""
        super().data_received(data)
        if self.cycle is not None and not self.cycle.response_complete:
            self._stop_waiting()
        elif self._waiting is None:
            self._wait()

    def connection_lost(self, exc: Exception | None) -> None:
        """Stop waiting."""
        self._stop_waiting()
        super().connection_lost(exc)

    def _wait(self) -> None:
        self._waiting = self.loop.call_later(HEAD_SECONDS, self.transport.close)

    def _stop_waiting(self) -> None:
        if self._waiting is not None:
            self._waiting.cancel()
            self._waiting = None


class Listening(uvicorn.Server):
    """A server that ends at once when it is told so for the second time."""

    def handle_exit(self, sig: int, frame: Any) -> None:
        """End after the open requests; at the second signal, whichever it is, without them."""
        self.force_exit = self.should_exit  # uvicorn does so for Ctrl-C alone
        super().handle_exit(sig, frame)


def listen(app: Any, listening: socket.socket) -> None:
    """Answer requests at a socket until a signal ends the program."""
    _allow_many_files()
    # Without it every small reply waits 40 ms for the client's delayed acknowledgement.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    config = uvicorn.Config(
        app,
        http=Connection,
        log_config=None,  # which would close the handlers of our own log
        log_level="critical",  # the lines of our log say what failed
        access_log=False,
        date_header=False,  # the upstream's own come back
        server_header=False,
        timeout_graceful_shutdown=GRACE,
    )
    Listening(config).run(sockets=[listening])


def _allow_many_files() -> None:
    """Let this program open as many connections as its user may, not the 1,024 of a shell."""
    with suppress(ImportError, ValueError, OSError):  # Windows; a system that allows no more
        import resource

        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, min(hard, 65_536)), hard))
