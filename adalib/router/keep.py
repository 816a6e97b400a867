"""Votes kept as a file, to learn from one's own traffic.

One line per vote, a request with all of its replies as a gateway logs them: `evaluate` and `fit`
read the file with ``--gold``. It holds the messages and the texts, and so whatever callers write;
it is off unless the operator asks for it.
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from adalib.llm.reply import Answer


class VoteFile:
    """A file of votes that only grows, one whole line per vote."""

    def __init__(self, path: str | os.PathLike) -> None:
        self.path = Path(path)
        try:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND
            self._file = os.open(self.path, flags, 0o600)
        except OSError as error:
            why = f"cannot be written ({error.strerror})"
            raise ValueError(f"{self.path}: {why}; name another file for --keep") from None

    def add(
        self, name: str, model: str, messages: Sequence[dict[str, Any]], answers: Sequence[Answer]
    ) -> None:
        """Write one vote; if the disk is full, its line is lost and serving goes on."""
        choices = [
            {
                "index": number,
                "message": {"role": "assistant", "content": answer.text},
                "finish_reason": answer.finish,
                "tokens": answer.tokens,
                "logprob": answer.logprob,
            }
            for number, answer in enumerate(answers)
        ]
        usage = {"completion_tokens": sum(answer.tokens or 0 for answer in answers)}
        record: dict[str, Any] = {"id": name, "model": model, "messages": list(messages)}
        record |= {"choices": choices, "usage": usage}
        line = json.dumps(record, ensure_ascii=False) + "\n"
        os.write(self._file, line.encode())
