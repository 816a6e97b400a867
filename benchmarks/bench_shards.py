"""How fast is a table that does not fit into memory, and what would a billion rows take?

Uniform accuracies at the paper's five budgets, no two prices the same: the hardest case for a sort. Every measurement
is a process of its own, because a peak of memory is that of a process; a limit on memory is set from outside, on the
address space. All ratios come from one run. Tables are made once, in the folder that is given.

    python benchmarks/bench_shards.py --folder /tmp/shards                    # up to ten million rows
    python benchmarks/bench_shards.py --folder /tmp/shards --sizes 1000000 10000000 100000000
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

COST = np.array([1.0, 2.0, 4.0, 8.0, 16.0])
BUDGETS = [1.2, 1.5, 2.0, 3.0, 4.0]
PER_FILE = 1_000_000


def make_table(folder: Path, rows: int) -> Path:
    """Write a table of uniform accuracies, a million rows a file, unless it is there."""
    import pyarrow as pa
    import pyarrow.parquet as pq

    from adalib.drafts import replacing

    table = folder / f"table-{rows}"
    table.mkdir(parents=True, exist_ok=True)
    for number in range(-(-rows // PER_FILE)):
        path = table / f"{number:05d}.parquet"
        if not path.exists():
            acc = np.random.default_rng(number).random((min(PER_FILE, rows - number * PER_FILE), COST.size))
            columns = {f"acc_{int(cost)}": acc[:, j] for j, cost in enumerate(COST)}
            with replacing(path) as draft:
                pq.write_table(pa.table(columns), draft, compression="none", use_dictionary=False)
    return table
