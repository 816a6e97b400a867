"""The folder of a job is its state: what was sent, and what came back.

``round-1/part-1.jsonl`` and so on are files to send. Whatever comes back is put into ``received/``
under any name: in any order, in parts, or twice. ``replies.jsonl`` keeps what was read there, each
reply once, so that a file may go again. Every file appears in one step, whole.
"""

from __future__ import annotations

import os
import re
import shutil
import warnings
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from tqdm.auto import tqdm

from adalib.batch.lines import Request, in_parts, is_result, read_result
from adalib.datasets.files import (
    DataError,
    make_folder,
    open_lines,
    read_json,
    read_lines,
    write_lines,
)
from adalib.vote.extract import Kind

TRIES = 3  #: how often one request is sent at most
LOST = "did not come back"
_REPLIES = "replies.jsonl"
RECEIVED = "received"
_PART = re.compile(r"round-([0-9]+)/part-([0-9]+)\.jsonl")


class Ledger:
    """What a job has sent, and what came back for it.

    Attributes
    ----------
    sent : dict of Request to str
        Every line that was written to be sent, with its file.
    """

    def __init__(self, folder: Path, tag: str) -> None:
        self.folder = folder
        self.tag = tag
        self.sent: dict[Request, str] = {}
        for part in self.parts():
            for _, line in read_lines(part):
                request = Request.of(line.get("custom_id"), tag)
                if request is None:
                    raise DataError(f"{part}: was changed; restore it, or begin in another folder")
                self.sent[request] = part.relative_to(folder).as_posix()
        self._replies: dict[Request, dict[str, dict[str, Any]]] = {}  # by the name of the reply
        self._faults: dict[Request, dict[str, Any]] = {}
        path = folder / _REPLIES
        for number, record in read_lines(path) if path.exists() else ():
            request = Request.of(record.get("custom_id"), tag)
            if request not in self.sent:
                raise DataError(f"{path}, line {number}: is not of this job; restore the file")
            self._note(request, record)
        self.rounds = len({part.parent for part in self.parts()})
        self._copies: dict[int, dict[int, int]] = {}  # by question, its copies with their last try
        self._index(self.sent)

    def _index(self, requests: Iterable[Request]) -> None:
        for question, copy, attempt in requests:
            tries = self._copies.setdefault(question, {})
            tries[copy] = max(attempt, tries.get(copy, 0))

    def parts(self) -> list[Path]:
        """Return the files to send, in their order."""
        # What a tool wrote beside them, such as part-1-out.jsonl, is none of them.
        numbers = {}
        for path in self.folder.glob("round-*/part-*"):
            if found := _PART.fullmatch(path.relative_to(self.folder).as_posix()):
                numbers[path] = (int(found[1]), int(found[2]))
        return sorted(numbers, key=lambda path: numbers[path])

    def copies(self, question: int) -> list[int]:
        """Return the last try of every answer that was asked of a question, in their order."""
        tries = self._copies.get(question, {})
        return [tries[copy] for copy in sorted(tries)]

    def answer(self, question: int, copy: int) -> dict[str, Any] | None:
        """Return the answer that counts: of several replies, the one that was read first."""
        for attempt in range(1, self._copies[question][copy] + 1):
            for record in self._replies.get(Request(question, copy, attempt), {}).values():
                if record["counts"]:
                    return record
        return None

    def fault(self, request: Request) -> dict[str, Any] | None:
        """Return why a request has no answer; None where it has one, or nothing came back yet."""
        return self._faults.get(request)

    def replies(self, request: Request) -> Sequence[dict[str, Any]]:
        """Return every reply to one line; more than one if it was sent more than once."""
        return list(self._replies.get(request, {}).values())

    def waiting(self) -> list[Request]:
        """Return the lines for which nothing came back yet."""
        return [
            request
            for request in self.sent
            if request not in self._faults and request not in self._replies
        ]

    def _note(self, request: Request, record: Mapping[str, Any]) -> bool:
        """Take in what came back for a line; say whether it is new."""
        if "fault" in record:
            is_new = request not in self._faults and request not in self._replies
            self._faults.setdefault(request, dict(record))
            return is_new
        replies = self._replies.setdefault(request, {})
        if record["reply"] in replies:
            return False
        answered = any(
            other["counts"]
            for attempt in range(1, TRIES + 1)
            for other in self._replies.get(request._replace(attempt=attempt), {}).values()
        )
        replies[record["reply"]] = {**record, "counts": not answered}
        return True

    def take_in(self, kind: Kind) -> None:
        """Read what lies in ``received/``, and keep what is new."""
        new = False
        for path in sorted((self.folder / RECEIVED).rglob("[!.]*")):
            if not path.is_file():
                continue
            strangers = cut = 0
            for line in tqdm(self._lines(path), desc=path.name, unit=" lines", disable=None):
                request = Request.of(line.get("custom_id"), self.tag) if line else None
                if line is None:
                    cut += 1
                elif request not in self.sent or not is_result(line):
                    strangers += 1
                else:
                    assert request is not None
                    result = read_result(line, kind)
                    new |= self._note(request, {"custom_id": line["custom_id"], **result})
            for count, what in ((cut, "cannot be read"), (strangers, "are no answers of this job")):
                if count:
                    warnings.warn(f"{path}: {count:,} lines {what}; left out", stacklevel=2)
        if new:
            self._save()

    def _lines(self, path: Path) -> Iterator[dict[str, Any] | None]:
        """Yield the lines of a file that came back; None for one that is cut or no JSON."""
        lines = open_lines(path)
        while True:
            try:
                number, line = next(lines)
            except StopIteration:
                return
            except DataError:  # a compressed file that is cut
                yield None
                return
            try:
                yield read_json(line, f"{path}, line {number}", strict=False)
            except DataError:
                yield None

    def lose(self, requests: Iterable[Request]) -> None:
        """Note that lines will not come back."""
        for request in requests:
            self._note(request, {"custom_id": request.name(self.tag), "fault": LOST, "again": True})
        self._save()

    def _save(self) -> None:
        replies = [record for found in self._replies.values() for record in found.values()]
        write_lines(self.folder / _REPLIES, [*replies, *self._faults.values()])

    def write_round(self, lines: Mapping[Request, bytes]) -> list[Path]:
        """Write the files of the next round, which appear together, and return them."""
        name = f"round-{self.rounds + 1}"
        draft = self.folder / f".{name}.part"
        shutil.rmtree(draft, ignore_errors=True)  # of a program that was killed
        make_folder(draft)
        placed: dict[Request, str] = {}
        requests = iter(lines)
        try:
            for number, part in enumerate(in_parts(lines.values()), start=1):
                file = f"part-{number}.jsonl"
                (draft / file).write_bytes(b"".join(part))
                placed |= {next(requests): f"{name}/{file}" for _ in part}
            os.replace(draft, self.folder / name)
        except OSError as error:
            raise DataError(
                f"{self.folder / name}: cannot be written ({error.strerror}); check the folder and "
                "the free space"
            ) from None
        self.sent |= placed
        self._index(placed)
        self.rounds += 1
        return sorted((self.folder / name).glob("part-*"), key=lambda part: len(part.name))
