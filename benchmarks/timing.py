"""What the benchmarks share: the quickest of several rounds, and the time and peak memory of a
process of its own."""

from __future__ import annotations

import json
import resource
import subprocess
import sys
import time
from collections.abc import Callable


def best_seconds(action: Callable[[], object], rounds: int) -> tuple[float, float]:
    """Wall and processor seconds of the quickest round: what else the machine does should not
    count."""
    walls = []
    processors = []
    for _ in range(rounds):
        wall = time.perf_counter()
        processor = time.process_time()
        action()
        walls.append(time.perf_counter() - wall)
        processors.append(time.process_time() - processor)
    return min(walls), min(processors)


def report(**told: float) -> None:
    """Print, for `in_a_process`, the processor seconds and peak megabytes of this process, and what
    else is told."""
    used = resource.getrusage(resource.RUSAGE_SELF)
    unit = 2**20 if sys.platform == "darwin" else 2**10
    took = {"cpu": used.ru_utime + used.ru_stime, "peak": used.ru_maxrss / unit}
    print(json.dumps(took | told), flush=True)


def in_a_process(*words: object) -> dict[str, float] | None:
    """What the same benchmark reports from a process of its own, because a peak is that of a
    process."""
    done = subprocess.run([sys.executable, *map(str, words)], capture_output=True, text=True)
    if done.returncode:
        print(f"    {(done.stderr.strip().splitlines() or ['killed'])[-1][:100]}")
        return None
    return json.loads(done.stdout.splitlines()[-1])
