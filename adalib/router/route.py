"""A file of questions, answered into a folder that can be gone on with: like `collect`, one vote a question."""

from __future__ import annotations

import asyncio
import os
from dataclasses import asdict
from pathlib import Path

from adalib.datasets.files import write_lines
from adalib.llm.collect import settings_of
from adalib.llm.endpoint import Endpoint, wait_for
from adalib.llm.questions import load_prompt, load_questions
from adalib.llm.store import Store, read_answers
from adalib.router.ask import Asking, Routed, ask_many
from adalib.router.router import Router
from adalib.vote.answers import same_answer

__all__ = ["route"]


def route(
    router: Router,
    endpoint: Endpoint,
    questions: str | os.PathLike,
    out: str | os.PathLike,
    how: Asking,
    *,
    prompt: str | os.PathLike | None = None,
    concurrency: int = 16,
    progress: bool = True,
) -> str:
    """Answer what is not answered yet; the budget counts what an earlier run spent.

    Interrupt it once, and the questions that are open are finished and kept; twice, and they are dropped. The folder
    ``out`` gets ``answers.jsonl`` (append-only), ``run.json`` and, at the end, ``routed.jsonl`` in the order of the
    questions. Returns one line that says what was spent and how many answers are right.
    """
    asked, filled, folder = load_questions(questions), load_prompt(prompt), Path(out)
    settings = settings_of(endpoint, asked, filled, how.temperature, how.max_tokens)
    settings |= {"budget": router.controller.budget, "cost": router.unit}
    with Store(folder, settings, {"messages": filled.messages}) as store:
        before = [record for record, _ in read_answers(store.answers)]
        router.controller.resume(len(before), sum(record["cost"] for record in before))
        router.purse.spent = sum(record["money"] for record in before)
        held = {record["id"] for record in before}
        work = [(q["id"], q["question"]) for q in asked if q["id"] not in held]

        def keep(name: str, answer: Routed) -> None:
            store.append({"id": name, "sample": 0, **asdict(answer)})

        stop = asyncio.Event()
        with store.telling(len(asked)):
            wait_for(ask_many(router, endpoint, work, filled, how, keep, concurrency, progress, stop), stop)
    return _written(asked, folder, router)


def _written(asked: list[dict], out: Path, router: Router) -> str:
    kept = {record["id"]: record for record, _ in read_answers(out / "answers.jsonl")}
    rows = [q | {name: value for name, value in kept[q["id"]].items() if name not in ("id", "sample")} for q in asked]
    write_lines(out / "routed.jsonl", rows)
    right = sum(same_answer(row["answer"], str(row["gold"])) for row in rows)
    average = sum(row["cost"] for row in rows) / len(rows)
    return (
        f"wrote {out / 'routed.jsonl'}: {right} of {len(rows)} right, {average:.4g} {router.unit} a question "
        f"(budget {router.controller.budget:g}), ${sum(row['money'] for row in rows):.2f}"
    )
