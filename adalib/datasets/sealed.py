"""Files of JSON with a checksum in the first line, so that damage is found on reading.

An attacker can write a new checksum, so readers also check every value (`adalib.datasets.saved`).
"""

from __future__ import annotations

import hashlib
import json
import os
from collections.abc import Sequence
from typing import Any

from adalib.datasets.files import (
    DataError,
    one_line,
    open_lines,
    read_json,
    read_lines,
    write_lines,
)


def seal(records: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Add to the first record the checksum of all records, computed without that field."""
    first, *others = records
    first = {name: value for name, value in first.items() if name != "checksum"}
    text = "\n".join(json.dumps(record, sort_keys=True) for record in [first, *others])
    return [first | {"checksum": hashlib.sha256(text.encode()).hexdigest()}, *others]


def write_sealed(path: str | os.PathLike, kind: str, records: Sequence[dict[str, Any]]) -> None:
    """Write one record per line, the first with the format and the checksum."""
    first, *others = records
    lines = [one_line(record, str(path)) for record in [{"format": kind} | first, *others]]
    # The checksum is that of the values as they will be read.
    write_lines(path, seal([read_json(line, str(path)) for line in lines]))


def read_sealed(path: str | os.PathLike, kind: str, lines: int, mend: str) -> list[dict[str, Any]]:
    """Read what `write_sealed` wrote."""
    records = [record for _, record in read_lines(path)]
    if len(records) != lines or records[0].get("format") != kind:
        expected = (
            f'{lines} line{"s" if lines > 1 else ""} of JSON, "format": "{kind}" in the first'
        )
        raise DataError(f"{path}: is not what adalib saves ({expected}); {mend}")
    if seal(records)[0]["checksum"] != records[0].get("checksum"):
        raise DataError(f"{path}: is not the file that was saved (its checksum differs); {mend}")
    return records


def digest(path: str | os.PathLike) -> str:
    """Return the SHA-256 of a file's lines that are not blank."""
    hashed = hashlib.sha256()
    for _, line in open_lines(path):
        hashed.update(line)
    return hashed.hexdigest()
