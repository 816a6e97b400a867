"""Compare intervals and try the verdict on worlds whose truth is known, and write data/recorded/intervals.jsonl.

Run ``python data/record_intervals.py`` (about five minutes on two cores; what is there already is kept, so that it can
be stopped and started again; ``--anew`` begins anew). Chapter 7 reads it, and computes a part of it again.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from scipy.stats import norm

from adalib.evaluate.heldout import HeldOutRow
from adalib.evaluate.intervals import Interval, mean_interval, question_interval
from adalib.evaluate.recorded import record
from adalib.evaluate.verdict import Judgement, judged

SIZES = (20, 40, 120, 400)
SAMPLES, DRAWS = 2000, 600
TAILS = (0.025, 0.975)
MATTERS = 0.01

Draw = Callable[[np.random.Generator, tuple[int, int]], np.ndarray]
Ends = tuple[np.ndarray, np.ndarray]


def sometimes(share: float, low: float, high: float, otherwise: float = 0.0) -> Draw:
    """A share of the questions gains between ``low`` and ``high``, and the others all the same."""
    return lambda rng, shape: np.where(rng.random(shape) < share, rng.uniform(low, high, shape), otherwise)


#: How gains are drawn, and their true mean.
WORLDS: dict[str, tuple[Draw, float]] = {
    "nobody moves": (lambda rng, shape: np.zeros(shape), 0.0),
    "no gain: everyone moves by a point": (lambda rng, shape: rng.normal(0, 0.01, shape), 0.0),
    "no gain: one in 10 moves": (sometimes(0.1, -0.8, 0.8), 0.0),
    "dense: everyone moves": (lambda rng, shape: rng.normal(0.03, 0.15, shape).clip(-1, 1), 0.03),
    "rare gains: one in 20": (sometimes(0.05, 0.2, 1.0), 0.03),
    "rare losses: one in 20": (sometimes(0.05, -1.0, -0.2), -0.03),
    "rarer losses: one in 50, all of it": (sometimes(0.02, -1.0, -1.0), -0.02),
    "no gain: small gains, rare losses": (sometimes(0.05, -0.97, -0.17, 0.03), 0.0),
}


def intervals(world: str) -> list[dict]:
    """How often the interval of every method holds the truth, misses it from above, and how wide it is on average."""
    draw, truth = WORLDS[world]
    rows = []
    for n in SIZES:
        rng = np.random.default_rng([n, list(WORLDS).index(world)])
        values = draw(rng, (n, SAMPLES))
        for method, ends in {**ours(values), **resampled(values, rng), **bounded(values)}.items():
            low, high = (end.clip(-1, 1) for end in ends)  # no mean of gains lies beyond
            held, above = np.mean((low <= truth) & (truth <= high)), np.mean(low > truth)
            width = float(np.mean(high - low))
            found = {"covers": float(held), "above": float(above), "width": round(width, 6)}
            rows.append({"questions": n, "method": method, **found})
    return rows


def ours(values: np.ndarray) -> dict[str, Ends]:
    """The two rules of the package."""
    found = {"t": mean_interval(values), "ours": question_interval(values)}
    return {name: (np.asarray(one.low), np.asarray(one.high)) for name, one in found.items()}


def resampled(values: np.ndarray, rng: np.random.Generator) -> dict[str, Ends]:
    """Three bootstraps; all samples, a column each, are resampled by the same counts."""
    n = len(values)
    mean, error = values.mean(axis=0), values.std(axis=0, ddof=1) / np.sqrt(n)
    counts = rng.multinomial(n, np.full(n, 1 / n), size=DRAWS) / n
    means = counts @ values
    spread = np.sqrt(np.maximum(counts @ values**2 - means**2, 1e-12) / (n - 1))
    high_t, low_t = np.quantile((means - mean) / spread, TAILS, axis=0)
    low, high = np.quantile(means, TAILS, axis=0)
    return {
        "plain": (low, high),
        "bootstrap-t": (mean - low_t * error, mean - high_t * error),
        "BCa": corrected(values, means, mean),
    }


def corrected(values: np.ndarray, means: np.ndarray, mean: np.ndarray) -> Ends:
    """Percentiles of the resampled means, moved for bias and for skewness (bias-corrected and accelerated)."""
    below = (means < mean).mean(axis=0) + 0.5 * (means == mean).mean(axis=0)
    bias, excess = norm.ppf(below.clip(0.001, 0.999)), values - mean
    skew = (excess**3).sum(axis=0) / (6 * np.maximum((excess**2).sum(axis=0), 1e-12) ** 1.5)
    ordered, ends = np.sort(means, axis=0), []
    for tail in norm.ppf(TAILS):
        share = norm.cdf(bias + (bias + tail) / (1 - skew * (bias + tail)))
        ends.append(ordered[np.round(share * (DRAWS - 1)).astype(int), np.arange(len(mean))])
    return ends[0], ends[1]


def bounded(values: np.ndarray, wrong: float = 0.05) -> dict[str, Ends]:
    """Two that are never wrong too often, whatever is drawn between -1 and 1.

    Bernstein's inequality with the empirical variance (Maurer and Pontil 2009), and the hedged bets of Waudby-Smith and
    Ramdas (2024): what no fortune of 1 / ``wrong`` was made against.
    """
    n, mean = len(values), values.mean(axis=0)
    log = np.log(4 / wrong)
    half = np.sqrt(2 * values.var(axis=0, ddof=1) * log / n) + 14 * log / (3 * (n - 1))
    x = (values + 1) / 2
    count = np.arange(1, n + 1)[:, None]
    centre = (0.5 + x.cumsum(axis=0)) / (count + 1)
    variance = (0.25 + ((x - centre) ** 2).cumsum(axis=0)) / (count + 1)
    before = np.vstack([np.full_like(mean, 0.25), variance[:-1]])
    bet = np.sqrt(2 * np.log(2 / wrong) / (n * before))

    def rich(m: np.ndarray) -> np.ndarray:
        up = np.log1p(np.minimum(bet, 0.5 / m) * (x - m)).sum(axis=0)
        down = np.log1p(-np.minimum(bet, 0.5 / (1 - m)) * (x - m)).sum(axis=0)
        return np.maximum(up, down) > np.log(2 / wrong)

    ends = []
    for bound in (1e-9, 1 - 1e-9):
        out, inside = np.full_like(mean, bound), x.mean(axis=0).clip(1e-9, 1 - 1e-9)
        for _ in range(40):
            middle = (out + inside) / 2
            wealthy = rich(middle)
            out, inside = np.where(wealthy, middle, out), np.where(wealthy, inside, middle)
        ends.append(2 * out - 1)
    return {"Bernstein": (mean - half, mean + half), "betting": (ends[0], ends[1])}


# The verdict: four policies at three targets, of which one or none gains.

TRIED = [(policy, target) for target in (1.5, 2.0, 3.0) for policy in ("label", "curve", "priced_votes", "priced")]

#: The law of all gains, and what the best policy gains on top.
TRIALS: dict[str, tuple[Draw, float]] = {
    **{f"{name}": (draw, 0.0) for name, (draw, truth) in WORLDS.items() if truth <= 0},
    "everyone moves, one policy gains a point": (lambda rng, shape: rng.normal(0, 0.1, shape).clip(-1, 1), 0.01),
    "everyone moves, one policy gains three": (lambda rng, shape: rng.normal(0, 0.1, shape).clip(-1, 1), 0.03),
    "everyone moves, one policy gains ten": (lambda rng, shape: rng.normal(0, 0.1, shape).clip(-1, 1), 0.1),
    "one policy gains a tenth of a point": (lambda rng, shape: rng.normal(0, 0.01, shape), 0.001),
}


def gains_of(world: str, n: int, rng: np.random.Generator) -> np.ndarray:
    """Gains of every question, policy and target: half of them shared by all policies, the last policy ahead."""
    draw, ahead = TRIALS[world]
    shared, own = draw(rng, (n, 1)), draw(rng, (n, len(TRIED)))
    gains = np.where(rng.random((n, len(TRIED))) < 0.5, shared, own)
    return gains + ahead * np.array([policy == "priced" for policy, _ in TRIED])


def verdicts(world: str, samples: int = 400) -> list[dict]:
    """Which of the three words is said, how often, and whether what is stated holds the truth."""
    truth = gains_of(world, 400_000, np.random.default_rng(0)).mean(axis=0).round(4)
    rows = []
    for n in (40, 80, 120, 400, 1200):
        said: dict[str, list] = {"pays": [], "does not": [], "cannot tell": []}
        paid: list[tuple[float, float]] = []  # the gains that are stated where it says "pays", and the true ones
        for main, before in at_once(world, n, samples):
            told, low, high = (np.asarray(part) for part in (main.gain.mean, main.gain.low, main.gain.high))
            true = np.array([truth[TRIED.index((row.policy, row.target))] for row in main.rows])
            word = "pays" if "pays" in (main.word(), before.word()) else main.word()
            said[word].append(((low <= true) & (true <= high)).all())
            paid += zip(told[low > 0], true[low > 0], strict=True)
        told, true = np.mean(paid, axis=0).round(6).tolist() if paid else (None, None)
        shares = {word: len(held) / samples for word, held in said.items()}
        holds = float(np.mean(sum(said.values(), [])))
        rows.append({"questions": n, "ahead": TRIALS[world][1], **shares, "holds": holds, "told": told, "true": true})
    return rows


def at_once(world: str, n: int, samples: int) -> list[list[Judgement]]:
    """Both judgements of every sample, with all intervals computed in one call."""
    found = []
    for seed in range(samples):
        gains = gains_of(world, n, np.random.default_rng([seed, n, list(TRIALS).index(world)]))
        found.append(judged([row(name, at, gains[:, j]) for j, (name, at) in enumerate(TRIED)], MATTERS))
    every = [judgement for pair in found for judgement in pair]
    columns = np.column_stack([gains for judgement in every for gains in judgement.gains])
    gain = question_interval(columns, every[0].level)
    for number, judgement in enumerate(every):
        own = slice(number * len(judgement.rows), (number + 1) * len(judgement.rows))
        ends = (np.asarray(part)[own] for part in (gain.mean, gain.low, gain.high))
        judgement.__dict__["gain"] = Interval(*ends)
    return found


def row(policy: str, target: float, gains: np.ndarray) -> HeldOutRow:
    """A made-up row."""
    rest = dict.fromkeys(("cost", "accuracy", "low", "high", "mix_accuracy", "gain_low", "gain_high"), 0.0)
    none = dict.fromkeys(("share", "imitation", "majority"))
    return HeldOutRow(policy=policy, target=target, gains=gains, gain=gains.mean(), **rest, **none)


def parts() -> Iterator[tuple[str, Callable[[], list[dict]]]]:
    """Yield a name, and a function that computes its rows."""
    for world in WORLDS:
        yield world, partial(intervals, world)
    for world in TRIALS:
        yield f"verdict: {world}", partial(verdicts, world)


if __name__ == "__main__":
    record("intervals", parts(), anew="--anew" in sys.argv)
