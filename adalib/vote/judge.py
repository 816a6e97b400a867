"""The symbolic judge: are two expressions the same mathematics?

``math-verify`` knows, but what it is given comes from a language model or a stranger's file, and computer algebra can
be made to run for ever (``9^{9^{9^9}}``) or to fill the memory. It also keeps time with signals, which work in the
main thread alone. So it lives in a child process: it may be called from any thread, prints nothing, and one that does
not answer in time is ended and started again. The child runs this same module.
"""

from __future__ import annotations

import atexit
import json
import os
import re
import subprocess
import sys
import threading
from dataclasses import replace
from functools import lru_cache
from pathlib import Path
from zlib import crc32

from adalib.vote.arithmetic import arithmetic

__all__ = ["same_expression"]

_LONGEST = 200  # characters; a longer "expression" is prose or an attack
_PATIENCE = 2  # seconds the child gives one parse or one comparison
_LAST_RESORT = 30.0  # seconds after which a child that cannot even keep its own time is ended
_MEMORY = 4 << 30  # bytes of address space the child may use
_EXPLOSIVE = re.compile(r"(?:\^|\*\*)[\s{(-]*\d{4}|\d{4}!|(?:(?:\^|\*\*)[\s{(-]*\d+[\s})]*){2}")

_lock = threading.Lock()
_child: subprocess.Popen | None = None
_owner = 0  # a forked process must not talk through its parent's pipes


@lru_cache(maxsize=100_000)
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
        return _ask(a, b)


def _ask(a: str, b: str) -> bool:
    global _child
    try:
        if _child is None or _owner != os.getpid() or _child.poll() is not None:
            _start()
        clock = threading.Timer(_LAST_RESORT, _child.kill)
        clock.start()
        try:
            _child.stdin.write(json.dumps([a, b]) + "\n")
            _child.stdin.flush()
            return json.loads(_child.stdout.readline())
        finally:
            clock.cancel()
    except BaseException as error:
        # Also after an interruption by the reader: a reply left in the pipe would answer the next question.
        _stop()
        _child = None
        if isinstance(error, OSError | ValueError):  # ended by the clock or the memory limit, or never started
            return False
        raise


def _start() -> None:
    global _child, _owner
    # -P keeps the current folder off the child's path: what lies there may hide the standard library.
    above = str(Path(__file__).parents[2])
    _child = subprocess.Popen(
        [sys.executable, "-P", "-m", "adalib.vote.judge"],
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


def _serve() -> None:
    """Answer pairs from standard input, one JSON line each, until it closes."""
    answers = os.fdopen(os.dup(1), "w", encoding="ascii")
    os.dup2(2, 1)  # whatever the libraries print must not look like an answer
    try:
        import resource

        resource.setrlimit(resource.RLIMIT_AS, (_MEMORY, _MEMORY))
    except (ImportError, OSError, ValueError):
        pass  # no such limit on this system; the clock remains
    import math_verify
    import sympy
    from math_verify.errors import TimeoutException
    from math_verify.utils import timeout

    base = math_verify.LatexExtractionConfig()
    # Units are dropped before we are asked; here the m of 5m is a variable.
    latex = [replace(base, normalization_config=replace(base.normalization_config, units=False))]

    compound = (sympy.Interval, sympy.Union, sympy.Tuple, sympy.MatrixBase)

    @timeout(_PATIENCE)
    def sample(expression: sympy.Basic) -> complex:
        """Return the value at one fixed point, or NaN where there is none."""
        if not isinstance(expression, sympy.Expr):
            return complex("nan")
        point = {symbol: 1 + crc32(symbol.name.encode()) % 9973 / 9973 for symbol in expression.free_symbols}
        return complex(expression.subs(point).evalf())

    @lru_cache(maxsize=10_000)
    def read(text: str) -> tuple[list, complex]:
        """Return what math-verify makes of a text and its value at a point; nothing, if it cannot be had in time."""
        number = arithmetic(text)  # reading LaTeX takes milliseconds
        if number is not None:
            return [sympy.Rational(number.numerator, number.denominator)], complex(number)
        try:
            parsed = math_verify.parse(f"${text}$", latex, parsing_timeout=_PATIENCE, fallback_mode="no_fallback")
            try:
                return parsed, sample(parsed[0]) if parsed else 0j
            except Exception:
                return parsed, complex("nan")
        except TimeoutException:
            return [], 0j

    def same(a: str, b: str) -> bool:
        (one, p), (other, q) = read(a), read(b)
        # Two expressions that differ at a point are settled, and so are a number and a list: that spares nearly all of
        # the slow comparisons.
        if not one or not other or abs(p - q) > 1e-5 * max(1, abs(p), abs(q)):
            return False
        for single, several in ((one[0], other[0]), (other[0], one[0])):
            if isinstance(single, sympy.Expr) and isinstance(several, compound):
                return False
        for gold, target in ((one, other), (other, one)):
            try:
                if math_verify.verify(gold, target, timeout_seconds=_PATIENCE, raise_on_error=True):
                    return True
            except TimeoutException:
                return False
            except Exception:
                continue
        return False

    for line in sys.stdin:
        answers.write(json.dumps(same(*json.loads(line))) + "\n")
        answers.flush()


if __name__ == "__main__":
    _serve()
