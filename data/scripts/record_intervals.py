"""Compare bounds of a mean gain, and try the verdict on worlds whose truth is known.

The result is data/recorded/intervals.jsonl.

The appendix on rivals reads it; that page and a test compute a part of it again.

The first parts, one per world, compare six ways to bound a mean from below, for one policy: how
often each finds a gain, where there is one and where there is none. The parts called "verdict: ..."
let `adalib.verdict` choose among policies and targets.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache, partial
from itertools import product

import numpy as np
from recording import main

import adalib
from adabook.paper.results import recorded_rows
from adalib.evaluate.heldout import held_out
from adalib.evaluate.intervals import cautious_bound, guarded_bound, mean_interval
from adalib.evaluate.scores import HeldOutRow
from adalib.evaluate.verdict import WRONG as VERDICT_WRONG
from adalib.evaluate.verdict import Judgement, judge
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.priced_stopping import PricedStopping

SIZES = (31, 60, 120, 300, 600)
SAMPLES = 2000
EVALUATIONS = 1000
WRONG = 0.05
MATTERS = 0.01

Draw = Callable[[np.random.Generator, tuple[int, ...]], np.ndarray]


# Worlds: how the gains of questions or groups are drawn.


def sometimes(share: float, low: float, high: float, otherwise: float = 0.0) -> Draw:
    """A share of the questions gains between ``low`` and ``high``, and the others all the same."""
    return lambda rng, shape: np.where(
        rng.random(shape) < share, rng.uniform(low, high, shape), otherwise
    )


def normal(sd: float, mean: float = 0.0) -> Draw:
    """All questions move."""
    return lambda rng, shape: rng.normal(mean, sd, shape).clip(-1, 1)


def rare_losses(share: float, loss: float, mean: float = 0.0) -> Draw:
    """A share of the questions loses as much, and the others gain what makes up the mean."""
    return sometimes(share, -loss, -loss, (mean + share * loss) / (1 - share))


def few_losses(expected: float) -> Draw:
    """So few questions lose everything that a sample holds as many on average; the mean is 0."""
    return lambda rng, shape: np.where(
        rng.random(shape) < expected / shape[0], expected / shape[0] - 1, expected / shape[0]
    )


def noise_and_losses(sd: float, expected: float) -> Draw:
    """All questions move, and a few lose everything; the mean is 0."""
    losses = few_losses(expected)

    def drawn(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
        gains = losses(rng, shape)
        return np.where(gains < 0, gains, gains + rng.normal(0, sd, shape)).clip(-1, 1)

    return drawn


def heavy_tails(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Student's law with two degrees of freedom, cut at -1 and 1."""
    return (0.03 * rng.standard_t(2, shape)).clip(-1, 1)


def some_lose(rng: np.random.Generator, shape: tuple[int, ...]) -> np.ndarray:
    """Few questions move, a lot and both ways; the mean is a gain of 2.4 points."""
    return rng.choice([0.6, -0.6, 0.0], shape, p=[0.10, 0.06, 0.84])


#: Draws, and their true means. The gain is none or a loss in all but the last ones.
WORLDS: dict[str, tuple[Draw, float]] = {
    "nothing moves": (normal(0.0), 0.0),
    "all move by 1 point": (normal(0.01), 0.0),
    "all move by 30 points": (normal(0.3), 0.0),
    "heavy tails": (heavy_tails, 0.0),
    "1 in 10 moves": (sometimes(0.1, -0.8, 0.8), 0.0),
    "rare gains, small losses": (sometimes(0.05, 0.17, 0.97, -0.03), 0.0),
    "small gains, 1 in 10 loses 50 points": (rare_losses(0.1, 0.5), 0.0),
    "small gains, 1 in 25 loses 90 points": (rare_losses(0.04, 0.9), 0.0),
    "small gains, 1 in 50 loses all": (rare_losses(0.02, 1.0), 0.0),
    "small gains, 1 in 100 loses all": (rare_losses(0.01, 1.0), 0.0),
    "small gains, 2.8 losses of all expected": (few_losses(2.8), 0.0),
    "small gains, 9 losses of all expected": (few_losses(9), 0.0),
    "gains of 1 point, 1 in 25 loses 49": (rare_losses(0.04, 0.49, -0.01), -0.01),
    "all move, 2.8 losses of all expected": (noise_and_losses(0.1, 2.8), 0.0),
    "all move, 4 losses of all expected": (noise_and_losses(0.1, 4), 0.0),
    "gain of 2 points": (normal(0.15, 0.02), 0.02),
    "gain of 4 points": (normal(0.15, 0.04), 0.04),
    "gain of 2.4 points, all move by 12": (normal(0.12, 0.024), 0.024),
    "gain of 2.4 points, 1 in 25 gains 60": (sometimes(0.04, 0.6, 0.6), 0.024),
    "gain of 2.4 points, 1 in 10 gains 60, 3 in 50 lose 60": (some_lose, 0.024),
}


def bernstein(values: np.ndarray, wrong: float) -> np.ndarray:
    """The empirical Bernstein bound of Maurer and Pontil (2009), for gains between -1 and 1."""
    n, rare = len(values), np.log(2 / wrong)
    spread = np.sqrt(2 * values.var(axis=0, ddof=1) * rare / n)
    return values.mean(axis=0) - spread - 2 * 7 * rare / (3 * (n - 1))


def two_moments(values: np.ndarray, wrong: float) -> np.ndarray:
    """Cantelli's bound, with the variance of the sample."""
    error = values.std(axis=0, ddof=1) / np.sqrt(len(values))
    return values.mean(axis=0) - error * np.sqrt(1 / wrong - 1)


def betting_pays(values: np.ndarray, wrong: float) -> np.ndarray:
    """Whether a gambler who bets on gains, question by question, ever owns 1 / wrong.

    His stakes are those of a mixture of fixed shares (Waudby-Smith and Ramdas, 2024). If there is
    no gain on average, he does so in at most ``wrong`` of all cases, whatever the losses.
    """
    shares = np.array([1 / 16, 1 / 8, 1 / 4, 1 / 2, 1])
    with np.errstate(divide="ignore"):
        logs = [np.log1p(share * values).cumsum(axis=0) for share in shares]
    wealth = np.exp(np.minimum(logs, 300.0)).mean(axis=0)
    return wealth.max(axis=0) >= 1 / wrong


#: Lower bounds of a mean. The two that are approximate ask for 4%, as the verdict does.
BOUNDS: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "Student's t": lambda values: mean_interval(values, 1 - 2 * WRONG).low,
    "one precaution at a time": partial(guarded_bound, wrong=VERDICT_WRONG),
    "cautious bound": partial(cautious_bound, wrong=VERDICT_WRONG),
    "empirical Bernstein": partial(bernstein, wrong=WRONG),
    "two moments": partial(two_moments, wrong=WRONG),
}


def bounds(world: str) -> list[dict]:
    """Count how often each method claims a gain, and how often a t interval is right."""
    draw, truth = WORLDS[world]
    rows = []
    for n in SIZES:
        rng = np.random.default_rng([n, list(WORLDS).index(world)])
        values = draw(rng, (n, SAMPLES))
        claims = {name: bound(values) > 1e-12 for name, bound in BOUNDS.items()}
        claims["betting"] = betting_pays(values, WRONG)
        found = mean_interval(values)
        covers = (found.low <= truth + 1e-12) & (found.high >= truth - 1e-12)
        for method, pays in claims.items():
            row = {"questions": n, "method": method, "pays": float(pays.mean())}
            rows.append(row | {"covers": float(covers.mean())} if method == "Student's t" else row)
    return rows


# The verdict: four policies at three targets. The last policy gains, or none does.

TARGETS = (1.5, 2.0, 3.0)
POLICIES = ("label", "curve", "priced_votes", "priced")
TRIAL_SIZES = (40, 80, 120, 300, 400, 1200)


@dataclass(frozen=True)
class Trial:
    """A world of the verdict.

    ``draw`` gives the gains of n questions or groups under twelve policies (policy by policy,
    three targets each) and the size of the largest group over the average. ``ahead`` is added to
    the last policy, at all targets or at the last alone.
    """

    draw: Callable[[np.random.Generator, int], tuple[np.ndarray, float]]
    ahead: float = 0.0
    truth: float = 0.0
    one_target: bool = False
    families: bool = False
    sizes: tuple[int, ...] = TRIAL_SIZES


def alike(draw: Draw, shared: float = 0.5) -> Callable:
    """Policies that share the gains of half of the questions, or of another share."""

    def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
        k = len(TARGETS) * len(POLICIES)
        common = draw(rng, (n, 1))
        own = draw(rng, (n, k))
        return np.where(rng.random((n, k)) < shared, common, own), 1.0

    return drawn


def unequal(share: float, loss: float, mean: float, large_lose: bool = False) -> Callable:
    """Draw families of unequal size, some of which lose; gains are scaled as in `held_out`."""

    def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
        k = len(TARGETS) * len(POLICIES)
        size = np.exp(rng.normal(0, 0.8, (n, 1)))
        chance = share * (size / np.exp(0.32) if large_lose else np.ones_like(size))
        lost = share * (np.exp(0.64) if large_lose else 1.0)  # share of the questions
        gain = (mean + lost * loss) / (1 - lost)
        common, own = (np.where(rng.random((n, m)) < chance, -loss, gain) for m in (1, k))
        gains = np.where(rng.random((n, k)) < 0.9, common, own)
        weight = size / size.mean()
        average = (weight * gains).mean(axis=0)
        return average + weight * (gains - average), float(weight.max())

    return drawn


@cache
def real_gains(name: str) -> np.ndarray:
    """Return gains of real questions under real policies, centred; the last policy is the best."""
    if name == "gpqa":
        learners = {
            "label": LabelPolicy(),
            "curve": CurvePolicy(),
            "priced_votes": PricedStopping(("votes",)),
            "priced": PricedStopping(),
        }
        answers = adalib.load("gpqa-gpt-oss-20b")
        rows = held_out(answers, TARGETS, (1, 2, 4, 8), learners=learners, noises=0)
        names = tuple(learners)
    elif name == "word-fewshot":
        rows = recorded_rows("word-fewshot by question")
        names = ("label", "weighted label", "label", "curve")
    else:
        rows = recorded_rows(f"{name} held out")
        names = ("label", "weighted label", "curve", "priced")
    found = {(row.policy, row.target): row.gains for row in rows}
    gains = np.column_stack([found[policy, target] for policy in names for target in TARGETS])
    return gains - gains.mean(axis=0)


def resampled(name: str) -> Callable:
    """Questions drawn with replacement from real ones."""

    def drawn(rng: np.random.Generator, n: int) -> tuple[np.ndarray, float]:
        gains = real_gains(name)
        return gains[rng.integers(len(gains), size=n)], 1.0

    return drawn


_POWER = {"sizes": (80, 120, 300, 400)}
_FAMILIES = {"families": True, "sizes": (31, 60, 120)}

TRIALS: dict[str, Trial] = {
    **{
        name: Trial(alike(draw), truth=truth)
        for name, (draw, truth) in WORLDS.items()
        if truth <= 0
    },
    "one for all: 1 in 25 loses 90 points": Trial(alike(rare_losses(0.04, 0.9), shared=1.0)),
    "one for all: 1 in 10 loses 90 points": Trial(alike(rare_losses(0.1, 0.9), shared=1.0)),
    "families, 1 in 25 loses 49 points": Trial(
        alike(rare_losses(0.04, 0.49, -0.01), shared=0.9), truth=-0.01, **_FAMILIES
    ),
    "families, 1 in 10 loses 90 points": Trial(
        alike(rare_losses(0.1, 0.9), shared=0.9), **_FAMILIES
    ),
    "unequal families, 1 in 25 loses 49 points": Trial(
        unequal(0.04, 0.49, -0.01), truth=-0.01, **_FAMILIES
    ),
    "unequal families, 1 in 10 loses 90 points": Trial(unequal(0.1, 0.9, 0.0), **_FAMILIES),
    "unequal families, the large ones lose": Trial(unequal(0.08, 0.9, 0.0, True), **_FAMILIES),
    **{
        f"{short} questions, no gain": Trial(resampled(name), sizes=(80, 120, 300, 1200))
        for short, name in (("GSM8K", "gsm8k-qwen15"), ("GPQA", "gpqa"))
    },
    "all move by 15 points, gain of 2": Trial(alike(normal(0.15)), 0.02, **_POWER),
    "all move by 15 points, gain of 4": Trial(alike(normal(0.15)), 0.04, **_POWER),
    "all move by 20 points, gain of 2": Trial(alike(normal(0.2)), 0.02, **_POWER),
    "all move by 20 points, gain of 4": Trial(alike(normal(0.2)), 0.04, **_POWER),
    "at one target of three, gain of 2": Trial(
        alike(normal(0.15)), 0.02, one_target=True, **_POWER
    ),
    "at one target of three, gain of 4": Trial(
        alike(normal(0.15)), 0.04, one_target=True, **_POWER
    ),
    **{
        f"{short} questions, gain of {100 * ahead:g}": Trial(resampled(name), ahead, **_POWER)
        for short, name in (
            ("GSM8K", "gsm8k-qwen15"),
            ("MATH", "math-qwen15"),
            ("word", "word-fewshot"),
            ("GPQA", "gpqa"),
        )
        for ahead in (0.02, 0.04)
    },
}


def gains_of(trial: Trial, n: int, rng: np.random.Generator) -> tuple[np.ndarray, float]:
    """Gains of n questions, one column per policy and target, and the size of the largest group."""
    gains, largest = trial.draw(rng, n)
    last = np.zeros(gains.shape[1])
    last[-1 if trial.one_target else -len(TARGETS) :] = trial.ahead
    return gains + last, largest


def verdicts(world: str, samples: int = EVALUATIONS) -> list[dict]:
    """Count each of the three verdicts, and how often one names a policy that does not gain."""
    trial = TRIALS[world]
    rows = []
    for n in trial.sizes:
        words = {"pays": 0, "does not pay": 0, "cannot tell": 0}
        named_falsely = 0
        for judged in judgements(world, n, samples):
            words[judged.word] += 1
            best = judged.rows[judged.best]
            gains = best.policy == POLICIES[-1] and trial.ahead > 0
            gains = gains and (best.target == TARGETS[-1] or not trial.one_target)
            named_falsely += judged.word == "pays" and not gains
        shares = {word: count / samples for word, count in words.items()}
        found = {"questions": n, "ahead": trial.ahead, **shares}
        rows.append(found | {"named falsely": named_falsely / samples})
    return rows


def judgements(world: str, n: int, samples: int) -> list[Judgement]:
    """Judge many simulated evaluations, with all bounds computed in two calls."""
    trial = TRIALS[world]
    found = []
    for seed in range(samples):
        rng = np.random.default_rng([seed, n, list(TRIALS).index(world)])
        gains, largest = gains_of(trial, n, rng)
        rows = [
            row(policy, target, gains[:, j], trial.families, largest)
            for j, (policy, target) in enumerate(product(POLICIES, TARGETS))
        ]
        found.append(judge(rows, MATTERS))
    if trial.families:  # each has a largest group of its own, and so its own bounds
        return found
    least = guarded_bound(np.column_stack([one.best_gains for one in found]), VERDICT_WRONG)
    most = -guarded_bound(-np.hstack([one.gains for one in found]), VERDICT_WRONG)
    for one, low, high in zip(found, least, np.split(most, samples), strict=True):
        one.__dict__.update(least=float(low), most=high)
    return found


def row(
    policy: str, target: float, gains: np.ndarray, families: bool, largest: float
) -> HeldOutRow:
    """A made-up row."""
    numbers = ("cost", "accuracy", "low", "high", "mix_accuracy", "gain_low", "gain_high")
    return HeldOutRow(
        policy=policy,
        kind="plans",
        target=target,
        gains=gains,
        gain=gains.mean(),
        families=families,
        largest=largest,
        **dict.fromkeys(numbers, 0.0),
        **dict.fromkeys(("share", "imitation", "majority")),
    )


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    for world in WORLDS:
        yield world, partial(bounds, world)
    for world in TRIALS:
        yield f"verdict: {world}", partial(verdicts, world)


if __name__ == "__main__":
    main(intervals=parts())
