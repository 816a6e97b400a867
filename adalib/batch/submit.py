"""Send the files of a job to a Batch API, and fetch what came back.

What was created is written down after each step. A batch carries the job's tag and the name of its
file, and before one is created the endpoint is asked whether it is there already: a program that is
killed in between pays for nothing twice.
"""

from __future__ import annotations

import os
import warnings
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import openai

from adalib.ask.collect import EndpointError, reason
from adalib.batch.ledger import RECEIVED, Ledger
from adalib.batch.lines import URL, Request
from adalib.datasets.files import read_lines, write_lines, written

_BATCHES = "batches.jsonl"
_ENDED = ("completed", "failed", "expired", "cancelled")


class Endpoint:
    """The batches of one job at an endpoint."""

    def __init__(self, ledger: Ledger, base_url: str | None, key_env: str) -> None:
        self.ledger = ledger
        self._path = ledger.folder / _BATCHES
        there = read_lines(self._path) if self._path.exists() else ()
        self._batches = {record["part"]: record for _, record in there}
        # A request that is sent again by itself could create a batch twice.
        key = os.environ.get(key_env) or "none"
        self._client = openai.OpenAI(base_url=base_url, api_key=key, max_retries=0)

    def fetch(self) -> None:
        """Fetch the files of batches that have ended, into ``received/``."""
        waiting = {self.ledger.sent[request] for request in self.ledger.waiting()}
        for part in [part for part in self._batches if part in waiting]:
            record = self._batches[part]
            with _in_words(part):
                batch = self._client.batches.retrieve(record["batch"])
                self._note(part, batch)
                if batch.status not in _ENDED:
                    continue
                # Named for the part, since what an endpoint calls a file may be no name for one.
                stem = part.removesuffix(".jsonl").replace("/", "-")
                files = {"output": batch.output_file_id, "errors": batch.error_file_id}
                for what, name in files.items():
                    if not name:
                        continue
                    content = self._client.files.content(name).read()
                    path = self.ledger.folder / RECEIVED / f"{stem}-{what}.jsonl"
                    with written(path) as file:
                        file.write(content)
            if batch.status == "failed":  # not one of its lines was run
                del self._batches[part]
                self._save()
                errors = getattr(batch.errors, "data", None) or []
                said = " ".join(str(error.message) for error in errors[:1]) or "no reason is given"
                warnings.warn(
                    f"{self.ledger.folder / part}: the batch was refused ({said[:200]}); it is "
                    "sent again",
                    stacklevel=2,
                )

    def lost(self, again: bool) -> list[Request]:
        """Return the lines of ended batches that are in no file, by the endpoint's own count.

        Where it counts more lines than it gave, a file was cut: it is fetched again the next time,
        unless ``again`` says to ask for its lines once more.
        """
        missing: dict[str, list[Request]] = {}
        for request in self.ledger.waiting():
            missing.setdefault(self.ledger.sent[request], []).append(request)
        sizes = Counter(self.ledger.sent.values())
        lost: list[Request] = []
        for part, requests in missing.items():
            record = self._batches.get(part)
            if record is None or record["status"] not in _ENDED:
                continue
            if again or sizes[part] - len(requests) >= record["counted"]:
                lost += requests
            else:
                warnings.warn(
                    f"{self.ledger.folder / part}: its batch has ended ({record['status']}), and "
                    f"{len(requests):,} of its answers are in no file; run the command again to "
                    "fetch them, or with --again to ask once more",
                    stacklevel=2,
                )
        return lost

    def told(self) -> list[str]:
        """Say how far the batches are that are still waited for."""
        waiting = {self.ledger.sent[request] for request in self.ledger.waiting()}
        return [
            f"{self.ledger.folder / part}: {record['batch']}, {record['status']}"
            for part, record in self._batches.items()
            if part in waiting
        ]

    def send(self) -> None:
        """Create a batch for every file that has none."""
        waiting = {self.ledger.sent[request] for request in self.ledger.waiting()}
        parts = [part for part in sorted(waiting) if part not in self._batches]
        if not parts:
            return
        with _in_words(parts[0]):
            there = {
                batch.metadata.get("part"): batch
                for batch in self._client.batches.list(limit=100)
                if batch.metadata
                and batch.metadata.get("job") == self.ledger.tag
                and batch.status != "failed"
            }
        for part in parts:
            with _in_words(part):
                self._note(part, there.get(part) or self._created(part))

    def _created(self, part: str) -> Any:
        """Upload a file, and create its batch."""
        with (self.ledger.folder / part).open("rb") as file:
            uploaded = self._client.files.create(file=file, purpose="batch")
        return self._client.batches.create(
            input_file_id=uploaded.id,
            endpoint=URL,
            completion_window="24h",
            metadata={"job": self.ledger.tag, "part": part},
        )

    def _note(self, part: str, batch: Any) -> None:
        """Write down how far the batch of a file is."""
        counts = batch.request_counts
        counted = 0 if counts is None else counts.completed + counts.failed
        record = {"part": part, "batch": batch.id, "status": batch.status, "counted": counted}
        self._batches[part] = record
        self._save()

    def _save(self) -> None:
        write_lines(self._path, self._batches.values())


@contextmanager
def _in_words(part: str) -> Iterator[None]:
    """Turn what the endpoint refuses into one sentence."""
    try:
        yield
    except openai.OpenAIError as error:
        raise EndpointError(
            f"{part}: {reason(error)}; run the same command again to go on"
        ) from None
