"""Models side by side: trees grow outside Python's lock, each model on one thread, so that no digit changes."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

from threadpoolctl import threadpool_limits

__all__ = ["side_by_side"]

Job = TypeVar("Job")
Found = TypeVar("Found")


def side_by_side(work: Callable[[Job], Found], jobs: Iterable[Job]) -> Iterator[Found]:
    """Do all jobs on as many threads as there are processors; results come in the order of the jobs.

    Examples
    --------
    >>> list(side_by_side(abs, [-3, 2, -1]))
    [3, 2, 1]
    """
    # Matrix products that start threads of their own would fight over the same processors.
    with threadpool_limits(1, user_api="blas"), ThreadPoolExecutor(os.cpu_count()) as workers:
        yield from workers.map(work, jobs)
