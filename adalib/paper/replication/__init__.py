"""Everything that the paper shows, beside ours: the replication table, and a verdict on every claim.

`replication_table` measures the rows of the table (`ROWS`), one for each theorem, table, figure and setting of the
paper; every number is computed by the functions that the chapters use. `CLAIMS` are the paper's claims, each with a
verdict and a number that could have come out otherwise. Explained in chapter 12, "The referee".
"""

# ruff: noqa: I001 - the lists are in the order of the paper, which is the order of these modules.
from adalib.paper.replication.cells import Cell, Found
from adalib.paper.replication.register import (
    CLAIMS,
    PARTS,
    ROWS,
    STATUSES,
    VERDICTS,
    Claim,
    Evidence,
    Row,
    chapter,
    claim_table,
    replication_table,
    row_of,
    verdict_counts,
)
from adalib.paper.replication import rows_theory, rows_setup, rows_results, rows_appendix, rows_ablations, rows_own  # noqa: F401
from adalib.paper.replication import claims_price, claims_theorems, claims_setup  # noqa: F401
from adalib.paper.replication import claims_results, claims_patterns, claims_ablations  # noqa: F401

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
    "Row",
    "chapter",
    "claim_table",
    "replication_table",
    "row_of",
    "verdict_counts",
]
