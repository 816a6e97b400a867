"""A competition for a class: an open part to hand out, and a part that the teacher keeps.

The questions are simulated, and a secret draws them: their answers can be looked up nowhere. With a
file of the teacher's own answers, the secret draws which questions are open. In both cases it draws
the order in which answers come. `adabook.competition` ranks what students hand in.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import replace
from functools import cache
from pathlib import Path

import numpy as np
from nbformat import write
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook

from adabook.competition import BUDGETS, HIDDEN, OPEN, SETTINGS, renamed
from adalib.datasets.files import read_lines
from adalib.datasets.folds import members
from adalib.datasets.loading import bundled, data_folder, load, text_hash
from adalib.datasets.populations import Population
from adalib.datasets.responses import BUCKETS, FEATURES, QuestionWithFeatures, Responses

#: Fewer questions in a part, and no gain could be told from chance.
FEWEST = 100
#: Questions of a simulated world, half of them open, and answers to each.
_QUESTIONS, _SAMPLES = 1200, 48
SIMULATED = "simulated"
_WRONG = 6  # wrong answers that a simulated question can get

_RULES = """# Beat the price

A model has answered {questions} questions, {samples} times each; they are in `open.jsonl`. Write
a policy that spends {budget:g} answers per question on average and is right more often than the
same number of answers for everyone at the same cost. Hand in **one Python file with one class**. It
will learn from these questions and be scored on others, whose answers come in an order that nobody
knows.

{kind} Answers are called A, B and so on, by names drawn anew for every question: count them, and do
not look for numbers in them. Your file runs without a network and without other files, for a minute
of the processor's time at most. numpy, pandas, scipy, scikit-learn and adalib are there.
"""
_SIMULATED = """The questions were drawn by chance and have no text. The columns that elsewhere
describe a text tell something of how hard a question is and how misleading, and much in them is
noise. Tokens and log-probabilities of the answers tell something, too."""
_COLLECTED = "The questions are your teacher's own."
_PLANS = """%%writefile my_plan.py
import numpy as np


class FirstFeature:
    \"\"\"Four answers where the first feature is large, whether that helps or not.\"\"\"

    def __init__(self, budget):
        self.budget = budget

    def fit(self, features, table):
        share = (self.budget - table.cost[0]) / (table.cost[2] - table.cost[0])
        self.limit = np.quantile(features.iloc[:, 0], 1 - share)

    def predict(self, features):
        return np.where(features.iloc[:, 0] > self.limit, 2, 0)
"""
_WATCHES = """%%writefile my_watch.py
class AsManyForAll:
    \"\"\"Ask as often as the budget allows, whatever comes back.\"\"\"

    def __init__(self, budget):
        self.budget = budget

    def fit(self, answers):
        pass

    def more(self, seen):
        return len(seen) + 1 <= self.budget
"""
_COMPARE = """import adalib
from my_plan import FirstFeature
from my_watch import AsManyForAll

answers = adalib.load("open.jsonl")
own = {{"FirstFeature": FirstFeature, "AsManyForAll": AsManyForAll}}
rows = adalib.held_out(answers, [{budget:g}], {budgets}, learners=own)
for row in rows:
    print(f"{{row.policy:16}} {{row.cost:5.2f}} answers, gain {{100 * row.gain:+.1f}} points")
"""
_HONEST = """Change a class, restart the notebook and run it again. `noise` learns from random
numbers and must gain nothing. The row `oracle` knows every question, but only before it asks. What
you read off these questions again and again, you will believe too much: the others decide.
"""


def world(secret: str) -> Responses:
    """Simulated questions and answers that only a secret draws.

    Two traits of a question decide what more answers bring: how easy it is, and how much its wrong
    answers agree. Its features mix them with thirteen traits that decide nothing, each world in its
    own directions, so what was learned in another world helps nobody. Right answers are a little
    more probable to the model, and hard questions get longer answers, which one who watches sees.
    """
    rng = np.random.default_rng(int.from_bytes(_seed(secret, "world"), "big"))
    easy, agreeing, *_ = traits = rng.normal(size=(FEATURES, _QUESTIONS))
    right = 1 / (1 + np.exp(-0.5 - 1.3 * easy))
    shares = np.array([rng.dirichlet(np.full(_WRONG, np.exp(-1 - one))) for one in agreeing])
    probs = np.column_stack([right, (1 - right)[:, None] * shares])
    sampled = Population(probs, np.zeros(_QUESTIONS, dtype=int)).sample(
        _SAMPLES, int(rng.integers(2**32))
    )
    mixture, _ = np.linalg.qr(rng.normal(size=(FEATURES, FEATURES)))
    features = mixture @ traits + rng.normal(0, 0.2, (FEATURES, _QUESTIONS))
    grams = rng.poisson(np.exp(rng.normal(-2, 0.3, (BUCKETS, 1)) + 0.2 * traits[2]))
    read = [
        {"features": one.round(4).tolist(), "ngrams": counts.tolist()}
        for one, counts in zip(features.T, grams.T, strict=True)
    ]
    noise = rng.normal(size=(2, *sampled.values.shape))
    hardness = (easy.mean() - easy)[:, None]
    return replace(
        sampled,
        questions=[QuestionWithFeatures(f"simulated {i}", **one) for i, one in enumerate(read)],
        tokens=np.rint(np.exp(5 + 0.3 * hardness + 0.4 * noise[0])),
        logprob=-np.exp(-1.5 - 0.15 * sampled.values + 0.2 * hardness + 0.6 * noise[1]).round(4),
        extras={**sampled.extras, "read": read},
        source=SIMULATED,
    )


def own_answers(file: str) -> Responses:
    """A teacher's own answers, of one model; ValueError if anyone can look them up."""
    answers = load(file)
    in_book = Path(file).resolve().is_relative_to(data_folder().resolve())
    if answers.source in bundled() or in_book:  # short names have become whole ones
        raise ValueError(
            f"{file}: is one of the book's public sets, whose right answers anyone can look up; "
            "leave SET out, and questions are simulated, or collect answers of your own"
        )
    if not isinstance(answers, Responses):
        raise ValueError(f"{answers.source}: has several models; give the answers of one")
    found = [text for text in answers.questions if text_hash(text) in _public_texts()]
    if found:
        raise ValueError(
            f"{file}: {len(found)} of its questions are in the book's public sets, such as "
            f"{found[0][:50]!r}; give questions that students cannot look up"
        )
    return answers


@cache
def _public_texts() -> set[str]:
    """The hashes of the questions of all bundled sets."""
    files = [data_folder() / "answers" / f"{name}.jsonl.gz" for name in bundled()]
    return {
        record.get("read", {}).get("text") or text_hash(record["question"])
        for file in files
        for _, record in read_lines(file)
    }


def draw(answers: Responses, secret: str) -> tuple[Responses, Responses]:
    """Deal questions into an open and a kept half, and their answers into a new order.

    Copies of a question stay together. Answers get new names, since in some sets the right one is
    called the same everywhere.
    """
    rng = np.random.default_rng(int.from_bytes(_seed(secret, "draw"), "big"))
    group = members(answers, None)
    is_open = rng.permutation(np.arange(group.max() + 1) % 2 == 0)[group]
    shuffled = rng.permuted(np.tile(np.arange(answers.samples), (answers.n, 1)), axis=1)
    both = []
    for name, of_part in (("open", is_open), ("kept", ~is_open)):
        rows = rng.permutation(np.flatnonzero(of_part))
        if rows.size < FEWEST:
            raise ValueError(
                f"{answers.source}: leaves {rows.size} questions to a half; "
                f"give a file of {2 * FEWEST} or more"
            )
        part = renamed(answers.take(rows), rng, shuffled[rows])
        both.append(replace(part, ids=[f"{name}-{number:04d}" for number in range(len(rows))]))
    return both[0], both[1]


def write_competition(answers: Responses, secret: str, budget: float, target: Path) -> None:
    """Write what is handed out, and what is kept."""
    open_part, kept_part = draw(answers, secret)
    out, keep = target / "hand-out", target / "keep"
    out.mkdir(parents=True, exist_ok=True)
    keep.mkdir(mode=0o700, exist_ok=True)
    keep.chmod(0o700)  # it may have been there
    open_part.save(out / OPEN)
    open_part.save(keep / OPEN)
    kept_part.save(keep / HIDDEN)
    seed = int.from_bytes(_seed(secret, "orders")[:4], "big")
    settings = json.dumps({"budget": budget, "seed": seed})
    (keep / SETTINGS).write_text(settings, encoding="utf-8")
    write(starter(open_part, budget), out / "starter.ipynb")


def starter(open_part: Responses, budget: float) -> object:
    """The notebook that students start from."""
    kind = _SIMULATED if open_part.source == SIMULATED else _COLLECTED
    rules = _RULES.format(
        questions=open_part.n, samples=open_part.samples, budget=budget, kind=kind
    )
    return new_notebook(
        cells=[
            new_markdown_cell(rules),
            new_markdown_cell("## One that plans, and one that watches"),
            new_code_cell(_PLANS),
            new_code_cell(_WATCHES),
            new_code_cell(_COMPARE.format(budget=budget, budgets=BUDGETS)),
            new_markdown_cell(_HONEST),
        ]
    )


def _seed(secret: str, purpose: str) -> bytes:
    return hashlib.sha256(f"competition\0{secret}\0{purpose}".encode()).digest()
