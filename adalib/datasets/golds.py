"""Correct answers in a file of their own, for votes that `serve --keep` or a gateway logged.

Such a file has one line per question with ``gold`` and with ``question`` or ``id``: a table (.csv,
with these names in its first line) or JSON Lines.
"""

from __future__ import annotations

import csv
import io
import os
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from adalib.datasets.files import DataError, open_lines, read_lines
from adalib.datasets.loading import text


@dataclass
class Golds:
    """The correct answers of a file, by the text of the question and by its id."""

    by_question: dict[str, str] = field(default_factory=dict)
    by_id: dict[str, str] = field(default_factory=dict)

    def of(self, question: Any, name: Any = None) -> str | None:
        """Return the correct answer to a question by its text or id; None if there is none."""
        found = self.by_question.get(str(question).strip())
        return self.by_id.get(str(name)) if found is None else found


def read_golds(path: str | os.PathLike) -> Golds:
    """Read a file of correct answers, .csv or JSON Lines.

    Raises
    ------
    DataError
        One sentence that names the file, the line and the mend.
    """
    golds = Golds()
    for number, line in _rows(Path(path)):
        where = f"{path}, line {number}"
        if line.get("gold") in (None, "") or not {"question", "id"} & line.keys():
            raise DataError(f'{where}: give "gold", and "question" or "id", on every line')
        gold = text(line["gold"], f'{where}: "gold"')
        for name, gold_by_key in (("question", golds.by_question), ("id", golds.by_id)):
            if line.get(name) in (None, ""):
                continue
            key = text(line[name], f'{where}: "{name}"').strip()
            if gold_by_key.setdefault(key, gold) != gold:
                raise DataError(
                    f"{where}: {name} {key[:60]!r} has the answers {gold_by_key[key]!r} and "
                    f"{gold!r}; leave one"
                )
    return golds


def _rows(path: Path) -> Iterator[tuple[int, dict[str, Any]]]:
    """The lines of a file with their numbers, each as a record."""
    if path.suffix.lower() != ".csv":
        yield from read_lines(path)
        return
    lines = b"\n".join(line.rstrip(b"\r\n") for _, line in open_lines(path))
    try:
        table = csv.DictReader(io.StringIO(lines.decode()), strict=True)
        for record in table:
            yield table.line_num, {str(name).strip(): value for name, value in record.items()}
    except (UnicodeDecodeError, csv.Error) as error:
        raise DataError(
            f"{path}: is not a table in UTF-8 ({error}); save it as .csv again"
        ) from None
