"""The settings of the book: real answers, the paper's benchmarks and four simulated stand-ins.

The chapters and the replication table start from the same tables, so that they cannot disagree
about a number.
"""

from __future__ import annotations

import json
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np

from adalib.datasets.files import read_lines
from adalib.datasets.loading import data_folder, from_records, load
from adalib.datasets.populations import Population
from adalib.datasets.responses import Responses
from adalib.solve.frontier import Frontier, frontier
from adalib.table import UtilityTable

if TYPE_CHECKING:
    import pandas as pd


def _read(file: str) -> dict[str, Any]:
    """A JSON file of ``data/simulated/``."""
    return json.loads((data_folder() / "simulated" / file).read_text(encoding="utf-8"))


_TABLES = _read("paper_tables.json")

PAPER_SETTINGS = ("deepseek-v3-math", "gpt-4o-mini-math", "qwen2.5-7b-math", "deepseek-v3-gsm8k")

#: The printed tables by setting.
PAPER: dict[str, dict] = _TABLES["settings"]

#: Its classifier table, and what it says of its other ablations.
PAPER_ABLATIONS: dict[str, Any] = _TABLES["ablations"]

#: Numbers that its text states without a table.
PAPER_CLAIMS: dict[str, Any] = _TABLES["claims"]

# ``fit_paper_settings.py`` chose these so that 48 answers per question, voted on in the
# paper's disjoint windows (first-seen ties, our choice), give its printed tables. Two choices were
# made by looking at those: the parameters (on the average of 16 draws), and then the default draw
# (the nearest of 200 others). `fit_table` shows every target, what the default draw gives, and the
# mean and spread over those 200, so that one can tell a fit from a lucky draw.
_SPECS: dict[str, dict] = _read("paper_settings.json")["settings"]

_GOLDEN = (np.sqrt(5) - 1) / 2


def paper_setting(name: str, R: int = 48, seed: int | None = None) -> Responses:
    """Simulated answers that stand in for one of the paper's settings.

    These are not answers of the models they are named after; residuals are in `fit_table`.
    Explained in the chapter "One question, many answers". ``name`` is one of `PAPER_SETTINGS`,
    ``R`` the answers per question (48 in the paper). Without a ``seed`` it is the draw chosen for
    lying nearest to the printed tables; any seed is an ordinary draw."""
    return paper_population(name).sample(R, _spec(name)["seed"] if seed is None else seed)


def paper_population(name: str) -> Population:
    """Answer distributions behind `paper_setting`: 200 questions, those of MATH at levels 2 to 4.

    The three MATH settings share ids and levels, and a question keeps its rank in difficulty within
    its level from one model to the next. Explained in the chapter "One question, many answers"."""
    return build(_spec(name))


def build(spec: dict) -> Population:
    """Lay out the population of one entry of ``paper_settings.json``.

    A level holds questions always wrong ("hard"), always right ("easy"), and "uncertain" ones,
    whose chance p of a correct answer sits at even quantiles of a Beta distribution. Their wrong
    answers are one rival, with a share of the wrong mass that sweeps ``rival``, and ``others`` that
    divide the rest evenly. A rival likelier than p: voting hurts.
    """
    from scipy.special import betaincinv

    chance = []
    rival = []
    levels = []
    for level in spec["levels"]:
        hard = level["hard"]
        uncertain = level["uncertain"]
        easy = level["easy"]
        a = level["mean"] * spec["concentration"]
        b = (1 - level["mean"]) * spec["concentration"]
        p = betaincinv(a, b, (np.arange(uncertain) + 0.5) / uncertain)
        # Multiples of the golden section fill the interval evenly and in an order unrelated to p.
        sweep = np.interp((np.arange(uncertain) * _GOLDEN) % 1, [0, 1], spec["rival"])
        chance.append(np.r_[np.zeros(hard), p, np.ones(easy)])
        rival.append(np.r_[np.full(hard, spec["rival"][1]), sweep, np.ones(easy)])
        levels += [level["level"]] * (hard + uncertain + easy)
    p = np.concatenate(chance)[:, None]
    r = np.concatenate(rival)[:, None]
    others = spec["others"]
    probs = np.hstack([p, (1 - p) * r, np.repeat((1 - p) * (1 - r) / others, others, axis=1)])
    # One fixed shuffle, the same for all settings, so that a question's number says nothing about
    # it.
    order = np.argsort(np.random.default_rng(0).random(len(levels)))
    shuffled = tuple(levels[i] for i in order)
    return Population(
        probs[order], np.zeros(len(levels), dtype=int), levels=shuffled, label=spec["label"]
    )


def fit_table(name: str) -> pd.DataFrame:
    """Compare a simulated setting with the paper's tables, one row per target.

    Columns: ``statistic``; ``printed``; ``ours`` on the default draw; ``residual`` = ours -
    printed; ``tolerance`` (missing where the fit only tries to be close); ``true`` value in the
    population where there is one; ``mean`` and ``sd`` over all draws tried. Its ``attrs`` say how
    many were tried, and how many met every tolerance."""
    import pandas as pd  # here, because a page that only loads answers need not wait for it

    spec = _spec(name)
    table = pd.DataFrame(spec["fit"])
    table.insert(3, "residual", table["ours"] - table["printed"])
    table.attrs = {key: spec[key] for key in ("draws_tried", "draws_within_tolerance")}
    return table


def _spec(name: str) -> dict:
    """The entry of a simulated setting in ``paper_settings.json``."""
    if name not in PAPER_SETTINGS:
        raise ValueError(
            f"no simulated setting is called {name!r}; choose one of {', '.join(PAPER_SETTINGS)}"
        )
    return _SPECS[name]


#: The paper's benchmarks, answered by a small model of one of its families: 300 questions each, 96
#: answers.
BENCHMARKS = ("gsm8k-qwen15", "math-qwen15")

#: The real sets on our own questions, and eight settings, real ones first.
REAL = ("word-fewshot", "word-hot", "word-zeroshot", "drill-fewshot")
SETTINGS = (*REAL, *PAPER_SETTINGS)

#: How we reconstruct the paper's estimates. Disjoint windows are its words; of ties it says
#: nothing. They cannot have been shared (with no unread answers two would then be worth one to the
#: last digit, and it prints .495 and .491); that they go to the answer seen first is our choice.
PAPER_WAY: dict[str, Any] = {"estimator": "windows", "ties": "first"}

#: The average budgets of its tables.
TARGETS = (1.5, 2.0, 3.0)


@cache
def answers(name: str) -> Responses:
    """The answers of a setting, real or simulated."""
    bundled = paper_setting(name) if name in PAPER_SETTINGS else load(name)
    assert isinstance(bundled, Responses)  # not a menu of models
    return bundled


@cache
def benchmark(name: str) -> Responses:
    """Every question of "gsm8k" (1,079) or "math" (1,200) that our 1.5B model answered.

    The first 300 questions have 96 answers in their own file. Here each has 48, like the others.
    """
    samples = 48
    records: list[tuple[str, int, dict]] = []
    for part in (f"{name}-qwen15", f"{name}-more-qwen15"):
        for number, line in read_lines(data_folder() / "answers" / f"{part}.jsonl.gz"):
            cut = {
                key: value[:samples]
                for key, value in line.items()
                if isinstance(value, list) and len(value) in (samples, 2 * samples)
            }
            records.append((f"{part}, line {number}", len(records) + 1, {**line, **cut}))
    return from_records(name, records)


@cache
def utility(name: str) -> UtilityTable:
    """Return a setting's table: real ones by all subsets, simulated ones by `PAPER_WAY`."""
    return answers(name).table(**(PAPER_WAY if name in PAPER_SETTINGS else {}))


@cache
def path(name: str) -> Frontier:
    """The frontier of `utility`."""
    table = utility(name)
    return frontier(table)


#: What the explorer calls the real sets: which model, and what it was asked.
_TITLES = {
    "word-fewshot": "SmolLM2-135M solves short word problems",
    "word-hot": "SmolLM2-135M solves the same word problems at temperature 1",
    "word-zeroshot": "SmolLM2-135M solves the same word problems without worked examples",
    "drill-fewshot": "SmolLM2-135M does bare computations",
    "gsm8k-qwen15": "Qwen2.5-Coder-1.5B solves questions of GSM8K",
    "math-qwen15": "Qwen2.5-Coder-1.5B solves questions of MATH",
}

#: Stories that the explorer tells on its tiles, by setting.
_STORIES: dict[str, dict[str, Any]] = {
    "word-fewshot": {
        "title": "A hopeless question",
        "text": "The question in view gets one answer. Lower the price slowly: it never asks for "
        "more, because no vote ever wins it. Its curve is flat, and the tangent stays at the "
        "first budget.",
        "lam": 0.03,
        "question": "word-weeks-04",
    },
    "drill-fewshot": {
        "title": "Easy drills",
        "text": "At this price the word problems spend two answers per question. The drills spend "
        "far less. Why? Point at a few tiles: most drills are right at the first answer.",
        "lam": 0.054,
        "question": None,
    },
    "gsm8k-qwen15": {
        "title": "GSM8K",
        "text": "These are answers to GSM8K. Compare the gain over the best mix with that on MATH "
        "at the same price. This oracle has seen the answers that score it.",
        "lam": 0.02,
        "question": None,
    },
}


def shelf() -> list[dict[str, Any]]:
    """Return every setting of the book, described for the explorer."""
    from adalib.explorer.data import setting  # here, because most chapters need no explorer

    described = []
    for name in (*REAL, *BENCHMARKS, *PAPER_SETTINGS):
        simulated = name in PAPER_SETTINGS
        title = _TITLES.get(name, name)
        about = ""
        if simulated:
            title = f"{PAPER[name]['title']} (simulated)"
            about = "A simulated stand-in, tuned to the paper's tables; the data cards say how."
        one = setting(
            utility(name),
            responses=answers(name),
            name=name,
            title=title,
            kind="simulated" if simulated else "real",
            about=about,
        )
        if name in _STORIES:
            one["stories"] = [_STORIES[name]]
        described.append(one)
    return described
