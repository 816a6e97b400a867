"""A log that no program waits for: lines on standard output, written by a thread of its own."""

from __future__ import annotations

import logging
import os
import queue
import sys
import threading
from contextlib import suppress

UNREAD_LINES = 10_000  # are kept until somebody reads them


class LogLines(logging.Handler):
    """Write each message as a line; where nobody reads them, or the pipe was closed, drop them."""

    def __init__(self) -> None:
        super().__init__()
        self._lines: queue.Queue[bytes | None] = queue.Queue(UNREAD_LINES)
        self._thread = threading.Thread(target=self._write, daemon=True)
        self._thread.start()

    def emit(self, record: logging.LogRecord) -> None:
        with suppress(queue.Full):
            self._lines.put_nowait(f"{record.getMessage()}\n".encode())

    def close(self) -> None:
        with suppress(queue.Full):
            self._lines.put_nowait(None)
        self._thread.join(timeout=1.0)
        super().close()

    def _write(self) -> None:
        # Past Python's own buffer, on which a program that ends would wait.
        with suppress(OSError):
            for line in iter(self._lines.get, None):
                os.write(sys.stdout.fileno(), line)
