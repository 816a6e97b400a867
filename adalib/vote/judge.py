"""The symbolic judge: are two expressions the same mathematics?

``math-verify`` knows, but what it is given comes from a language model or a stranger's file, and computer algebra can
be made to run for ever (``9^{9^{9^9}}``) or to fill the memory. It also keeps time with signals, which work in the
main thread alone. So it lives in a child process: it may be called from any thread, prints nothing, and one that does
not answer in time is ended and started again. What the child does is in `adalib.vote.judge_child`.

What it cannot decide within the time that a question may cost counts as not equal, and is counted: see `budget`.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

__all__ = ["budget", "given_up", "same_expression"]

_LONGEST = 200  # characters; a longer "expression" is prose or an attack
_QUESTION = 2.5  # seconds of computing that one question may cost, see `budget`
_LOST = 2.5  # seconds that a child costs which had to be ended: what it computed, and the start of the next
_LAST_RESORT = 30.0  # seconds after which a child that cannot even keep its own time is ended
_EXPLOSIVE = re.compile(r"(?:\^|\*\*)[\s{(-]*\d{4}|\d{4}!|(?:(?:\^|\*\*)[\s{(-]*\d+[\s})]*){2}")

_lock = threading.Lock()
_child: subprocess.Popen | None = None
_owner = 0  # a forked process must not talk through its parent's pipes
_known: dict[tuple[str, str], bool] = {}  # what has been decided, across all questions
_hopeless: set[str] = set()  # expressions on which a child was lost
_mine = threading.local()  # what the question at hand has left, in this thread


def same_expression(a: str, b: str) -> bool:
    r"""Whether two expressions (LaTeX or plain, without dollar signs) are equal as mathematics.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    a, b : str
        Two expressions; over 200 characters, or with powers too large to compute, they are never judged equal.

    Returns
    -------
    bool
        True when math-verify says so in either direction; False when it does not, cannot read one or runs out of time.

    Examples
    --------
    >>> same_expression(r"3\sqrt{2}", r"\sqrt{18}"), same_expression("x + 1", "x - 1")
    (True, False)
    """
    if any(len(text) > _LONGEST or _EXPLOSIVE.search(text) for text in (a, b)):
        return False
    with _lock:
        if (a, b) in _known:
            return _known[a, b]
        left = getattr(_mine, "left", _QUESTION)
        if left <= 0 or a in _hopeless or b in _hopeless:
            _mine.given_up = getattr(_mine, "given_up", 0) + 1
            return False
        same, cost = _ask(a, b)
        if hasattr(_mine, "left"):
            _mine.left -= cost
        if len(_known) >= 200_000:
            _known.clear()
        _known[a, b] = bool(same)
        if same is None:
            _mine.given_up = getattr(_mine, "given_up", 0) + 1
        return bool(same)


@contextmanager
def budget() -> Iterator[None]:
    """Give the comparisons of one question a budget of computing: what is not decided within it is not equal.

    The time is the child's own computing, so that a busy machine decides no less than an idle one. How many
    comparisons were given up, `given_up` tells.
    """
    _mine.left = _QUESTION
    try:
        yield
    finally:
        del _mine.left


def given_up() -> int:
    """How many comparisons this thread has given up so far: too slow, or out of their question's budget."""
    return getattr(_mine, "given_up", 0)


def _ask(a: str, b: str) -> tuple[bool | None, float]:
    """Whether the child finds two expressions equal (None if it was too slow or lost), and the seconds it took."""
    global _child
    try:
        if _child is None or _owner != os.getpid() or _child.poll() is not None:
            _start()
        clock = threading.Timer(_LAST_RESORT, _child.kill)
        clock.start()
        try:
            _child.stdin.write(json.dumps([a, b]) + "\n")
            _child.stdin.flush()
            same, cost = json.loads(_child.stdout.readline())
            return same, cost
        finally:
            clock.cancel()
    except BaseException as error:
        # Also after an interruption by the reader: a reply left in the pipe would answer the next question.
        _stop()
        _child = None
        if isinstance(error, OSError | ValueError):  # ended by the clock or the memory limit, or never started
            _hopeless.update((a, b) if len(_hopeless) < 100_000 else ())
            return None, _LOST
        raise


def _start() -> None:
    global _child, _owner
    # -P keeps the current folder off the child's path: what lies there may hide the standard library.
    above = str(Path(__file__).parents[2])
    _child = subprocess.Popen(
        [sys.executable, "-P", "-m", "adalib.vote.judge_child"],
        env={**os.environ, "PYTHONPATH": os.pathsep.join([above, *filter(None, [os.environ.get("PYTHONPATH")])])},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="ascii",
        start_new_session=True,  # Ctrl-C is for the caller
    )
    _owner = os.getpid()


@atexit.register
def _stop() -> None:
    if _child is not None and _owner == os.getpid():
        _child.kill()
        _child.communicate()
