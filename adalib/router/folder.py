"""Answer a file of questions into a folder, and go on there after an interruption."""

from __future__ import annotations

import asyncio
import math
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from adalib.datasets.files import write_lines
from adalib.llm.client import Client
from adalib.llm.collect import settings_of
from adalib.llm.loop import wait_for
from adalib.llm.questions import load_prompt, load_questions
from adalib.llm.store import Store, read_answers
from adalib.router.ask import ask_many
from adalib.router.asking import Asking
from adalib.router.purse import Ledger, Purse
from adalib.router.routed import Routed
from adalib.router.router import Router
from adalib.vote.answers import same_answer


def route(
    router: Router,
    client: Client,
    questions: str | os.PathLike,
    out: str | os.PathLike,
    asking: Asking,
    *,
    total: float = math.inf,
    prompt: str | os.PathLike | None = None,
    concurrency: int = 16,
) -> str:
    """Answer a file of questions into a folder, and return one line on what came of it.

    The same call goes on where an earlier one ended. ``ledger.json`` in the folder keeps the money,
    the debt and the largest concurrency, so that all runs together stay within one total and one
    bound. Interrupted once, it finishes open questions; twice, it drops them.
    """
    asked = load_questions(questions)
    filled = load_prompt(prompt)
    folder = Path(out)
    settings = settings_of(client, asked, filled, asking.temperature, asking.max_tokens)
    settings |= {"budget": router.controller.budget, "cost": router.unit}
    kept: dict[str, dict[str, Any]] = {}
    with Store(folder, settings, {"messages": filled.messages}) as store:
        kept |= {record.pop("id"): record for record, _ in read_answers(store.answers)}
        ledger = Ledger(folder / "ledger.json")
        try:
            router.purse = Purse(total, ledger)
            router.controller.keep_in(ledger, router.unit)
            work = [(q["id"], q["question"]) for q in asked if q["id"] not in kept]

            def keep(name: str, answer: Routed) -> None:
                kept[name] = {"sample": 0, **asdict(answer)}
                store.append({"id": name, **kept[name]})

            stop = asyncio.Event()
            with store.reporting(len(asked)):
                wait_for(
                    ask_many(router, client, work, filled, asking, keep, concurrency, True, stop),
                    stop,
                )
        finally:
            ledger.close()
    rows = [
        q | {name: value for name, value in kept[q["id"]].items() if name != "sample"}
        for q in asked
    ]
    write_lines(folder / "routed.jsonl", rows)
    return f"wrote {folder / 'routed.jsonl'}: {_summary(rows, router)}"


def _summary(rows: list[dict[str, Any]], router: Router) -> str:
    """Say what came of the questions: how many are right, and their cost, rounds and money."""
    right = sum(same_answer(row["answer"], str(row["gold"])) for row in rows)
    cost = sum(row["cost"] for row in rows) / len(rows)
    rounds = sum(row["rounds"] for row in rows) / len(rows)
    money = sum(row["money"] for row in rows)
    budget = f"(budget {router.controller.budget:g})"
    return (
        f"{right} of {len(rows)} right, "
        f"{cost:.4g} {router.unit} per question {budget} in {rounds:.3g} rounds, ${money:.2f}"
    )
