"""Pass a request on to an upstream, and its reply back: bytes in, bytes out.

Query, body and headers, repeated ones too, go on as they came. Left out are the headers of one
connection. The server (`adalib.serve.server`) decides what is passed on.
"""

from __future__ import annotations

from collections.abc import Iterable

import httpx2
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

Headers = list[tuple[bytes, bytes]]

# Headers that belong to one connection, or are set anew.
_NOT_PASSED = frozenset(
    b"host connection keep-alive proxy-connection proxy-authenticate proxy-authorization te "
    b"trailer transfer-encoding upgrade expect".split()
)


def end_to_end(headers: Iterable[tuple[bytes, bytes]]) -> Headers:
    """Return the headers that are for the other end, in their order and with their bytes."""
    pairs = list(headers)
    named = [value.lower() for name, value in pairs if name.lower() == b"connection"]
    dropped = _NOT_PASSED.union(part.strip() for value in named for part in value.split(b","))
    if any(name.lower() == b"transfer-encoding" for name, _ in pairs):
        dropped |= {b"content-length"}  # of a body that comes in chunks, it is not the length
    return [(name, value) for name, value in pairs if name.lower() not in dropped]


def without(headers: Headers, *names: bytes) -> Headers:
    """Return the headers but for those of these names, which are in small letters."""
    return [pair for pair in headers if pair[0].lower() not in names]


class Passed(StreamingResponse):
    """The upstream's reply as it goes to the caller, while it comes."""

    def __init__(self, reply: httpx2.Response) -> None:
        super().__init__(reply.aiter_raw(), reply.status_code)
        self.raw_headers = end_to_end(reply.headers.raw)
        self.reply = reply

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the reply, and give its connection back also if the caller has gone before."""
        try:
            await super().__call__(scope, receive, send)
        finally:
            await self.reply.aclose()
