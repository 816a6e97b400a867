"""What commands write to a terminal: text from outside made safe, and notes on standard error."""

from __future__ import annotations

import sys


def shown(text: str) -> str:
    """Make text from outside fit for a terminal: one line, with control characters escaped."""
    line = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def note(command: str, text: str) -> None:
    """Write one line to standard error, since standard output holds the result alone."""
    print(f"adalib {command}: {shown(text)}", file=sys.stderr, flush=True)
