"""How connections are accepted: a socket that sends at once, and limits on callers who are slow."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

KEEP_ALIVE = 75  # seconds for which an idle connection stays open: longer than clients keep theirs
HEAD = 15.0  # seconds for the head of a request
UNREAD = 60.0  # seconds after which a caller who does not read a reply is cut off
CALLERS = 800  # connections open at a time; a process may have 1,024 files open


def listen(host: str, port: int) -> socket.socket:
    """Listening socket with TCP_NODELAY, which asyncio sets only on sockets of its own."""
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    listening = socket.create_server((host, port), family=family, backlog=1024)
    # A reply goes out in two parts; a second that waits for the first comes 40 ms late. Accepted
    # connections inherit the option.
    listening.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    return listening


def patient_protocol() -> type:
    """H11Protocol with a cap on connections, and timeouts for heads and for unread replies."""
    from uvicorn.protocols.http.h11_impl import H11Protocol

    class PatientProtocol(H11Protocol):
        slow: asyncio.TimerHandle | None = None  # runs while the head of a request is to come
        unread: asyncio.TimerHandle | None = None  # runs while the caller does not read

        def connection_made(self, transport: Any) -> None:
            super().connection_made(transport)
            if len(self.connections) > CALLERS:
                transport.abort()
            self._hurry()

        def data_received(self, data: bytes) -> None:
            super().data_received(data)
            self._hurry()

        def pause_writing(self) -> None:
            super().pause_writing()
            self.unread = self.loop.call_later(UNREAD, self.transport.abort)

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
                self.slow = self.loop.call_later(HEAD, self._cut)
            elif self.slow is not None and not waits:
                self.slow.cancel()
                self.slow = None

        def _cut(self) -> None:
            """Cut off a caller who sent no whole head; uvicorn itself closes idle connections."""
            self.slow = None
            if self.cycle is None or (
                self.cycle.response_complete and self.timeout_keep_alive_task is None
            ):
                self.transport.abort()

    return PatientProtocol
