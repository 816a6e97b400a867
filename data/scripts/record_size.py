"""Do policies that read the question's text gain more when they learn from more questions?

It writes data/recorded/size.jsonl for the chapter "The test". The settings are GSM8K
and MATH by Qwen2.5-Coder 1.5B, all 1,079 and 1,200 questions with 48 answers each. The questions
are dealt into so many folds that every question is scored by policies of up to 1,000 others; fewer
training questions are drawn from those at random. Two descriptions of a question compete: ours (the
paper's text features and an embedding of its spelling, learned from the training questions) and the
same text features with the 32 numbers of a sentence encoder (data/scripts/embed_questions.py).
Intervals are Student's over questions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

import pandas as pd
from recording import main

from adabook.paper.settings import benchmark as all_questions
from adabook.recorded import figures
from adalib.datasets.files import read_lines
from adalib.datasets.loading import data_folder
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import Protocol, held_out
from adalib.learn.features import text_features

SIZES = (100, 200, 400, 700, 1000)  # training questions
TARGETS = (2.0, 3.0)
#: Folds by benchmark, so that 1,000 of 1,079 questions and 1,000 of 1,200 can teach.
FOLDS = {"gsm8k": 14, "math": 6}
KEPT = ("oracle", "label", "curve", "noise")


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield the name of a part, and a function that computes its rows."""
    for benchmark, folds in FOLDS.items():
        answers = all_questions(benchmark)
        encoded = with_sentence_encoder(answers, benchmark)
        for size in SIZES:
            for description, features in (("spelling", None), ("sentence encoder", encoded)):
                part = f"{benchmark}, {description}, {size}"
                yield part, partial(rows_of, answers, features, size, folds)


def with_sentence_encoder(answers: Responses, benchmark: str) -> pd.DataFrame:
    """The paper's text features of every question, and beside them what the encoder makes of it."""
    file = data_folder() / "features" / f"{benchmark}-minilm.jsonl.gz"
    embedding = {line["id"]: line["embedding"] for _, line in read_lines(file)}
    encoded = pd.DataFrame([embedding[question] for question in answers.ids])
    encoded.columns = [f"sentence_{column}" for column in encoded.columns]
    return pd.concat([text_features(answers.questions), encoded], axis=1)


def rows_of(answers: Responses, features: pd.DataFrame | None, size: int, folds: int) -> list[dict]:
    """Hold out the policies that plan, taught with so many questions."""
    protocol = Protocol(folds=folds, taught=size)
    rows = held_out(answers, TARGETS, features=features, noises=1, protocol=protocol)
    return [figures(row) for row in rows if row.policy in KEPT]


if __name__ == "__main__":
    main(size=parts())
