"""Read the answers out of the sampled texts.

Run ``python data/scripts/read_answers.py FILE.jsonl.gz ... [--out FOLDER]``.

Turns what `sample_gpu.py` wrote into the bundled form, and does so again, from the texts
themselves, whenever the reading of answers is improved. The same texts give the same bytes. With
`--numbers` the texts of a benchmark stay behind: what is written are ids, golds, read answers with
their classes, and numbers. With `--public` a file of another project's read answers (id, gold,
answers, tokens) is reduced to class numbers, where 0 is the gold's class; where it has the
questions, numbers computed from them are kept in their place. With `--counts` a file that only
says how many answers were right becomes answers of class 0 (right) and 1 (wrong). With `--effort`
a file BENCHMARK-MODEL.jsonl.gz of answers at several efforts becomes a menu
effort-BENCHMARK-MODEL."""

from __future__ import annotations

import argparse
import gzip
import json
import re
from functools import partial
from pathlib import Path
from zlib import crc32

import numpy as np

from adabook.paper.ablations import extra_features
from adalib.datasets.loading import text_hash
from adalib.learn.embedding import ngram_counts
from adalib.learn.features import text_values
from adalib.vote.answers import judged, same_answer
from adalib.vote.extract import extract_answer

DATA = Path(__file__).resolve().parents[1]
ORDER = ("id", "question", "gold", "level", "family", "phrasing", "dial")
ORDER += ("answers", "classes", "correct", "tokens", "finish", "logprob", "entropy", "texts")
LONG = 70  # characters
# A word that is not a command of LaTeX.
WORD = re.compile(r"(?<![\\a-zA-Z])[a-zA-Z]{3,}(?!\})")
#: List prices in dollars per million tokens written, of models that are on one menu: costs are
#: then in dollars per thousand questions. On a menu of one model costs are in tokens.
DOLLARS = {"gpt-5.4": 15, "gpt-5.4-mini": 4.5, "gpt-5.4-nano": 1.25}
KEPT = ("id", "question", "gold", "level", "type", "answers", "classes", "correct", "given_up")
KEPT += ("tokens", "finish", "logprob", "entropy", "read")
#: What we call two files whose names elsewhere are other ones.
NAMES = {"gsm8k-gpt-4o-mini": "gsm8k-gpt4omini", "math-counts": "math-qwen7b"}
#: The counts of right answers that become answers, of how many; the others stay counts.
COUNTED = ("qwen2.5-7b-instruct@0.6x50", 50)
COUNTS = {
    "right_hot": "qwen2.5-7b-instruct@1.0x50",
    "right_math": "qwen2.5-math-7b-instruct@0.7x50",
    "right_math_of_8": "qwen2.5-math-7b-instruct@0.7x8",
}


def read(line: dict) -> dict:
    """Return the line with the answers that its texts give, and which of them are equal and right.

    Comparing takes computer algebra. Recorded here, it is not loaded by everyone who opens the
    file.
    """
    compared(line)
    return {key: line[key] for key in ORDER if key in line}


def compared(line: dict) -> dict[str, str]:
    """Add answers, classes and values to a line; return the formulas that were given up."""
    pairs = zip(line["texts"], line["finish"], strict=True)
    line["answers"] = [extract_answer(text, finished=finish == "stop") for text, finish in pairs]
    classes, given_up = judged(line["answers"])
    line["classes"] = classes.tolist()
    first = {
        c: answer
        for c, answer in zip(line["classes"][::-1], line["answers"][::-1], strict=True)
        if c >= 0
    }
    right = {c for c, answer in first.items() if same_answer(answer, line["gold"])}
    line["correct"] = [int(c in right) for c in line["classes"]]
    return given_up


def without_texts(line: dict) -> dict:
    """Return the line without any sentence of the benchmark or the model, with numbers instead.

    Of a read answer that is long or has more than three words, the number of its class is kept.
    """
    given_up = compared(line)
    told = zip(line["answers"], line["classes"], strict=True)
    # Formulas that equal only themselves.
    line["given_up"] = sum(answer in given_up for answer in line["answers"])
    line["answers"] = [
        f"long answer {c}" if len(a) > LONG or len(WORD.findall(a)) > 3 else a for a, c in told
    ]
    line |= {"read": read_text(line["question"]), "question": line["id"]}
    return {key: line[key] for key in KEPT if key in line}


def read_text(question: str) -> dict:
    """Return the numbers of a text that a `QuestionWithFeatures` carries."""
    features = [
        *text_values([question])[0].tolist(),
        *extra_features([question]).to_numpy()[0].tolist(),
    ]
    short = [int(value) if value.is_integer() else value for value in features]
    return {"text": text_hash(question), "features": short, "ngrams": ngram_counts(question)}


def as_classes(line: dict) -> dict:
    """Read answers as class numbers, the gold's first; what upstream could not read is empty."""
    letters = line["id"].startswith("gpqa")
    answers = [
        "" if a == "unextractable" or (letters and a not in set("ABCD")) else a
        for a in line["answers"]
    ]
    classes, _ = judged([line["gold"], *answers])
    name = line["id"].replace("gpqa_diamond", "gpqa")
    told = {"id": name, "question": "", "gold": 0, "level": line.get("level")}
    told |= {
        "answers": ["" if c < 0 else c for c in classes[1:].tolist()],
        "tokens": line.get("tokens"),
    }
    if line.get("question"):
        told |= {"question": name, "read": read_text(line["question"])}
    return {key: value for key, value in told.items() if value is not None}


def as_counts(line: dict) -> dict:
    """Turn a count of right answers into answers of class 0 and 1, in an order drawn by the id.

    Which wrong answers are equal is not known, so they are all of one class: a vote over these
    classes is the least that the real vote can be. Other counts stay numbers.
    """
    counted, samples = COUNTED
    wrong = np.arange(samples) >= line["correct"][counted]
    shuffled = np.random.default_rng(crc32(line["id"].encode())).permutation(wrong)
    told = {"id": line["id"], "question": line["id"], "gold": 0}
    told |= {"level": line["level"], "type": line["type"], "answers": shuffled.astype(int).tolist()}
    told |= {name: line["correct"][key] for name, key in COUNTS.items()}
    (vote,) = line["mv8"].values()
    return told | {"vote_math_of_8": vote, "read": read_text(line["question"])}


def as_effort(line: dict, model: str) -> dict:
    """Read answers at one effort as class numbers, with their model and the price of its tokens.

    An effort "mini high" is the effort high of the model's small sibling MODEL-mini.
    """
    *sibling, effort = line["effort"].split()
    model = "-".join([model, *sibling])
    numbers = as_classes(line)
    numbers |= {"model": model, "effort": effort, "price": DOLLARS.get(model, 1000) / 1000}
    numbers |= {key: line[key] for key in ("reasoning", "seconds")}
    return numbers | {"prompt_tokens": line["prompt"]}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("files", nargs="+", type=Path)
    parser.add_argument("--out", type=Path, default=DATA / "answers")
    parser.add_argument(
        "--numbers", dest="how", action="store_const", const=without_texts, default=read
    )
    parser.add_argument("--public", dest="how", action="store_const", const=as_classes)
    parser.add_argument("--counts", dest="how", action="store_const", const=as_counts)
    parser.add_argument("--effort", dest="how", action="store_const", const=as_effort)
    args = parser.parse_args()
    for path in args.files:
        convert = args.how
        stem = path.name.removesuffix(".jsonl.gz")
        name = f"{NAMES.get(stem, stem)}.jsonl.gz".replace("gpqa_diamond", "gpqa")
        if convert is as_effort:
            model = path.name.partition("-")[2].removesuffix(".jsonl.gz")
            convert = partial(as_effort, model=model)
            name = f"effort-{name}"
        with gzip.open(path, "rt", encoding="utf-8") as file:
            lines = [
                json.dumps(convert(json.loads(line)), ensure_ascii=False) + "\n" for line in file
            ]
        # No time and no name in the header: the bytes depend on the texts alone.
        data = gzip.compress("".join(lines).encode(), compresslevel=9, mtime=0)
        (args.out / name).write_bytes(data)
        print(f"{name}: {len(lines)} lines, {len(data) / 1e6:.2f} MB")


if __name__ == "__main__":
    main()
