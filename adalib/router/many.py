"""Many questions under one budget, some at a time, with a bar that shows what it costs."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any

from tqdm.auto import tqdm

from adalib.llm.questions import Prompt
from adalib.router.asking import Asking, Client, Routed, ask

if TYPE_CHECKING:
    from adalib.router.router import Router

__all__ = ["ask_many"]


async def ask_many(
    router: Router,
    client: Client,
    work: Iterable[tuple[Any, str]],
    prompt: Prompt,
    how: Asking,
    done: Callable[[Any, Routed], None],
    concurrency: int = 16,
    progress: bool = True,
    stop: threading.Event | None = None,
) -> None:
    """Ask (name, question) pairs, ``concurrency`` at a time; ``done(name, answer)`` is called as each comes in.

    The first fault ends it: what was answered until then has been handed to ``done``. Once ``stop`` is set no further
    question is begun.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; give at least 1")
    work = list(work)
    left = iter(work)
    bar = tqdm(total=len(work), unit="question", disable=not progress, smoothing=0.05)

    async def worker() -> None:
        for name, question in left:
            if stop is not None and stop.is_set():
                return
            done(name, await ask(router, client, question, prompt.fill(question), how))
            bar.set_postfix_str(_told(router), refresh=False)
            bar.update()

    workers = [asyncio.create_task(worker()) for _ in range(min(concurrency, max(len(work), 1)))]
    try:
        await asyncio.gather(*workers)
    finally:
        for task in workers:
            task.cancel()
        await asyncio.gather(*workers, return_exceptions=True)
        bar.close()


def _told(router: Router) -> str:
    controller, purse = router.controller, router.purse
    money = f", ${purse.spent:.2f}" if purse.spent else ""
    average = controller.average or 0.0
    return f"average {average:.2f} of {controller.budget:g}, price {controller.price:.4f}{money}"
