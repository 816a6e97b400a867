"""``python -m adalib.teach.slides``, from the root of the book: a deck a chapter, from the built pages."""

from __future__ import annotations

import sys
from pathlib import Path

from adalib.teach.slides.decks import write_decks


def main(root: Path) -> int:
    """Write the decks and say where they are."""
    decks = write_decks(root / "_build" / "html", root / "_build" / "slides")
    if not decks:
        print("there is no built book in _build/html: run `make book` first", file=sys.stderr)
        return 2
    print(f"{len(decks)} decks:  file://{root}/_build/slides/index.html")
    return 0


if __name__ == "__main__":
    sys.exit(main(Path.cwd()))
