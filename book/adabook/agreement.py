"""A chapter's own code beside the package: do the two agree?"""

from __future__ import annotations

from typing import Any

import numpy as np


def agrees(ours: Any, theirs: Any, whose: str = "adalib", tolerance: float = 1e-8) -> None:
    """Compare what a chapter computed with what a package has; a clear sentence if they differ.

    Numbers may differ by `tolerance`, and everything else must be equal. Nothing is printed or
    returned if the two agree.

    Parameters
    ----------
    ours, theirs
        Numbers, texts, or collections of them.
    whose : str
        Where the second value comes from.
    tolerance : float
        How far two numbers may lie apart, beside a hundred-thousandth of their size.

    Raises
    ------
    AssertionError
        If the two differ.

    Examples
    --------
    >>> agrees([0.1 + 0.2, 1], [0.3, 1])
    >>> agrees(["40", ""], ["40", "8"])
    Traceback (most recent call last):
    ...
    AssertionError: This cell has ['40' ''], and adalib has ['40' '8']. If you changed something...
    """
    ours, theirs = np.asarray(ours), np.asarray(theirs)
    if ours.dtype.kind in "biuf" and theirs.dtype.kind in "biuf":
        same = ours.shape == theirs.shape and np.allclose(ours, theirs, atol=tolerance)
    else:
        same = np.array_equal(ours, theirs)
    if not same:
        raise AssertionError(
            f"This cell has {ours}, and {whose} has {theirs}. If you changed something above, that "
            "may be the reason: leave this line out and run the cell again."
        )
