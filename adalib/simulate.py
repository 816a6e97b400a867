"""Populations of simulated questions: the answer distribution is known, so Acc(x, b) is known too.

A real model shows us samples; a simulated question *is* its distribution over answers. That gives what no real
data set has: the true accuracy of every budget, to hold an estimator or a policy against. Here live the small
populations that the chapters teach with, and stand-ins for the paper's four settings, whose raw answers are not public.

The stand-ins are calibrated, not recorded. ``data/fit_paper_settings.py`` chose the parameters in
``data/simulated/paper_settings.json`` so that 48 answers a question, voted on as the paper does (disjoint windows,
first-seen ties), give its printed tables: accuracy by level, accuracy of the uniform budgets, oracle accuracy and
cost, label shares. Two choices were made by looking at those tables: the parameters (on the average of 16 draws), and
then the default draw (the nearest of 200 others). `fit_table` shows every target, what the default draw gives, and the
mean and spread over those 200, so that a reader can tell a fit from a lucky draw.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cache

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike
from scipy.special import betaincinv

from adalib.datasets import Responses, data_folder
from adalib.problem import UtilityTable
from adalib.vote import acc_iid

__all__ = [
    "PAPER",
    "PAPER_ABLATIONS",
    "PAPER_CLAIMS",
    "PAPER_SETTINGS",
    "Population",
    "beta_population",
    "fit_table",
    "flat_null",
    "paper_population",
    "paper_setting",
    "two_answer",
]

PAPER_SETTINGS = ("deepseek-v3-math", "gpt-4o-mini-math", "qwen2.5-7b-math", "deepseek-v3-gsm8k")

PAPER: dict[str, dict]  # the paper's printed tables by setting; read on first use, see __getattr__ below
PAPER_ABLATIONS: dict[str, dict | float | list]  # its classifier table, and what it says of its other ablations
PAPER_CLAIMS: dict[str, float | list]  # numbers that its text states without a table

_BUDGETS = (1, 2, 4, 8, 16)
_GOLDEN = (np.sqrt(5) - 1) / 2


@dataclass(frozen=True, eq=False)
class Population:
    """Questions given by their answer distributions.

    Explained in chapter 5, "Estimation".

    Parameters
    ----------
    probs : array_like, shape (N, m)
        Row i is the distribution of one sampled answer to question i; questions with fewer answers are padded with 0.
    correct : array_like of int, shape (N,)
        Which column is the correct answer of each question.
    empty : int, optional
        The column that stands for "no answer could be read" and therefore never votes.
    levels : sequence of N labels, optional
        Difficulty levels, for tables by level.
    label : str
        Starts every id, so that questions of different populations stay apart.

    Raises
    ------
    ValueError
        If a row is not a distribution, or a column number does not exist.

    Examples
    --------
    >>> two_answer(0.6).acc([1, 3]).round(3).tolist()
    [[0.6, 0.648]]
    """

    probs: np.ndarray
    correct: np.ndarray
    empty: int | None = None
    levels: tuple | None = None
    label: str = "sim"

    def __post_init__(self) -> None:
        probs = np.array(self.probs, dtype=float)
        if probs.ndim != 2 or probs.size == 0:
            raise ValueError(f"probs must be a table of N questions by m answers, got shape {probs.shape}")
        n, m = probs.shape
        bad = np.flatnonzero(~((probs >= 0).all(axis=1) & (np.abs(probs.sum(axis=1) - 1) < 1e-9)))
        if bad.size:
            raise ValueError(f"row {bad[0]} of probs is not a distribution: it needs entries >= 0 that sum to 1")
        correct = np.array(self.correct)
        if correct.shape != (n,) or correct.dtype.kind not in "iu" or not np.isin(correct, range(m)).all():
            raise ValueError(f"correct needs one column number from 0 to {m - 1} for each of the {n} questions")
        if self.empty is not None and (self.empty not in range(m) or (correct == self.empty).any()):
            raise ValueError(f"empty={self.empty} must be a column of probs that is nobody's correct answer")
        levels = None if self.levels is None else tuple(self.levels)
        if levels is not None and len(levels) != n:
            raise ValueError(f"levels has {len(levels)} entries for {n} questions; give one a question")
        probs.flags.writeable = correct.flags.writeable = False
        for name, value in [("probs", probs), ("correct", correct), ("levels", levels)]:
            object.__setattr__(self, name, value)

    @property
    def n(self) -> int:
        """Number of questions."""
        return self.probs.shape[0]

    @property
    def ids(self) -> tuple[str, ...]:
        """One id a question; populations with the same label share them."""
        return tuple(f"{self.label}-{i:03d}" for i in range(self.n))

    def acc(self, budgets: Sequence[int] = _BUDGETS) -> np.ndarray:
        """Return the true Acc(x, b), shape (N, len(budgets)): no samples, no noise, ties shared."""
        return acc_iid(self.probs, self.correct, budgets, empty=self.empty)

    def table(self, budgets: Sequence[int] = _BUDGETS) -> UtilityTable:
        """Return the true Acc(x, b) as a table whose cost is the number of samples."""
        return UtilityTable(self.acc(budgets), np.asarray(budgets, dtype=float), tuple(budgets), self.ids)

    def sample(self, R: int = 48, seed: int = 0) -> Responses:
        """Draw R answers a question.

        Answers are the column numbers as text ("0", "1", ...), an unreadable one is the empty string. Draws are
        made by inverting each row's cumulative distribution on one block of uniforms, so that populations sampled
        with the same seed differ only through their distributions.
        """
        uniforms = np.random.default_rng(seed).random((self.n, R))
        texts = np.array([str(j) for j in range(self.probs.shape[1])], dtype=object)
        if self.empty is not None:
            texts[self.empty] = ""
        levels = self.levels or [None] * self.n
        return Responses(
            ids=self.ids,
            questions=[
                f"Simulated question {i}" + ("" if level is None else f" (level {level})")
                for i, level in enumerate(levels)
            ],
            golds=[str(c) for c in self.correct],
            answers=texts[draw(self.probs, uniforms)].tolist(),
            levels=self.levels,
        )


def draw(probs: np.ndarray, uniforms: np.ndarray) -> np.ndarray:
    """Turn uniforms of shape (..., N, R) into column numbers distributed as the N rows of `probs`."""
    steps = probs.cumsum(axis=1)[:, :-1]
    chosen = np.zeros(uniforms.shape, dtype=np.int64)
    for column in steps.T:
        chosen += uniforms > column[:, None]
    return chosen


def two_answer(p: ArrayLike) -> Population:
    """Questions with one correct answer, of probability `p`, and a single wrong one.

    Explained in chapter 5, "Estimation": the case with a closed form, where budgets 2m - 1 and 2m are worth the same.

    Parameters
    ----------
    p : float or array_like, shape (N,)
    """
    p = np.atleast_1d(np.asarray(p, dtype=float))
    return Population(np.column_stack([p, 1 - p]), np.zeros(p.size, dtype=int))


def flat_null(n: int, seed: int = 0) -> Population:
    """A population where no budget helps anyone: whatever gain a method reports on it is noise.

    Explained in chapter 5, "Estimation", and used as the control of chapter 8, "Patterns".

    Two questions in five are a fair coin between two answers (their true curve is flat at 1/2); of the others half
    are always right and half always wrong. Every policy has the same true accuracy.

    Parameters
    ----------
    n : int
        Number of questions.
    seed : int
        Shuffles them.
    """
    coins = round(0.4 * n)
    right = (n - coins + 1) // 2
    p = np.repeat([0.5, 1.0, 0.0], [coins, right, n - coins - right])
    return two_answer(np.random.default_rng(seed).permutation(p))


def beta_population(
    n: int, a: float, b: float, *, wrong: int = 4, concentration: float = 1.0, seed: int = 0
) -> Population:
    """Questions whose chance of a correct answer is drawn from Beta(a, b).

    Explained in chapter 5, "Estimation".

    Parameters
    ----------
    n : int
        Number of questions.
    a, b : float
        Parameters of the Beta distribution; both below 1 give many very easy and very hard questions.
    wrong : int
        Number of different wrong answers.
    concentration : float
        How evenly the wrong answers share the rest (symmetric Dirichlet): large is even, which lets the correct answer
        win votes with little probability; small puts all on one rival, which then wins them.
    seed : int
    """
    rng = np.random.default_rng(seed)
    p = rng.beta(a, b, size=(n, 1))
    shares = rng.dirichlet(np.full(wrong, concentration), size=n)
    return Population(np.hstack([p, (1 - p) * shares]), np.zeros(n, dtype=int))


def paper_setting(name: str, R: int = 48, seed: int | None = None) -> Responses:
    """Simulated answers that stand in for one of the paper's settings.

    These are not answers of the models they are named after; residuals are in `fit_table`. Explained in chapter 0,
    "One question, many answers".

    Parameters
    ----------
    name : one of `PAPER_SETTINGS`
    R : int
        Answers a question; the paper has 48.
    seed : int, optional
        Default: the draw chosen for lying nearest to the printed tables. Any other seed is an ordinary draw.
    """
    return paper_population(name).sample(R, _spec(name)["seed"] if seed is None else seed)


def paper_population(name: str) -> Population:
    """Answer distributions behind `paper_setting`: 200 questions, those of MATH at levels 2 to 4.

    The three MATH settings share ids and levels, and a question keeps its rank in difficulty within its level from one
    model to the next. Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    name : one of `PAPER_SETTINGS`
    """
    return build(_spec(name))


def build(spec: dict) -> Population:
    """Lay out the population of one entry of ``paper_settings.json``.

    Each level holds questions that are always wrong ("hard"), always right ("easy"), and "uncertain" ones whose
    chance p of a correct answer sits at the even quantiles of a Beta distribution: no luck in the composition. An
    uncertain question's wrong answers are one rival, with a share of the wrong mass that sweeps the interval
    ``rival`` from question to question, and ``others`` that divide the remainder evenly. Where the rival is more
    likely than p, voting hurts.
    """
    chance, rival, levels = [], [], []
    for level in spec["levels"]:
        hard, uncertain, easy = level["hard"], level["uncertain"], level["easy"]
        a, b = level["mean"] * spec["concentration"], (1 - level["mean"]) * spec["concentration"]
        p = betaincinv(a, b, (np.arange(uncertain) + 0.5) / uncertain)
        # Multiples of the golden section fill the interval evenly and in an order unrelated to p.
        sweep = np.interp((np.arange(uncertain) * _GOLDEN) % 1, [0, 1], spec["rival"])
        chance.append(np.r_[np.zeros(hard), p, np.ones(easy)])
        rival.append(np.r_[np.full(hard, spec["rival"][1]), sweep, np.ones(easy)])
        levels += [level["level"]] * (hard + uncertain + easy)
    p, r = np.concatenate(chance)[:, None], np.concatenate(rival)[:, None]
    others = spec["others"]
    probs = np.hstack([p, (1 - p) * r, np.repeat((1 - p) * (1 - r) / others, others, axis=1)])
    # One fixed shuffle, the same for all settings, so that a question's number says nothing about it.
    order = np.argsort(np.random.default_rng(0).random(len(levels)))
    return Population(
        probs[order], np.zeros(len(levels), dtype=int), levels=[levels[i] for i in order], label=spec["label"]
    )


def fit_table(name: str) -> pd.DataFrame:
    """How well a simulated setting meets the paper's tables, one row a target.

    Explained in chapter 0, "One question, many answers".

    Parameters
    ----------
    name : one of `PAPER_SETTINGS`

    Returns
    -------
    DataFrame
        Columns: ``statistic``; ``printed`` in the paper; ``ours`` on the default draw; ``residual`` = ours - printed;
        ``tolerance`` (missing where the fit only tries to be close); ``true`` value in the population where it is
        defined without sampling; ``mean`` and ``sd`` over all draws that were tried. Its ``attrs`` say how many draws
        were tried, and how many of them met every tolerance.
    """
    spec = _spec(name)
    table = pd.DataFrame(spec["fit"])
    table.insert(3, "residual", table["ours"] - table["printed"])
    table.attrs = {key: spec[key] for key in ("draws_tried", "draws_within_tolerance")}
    return table


@cache
def _read(file: str) -> dict:
    return json.loads((data_folder() / "simulated" / file).read_text(encoding="utf-8"))


def _spec(name: str) -> dict:
    if name not in PAPER_SETTINGS:
        raise ValueError(f"no simulated setting is called {name!r}; choose one of {', '.join(PAPER_SETTINGS)}")
    return _read("paper_settings.json")["settings"][name]


def __getattr__(name: str):
    parts = {"PAPER": "settings", "PAPER_ABLATIONS": "ablations", "PAPER_CLAIMS": "claims"}
    if name in parts:
        return _read("paper_tables.json")[parts[name]]
    raise AttributeError(f"module 'adalib.simulate' has no attribute {name!r}")
