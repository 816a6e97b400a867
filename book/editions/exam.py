"""An exam with new numbers: the questions in one file, the key in another, each also as a PDF.

It is drawn from the teacher's secret and a name. Two long questions are about a table of three
questions and three budgets. The short ones are some of homework's, whose typical mistakes say what
loses points.
"""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np

from adabook.homework import Question, drawn_questions
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost

_COST = np.array([1.0, 2.0, 4.0])
_LETTERS = "XYZ"
_PROGRAMS = """## {number}. The pair of linear programs

*12 points, 30 minutes.*

{table}

The budget is {budget:g} answers per question on average. A policy may randomise.

1. Write the best policy as a linear program. Say what the variables are. (3)
2. Write its dual. (3)
3. Solve the primal program by sorting slopes. (3)
4. Solve the dual, and check that both values agree. (3)
"""
_PROGRAMS_KEY = """## {number}. The pair of linear programs

(1) With the shares $p_{{ij}}\\ge 0$, how often question $i$ gets budget $j$: maximise
$\\tfrac13\\sum_{{i,j}}\\mathrm{{Acc}}_{{ij}}\\,p_{{ij}}$ such that $\\sum_j p_{{ij}}=1$ for
every $i$ and $\\tfrac13\\sum_{{i,j}}c_j\\,p_{{ij}}\\le {budget:g}$.

(2) Minimise $\\tfrac13\\sum_i u_i+{budget:g}\\lambda$ such that
$u_i+\\lambda\\,c_j\\ge\\mathrm{{Acc}}_{{ij}}$ for all $i$, $j$ and $\\lambda\\ge 0$.

(3) The value is {value:.4f}; {split}.

(4) $\\lambda={lam:.4f}$ and {values}. The dual value is {value:.4f}, too.

**Deductions.** A primal without $\\sum_j p_{{ij}}=1$ (2). A free $\\lambda$ instead of
$\\lambda\\ge 0$ (1). A step that is not on the envelope (2).
"""
_STAIRCASE = """## {number}. A staircase

*8 points, 20 minutes.*

{table}

On a tie a question takes the smaller budget.

1. Find every price at which a question changes its budget. (4)
2. What is the average cost just above each of these prices, and at a price of zero? (4)
"""
_STAIRCASE_KEY = """## {number}. A staircase

(1) The prices are {prices}.

(2) From the highest price down the average cost is {costs}; at a price of zero it is {free:.4g}.

**Deductions.** A price of a step that is not on the envelope (2). The cost below a price
instead of above it (2).
"""


_HEAD = """# Exam: {name}

**{points} points, {minutes} minutes.** Pen, paper and a calculator. Name: ______________________
"""
_KEY_HEAD = """# Key: {name}

{points} points and {minutes} minutes in all. Students get the other file.
"""
_SHORT = 4  # how many short questions
_WORTH = [(12, 30), (8, 20), *[(4, 10)] * _SHORT]  # points and minutes, as the questions say


def write_exam(name: str, secret: str, target: Path) -> tuple[Path, Path]:
    """Draw an exam from a secret and a name, and write it and its key into a folder."""
    seed = hashlib.sha256(f"exam\0{secret}\0{name}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(seed[:8], "big"))
    drawn = {
        title: question
        for title, question in drawn_questions(name, f"exam\0{secret}").items()
        if isinstance(question, Question)
    }
    asked = sorted(rng.choice(list(drawn), _SHORT, replace=False), key=list(drawn).index)
    pairs = [_programs(rng, 1), _staircase(rng, 2)]
    pairs += [_short(title, drawn[title], number) for number, title in enumerate(asked, 3)]
    points, minutes = map(sum, zip(*_WORTH, strict=True))
    target.mkdir(parents=True, exist_ok=True)
    written = target / f"exam-{name}.md", target / f"key-{name}.md"
    questions, keys = zip(*pairs, strict=True)
    heads = (head.format(name=name, points=points, minutes=minutes) for head in (_HEAD, _KEY_HEAD))
    for path, head, texts in zip(written, heads, (questions, keys), strict=True):
        path.write_text("\n\n".join([head, *texts]) + "\n", encoding="utf-8")
    return written


def _table(rng: np.random.Generator) -> np.ndarray:
    """Accuracies of three questions, in steps of 0.05: one climbs early, one late, one hardly."""
    start = rng.integers(6, 12, 3)
    early = rng.integers(3, 6), rng.integers(1, 3)
    late = rng.integers(0, 2), rng.integers(4, 7)
    flat = rng.integers(0, 2), rng.integers(-2, 1)
    rises = np.cumsum([early, late, flat], axis=1)
    return np.column_stack([start, start[:, None] + rises]) / 20


def _shown(acc: np.ndarray) -> str:
    """A table as Markdown."""
    rows = ["| question | one answer | two | four |", "|---|---|---|---|"]
    rows += [
        f"| {letter} | " + " | ".join(f"{value:.2f}" for value in row) + " |"
        for letter, row in zip(_LETTERS, acc, strict=True)
    ]
    return "\n".join(rows)


def _programs(rng: np.random.Generator, number: int) -> tuple[str, str]:
    """A long question on the two programs, and its key."""
    best = None
    while best is None or best.split is None:  # where no question is split, many prices are right
        acc = _table(rng)
        budget = float(rng.integers(5, 9)) / 4
        best = frontier(acc, _COST).at(budget)
    row, low, high, share = best.split
    budgets = f"{_COST[high]:g} answers with chance {share:.4f} and otherwise {_COST[low]:g}"
    split = f"{_LETTERS[row]} gets {budgets}"
    net = (acc - best.lam * _COST).max(axis=1)
    values = ", ".join(
        f"$u_{letter}={value:.4f}$" for letter, value in zip(_LETTERS, net, strict=True)
    )
    key = _PROGRAMS_KEY.format(
        number=number, budget=budget, value=best.bound, split=split, lam=best.lam, values=values
    )
    return _PROGRAMS.format(number=number, table=_shown(acc), budget=budget), key


def _staircase(rng: np.random.Generator, number: int) -> tuple[str, str]:
    """A long question on the cost as a function of the price, and its key."""
    acc = _table(rng)
    prices = np.unique(frontier(acc, _COST).lam.round(12))[::-1]
    prices = prices[prices > 0]
    costs = [average_cost(acc, _COST, price) for price in prices]
    key = _STAIRCASE_KEY.format(
        number=number,
        prices=", ".join(f"{price:.4f}" for price in prices),
        costs=", ".join(f"{cost:.4g}" for cost in costs),
        free=average_cost(acc, _COST, 0.0),
    )
    return _STAIRCASE.format(number=number, table=_shown(acc)), key


def _short(name: str, question: Question, number: int) -> tuple[str, str]:
    """A short question of homework, and its key with what loses points."""
    head = f"## {number}. {name.capitalize()}\n\n"
    asked = f"{head}*4 points, 10 minutes.*\n\n```\n{question.text}\n```"
    mistakes = "\n".join(f"- {value:.4g}: {hint} (2)" for hint, value in question.wrong.items())
    answer = f"{round(question.answer, 4):g}"
    return asked, f"{head}The answer is {answer}: {question.hint}.\n\n{mistakes}"
