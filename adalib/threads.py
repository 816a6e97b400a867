"""Run work on the processors of this machine: how many there are, and two ways to use them."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cache
from typing import Any

#: More threads than this share one memory bus and gain nothing when numpy adds or sorts.
MAX_THREADS = 8
#: Numbers (or rows) below which starting a thread takes longer than it saves.
WORTH_A_THREAD = 100_000


@cache
def cores() -> int:
    """Return how many processors this process may use; 1 where no thread can start (a browser)."""
    try:
        threading.Thread(target=int).start()
    except RuntimeError:
        return 1
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def call_all(calls: Sequence[Callable[[], Any]], *, size: int) -> list:
    """Return the results of several numpy computations over ``size`` numbers each.

    They run on threads if there are enough numbers, because numpy computes outside Python's lock.
    """
    if size < WORTH_A_THREAD or cores() == 1:
        return [call() for call in calls]
    with ThreadPoolExecutor(min(cores(), MAX_THREADS)) as pool:
        return list(pool.map(lambda call: call(), calls))


def side_by_side(work: Callable, jobs: Iterable) -> Iterator:
    """Call ``work`` on every job, one thread per processor; yield results in the order of jobs.

    Meant for training trees: they grow outside Python's lock, each model on one thread, so the
    numbers do not depend on how many processors there are.
    """
    if cores() == 1:
        yield from map(work, jobs)
        return
    from threadpoolctl import threadpool_limits  # here, because the solvers do not need it

    # Matrix products that start threads of their own would compete for the same processors.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(work, jobs)
