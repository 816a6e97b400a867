"""Everything that the paper shows, beside ours: the replication table, and a verdict on every claim.

`replication_table` measures the rows of the table (`ROWS`), one for each theorem, table, figure and setting of the
paper; every number is computed by the functions that the chapters use. `CLAIMS` are the paper's claims in plain words,
each with a verdict and a number that could have come out otherwise. Explained in chapter 12, "The referee".
"""

from adalib.paper.replication.cells import STATUSES, Cell, Found, Link, Row
from adalib.paper.replication.claims import CLAIMS, claim_table, verdict_counts
from adalib.paper.replication.rows import ROWS, replication_table, row
from adalib.paper.replication.verdict import PARTS, VERDICTS, Claim, Evidence

__all__ = [
    "CLAIMS",
    "PARTS",
    "ROWS",
    "STATUSES",
    "VERDICTS",
    "Cell",
    "Claim",
    "Evidence",
    "Found",
    "Link",
    "Row",
    "claim_table",
    "replication_table",
    "row",
    "verdict_counts",
]
