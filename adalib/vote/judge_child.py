"""The judge's child process: it reads pairs of expressions, one JSON line each, and says which are equal.

It alone loads ``math-verify``, and it alone may be lost: `adalib.vote.judge` starts it and ends it.
"""

from __future__ import annotations

import json
import os
import signal
import sys
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from functools import lru_cache
from math import isinf
from typing import Any
from zlib import crc32

import math_verify
import sympy
from math_verify.errors import TimeoutException

from adalib.vote.arithmetic import arithmetic

_PATIENCE = 1  # seconds of computing that one parse or one comparison may take
_MEMORY = 4 << 30  # bytes of address space that we may use
_BASE = math_verify.LatexExtractionConfig()
# Units are dropped before we are asked; here the m of 5m is a variable.
_LATEX = [replace(_BASE, normalization_config=replace(_BASE.normalization_config, units=False))]
_COMPOUND = (sympy.Interval, sympy.Union, sympy.Tuple, sympy.MatrixBase)


def serve() -> None:
    """Answer pairs from standard input until it closes."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever the libraries print must not look like an answer
    _limit("RLIMIT_AS", _MEMORY, _MEMORY)
    signal.signal(signal.SIGPROF, _too_long)
    for line in sys.stdin:
        begun = time.process_time()
        # The system ends us once we have computed for too long: no signal interrupts a huge power.
        _limit("RLIMIT_CPU", int(begun + 2 * _PATIENCE) + 1)
        found = same(*json.loads(line))
        answers.write(json.dumps([found, time.process_time() - begun]) + "\n")
        answers.flush()


def same(a: str, b: str) -> bool | None:
    """Whether math-verify finds two expressions equal, in either direction; None where it does not say so in time."""
    read = _read(a), _read(b)
    if None in read:
        return None
    (one, p), (other, q) = read
    # Two expressions that differ at a point are settled, and so are a number and a list: that spares nearly all of
    # the slow comparisons.
    if not one or not other or isinf(abs(p)) != isinf(abs(q)) or abs(p - q) > 1e-5 * max(1, abs(p), abs(q)):
        return False
    for single, several in ((one[0], other[0]), (other[0], one[0])):
        if isinstance(single, sympy.Expr) and isinstance(several, _COMPOUND):
            return False
    for gold, target in ((one, other), (other, one)):
        try:
            if _in_time(math_verify.verify, gold, target, timeout_seconds=None, raise_on_error=True):
                return True
        except TimeoutException:
            return None
        except Exception:
            continue
    return False


@lru_cache(maxsize=10_000)
def _read(text: str) -> tuple[list, complex] | None:
    """Return what math-verify makes of a text and its value at a point; None, if it cannot be had in time."""
    number = arithmetic(text)  # reading LaTeX takes milliseconds
    if number is not None:
        value = complex(number) if abs(number) < 1e300 else complex("inf")
        return [sympy.Rational(number.numerator, number.denominator)], value
    try:
        how = {"parsing_timeout": None, "fallback_mode": "no_fallback"}
        parsed = _in_time(math_verify.parse, f"${text}$", _LATEX, **how)
        try:
            return parsed, _in_time(_sample, parsed[0]) if parsed else 0j
        except Exception:
            return parsed, complex("nan")
    except TimeoutException:
        return None


def _sample(expression: sympy.Basic) -> complex:
    """Return the value at one fixed point, or NaN where there is none."""
    if not isinstance(expression, sympy.Expr):
        return complex("nan")
    point = {symbol: 1 + crc32(symbol.name.encode()) % 9973 / 9973 for symbol in expression.free_symbols}
    return complex(expression.subs(point).evalf())


def _in_time(function: Callable, *arguments: object, **options: object) -> Any:
    """Call a function, for as long as it may compute: on a busy machine, that is longer by the clock."""
    signal.setitimer(signal.ITIMER_PROF, _PATIENCE)
    try:
        return function(*arguments, **options)
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)


def _too_long(*_: object) -> None:
    raise TimeoutException


def _limit(what: str, soft: int, hard: int | None = None) -> None:
    """Set a limit of the system, where it has such limits; the parent's clock remains."""
    with suppress(ImportError, OSError, ValueError):
        import resource

        kind = getattr(resource, what)
        resource.setrlimit(kind, (soft, resource.getrlimit(kind)[1] if hard is None else hard))


if __name__ == "__main__":
    serve()
