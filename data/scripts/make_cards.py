"""Write the data cards from the data: `python data/scripts/make_cards.py` rewrites data/cards/.

The book includes these cards, and before them data/sets.md, a line for each set.

Nothing on a card is typed by hand that could be computed: the words stand in `cards.json`, with the
names of the figures that this script computes. A test writes some of each kind again and compares.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np

import adalib
from adabook.game24 import makes_24
from adabook.paper.counts import bounds
from adalib.datasets.loading import bundled
from adalib.table import ARCHETYPES

DATA = Path(__file__).resolve().parents[1]
#: What is said of sets, of where questions come from, of models and prices, on each kind of card.
SAID = json.loads(Path(__file__).with_name("cards.json").read_text(encoding="utf-8"))
FACTS: dict[str, dict[str, str]] = SAID["facts"]

#: The sets of answers by models that the paper used.
PAPER_MODELS = ("gsm8k-gpt4omini", "math-qwen7b", "otis-deepseek-v3")
#: The sets of answers that can be checked.
CHECKED = ("codecontests", "game24-cot", "game24-standard")
_PUBLISHED = ("math500", "gpqa", "aime")


def source_of(name: str) -> str:
    """Where a setting's questions come from, by its name in `cards.json`; "" if they are ours."""
    return next((source for source in SAID["sources"] if name.startswith(f"{source}-")), "")


def published() -> list[str]:
    """The settings whose answers another project sampled."""
    return [name for name in bundled() if source_of(name) in _PUBLISHED]


def efforts() -> list[str]:
    """The settings in which models answered at several efforts."""
    return [name for name in bundled() if name.startswith("effort-")]


def card(name: str) -> str:
    """The card of one setting, in Markdown."""
    found, source = adalib.load(name), source_of(name)
    model = name.removeprefix(f"{source}-")
    figures: dict[str, Any] = {"name": name, "n": found.n, "samples": found.samples}
    figures |= {"source": SAID["sources"].get(source), "model": model}
    if isinstance(found, adalib.Menu):
        several = len(set(found.prices.values())) > 1
        facts = FACTS["effort"] | (FACTS["family"] if several else {})
        figures |= {"arms": len(found.models), "list_prices": SAID["list_prices"][model]}
        figures["letters"] = SAID["letters"].get(source, "")
        silent = silent_questions(found)
        facts |= {"questions with no token in any answer": silent} if silent else {}
        tables = effort_table(found)
    else:
        figures |= of_answers(found)
        if name in PAPER_MODELS or name in published():
            facts = FACTS.get(name, FACTS["published"])
        else:
            facts = FACTS["ours"] | (FACTS["benchmark"] if source else {})
            figures |= of_run(name, found)
            if (DATA / "checks" / f"{name}-cpu.jsonl").exists():
                facts |= {"repeated on a CPU": repeated(name, found)}
        tables = votes(name, found)
    rows = {what: words.format_map(figures) for what, words in facts.items()}
    lines = [rows.pop("story"), "", "| | |", "|---|---|"]
    lines += [f"| {what} | {words} |" for what, words in rows.items()]
    return "\n".join([*lines, "", tables])


def checked_card(name: str) -> str:
    """The card of one set of answers that can be checked."""
    passes = adalib.load_passes(name)
    figures: dict[str, Any] = {"name": name, "n": passes.n, "samples": passes.samples}
    figures |= {"right": passes.rates.mean(), "ever": int((passes.passed > 0).sum())}
    if name.startswith("game24"):
        answers = adalib.load(DATA / "checked" / f"{name}.jsonl.gz")
        pairs = zip(answers.questions, answers.answers, answers.values, strict=True)
        figures["same"] = np.mean(
            [
                makes_24(puzzle, one) == bool(right)
                for puzzle, row, rights in pairs
                for one, right in zip(row, rights, strict=True)
            ]
        )
    facts = {what: words.format_map(figures) for what, words in FACTS[name].items()}
    lines = [facts.pop("story"), "", "| | |", "|---|---|"]
    return "\n".join([*lines, *(f"| {what} | {words} |" for what, words in facts.items()), ""])


def overview() -> str:
    """A table of all sets: whose answers, how many, and how often they are right."""
    lines = ["| set | what | questions | answers | one right | a vote of 8 right |"]
    lines += ["|---|---|---|---|---|---|"]
    for name in bundled():
        found, model = adalib.load(name), name.removeprefix(f"{source_of(name)}-")
        parts, kind = [found], "published"
        if isinstance(found, adalib.Menu):
            parts, kind = list(found.models.values()), "effort"
        elif name == "math-qwen7b":
            parts = [bounds(found).agree, bounds(found).differ]
        told = SAID["story"].get(name) or FACTS.get(name, FACTS[kind])["story"]
        told = told.format(model=model, arms=len(parts))
        right = np.array([part.table((1, 8)).acc.mean(axis=0) for part in parts])
        ends = [
            " to ".join(dict.fromkeys(f"{share:.1%}" for share in (column.min(), column.max())))
            for column in right.T
        ]
        cells = [f"`{name}`", told, f"{found.n:,}", str(parts[0].samples), *ends]
        lines.append(f"| {' | '.join(cells)} |")
    return "\n".join(lines) + "\n"


def of_answers(responses: adalib.Responses) -> dict[str, Any]:
    """The figures of any set of answers."""
    right = responses.values.mean(axis=1)
    figures = {
        "total": responses.values.size,
        "unread": np.mean([answer == "" for row in responses.answers for answer in row]),
        "undecided": np.sum((right > 0) & (right < 1)),
    }
    if responses.tokens is not None:
        figures["tokens"] = responses.tokens.mean()
        figures["tokens_right"] = responses.tokens[responses.values == 1].mean()
        figures["tokens_wrong"] = responses.tokens[responses.values == 0].mean()
    return figures


def of_run(name: str, responses: adalib.Responses) -> dict[str, Any]:
    """The figures of answers that we sampled: of the run, and of the questions."""
    run, job = run_of(name)
    figures = dict(
        zip(("file", "prompt", "temperature", "max_tokens"), job.split(","), strict=True)
    )
    kinds = adalib.archetypes(responses.table())
    shares = (f"{kind} {np.mean(kinds == kind):.0%}" for kind in ARCHETYPES)
    return {
        **run,
        **figures,
        "said": SAID["story"][name],
        "model": SAID["models"][run["model_file"]],
        "families": len(set(responses.extras.get("family", ()))),
        "cut": np.mean([end == "length" for row in responses.extras["finish"] for end in row]),
        "kinds": ", ".join(shares),
        "given_up": sum(responses.extras.get("given_up", ())) / responses.values.size,
    }


def run_of(name: str) -> tuple[dict, str]:
    """The run that sampled a setting, and what the setting's job in it was told."""
    for path in sorted((DATA / "answers").glob("run-*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        for job in run["jobs"]:
            if job.startswith(f"{name}="):
                return run, job.split("=")[1]
    raise LookupError(f"no run in data/answers has the job {name}")


def silent_questions(menu: adalib.Menu) -> str:
    """How many questions got no token in any answer, by effort; nothing if none did."""
    silent = {
        arm: np.sum(np.asarray(one.tokens).max(axis=1) == 0) for arm, one in menu.models.items()
    }
    counts = ", ".join(f"{count} at {arm}" for arm, count in silent.items() if count)
    return counts and f"{counts} (counted as wrong)"


def effort_table(menu: adalib.Menu) -> str:
    """Accuracy, tokens and time at every effort."""
    lines = ["Accuracy of one answer and of a vote of four, by effort:", ""]
    lines += ["| model and effort | b=1 | b=4 | tokens | seconds | nothing could be read |"]
    lines += ["|---|---|---|---|---|---|"]
    for arm, responses in menu.models.items():
        one, four = responses.table((1, 4)).acc.mean(axis=0)
        unread = of_answers(responses)["unread"]
        seconds = np.mean(responses.extras["seconds"])
        lines.append(
            f"| {arm} | {one:.3f} | {four:.3f} | {responses.tokens.mean():,.0f} | {seconds:.0f} | "
            f"{unread:.2%} |"
        )
    return "\n".join(lines) + "\n"


def votes(name: str, responses: adalib.Responses) -> str:
    """Accuracy by budget; at both ends where only counts of right answers are known."""
    if name != "math-qwen7b":
        few = (1, 2, 4, 8) if name == "otis-deepseek-v3" else (1, 2, 4, 8, 16)
        return accuracies(responses, responses.table(few))
    ends = bounds(responses)
    lines = ["", "And if all wrong answers differ, the most that a vote can be:", ""]
    lines += accuracies(ends.differ, ends.differ.table()).splitlines()[2:]
    return accuracies(ends.agree, ends.agree.table()) + "\n".join(lines) + "\n"


def accuracies(responses: adalib.Responses, table: adalib.UtilityTable) -> str:
    lines = ["Mean accuracy of a vote of b, over all subsets, ties shared:", ""]
    levels = np.array(responses.levels or [""] * responses.n)
    lines += ["| level | questions | " + " | ".join(f"b={b}" for b in table.budgets) + " |"]
    lines += ["|---|---|" + "---|" * table.k]
    groups = [(str(level), levels == level) for level in sorted(set(levels)) if level != ""]
    groups.append(("all", np.ones(len(levels), dtype=bool)))
    for label, rows in groups:
        means = " | ".join(f"{mean:.3f}" for mean in table.acc[rows].mean(axis=0))
        lines.append(f"| {label} | {rows.sum()} | {means} |")
    return "\n".join(lines) + "\n"


def repeated(name: str, responses: adalib.Responses) -> str:
    """Compare answers of the local server with the bundled ones, question by question."""
    again = adalib.load(DATA / "checks" / f"{name}-cpu.jsonl")
    share = responses.values[[responses.ids.index(i) for i in again.ids]].mean(axis=1)
    error = np.sqrt((share * (1 - share)).sum() / again.samples) / again.n
    return (
        f"{again.n * again.samples} answers to {again.n} questions (evenly spaced), "
        f"by `examples/local_model.py` and `collect`: {again.values.mean():.3f} right, "
        f"where the bundled answers give {share.mean():.3f} and chance allows "
        f"{error:.3f} (one standard error)"
    )


def main() -> None:
    for name in (*SAID["story"], *published(), *efforts(), *PAPER_MODELS, *CHECKED):
        path = DATA / "cards" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        written = checked_card(name) if name in CHECKED else card(name)
        path.write_text(written, encoding="utf-8")
        print(path.name)
    (DATA / "sets.md").write_text(overview(), encoding="utf-8")


if __name__ == "__main__":
    main()
