"""Judge an answer that a notebook has handed over as plain data.

A function that is an answer runs in a process that does not find adabook (`adabook.sandbox`): the
judge sends it inputs and reads plain numbers back.
"""

from __future__ import annotations

import base64
import inspect
import pickletools
import signal
from collections.abc import Callable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from functools import cache
from types import CodeType
from typing import Any

from adabook import exact, plain_data, sandbox, tasks
from adabook.exercises import Checked, Checker, behaviour, checks
from adabook.exercises.cases import Late
from adabook.homework import exercise_of

#: How many characters the answers of a notebook, or one reply of a function, may have.
MOST = 2_000_000
_FUNCTION_SECONDS = 60  # that the functions of one answer may take
_JUDGE_SECONDS = 120  # of the judge's own work on one answer
_OURS = 200  # bytes of code: two people write as much in the same way by no chance
_PROOF_CASES = 200  # fewer than in practice, because every line of every case is a round trip


class Copied(Exception):  # noqa: N818 (a function is copied)
    """A function was handed in that carries code of the reference, under whatever name."""


def judged(
    exercise: Mapping[str, Any], key: Mapping[str, Any] | None, answer: Any, as_nobody: bool = False
) -> Checked:
    """Judge a plain answer to an exercise of a chapter, or to homework by its key."""
    name = exercise["name"]
    check = checks(exercise["chapter"])
    if key is not None:
        check = Checker({name: exercise_of(name, key)})
    behaviour.PROOF_CASES = _PROOF_CASES
    behaviour.SECONDS = _FUNCTION_SECONDS
    with _functions(as_nobody) as function, _patience(_JUDGE_SECONDS):
        try:
            checked = check(name, plain_data.from_plain(answer, function))
        except Late:
            return Checked(name, False, "it could not be judged in two minutes")
        except Copied:
            hint = "this function has the reference's own code in it; write one of your own"
            return Checked(name, False, hint)
    if checked.right is None:
        return Checked(name, None, "not answered")
    return checked


@contextmanager
def _patience(seconds: float) -> Iterator[None]:
    """Raise `Late` once the judge itself has worked for so many seconds."""

    def late(*_: object) -> None:
        raise Late

    signal.signal(signal.SIGVTALRM, late)
    signal.setitimer(signal.ITIMER_VIRTUAL, seconds)
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_VIRTUAL, 0)


@contextmanager
def _functions(as_nobody: bool) -> Iterator[Callable[[str, list[str]], Callable]]:
    """Make functions from their pickles; a process that does not find adabook runs them."""
    with ExitStack() as stack:

        @cache
        def process() -> sandbox.Conversation:  # most answers are none, and need no process
            asked = sandbox.Conversation(plain_data, _FUNCTION_SECONDS, as_nobody=as_nobody)
            return stack.enter_context(asked)

        def function(pickle: str, names: list[str]) -> Callable:
            if _is_ours(pickle):
                raise Copied

            def call(*values: Any) -> Any:
                request = {"function": pickle, "values": plain_data.as_plain(list(values))}
                try:
                    return plain_data.from_plain(process().ask(request, MOST))
                except TimeoutError:
                    raise Late from None

            kind = inspect.Parameter.POSITIONAL_OR_KEYWORD
            parameters = [inspect.Parameter(name, kind) for name in names]
            call.__signature__ = inspect.Signature(parameters)  # type: ignore[attr-defined]
            return call

        yield function


def _is_ours(pickle: str) -> bool:
    """Whether a pickle carries code of the reference for homework; it is read, and not opened."""
    held = (argument for _, argument, _ in pickletools.genops(base64.b64decode(pickle)))
    return any(isinstance(one, bytes) and one in _our_code() for one in held)


@cache
def _our_code() -> frozenset[bytes]:
    """The code of the longer functions that find what homework asks for."""
    modules = [module.__loader__.get_code(module.__name__) for module in (tasks, exact)]  # type: ignore[union-attr]
    return frozenset(
        one.co_code
        for module in modules
        for one in _within(module)
        if one is not module and len(one.co_code) >= _OURS
    )


def _within(code: CodeType) -> Iterator[CodeType]:
    """Code, and the code of all functions in it."""
    yield code
    for one in code.co_consts:
        if isinstance(one, CodeType):
            yield from _within(one)
