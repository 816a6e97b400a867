"""The explorer as a static Space for Hugging Face: a page, and a README whose header says so."""

from __future__ import annotations

import shutil
from pathlib import Path

from adabook.paper.settings import shelf
from adalib.explorer import page

_README = """---
title: Who deserves more samples?
emoji: 🎚️
colorFrom: blue
colorTo: yellow
sdk: static
app_file: index.html
pinned: false
license: mit
short_description: Put a price on compute and see what every question buys
---

Drag the price of an answer and see how many answers each question buys. A file of your own, dropped
on the page, stays in your browser. The explorer belongs to a book{link}.
"""


def write_space(target: Path, address: str) -> None:
    """Write the folder; ``address`` is where the book is published, or "" if it is not."""
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    page(shelf(), target / "index.html")
    link = f", [Who deserves more samples?]({address})" if address else ""
    (target / "README.md").write_text(_README.format(link=link), encoding="utf-8")
