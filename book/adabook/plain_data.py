"""Answers as plain data between processes, and the process that runs a student's functions.

This file imports nothing of adabook. A grader runs its text next to a student's functions, where
adabook, and with it every judge and brute force, cannot be found.
"""

from __future__ import annotations

import base64
import inspect
import io
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Set, ValuesView
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np

_LONGEST = 100_000  # an iterator may have no end


def as_plain(value: Any) -> Any:
    """An answer as data that JSON can hold, which `from_plain` turns back.

    Series, data frames, decimals and fractions become arrays and numbers. A function becomes its
    pickle, which only `serve` opens, and the names of its parameters.
    """
    if value is None or isinstance(value, (bool, int, float, str)):
        return value
    value = listed(value)
    if isinstance(value, list):
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


def listed(value: Any) -> Any:
    """A set, a range or what can be run through once as a list, and anything else as it is.

    >>> listed(value**2 for value in range(3)), listed(({5}, "text"))
    ([0, 1, 4], [[5], 'text'])
    """
    if isinstance(value, (Iterator, Set, range, ValuesView)):
        value = list(islice(value, _LONGEST))
    return [*map(listed, value)] if isinstance(value, (list, tuple)) else value


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


def serve() -> None:
    """Run functions on the inputs that arrive, one call per line."""
    import cloudpickle

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
            reply = {"value": as_plain(opened[pickle](*from_plain(call["values"])))}
        except Exception as error:
            reply = {"error": f"{type(error).__name__}: {error}"}
        replies.write(json.dumps(reply, default=repr) + "\n")
        replies.flush()


if __name__ == "__main__":
    serve()
