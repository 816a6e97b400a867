"""Tables of every kind, for the tests of the solvers: ties, flat rows, equal costs, costs by row.
For those of policies, one whose curves a feature tells, and answers of many lengths."""

import functools
import itertools
from contextlib import contextmanager
from dataclasses import replace

import numpy as np
import pandas as pd
from hypothesis import strategies as st

from adalib.datasets.populations import beta_population, two_answer
from adalib.table import check_table


def random_table(
    kind: str, n: int, k: int, rng: np.random.Generator
) -> tuple[np.ndarray, np.ndarray]:
    acc = rng.random((n, k))
    cost = np.cumsum(rng.uniform(0.1, 2, k))
    if kind == "ties":
        acc, cost = rng.integers(0, 5, (n, k)) / 4, np.cumsum(rng.integers(1, 3, k))
    elif kind == "counted":
        acc, cost = rng.integers(0, 49, (n, k)) / 48, 2.0 ** np.arange(k)
    elif kind == "flat rows":
        acc[rng.random(n) < 0.7] = rng.random()
    elif kind == "decreasing":
        acc = -np.sort(-acc, axis=1)
        acc[0] = acc[0, ::-1]
    elif kind == "concave":
        acc = np.cumsum(-np.sort(-acc, axis=1) * np.diff(cost, prepend=0), axis=1) / cost[-1]
    elif kind == "collinear":
        acc = rng.random((n, 1)) * cost / cost[-1]
    elif kind == "equal costs":
        cost = np.sort(rng.integers(1, 3, k))
    elif kind == "zero costs":
        cost = np.sort(rng.integers(0, 2, k)) * rng.integers(0, 2, k).cumsum()
    elif kind == "by row":
        cost = np.cumsum(rng.uniform(0, 2, (n, k)), axis=1)
    elif kind == "tokens":
        acc, cost = rng.integers(0, 9, (n, k)) / 8, np.sort(rng.integers(0, 400, (n, k)), axis=1)
    elif kind == "equal by row":
        acc, cost = rng.integers(0, 3, (n, k)) / 2, np.sort(rng.integers(0, 3, (n, k)), axis=1)
    return check_table(acc, cost)


KINDS = ["anything", "ties", "counted", "flat rows", "decreasing", "concave", "collinear"]
KINDS += ["equal costs", "zero costs", "by row", "tokens", "equal by row"]


def budgets_for(found, rng, count):
    """Budgets between the ends, on a breakpoint, and beyond the dearest."""
    inside = rng.uniform(found.cost[0], found.cost[-1], count)
    return [
        found.cost[0],
        rng.choice(found.cost),
        found.cost[-1] + 1.0,
        *np.maximum(inside, found.cost[0]),
    ]


@contextmanager
def showing(**case):
    """Print a table, in a form to paste, below what fails on it."""
    try:
        yield
    except Exception as error:
        for name, value in case.items():
            error.add_note(f"{name} = {np.asarray(value).tolist()}")
        raise


def allocations(acc, cost):
    """Average cost and accuracy of every allocation there is."""
    labels = np.array(list(itertools.product(range(acc.shape[1]), repeat=len(acc))))
    rows = np.arange(len(acc))
    paid = np.broadcast_to(cost, acc.shape)[rows, labels]
    return paid.mean(axis=1), acc[rows, labels].mean(axis=1)


def averages(acc, cost, labels):
    """Average cost and accuracy of these labels."""
    rows = np.arange(len(acc))
    return np.broadcast_to(cost, acc.shape)[rows, labels].mean(), acc[rows, labels].mean()


@st.composite
def tables(draw, rows=12, columns=7):
    kind = draw(st.sampled_from(KINDS))
    n, k = draw(st.integers(1, rows)), draw(st.integers(1, columns))
    return random_table(kind, n, k, np.random.default_rng(draw(st.integers(0, 2**32))))


@functools.cache
def known_curves():
    """Questions whose curve is a function of their first feature; the second is noise."""
    rng = np.random.default_rng(7)
    features = pd.DataFrame({"u": rng.random(600), "noise": rng.standard_normal(600)})
    return features, two_answer(features["u"]).acc()


def timed_answers():
    """Answers of exponential lengths, for races."""
    sampled = beta_population(80, 2, 1, seed=1).sample(12)
    tokens = np.random.default_rng(0).exponential(20, (80, 12)).round() + 1
    return replace(sampled, tokens=tokens)
