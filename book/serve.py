"""Serve a folder on this machine, texts compressed: ``python book/serve.py FOLDER PORT``.

Python's own server sends files as they are, and a chapter is five times as large that way.
"""

from __future__ import annotations

import contextlib
import gzip
import io
import sys
from functools import cache, partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

_TEXTS = {".css", ".html", ".js", ".json", ".svg", ".txt"}


@cache
def _compressed(path: Path, changed: float) -> bytes:
    """The file, compressed once for as long as it does not change."""
    return gzip.compress(path.read_bytes())


class Handler(SimpleHTTPRequestHandler):
    """Python's own handler of a folder, which compresses texts for browsers that accept it."""

    def send_head(self) -> io.BytesIO | io.BufferedReader | None:
        path = Path(self.translate_path(self.path))
        accepts = "gzip" in self.headers.get("Accept-Encoding", "")
        if not (accepts and path.suffix in _TEXTS and path.is_file()):
            return super().send_head()
        body = _compressed(path, path.stat().st_mtime)
        self.send_response(200)
        self.send_header("Content-Type", self.guess_type(path))
        self.send_header("Content-Encoding", "gzip")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Vary", "Accept-Encoding")
        self.end_headers()
        return io.BytesIO(body)


def server(folder: str, port: int) -> ThreadingHTTPServer:
    """A server of the folder, on the loopback address alone."""
    return ThreadingHTTPServer(("127.0.0.1", port), partial(Handler, directory=folder))


if __name__ == "__main__":
    with contextlib.suppress(KeyboardInterrupt):
        server(sys.argv[1], int(sys.argv[2])).serve_forever()
