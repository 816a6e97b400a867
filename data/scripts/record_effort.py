"""Compute the table on efforts of the chapter "What an answer costs".

Who should get a high effort? The result is data/recorded/effort.jsonl.

Each part is a menu of efforts; every question pays for its own tokens. The oracle is cross-fitted,
and may buy one, two or four answers of an effort, as the mix may. The other policies look at the
prompt's length, or ask at the lowest effort first and look at that answer's length, at whether two
or three answers agree, or at both; then they keep the answer or ask once at the effort with the
largest predicted gain minus the price times the predicted cost. They are scored on questions that
they did not learn from. The bar is the best random mix of all arms at the cost that was paid. A
test computes a part again.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from itertools import combinations

import numpy as np
from recording import main

import adalib
from adalib.datasets.folds import deal
from adalib.datasets.menu import Menu
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.evaluate.intervals import mean_interval
from adalib.sequential.replay import mix_for, shares_of

#: The efforts on each menu, cheapest first.
MENUS = {
    "effort-gpqa-gpt-5.2": (("low", "xhigh"), ("low", "medium", "high", "xhigh")),
    "effort-gpqa-claude-opus-4.5": (("none", "32k"), ("none", "16k", "32k")),
    "effort-gpqa-gpt-5.4": (("nano high", "xhigh"), ("nano high", "mini high", "xhigh")),
    "effort-aime-gpt-5.2": (("low", "high"), ("low", "medium", "high")),
    "effort-aime-claude-opus-4.5": (("none", "32k"), ("none", "16k", "32k")),
}
SPENT = (1 / 6, 1 / 3, 1 / 2)  # of the way from the cheapest effort's mean cost to the dearest's
VOTES = (1, 2, 4)  # answers of one effort that the oracle and the mix may buy
DEALS = 10  # ways of dealing the questions into five folds, over which outcomes are averaged
SPLITS = 20  # of the answers into halves, for the oracle
PRICES = 40


@dataclass(frozen=True)
class Look:
    """What a policy sees before it decides: the prompt, or some answers at the lowest effort."""

    answers: tuple[int, ...]
    length: bool = False
    agreement: bool = False


LOOKS = {
    "prompt length": Look((0,)),
    "answer length": Look((1,), length=True),
    "agreement": Look((2, 3), agreement=True),
    "agreement and length": Look((1, 2, 3), length=True, agreement=True),
}


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    for name, menus in MENUS.items():
        full = adalib.load(name)
        for efforts in menus:
            yield f"{name}: {', '.join(efforts)}", partial(effort_rows, chosen(full, efforts))


def chosen(menu: Menu, efforts: Sequence[str]) -> Menu:
    """Return the menu with some of its efforts."""
    by_effort = {_short(arm): arm for arm in menu.models}
    models = {by_effort[effort]: menu.models[by_effort[effort]] for effort in efforts}
    return Menu(models, {arm: menu.prices[arm] for arm in models}, per_question=True)


def _short(arm: str) -> str:
    """Return an arm without the name of its model family, "gpt-5.4-mini high" as "mini high"."""
    model, effort = arm.split()
    *_, sibling = model.split("-")
    return f"{sibling} {effort}" if sibling in ("nano", "mini") else effort


def effort_rows(menu: Menu) -> list[dict]:
    """Score the oracle and every policy at every target."""
    costs = list(menu.unit.values())
    targets = [costs[0] + share * (costs[-1] - costs[0]) for share in SPENT]
    oracle = adalib.cross_fitted_oracle(menu, targets, VOTES, splits=SPLITS)
    rows = [
        row("oracle", target, menu, oracle.cost[:, j], oracle.accuracy[:, j])
        for j, target in enumerate(targets)
    ]
    for name, look in LOOKS.items():
        outcomes = held_out_raises(menu, look, targets)
        rows += [
            row(name, target, menu, cost, accuracy)
            for target, (cost, accuracy) in zip(targets, outcomes, strict=True)
        ]
    return rows


def row(policy: str, target: float, menu: Menu, cost: np.ndarray, accuracy: np.ndarray) -> dict:
    """Compare the questions' costs and accuracies with the best mix of all arms at equal cost."""
    # The mix tells no questions apart, so an arm costs it what an average question costs.
    arms = Menu(menu.models, menu.prices).table(VOTES)
    spent = max(float(cost.mean()), float(arms.cost[0]))
    mix = best_mix(arms.acc, arms.cost, spent).expected(arms.acc)
    gain = mean_interval(accuracy - mix)
    found = {
        "target": target,
        "cost": cost.mean(),
        "accuracy": accuracy.mean(),
        "mix_accuracy": mix.mean(),
        "gain": gain.mean,
        "gain_low": gain.low,
        "gain_high": gain.high,
    }
    return {"policy": policy, **{key: round(float(value), 5) for key, value in found.items()}}


def held_out_raises(
    menu: Menu, look: Look, targets: Sequence[float]
) -> list[tuple[np.ndarray, np.ndarray]]:
    """Return every question's cost and score at every target, by policies that never saw it."""
    states = [state_of(menu, look, answers) for answers in look.answers]
    plain = Menu(menu.models, menu.prices).table(VOTES)
    total = np.zeros((2, menu.n, len(targets)))
    for number in range(DEALS):
        fold = deal(np.arange(menu.n), 5, number)
        for out in range(5):
            train = np.flatnonzero(fold != out)
            test = np.flatnonzero(fold == out)
            fitted = [(state, state.fit(train)) for state in states]
            known = _library(fitted, plain, train)
            unseen = _library(fitted, plain, test)
            cost, accuracy = known.mean(axis=1)
            mixes = [mix_for(cost, accuracy, target) for target in targets]
            used, shares = shares_of(mixes)
            total[:, test] += unseen[:, :, used] @ shares.T
    return [tuple(total[:, :, j] / DEALS) for j in range(len(targets))]


def _library(fitted: list, plain: adalib.UtilityTable, rows: np.ndarray) -> np.ndarray:
    """Return cost and accuracy of some questions under every rule: (2, questions, rules)."""
    priced = [state.outcome(coefficients, rows) for state, coefficients in fitted]
    fixed = np.array([np.broadcast_to(plain.cost, plain.acc.shape), plain.acc])[:, rows]
    return np.concatenate([*priced, fixed], axis=2)


@dataclass(frozen=True)
class State:
    """Every question after some answers at the lowest effort, a row per choice of these answers."""

    features: np.ndarray  # (questions, choices, features)
    paid: np.ndarray  # the cost so far, (questions, choices)
    kept: np.ndarray  # the accuracy if the leading answer is kept, (questions, choices)
    cost: np.ndarray  # of each option, (questions, options)
    accuracy: np.ndarray

    def fit(self, rows: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Return the coefficients of two regressions, of each option's gain and of its cost."""
        known = self.features[rows].reshape(-1, self.features.shape[2])
        gain = self.accuracy[rows, None, :] - self.kept[rows][:, :, None]
        cost = np.broadcast_to(self.cost[rows, None, :], gain.shape)
        options = gain.shape[2]
        gain_of, *_ = np.linalg.lstsq(known, gain.reshape(-1, options), rcond=None)
        cost_of, *_ = np.linalg.lstsq(known, cost.reshape(-1, options), rcond=None)
        return gain_of, cost_of

    def outcome(self, coefficients: tuple[np.ndarray, np.ndarray], rows: np.ndarray) -> np.ndarray:
        """Return cost and accuracy of some questions at every price: (2, questions, prices)."""
        gain_of, cost_of = coefficients
        gain = self.features[rows] @ gain_of
        cost = self.features[rows] @ cost_of
        highest = 0.5 / self.cost[:, 0].mean()
        found = []
        for price in np.geomspace(highest / 3000, highest, PRICES):
            net = gain - price * cost
            best = net.argmax(axis=2)
            raised = net.max(axis=2) > 0
            option_cost = np.take_along_axis(self.cost[rows], best, axis=1)
            option_accuracy = np.take_along_axis(self.accuracy[rows], best, axis=1)
            paid = self.paid[rows] + np.where(raised, option_cost, 0)
            right = np.where(raised, option_accuracy, self.kept[rows])
            found.append([paid.mean(axis=1), right.mean(axis=1)])
        return np.array(found).transpose(1, 2, 0)


def state_of(menu: Menu, look: Look, answers: int) -> State:
    """Describe every question after so many answers at the lowest effort."""
    (first_arm, first), *higher = menu.models.items()
    price = menu.prices[first_arm]
    cost = np.column_stack([menu.prices[arm] * one.tokens.mean(axis=1) for arm, one in higher])
    accuracy = np.column_stack([one.values.mean(axis=1) for _, one in higher])
    one = np.ones((menu.n, 1))
    # By the prompt alone: one answer at the lowest effort, or one at a higher effort instead.
    if not answers:
        length = np.log(np.array(first.extras["prompt_tokens"], dtype=float))
        paid = price * first.tokens.mean(axis=1)
        features = np.stack([one, length[:, None]], axis=2)
        kept = first.values.mean(axis=1)
        return State(features, paid[:, None], kept[:, None], cost - paid[:, None], accuracy)
    choices = [list(choice) for choice in combinations(range(first.samples), answers)]
    votes = [[leading(first, i, choice) for choice in choices] for i in range(menu.n)]
    share, kept = np.moveaxis(np.array(votes), 2, 0)
    tokens = np.array([first.tokens[:, choice].sum(axis=1) for choice in choices]).T
    length = np.log(np.maximum(tokens / answers, 1))
    columns = [np.ones_like(length)]
    if look.length:
        columns += [length, length**2]
    if look.agreement and answers > 1:
        columns += [share]
    return State(np.stack(columns, axis=2), price * tokens, kept, cost, accuracy)


def leading(responses: Responses, question: int, choice: list[int]) -> tuple[float, float]:
    """Return the leading answer's share of the chosen ones and its accuracy, ties shared."""
    classes = responses.classes[question, choice]
    values = responses.values[question, choice]
    counts = np.bincount(classes[classes >= 0], minlength=1)
    if not counts.any():
        return 0.0, 0.0
    leaders = np.flatnonzero(counts == counts.max())
    right = [values[classes == leader][0] for leader in leaders]
    return counts.max() / len(choice), float(np.mean(right))


if __name__ == "__main__":
    main(effort=parts())
