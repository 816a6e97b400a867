"""Write the data cards from the data: `python data/scripts/make_cards.py` rewrites data/cards/.

The book includes these cards.

Nothing on a card is typed by hand that could be computed; words stand in `cards.json`. A test
writes some of each kind again and compares."""

from __future__ import annotations

import json
from pathlib import Path

import numpy as np

import adalib
from adabook.paper.counts import bounds
from adalib.datasets.loading import bundled
from adalib.table import ARCHETYPES

DATA = Path(__file__).resolve().parents[1]
#: What is said of a set, of where questions come from, of models and their prices.
SAID = json.loads(Path(__file__).with_name("cards.json").read_text(encoding="utf-8"))
STORY, PUBLIC, EFFORT = SAID["story"], SAID["public"], SAID["effort"]
LIST_PRICES, SOURCES, MODELS = SAID["list_prices"], SAID["sources"], SAID["models"]

#: The sets of answers by models that the paper used.
PAPER_MODELS = ("gsm8k-gpt4omini", "math-qwen7b", "otis-deepseek-v3")


def run_of(name: str) -> tuple[dict, str]:
    """The run that sampled a setting, and the setting's job in it."""
    for path in sorted((DATA / "answers").glob("run-*.json")):
        run = json.loads(path.read_text(encoding="utf-8"))
        for job in run["jobs"]:
            if job.startswith(f"{name}="):
                return run, job
    raise LookupError(f"no run in data/answers has the job {name}")


def published() -> list[str]:
    """The settings whose answers another project sampled."""
    return [name for name in bundled() if name.partition("-")[0] in PUBLIC]


def efforts() -> list[str]:
    """The settings in which models answered at several efforts."""
    return [name for name in bundled() if name.startswith("effort-")]


def card(name: str) -> str:
    """The card of one setting, in Markdown."""
    if name in published():
        return public_card(name)
    if name in efforts():
        return effort_card(name)
    if name in PAPER_MODELS:
        cards = (gpt4omini_card, counts_card, deepseek_card)
        return dict(zip(PAPER_MODELS, cards, strict=True))[name](name)
    responses = adalib.load(name)
    run, job = run_of(name)
    questions, prompt, temperature, max_tokens = job.split("=")[1].split(",")
    table = responses.table()
    empty = np.array([[answer == "" for answer in row] for row in responses.answers])
    cut = np.array([[finish == "length" for finish in row] for row in responses.extras["finish"]])
    kinds = adalib.archetypes(table)
    benchmark = SOURCES.get(name.partition("-")[0])
    families = len(set(responses.extras.get("family", ())))
    facts = {
        "questions": f"{responses.n} of {benchmark}"
        if benchmark
        else f"{responses.n} (`{questions}`), in {families} families; all that were drawn",
        "answers": (
            f"{responses.samples} per question, {empty.size:,} in all "
            f"(`data/answers/{name}.jsonl.gz`)"
        ),
        "model": MODELS[run["model_file"]],
        "model file": f"`{run['model_file']}`, {run['model_bytes']:,} bytes",
        "SHA-256 of that file": f"`{run['model_sha256']}`",
        "prompt": f"`{prompt}`",
        "sampling": (
            f"temperature {temperature}, no top-k, no top-p, at most {max_tokens} tokens, "
            f"seed {run['seed']}"
        ),
        "made": f"{run['date']}, on a {run['device']}, {run['dtype']}, torch {run['torch']}, "
        f"transformers {run['transformers']}, by `data/scripts/sample_gpu.py`; "
        "answers read by `data/scripts/read_answers.py`",
        "nothing could be read": f"{empty.mean():.2%} of the answers",
        "cut by the length limit": f"{cut.mean():.2%} of the answers",
        "tokens per answer": f"{responses.tokens.mean():.1f} on average",
        "kinds of question": ", ".join(
            f"{kind} {np.mean(kinds == kind):.0%}" for kind in ARCHETYPES
        ),
    }
    if benchmark:
        facts["formulas not compared"] = (
            f"{sum(responses.extras['given_up']) / empty.size:.2%} of the answers"
        )
        facts["not here"] = (
            "the texts of questions and answers; `load` joins those of your own copy (`texts=FILE`)"
        )
    if (DATA / "checks" / f"{name}-cpu.jsonl").exists():
        facts["repeated on a CPU"] = repeated(name, responses)
    return listed(STORY[name], facts) + accuracies(responses, table)


def public_card(name: str) -> str:
    """The card of answers that another project published, in Markdown."""
    responses = adalib.load(name)
    benchmark, _, model = name.partition("-")
    unread = np.mean([answer == "" for row in responses.answers for answer in row])
    facts = {
        "questions": f"{responses.n} of {PUBLIC[benchmark]}; their texts are not here",
        "answers": f"{responses.samples} per question, as class numbers; 0 is the right one",
        "file": f"`data/answers/{name}.jsonl.gz`",
        "source": (
            "sampled and read by the authors of {cite}`komiyama2025` "
            "(`jkomiyama/BoInf-code-publish`, MIT)"
        ),
        "compared": "by our judge, with `data/scripts/read_answers.py --public`",
        "nothing could be read": f"{unread:.2%} of the answers",
        "tokens per answer": f"{responses.tokens.mean():,.0f} on average, "
        f"{responses.tokens[responses.values == 1].mean():,.0f} where right and "
        f"{responses.tokens[responses.values == 0].mean():,.0f} where wrong",
    }
    return listed(f"Answers of the reasoning model {model}.", facts) + accuracies(
        responses, responses.table()
    )


def gpt4omini_card(name: str) -> str:
    """The card of GPT-4o-mini's answers to GSM8K, in Markdown."""
    responses = adalib.load(name)
    right = responses.values.mean(axis=1)
    undecided = np.sum((right > 0) & (right < 1))
    facts = {
        "questions": (
            f"{responses.n:,} of the test set of GSM8K {{cite}}`cobbe2021gsm8k` (MIT; "
            "`openai/grade-school-math`), which has one more; `gsm8k-test-N` is line N, from 0"
        ),
        "answers": (
            f"{responses.samples} per question, {responses.values.size:,} in all, as class "
            f"numbers; 0 is the right one (`data/answers/{name}.jsonl.gz`)"
        ),
        "model": "GPT-4o-mini, by its API; the source does not name the version",
        "source": (
            "sampled and read by `LiuzLab/consol`, commit `20f69173a093`, "
            "`resources/experiment_output/gsm/gpt4omini-gsm-vote`"
        ),
        "terms": (
            "the source states no licence; what is here are numbers computed from it "
            "(classes, tokens), and no text"
        ),
        "sampling": (
            "the source's code sets no temperature, so presumably the API's default of 1.0; "
            "no log-probabilities"
        ),
        "compared": "by our judge, with `data/scripts/read_answers.py --public`",
        "tokens per answer": f"{responses.tokens.mean():.1f} on average, "
        f"{responses.tokens[responses.values == 1].mean():.1f} where right and "
        f"{responses.tokens[responses.values == 0].mean():.1f} where wrong",
        "questions neither always nor never right": f"{undecided}",
        "read off the texts": (
            "the paper's fifteen features, three more, and hashed counts of character n-grams"
        ),
        "not here": (
            "the texts of questions and answers; `load` joins those of your own copy (`texts=FILE`)"
        ),
        "caution": (
            "GSM8K is older than the model, so some questions may have been in its training "
            "data. The prompt is not the paper's"
        ),
    }
    return listed("Answers of GPT-4o-mini, a model of the paper, to GSM8K.", facts) + accuracies(
        responses, responses.table()
    )


def deepseek_card(name: str) -> str:
    """The card of DeepSeek-V3's answers to a mock AIME, in Markdown."""
    responses = adalib.load(name)
    facts = {
        "questions": f"{responses.n} of {EFFORT['aime']}; their texts are not here",
        "answers": f"{responses.samples} per question, as class numbers; 0 is the right one",
        "file": f"`data/answers/{name}.jsonl.gz`",
        "source": "sampled by Epoch AI (CC BY 4.0) {cite}`epochai2026`, version 0324 of the model",
        "compared": "by our judge, with `data/scripts/read_answers.py --public`",
        "caution": "too few questions to learn from a text, and few for anything else",
    }
    return listed(
        "Answers of DeepSeek-V3, the paper's main model, to questions that the paper did not ask.",
        facts,
    ) + accuracies(responses, responses.table((1, 2, 4, 8)))


def counts_card(name: str) -> str:
    """The card of the counts of right answers by Qwen2.5-7B-Instruct, in Markdown."""
    responses = adalib.load(name)
    facts = {
        "questions": (
            f"{responses.n:,}: all of MATH {{cite}}`hendrycks2021math` (MIT) at levels 2 to 4, "
            "training and test set; `math-train-N` and `math-test-N` count in the order of the "
            "source, not in that of `math-qwen15`"
        ),
        "answers": (
            f"how many of {responses.samples} were right, in a random order: class 0 is right and "
            f"class 1 wrong (`data/answers/{name}.jsonl.gz`)"
        ),
        "model": "Qwen2.5-7B-Instruct, at temperature 0.6",
        "further counts": (
            "`right_hot`: of 50 at temperature 1.0; `right_math` and `right_math_of_8`: of 50 and "
            "of another 8 by Qwen2.5-Math-7B-Instruct at 0.7; `vote_math_of_8`: whether the vote "
            "of those 8 was right"
        ),
        "source": (
            "sampled and counted by `KabakaWilliam/llms_know_difficulty` (commits `e0d24372`, "
            "`5207272a`, `43a73e7d`), MIT; subjects, levels and right answers by "
            "`TianHongZXY/RLVR-Decomposed`, Apache-2.0"
        ),
        "joined": (
            "the two sources by position. Level and share of right answers correlate at -0.43 "
            "and -0.36 in that order, and at no more than -0.15 one to three rows off"
        ),
        "read off the texts": (
            "the paper's fifteen features, three more, and hashed counts of character n-grams"
        ),
        "not here": (
            "the texts of questions and answers; `load` joins those of your own copy (`texts=FILE`)"
        ),
        "caution": (
            "which wrong answers were equal is not known, so no vote is either. As the file "
            "stands, all wrong answers agree, and a vote is the least that it can be; "
            "`adabook.paper.counts.bounds` gives both ends. They hold for answers that could be "
            "read, and a gain over a mix need not lie between its two ends. A file of counts "
            "cannot judge a rule that watches answers come in. The training set of MATH may have "
            "been in the models' training data"
        ),
    }
    ends = bounds(responses)
    lines = ["", "And if all wrong answers differ, the most that a vote can be:", ""]
    lines += accuracies(ends.differ, ends.differ.table()).splitlines()[2:]
    return (
        listed("Counts of right answers of Qwen2.5-7B-Instruct, a model of the paper.", facts)
        + accuracies(ends.agree, ends.agree.table())
        + "\n".join(lines)
        + "\n"
    )


def effort_card(name: str) -> str:
    """The card of one model's answers at several efforts, in Markdown."""
    menu = adalib.load(name)
    _, benchmark, model = name.split("-", 2)
    several = len(set(menu.prices.values())) > 1
    letters = (
        "; letters were shuffled in each run, so wrong classes of two efforts cannot be compared"
        if benchmark == "gpqa"
        else ""
    )
    facts = {
        "questions": f"{menu.n} of {EFFORT[benchmark]}; ids only, their texts are not here",
        "answers": (
            f"{menu.samples} per question and effort, as class numbers; 0 is the right one{letters}"
        ),
        "file": f"`data/answers/{name}.jsonl.gz`, one line per question and effort",
        "source": (
            "Epoch AI, AI Benchmarking Hub {cite}`epochai2026`, CC BY 4.0; sampled and scored there"
        ),
        "kept": (
            "answers, tokens written (`tokens`) and those of them spent on reasoning "
            "(`reasoning`), seconds per answer, tokens of the prompt; "
            "reduced to classes by `data/scripts/read_answers.py --effort`"
        ),
        "costs": "dollars per thousand questions, at the list prices for tokens written"
        if several
        else "tokens written; all efforts have the same price per token",
        "list prices": f"dollars per million tokens read and written: {LIST_PRICES[model]}",
    }
    silent = [
        f"{np.sum(np.asarray(responses.tokens).max(axis=1) == 0)} at {arm}"
        for arm, responses in menu.models.items()
        if np.any(np.asarray(responses.tokens).max(axis=1) == 0)
    ]
    if silent:
        facts["questions with no token in any answer"] = ", ".join(silent) + " (counted as wrong)"
    lines = ["Accuracy of one answer and of a vote of four, by effort:", ""]
    lines += ["| model and effort | b=1 | b=4 | tokens | seconds | nothing could be read |"]
    lines += ["|---|---|---|---|---|---|"]
    for arm, responses in menu.models.items():
        one, four = responses.table((1, 4)).acc.mean(axis=0)
        unread = np.mean([answer == "" for row in responses.answers for answer in row])
        seconds = np.mean(responses.extras["seconds"])
        lines.append(
            f"| {arm} | {one:.3f} | {four:.3f} | {responses.tokens.mean():,.0f} | {seconds:.0f} | "
            f"{unread:.2%} |"
        )
    story = f"Answers of {model} at {len(menu.models)} efforts."
    if several:
        story = f"Answers of {len(menu.models)} models of the family {model}, each at one effort."
    return listed(story, facts) + "\n".join(lines) + "\n"


def listed(story: str, facts: dict[str, str]) -> str:
    lines = [
        story,
        "",
        "| | |",
        "|---|---|",
        *(f"| {key} | {value} |" for key, value in facts.items()),
        "",
        "",
    ]
    return "\n".join(lines)


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
    for name in (*STORY, *published(), *efforts(), *PAPER_MODELS):
        path = DATA / "cards" / f"{name}.md"
        path.parent.mkdir(exist_ok=True)
        path.write_text(card(name), encoding="utf-8")
        print(path.name)


if __name__ == "__main__":
    main()
