"""Answer questions by a policy, one or many at a time."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

from tqdm.auto import tqdm

from adalib.llm.questions import Prompt
from adalib.router.asking import Allocator, Asking, AskingClient
from adalib.router.question import OpenQuestion
from adalib.router.routed import Routed


async def ask(
    by: Allocator,
    client: AskingClient,
    question: str,
    messages: Sequence[dict[str, Any]],
    asking: Asking,
) -> Routed:
    """Answer one question by a policy that reads ``question``; the model is sent ``messages``.

    Raises
    ------
    EndpointError
        If there was no answer, or no money for one.
    NotShortError
        Where ``asking`` asks for it.
    """
    return await OpenQuestion(by, client, messages, asking).run(question)


async def ask_many(
    by: Allocator,
    client: AskingClient,
    work: Sequence[tuple[Any, str]],
    prompt: Prompt,
    asking: Asking,
    done: Callable[[Any, Routed], None],
    concurrency: int,
    progress: bool,
    stop: asyncio.Event | None = None,
) -> None:
    """Ask (name, question) pairs, ``concurrency`` at a time; call ``done(name, answer)`` for each.

    The first fault ends it, and what was answered is with ``done``. Once ``stop`` is set, no
    question is begun.
    """
    if concurrency < 1:
        raise ValueError(f"concurrency is {concurrency}; give at least 1")
    left = iter(work)
    controller = by.controller
    bar = tqdm(total=len(work), unit="question", disable=None if progress else True, smoothing=0.05)

    async def worker() -> None:
        for name, question in left:
            if stop is not None and stop.is_set():
                return
            done(name, await ask(by, client, question, prompt.fill(question), asking))
            average = f"average {controller.average or 0.0:.2f} of {controller.budget:g}"
            spent = f", ${by.purse.spent:.2f}" if by.purse.spent else ""
            bar.set_postfix_str(f"{average}, price {controller.price:.4f}{spent}", refresh=False)
            bar.update()

    workers = [asyncio.create_task(worker()) for _ in range(min(concurrency, len(work)))]
    with bar:
        try:
            await asyncio.gather(*workers)
        finally:
            for task in workers:
                task.cancel()
            await asyncio.gather(*workers, return_exceptions=True)
