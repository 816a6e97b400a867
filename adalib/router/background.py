"""One event loop in the background, for those who call without one of their own.

A notebook's own loop is taken, and an HTTP client belongs to the loop that first used it: so all calls share one.
"""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any

__all__ = ["wait_for"]


def wait_for(work: Coroutine, stop: threading.Event | None = None) -> Any:
    """Run a coroutine on the background loop and wait for what it returns.

    An interrupt cancels it. With ``stop`` the first one sets that, and waits for the work to end by itself; the second
    cancels. Either way the interrupt goes on to the caller.
    """
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
            with contextlib.suppress(KeyboardInterrupt, Exception):
                future.result()
        future.cancel()
        raise


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="adalib-router", daemon=True).start()
    return loop
