"""One event loop in the background, for those who call without one of their own.

A notebook's own loop is taken, and an HTTP client belongs to the loop that first used it: so all calls share one.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Coroutine
from functools import lru_cache
from typing import Any

__all__ = ["wait_for"]


def wait_for(work: Coroutine) -> Any:
    """Run a coroutine on the background loop and wait for what it returns; an interrupt cancels it."""
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except KeyboardInterrupt:
        future.cancel()
        raise


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="adalib-router", daemon=True).start()
    return loop
