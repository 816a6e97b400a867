"""Every claim of the paper with a verdict: what stands, what stands corrected, what falls, what is open."""

from __future__ import annotations

import pandas as pd

from adalib.paper.replication import (
    claims_ablations,
    claims_patterns,
    claims_price,
    claims_results,
    claims_setup,
    claims_theorems,
)
from adalib.paper.replication.verdict import PARTS, VERDICTS, Claim

__all__ = ["CLAIMS", "claim_table", "verdict_counts"]

#: Every claim, in the order of the paper's parts.
CLAIMS: tuple[Claim, ...] = (
    *claims_price.CLAIMS,
    *claims_theorems.CLAIMS,
    *claims_setup.CLAIMS,
    *claims_results.CLAIMS,
    *claims_patterns.CLAIMS,
    *claims_ablations.CLAIMS,
)


def claim_table(verdict: str | None = None) -> pd.DataFrame:
    """Measure the claims and put them in a table.

    Explained in chapter 12, "The referee".

    Parameters
    ----------
    verdict : one of `VERDICTS`, optional
        Only the claims with this one.

    Returns
    -------
    DataFrame
        A row a claim: ``name``, ``part``, ``says``, ``place``, ``verdict``, ``reason``, ``number`` (in words),
        ``value``, ``holds`` (whether the number bears the verdict out), ``inferred``, ``chapter`` and ``href``.
    """
    return pd.DataFrame(
        [
            {
                "name": claim.name,
                "part": claim.part,
                "says": claim.says,
                "place": claim.place,
                "verdict": claim.verdict,
                "reason": claim.reason,
                "number": claim.evidence.says,
                "value": claim.evidence.value,
                "holds": claim.evidence.holds,
                "inferred": claim.inferred,
                "chapter": claim.link.name,
                "href": claim.link.href,
            }
            for claim in CLAIMS
            if verdict in (None, claim.verdict)
        ]
    )


def verdict_counts() -> pd.DataFrame:
    """Count the claims by part of the paper (rows) and verdict (columns).

    Explained in chapter 12, "The referee".
    """
    counts = pd.crosstab([claim.part for claim in CLAIMS], [claim.verdict for claim in CLAIMS])
    return counts.reindex(index=PARTS, columns=VERDICTS, fill_value=0)
