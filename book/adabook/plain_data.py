"""Answers as plain data between processes, and the process that runs a student's functions.

This file imports nothing of adabook. A grader copies it next to a student's functions and runs the
copy where adabook, and with it every judge and brute force, is not installed.
"""

from __future__ import annotations

import base64
import inspect
import io
import json
import math
import os
import sys
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import numpy as np


def as_plain(value: Any) -> Any:
    """An answer as data that JSON can hold, which `from_plain` turns back.

    Series, data frames, decimals and fractions become arrays and numbers. A function becomes its
    pickle, which only `serve` opens, and the names of its parameters.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    if isinstance(value, (list, tuple)):
        return [as_plain(entry) for entry in value]
    kind = type(value).__name__
    if kind == "UtilityTable":
        return {"table": [as_plain(part) for part in (value.acc, value.cost, list(value.budgets))]}
    if kind == "Population":
        parts = (value.probs, value.correct, value.empty)
        return {"population": [as_plain(part) for part in parts]}
    if callable(value):
        return _pickled(value)
    array = np.asarray(value)
    try:
        array = array.astype(float) if array.dtype == object else array
    except (TypeError, ValueError):
        return {"text": repr(value)}
    return {"array": array.tolist()} if array.ndim else array.item()


def _pickled(function: Callable) -> dict[str, Any]:
    """A function as a pickle; modules in it stay names, what the notebook defines goes along."""
    import cloudpickle  # comes with the extra "notebooks"

    try:
        names = list(inspect.signature(function).parameters)
        pickle = base64.b64encode(cloudpickle.dumps(function)).decode()
    except Exception as error:
        return {"text": f"a function that cannot be sent on ({type(error).__name__}: {error})"}
    return {"function": pickle, "names": names}


def from_plain(value: Any, functions: Callable[[str, list[str]], Callable] | None = None) -> Any:
    """The answer that `as_plain` wrote; ``functions`` makes one from its pickle and parameters."""
    if isinstance(value, list):
        return [from_plain(entry, functions) for entry in value]
    if not isinstance(value, Mapping):
        return value
    if "array" in value:
        return np.array(value["array"])
    if "function" in value and functions:
        return functions(value["function"], value["names"])
    if "table" in value:
        from adalib.table import UtilityTable

        return UtilityTable(*(from_plain(part) for part in value["table"]))
    if "population" in value:
        from adalib.datasets.populations import Population

        return Population(*(from_plain(part) for part in value["population"]))
    return value.get("text", "")


def collect(names: list[str], namespace: Mapping[str, Any], target: str) -> None:
    """Write the values that a notebook has under these names into a file."""
    found = {}
    for name in names:
        try:
            found[name] = as_plain(namespace.get(name))
        except BaseException as error:  # a student's object may do anything when it is looked at
            found[name] = {"text": f"an object that cannot be read ({type(error).__name__})"}
    Path(target).write_text(json.dumps(found, default=repr), encoding="utf-8")


def serve(seconds: int) -> None:
    """Run functions on the inputs that arrive, one call per line, for some seconds of work."""
    import resource  # graders run on systems that have it

    import cloudpickle

    resource.setrlimit(resource.RLIMIT_CPU, (seconds, seconds + 1))
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what the functions print is not a reply
    calls, sys.stdin = sys.stdin, io.StringIO()  # and what they read is no call
    opened: dict[str, Callable] = {}
    for line in calls:
        call = json.loads(line)
        pickle = call["function"]
        reply: dict[str, Any]
        try:
            if pickle not in opened:
                opened[pickle] = cloudpickle.loads(base64.b64decode(pickle))
            values = from_plain(call["values"])
            run = opened[pickle]
            value = parts(run, values) if call["parts"] else run(*values)
            reply = {"value": as_plain(value)}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply, default=repr) + "\n")
        replies.flush()


class _Sum(float):
    """A number that remembers what was added up to it; other arithmetic forgets."""

    __array_ufunc__ = None  # a number of numpy then leaves the arithmetic to this class
    summands: tuple[Any, ...] = ()

    def __add__(self, other: Any) -> Any:
        return _added(self, other)

    def __radd__(self, other: Any) -> Any:
        return _added(other, self)

    def __sub__(self, other: Any) -> Any:
        return _added(self, -other)

    def __rsub__(self, other: Any) -> Any:
        return _added(other, -self)

    def __neg__(self) -> _Sum:
        return _Sum(-float(self))

    def __mul__(self, other: Any) -> Any:
        return _single(float(self) * other)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Any:
        return _single(float(self) / other)

    def __rtruediv__(self, other: Any) -> Any:
        return _single(other / float(self))


def _single(value: Any) -> Any:
    """A number that was not added up; an array stays one."""
    return value if np.ndim(value) else _Sum(value)


def _added(left: Any, right: Any) -> Any:
    """The sum of two numbers, which remembers both."""
    if np.ndim(left) or np.ndim(right):
        return np.add(left, right)
    total = _Sum(float(left) + float(right))
    total.summands = (left, right)
    return total


def parts(function: Callable, values: list[Any]) -> list[float]:
    """The numbers that a function adds up on the way to its result, the result itself left out.

    >>> parts(lambda a, b, c: a + b * c, [1.0, 2.0, 3.0])
    [1.0, 6.0]
    """
    marked = [_Sum(value) if isinstance(value, float) else value for value in values]
    found: list[float] = []
    waiting = list(getattr(function(*marked), "summands", ()))
    while waiting:
        part = waiting.pop(0)
        found.append(float(part))
        waiting += getattr(part, "summands", ())
    return found


if __name__ == "__main__":
    serve(math.ceil(float(sys.argv[1])))
