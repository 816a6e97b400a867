"""Train several models at once: one thread per processor of this machine, where it has threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from functools import cache


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


def side_by_side(work: Callable, jobs: Iterable) -> Iterator:
    """Call ``work`` on every job, one thread per processor; yield results in the order of jobs.

    Meant for training trees: they grow outside Python's lock, each model on one thread, so the
    numbers do not depend on how many processors there are.
    """
    if cores() == 1:
        yield from map(work, jobs)
        return
    from threadpoolctl import threadpool_limits  # here, because a browser does not have it

    # Matrix products that start threads of their own would compete for the same processors.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(cores()) as pool:
        yield from pool.map(work, jobs)
