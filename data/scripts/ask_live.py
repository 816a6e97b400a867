"""Ask a real model fresh questions through the server, and the same ones without it.

`python ask_live.py` rewrites data/live/word-live.jsonl, in about five minutes on two cores:
the run of the chapter "Deploy". A router is fitted on the bundled answers and saved; `serve`
stands in front of the small local model; a plain `openai` client asks. Then `collect` takes a
fixed number of answers to the same questions from the same model, so that `adalib.load` gives the
accuracy of every fixed b next to the router's."""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import openai
from families import WORD
from make_questions import draw_set

import adalib
from adalib.ask.collect import collect, fill_prompt, load_prompt
from adalib.datasets.files import write_lines

DATA = Path(__file__).resolve().parents[1]
SETTING = "word-fewshot"
MODEL = "smollm2"
SEED = 11  # not that of the bundled questions, nor the pilot's
# As the bundled answers were sampled.
TEMPERATURE = 0.7
MAX_TOKENS = 96


def fresh_questions(count: int) -> list[dict]:
    """Draw so many questions from the families of `word`, evenly spaced, with new numbers."""

    def key(question: dict) -> tuple:
        return question["family"], question["phrasing"], *re.findall(r"\d+", question["question"])

    word = (DATA / "questions" / "word.jsonl").read_text(encoding="utf-8").splitlines()
    known = {key(json.loads(line)) for line in word}
    drawn = [question for question in draw_set("live", WORD, SEED) if key(question) not in known]
    return [drawn[k * len(drawn) // count] for k in range(count)]


@contextmanager
def started(*words: str) -> Iterator[str]:
    """Run a program of this project that prints its address first; yield that base URL."""
    process = subprocess.Popen(
        [sys.executable, *words], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    )
    try:
        line = process.stdout.readline()
        yield re.search(r"http\S+/v1", line)[0]
    finally:
        process.terminate()
        process.communicate()


def ask(base_url: str, questions: list[dict], at_a_time: int) -> list[dict]:
    """Return the server's reply to each question: its text, and the figures of the vote."""
    client = openai.OpenAI(base_url=base_url, api_key="none", timeout=900, max_retries=0)
    prompt = load_prompt(SETTING)

    def one(question: dict) -> dict:
        reply = client.chat.completions.create(
            model=MODEL,
            messages=fill_prompt(prompt, question["question"]),
            temperature=TEMPERATURE,
            max_tokens=MAX_TOKENS,
        )
        return {"text": reply.choices[0].message.content} | reply.model_extra["adalib"]

    with client, ThreadPoolExecutor(at_a_time) as pool:
        return list(pool.map(one, questions))


def live(questions: list[dict], budget: float, fixed: int, at_a_time: int = 4) -> Iterator[dict]:
    """Yield a line per question: ``answers``, a fixed number, and ``routed``, by the server."""
    example = str(DATA.parent / "examples" / "local_model.py")
    model = ["--port", "0", "--parallel", str(at_a_time), "--context", "768"]
    with tempfile.TemporaryDirectory() as folder, started(example, *model) as upstream:
        router = Path(folder) / "router"
        asked = Path(folder) / "questions.jsonl"
        adalib.Router.fit(adalib.load(SETTING), budget=budget).save(router)
        serve = ["-m", "adalib", "serve", str(router), "--upstream", upstream, "--model", MODEL]
        with started(*serve, "--port", "0", "--deadline", "900", "--timeout", "600") as base_url:
            routed = ask(base_url, questions, at_a_time)
        write_lines(asked, questions)
        path = collect(
            asked,
            Path(folder) / "fixed",
            base_url=upstream,
            model=MODEL,
            samples=fixed,
            prompt=SETTING,
            temperature=TEMPERATURE,
            max_tokens=MAX_TOKENS,
            concurrency=at_a_time,
            timeout=600,
        )
        found = adalib.load(path)
        for number, question in enumerate(questions):
            tokens = found.tokens[number].astype(int).tolist()
            yield question | {
                "answers": list(found.answers[number]),
                "tokens": tokens,
                "routed": routed[number],
            }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--questions", type=int, default=40)
    parser.add_argument("--budget", type=float, default=3.0)
    parser.add_argument(
        "--fixed", type=int, default=4, help="answers a question without the router"
    )
    parser.add_argument("--out", type=Path, default=DATA / "live" / "word-live.jsonl")
    args = parser.parse_args()
    rows = list(live(fresh_questions(args.questions), args.budget, args.fixed))
    write_lines(args.out, rows)
    right = sum(adalib.same_answer(row["routed"]["answer"], row["gold"]) for row in rows) / len(
        rows
    )
    spent = sum(row["routed"]["cost"] for row in rows) / len(rows)
    fixed = [b for b in (1, 2, 3, 4) if b <= args.fixed]
    accuracy = adalib.load(args.out).table(fixed).acc.mean(axis=0)
    print(
        f"the router: {right:.3f} right at {spent:.2f} answers a question (budget {args.budget:g})"
    )
    print("; ".join(f"always {b}: {acc:.3f}" for b, acc in zip(fixed, accuracy, strict=True)))


if __name__ == "__main__":
    main()
