"""Read a policy that was saved."""

from __future__ import annotations

import os

from adalib.datasets.files import DataError, read_lines
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy

_KINDS: dict[str, type[LabelPolicy | CurvePolicy]] = {"label": LabelPolicy, "curve": CurvePolicy}


def load_policy(path: str | os.PathLike) -> LabelPolicy | CurvePolicy:
    """Read a saved policy, whose predictions are the same to the last bit.

    The file is one line of JSON with its trees as XGBoost describes them. It is data, and nothing
    in it is run. Explained in the chapter "Learning".

    Parameters
    ----------
    path : path
        A file that ``save`` of a policy wrote.

    Returns
    -------
    LabelPolicy or CurvePolicy
        The fitted policy.

    Raises
    ------
    DataError
        If the file is not a sound policy; the message names the file and the fault.

    Examples
    --------
    >>> import tempfile
    >>> path = os.path.join(tempfile.mkdtemp(), "policy.json")
    >>> LabelPolicy().fit_labels([[0.0], [1.0]], [2, 2]).save(path)
    >>> load_policy(path).predict([[0.5]]).tolist()
    [2]
    """
    records = [record for _, record in read_lines(path)]
    kind = records[0].get("kind") if len(records) == 1 else None
    if kind not in tuple(_KINDS):
        raise DataError(f"{path}: is not a policy that adalib saved; save the policy again")
    try:
        return _KINDS[str(kind)].from_dict(records[0])
    except DataError as error:
        raise DataError(f"{path}: {error}") from None
