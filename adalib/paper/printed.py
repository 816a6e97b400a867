"""The paper's printed numbers, as ``data/simulated/paper_tables.json`` holds them."""

from __future__ import annotations

import json

from adalib.datasets.loading import data_folder

__all__ = ["PAPER", "PAPER_ABLATIONS", "PAPER_CLAIMS", "PAPER_SETTINGS"]

_TABLES = json.loads((data_folder() / "simulated" / "paper_tables.json").read_text(encoding="utf-8"))

PAPER_SETTINGS = ("deepseek-v3-math", "gpt-4o-mini-math", "qwen2.5-7b-math", "deepseek-v3-gsm8k")

#: The printed tables by setting.
PAPER: dict[str, dict] = _TABLES["settings"]

#: Its classifier table, and what it says of its other ablations.
PAPER_ABLATIONS: dict[str, dict | float | list] = _TABLES["ablations"]

#: Numbers that its text states without a table.
PAPER_CLAIMS: dict[str, float | list] = _TABLES["claims"]
