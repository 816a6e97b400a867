"""The small file that remembers a debt: one program has it, and it is written while others work."""

from __future__ import annotations

import json
import logging
import os
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from threading import Lock
from typing import Any

from adalib.datasets.files import DataError, held, read_json, read_whole, write_lines

LOG = logging.getLogger("adalib.serve")


class DebtFile:
    """A file for one record, held by one program at a time.

    Attributes
    ----------
    fault : str
        Why the last record could not be written; "" if it was.
    """

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(os.path.realpath(path))  # one file, by whatever name it is given
        self.fault = ""
        self._lock = held(
            self.path,
            f"{self.path}: another server keeps its debt here; give each server a file of its own, "
            "with --debt FILE",
            ", or name another file with --debt",
        )
        self._thread = ThreadPoolExecutor(1)
        self._turn = Lock()
        self._latest: dict[str, Any] | None = None

    def read(self) -> dict[str, Any] | None:
        """Return the record; None if there is no file yet."""
        return read_json(read_whole(self.path), str(self.path)) if self.path.exists() else None

    def write(self, record: dict[str, Any]) -> None:
        """Write a record, and wait for it; DataError if that is impossible."""
        write_lines(self.path, [record])

    def note(self, record: dict[str, Any]) -> None:
        """Write a record soon, in a thread of its own; of several that wait, the last one."""
        with self._turn:
            is_idle, self._latest = self._latest is None, record
        if is_idle:
            self._thread.submit(self._write_latest)

    def _write_latest(self) -> None:
        with self._turn:
            record, self._latest = self._latest, None
        assert record is not None  # it is taken out here alone
        try:
            self.write(record)
            self.fault = ""
        except DataError as error:  # a full disk: the votes go on, and the next one tries again
            if not self.fault:
                LOG.warning(json.dumps({"why": str(error)}))
            self.fault = str(error)

    def close(self) -> None:
        """Wait for the last record, and let another program have the file."""
        self._thread.shutdown()
        self._lock.close()
