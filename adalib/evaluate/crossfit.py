"""Score an oracle honestly, on other answers than those that chose its labels.

An oracle that is chosen and scored on the same samples picks each question's luckiest budget, and
looks better than it is. Here one half of the samples chooses and the other half scores. On
simulated questions the truth scores, which shows what cross-fitting is worth.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal, overload

import numpy as np

from adalib.datasets.files import DataError
from adalib.datasets.menu import Menu
from adalib.datasets.populations import Population, draw
from adalib.datasets.responses import Responses
from adalib.evaluate.intervals import Interval, mean_interval
from adalib.solve.frontier import frontier
from adalib.table import UtilityTable
from adalib.vote.estimators import ESTIMATORS, Ties


@dataclass(frozen=True, eq=False)
class OracleScore:
    """An oracle's labels, as they looked to the oracle and as they turned out.

    One row per question (in `adalib.rehearse_oracle`, per draw of all samples), one column per
    target.
    """

    targets: np.ndarray  #: average costs that the oracle was allowed
    claimed: np.ndarray  #: accuracy on the samples that chose the labels, too good on average
    accuracy: np.ndarray  #: accuracy of the same labels on the other samples
    cost: np.ndarray  #: and what they cost there

    @cached_property
    def value(self) -> Interval:
        """Mean accuracy with its interval, one entry per target."""
        return mean_interval(self.accuracy)

    @cached_property
    def optimism(self) -> Interval:
        """Mean of claimed minus accuracy with its interval, one entry per target."""
        return mean_interval(self.claimed - self.accuracy)


def score_oracle(
    choose: UtilityTable, score: UtilityTable, targets: Sequence[float]
) -> OracleScore:
    """Choose an oracle's labels on one table, and score them on another.

    With two tables from separate samples the score is honest. With the truth of a simulated
    population as the second table it is exact, and with the same table twice it is the in-sample
    oracle.

    Parameters
    ----------
    choose : UtilityTable
        The table that the labels are chosen on, by the last policy on its frontier that fits.
    score : UtilityTable
        The table that the labels are scored on; it has the same questions and budgets.
    targets : sequence of float
        Average costs per question. The labels do not exceed them on the table that chose.

    Returns
    -------
    OracleScore
        Claimed and real accuracy, and the real cost, one row per question and one column per
        target.

    Examples
    --------
    >>> lucky = UtilityTable([[0.5, 0.6], [0.5, 0.4]], cost=[1, 2])
    >>> truth = UtilityTable([[0.5, 0.5], [0.5, 0.5]], cost=[1, 2])
    >>> score = score_oracle(lucky, truth, targets=[1.5])
    >>> score.claimed.mean(), score.accuracy.mean(), score.cost.mean()
    (np.float64(0.55), np.float64(0.5), np.float64(1.5))
    """
    if choose.ids != score.ids or choose.budgets != score.budgets:
        raise ValueError(
            "the two tables have different questions or budgets; make both from the same ones"
        )
    path = frontier(choose)
    labels = np.column_stack([path.at(target).labels for target in targets])
    costs = np.broadcast_to(score.cost, score.acc.shape)
    return OracleScore(
        targets=np.array(targets, dtype=float),
        claimed=np.take_along_axis(choose.acc, labels, axis=1),
        accuracy=np.take_along_axis(score.acc, labels, axis=1),
        cost=np.take_along_axis(costs, labels, axis=1),
    )


def cross_fitted_oracle(
    responses: Responses | Menu,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    splits: int = 4,
    seed: int = 0,
    **table: Any,
) -> OracleScore:
    """Value the oracle honestly: choose on one half of the samples, and score on the other half.

    Both halves choose in turn. The expected value is the true accuracy of labels chosen on R/2
    samples. It does not exceed that of the best allocation, and an oracle with all R samples would
    usually do better. Explained in the chapter "Is a gain real?".

    Parameters
    ----------
    responses : Responses or Menu
        Recorded answers, at least twice as many per question as the largest budget.
    targets : sequence of float
        Average costs per question that the oracle may spend.
    budgets : sequence of int
        Numbers of answers on offer.
    splits : int
        How often the samples are dealt into halves; the scores are averaged.
    seed : int
        Seed of the first split; the others take the following numbers.
    **table
        Options of `Responses.table`: ``estimator``, ``ties`` and ``cost``.

    Returns
    -------
    OracleScore
        One row per question and one column per target.

    Examples
    --------
    >>> from adalib import flat_null
    >>> null = cross_fitted_oracle(flat_null(200).sample(96), targets=[3])
    >>> bool(null.optimism.low[0] > 0), bool(null.value.low[0] < 0.5 < null.value.high[0])
    (True, True)
    """
    check_halves(responses, budgets, splits)
    votes = with_class_numbers(responses)
    scores = []
    for number in range(splits):
        halves = votes.split_samples(seed + number)
        first, second = (half.table(budgets, **table) for half in halves)
        scores.append(score_oracle(first, second, targets))
        scores.append(score_oracle(second, first, targets))
    return _averaged(scores, lambda figures: figures.mean(axis=0))


def check_halves(responses: Responses | Menu, budgets: Sequence[int], splits: int = 1) -> None:
    """Raise unless each half of the answers can hold a vote of the largest budget."""
    if splits < 1:
        raise ValueError(f"splits is {splits}; give at least 1")
    half = responses.samples // 2
    largest = max(budgets)
    if half < largest:
        raise DataError(
            f"{responses.source}: has {responses.samples} answers per question, "
            f"and a half of {half} cannot hold a vote of {largest}; "
            f"lower the largest budget to {half}, or sample at least {2 * largest} answers"
        )


@overload
def with_class_numbers(responses: Responses) -> Responses: ...
@overload
def with_class_numbers(responses: Menu) -> Menu: ...
def with_class_numbers(responses: Responses | Menu) -> Responses | Menu:
    """Keep which answers are equal, so that they are compared once and not in every half."""
    if isinstance(responses, Menu):
        return replace(
            responses,
            models={name: with_class_numbers(one) for name, one in responses.models.items()},
        )
    extras = {
        name: responses.extras[name] for name in ("prompt_tokens",) if name in responses.extras
    }
    extras["classes"] = responses.classes.tolist()
    return replace(responses, correct=responses.values, extras=extras)


def rehearse_oracle(
    population: Population,
    R: int,
    targets: Sequence[float],
    budgets: Sequence[int] = (1, 2, 4, 8, 16),
    *,
    draws: int = 20,
    seed: int = 0,
    halves: bool = False,
    estimator: Literal["subsets", "windows"] = "subsets",
    ties: Ties = "share",
) -> OracleScore:
    """Let the oracle choose on simulated samples, many times over, and score it on the truth.

    Explained in the chapter "Is a gain real?".

    Parameters
    ----------
    population : Population
        Answer distributions, whose true accuracies are known.
    R : int
        Simulated samples per question.
    targets : sequence of float
        Average costs per question that the oracle may spend.
    budgets : sequence of int
        Numbers of answers on offer.
    draws : int
        How many times samples are drawn.
    seed : int
        Draw number d is what ``population.sample(R, seed + d)`` returns.
    halves : bool
        Score by cross-fitting, as if the truth were unknown, so that the two can be compared.
    estimator : {"subsets", "windows"}
        How accuracies are estimated from samples, as in `Responses.table`.
    ties : {"share", "first"}
        What happens to a tied vote, as in `Responses.table`.

    Returns
    -------
    OracleScore
        One row per draw and one column per target.

    Examples
    --------
    >>> from adalib import flat_null
    >>> nothing = rehearse_oracle(flat_null(200), 48, targets=[3])
    >>> nothing.value.mean.round(3), bool(nothing.optimism.low[0] > 0.01)
    (array([0.5]), True)
    """
    budgets = tuple(budgets)
    cost = np.array(budgets, dtype=float)
    classes, values = _drawn_samples(population, R, draws, seed)

    def estimated(samples: slice) -> list[UtilityTable]:
        # All draws in one call: equal situations are then counted once.
        acc = ESTIMATORS[estimator](classes[:, samples], values[:, samples], budgets, ties)
        by_draw = acc.reshape(draws, population.n, -1)
        return [UtilityTable(acc_of_draw, cost, budgets) for acc_of_draw in by_draw]

    if halves:
        # The samples come in no order, so the first half and the second are one random split.
        first = estimated(slice(R // 2))
        second = estimated(slice(R // 2, R))
        pairs = [*zip(first, second, strict=True), *zip(second, first, strict=True)]
    else:
        truth = UtilityTable(population.acc(budgets), cost, budgets)
        pairs = [(table, truth) for table in estimated(slice(R))]
    scores = [score_oracle(choose, score, targets) for choose, score in pairs]

    def mean_by_draw(figures: np.ndarray) -> np.ndarray:
        # Over the questions, and then over the two halves of a draw, if there are two.
        return figures.mean(axis=1).reshape(-1, draws, len(targets)).mean(axis=0)

    return _averaged(scores, mean_by_draw)


def _drawn_samples(
    population: Population, samples: int, draws: int, seed: int
) -> tuple[np.ndarray, np.ndarray]:
    """Return the classes of simulated answers and whether they are right, (draws * N, samples)."""
    shape = (population.n, samples)
    uniforms = [np.random.default_rng(seed + number).random(shape) for number in range(draws)]
    classes = draw(np.tile(population.probs, (draws, 1)), np.concatenate(uniforms))
    right = classes == np.tile(population.correct, draws)[:, None]
    if population.empty is not None:
        classes[classes == population.empty] = -1
    return classes, right


def _averaged(
    scores: Sequence[OracleScore], mean: Callable[[np.ndarray], np.ndarray]
) -> OracleScore:
    """Return one score from several; ``mean`` averages their stacked arrays, (S, N, T)."""
    return OracleScore(
        targets=scores[0].targets,
        claimed=mean(np.array([score.claimed for score in scores])),
        accuracy=mean(np.array([score.accuracy for score in scores])),
        cost=mean(np.array([score.cost for score in scores])),
    )
