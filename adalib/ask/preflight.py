"""What can an endpoint do? It is asked twice before the server depends on it.

The first answer is read to its end, the second is cancelled as soon as it begins, as a race does.
"""

from __future__ import annotations

import asyncio

import httpx2

from adalib.ask.endpoint import NoAnswerError, Send, Wishes, asker
from adalib.ask.runner import Runner

_TURN = {"role": "user", "content": "Write the numbers from one to thirty as words."}


async def abilities(send: Send, model: str) -> list[str]:
    """Return three lines: does the endpoint stream, give log-probabilities, and can one cancel?

    ValueError if it does not answer.
    """
    wishes = Wishes.of(["logprob"], streams=True)
    ask = asker(send, {"model": model, "messages": [_TURN]}, wishes)
    first = Runner(0)
    second = Runner(1)
    try:
        answer = await ask(first)
        cancelled = await _is_cancelled(asyncio.ensure_future(ask(second)), second)
    except (NoAnswerError, httpx2.HTTPError) as error:
        fault = str(error) if isinstance(error, NoAnswerError) else type(error).__name__
        raise ValueError(
            f"the upstream gives no answer of {model!r} ({fault}); "
            "check the address, the model and the key"
        ) from None
    # A stream is counted while it arrives, a whole reply is not.
    streams = f"yes, in {first.tokens} pieces" if first.tokens else "no, an answer comes whole"
    weighs = "yes" if answer.logprob is not None else "no, so every vote counts the same"
    cuts = "no, an answer that is not needed any more is paid for whole"
    if cancelled:
        cuts = f"yes, after {second.tokens} of about {first.tokens} pieces; its log says if it ends"
    return [f"streams: {streams}", f"log-probabilities: {weighs}", f"can be cancelled: {cuts}"]


async def _is_cancelled(asking: asyncio.Future, runner: Runner) -> bool:
    """Cancel an answer when its first piece is there; say whether it was still being written."""
    while not asking.done() and not runner.tokens:
        await asyncio.sleep(0.001)
    in_time = asking.cancel()
    await asyncio.wait({asking})
    if not in_time:
        asking.result()  # or raise what went wrong
    return in_time
