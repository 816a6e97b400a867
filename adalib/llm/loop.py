"""Run a coroutine from ordinary code: in a script, in a notebook or in a browser."""

from __future__ import annotations

import asyncio
import contextlib
import sys
import threading
from collections.abc import Callable, Coroutine
from functools import cache
from time import sleep
from typing import Any, TypeVar

from tqdm.auto import tqdm

Result = TypeVar("Result")


def wait_for(work: Coroutine[Any, Any, Result], stop: asyncio.Event | None = None) -> Result:
    """Run a coroutine on a loop in the background and return its result.

    The first interrupt sets ``stop``, if one is given, so that the work can end in order; the
    second cancels it. Either way KeyboardInterrupt reaches the caller at the end.
    """
    if sys.platform == "emscripten":
        return _run_in_browser(work)
    ended = threading.Event()

    async def watched() -> Result:
        try:
            return await work
        finally:
            ended.set()

    future = asyncio.run_coroutine_threadsafe(watched(), _background_loop())
    try:
        return future.result()
    except KeyboardInterrupt:
        if stop is not None:
            _background_loop().call_soon_threadsafe(stop.set)
            message = "stopping: the answers in flight may come in (interrupt again to drop them)"
            tqdm.write(message, sys.stderr)
            with contextlib.suppress(KeyboardInterrupt, Exception):
                future.result()
        future.cancel()
        ended.wait(timeout=10)  # work that was cancelled before it began never ends
        raise


@cache
def _background_loop() -> asyncio.AbstractEventLoop:
    """One loop for the whole program, in a thread that ends with it."""
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="adalib", daemon=True).start()
    return loop


def _run_in_browser(work: Coroutine[Any, Any, Result]) -> Result:
    """Run to the end on a loop without threads and sockets, which recorded answers do not need."""
    # A browser's own loop is running already, and asyncio refuses a second one inside it.
    before = asyncio._get_running_loop()
    asyncio._set_running_loop(None)
    try:
        return _BrowserLoop().run_until_complete(work)
    finally:
        asyncio._set_running_loop(before)


class _BrowserLoop(asyncio.BaseEventLoop):
    """An event loop with tasks and clocks alone.

    `BaseEventLoop` asks a selector which sockets are ready. This one is its own selector: it sleeps
    until the next timer, and no socket is ever ready.
    """

    def __init__(self) -> None:
        super().__init__()
        self._selector = self

    def select(self, timeout: float | None) -> list:
        sleep(timeout or 0)
        return []

    def run_in_executor(  # type: ignore[override]
        self, executor: Any, func: Callable, *args: Any
    ) -> Any:
        return self.create_task(_call(func, args))

    def _process_events(self, events: list) -> None:
        pass

    def _write_to_self(self) -> None:
        pass


async def _call(func: Callable, args: tuple) -> Any:
    """Call a function as a task, in the place of a thread."""
    return func(*args)
