"""What decides on the paper's claims: one plain function each.

A function reads `Sources` and returns the number that decides, the sentence that holds it, and
whether our verdict is borne out. The claims themselves, their places and the verdicts are lines of
``data/simulated/paper_register.jsonl``, which name these functions.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from scipy.stats import spearmanr
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.model_selection import KFold, cross_val_predict
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adabook.paper.ablations import LEAKS
from adabook.paper.patterns import nearest_mix
from adabook.paper.referee import Evidence
from adabook.paper.settings import BENCHMARKS, PAPER_WAY
from adalib.datasets.populations import Population
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import best_mix
from adalib.evaluate.crossfit import cross_fitted_oracle
from adalib.evaluate.intervals import Interval, in_points, mean_interval
from adalib.learn.features import text_features
from adalib.solve.frontier import frontier
from referee.sources import COUNTED, GSM8K, MATH, ON_MATH, SMALL, STRONG, Sources


def _gain(found: Interval) -> str:
    """A gain in points with its interval."""
    mean, low, high = (in_points(end) for end in (found.mean, found.low, found.high))
    return f"{mean} points [{low}, {high}]"


# The problem and its price.


def formulation(s: Sources) -> Evidence:
    """An oracle is ahead of the best mix, on answers that did not choose."""
    found = {name: _oracle_over_mix(s.answers(name)) for name in (*BENCHMARKS, STRONG)}
    gsm, math, strong = map(_gain, found.values())
    return Evidence(
        min(gain.mean for gain in found.values()),
        f"chosen on half of the answers and scored on the others, at B = 2 {gsm} on GSM8K and "
        f"{math} on MATH with our 1.5B model, {strong} with GPT-4o-mini on GSM8K",
        all(gain.low > 0 for gain in found.values()),
    )


def _oracle_over_mix(answers: Responses, budget: float = 2) -> Interval:
    """As the first chapter has it: over splits, against any number for everyone."""
    oracle = cross_fitted_oracle(answers, [budget]).accuracy[:, 0]
    every = answers.table(range(1, answers.samples // 2 + 1))
    return mean_interval(oracle - best_mix(every.acc, every.cost, budget).expected(every.acc))


def _stands(statement: str, lines: slice) -> Callable[[Sources], Evidence]:
    """The check of a statement that is right as printed: it fails nowhere."""

    def check(s: Sources) -> Evidence:
        broken = int(s.failures(statement).fails[lines].sum())
        return Evidence(broken, f"{broken} failures in {s.cases} random cases", broken == 0)

    return check


def _corrected(statement: str, line: int) -> Callable[[Sources], Evidence]:
    """The check of a statement that is not: it fails, and what we put in its place does not."""

    def check(s: Sources) -> Evidence:
        found = s.failures(statement)
        broken, ours = int(found.fails[line]), int(found.fails[found.version == "ours"].sum())
        says = f"fails in {broken} of {s.cases} random cases; what we put in its place in {ours}"
        return Evidence(broken, says, broken > 0 and ours == 0)

    return check


one_price = _stands("Everett", slice(None))
theorem_1 = _stands("Theorem 1", slice(1))
weak_duality = _stands("Weak duality", slice(1))
theorem_2 = _stands("Theorem 2", slice(2))
theorem_3_1 = _stands("Theorem 3", slice(1))
proposition_1 = _corrected("Proposition 1", 0)
theorem_3_2 = _corrected("Theorem 3", 1)


def free_compute(s: Sources) -> Evidence:
    """At the price 0 not every question gets the largest budget."""
    cost = s.tables["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    says = f"the paper's own table prints a cost of {cost:.3f} at the price 0, not 16"
    return Evidence(cost, says, cost < 15.9)


def budget_targeting(s: Sources) -> Evidence:
    """The search misses the budget on either side."""
    missed = s.printed_misses()
    over = int((missed > 1e-9).to_numpy().sum())
    most = missed.loc[list(ON_MATH)].abs().to_numpy().max()
    says = f"{over} of 12 printed policies overspend; the largest miss on MATH is {most:.3f}"
    return Evidence(over, says, over > 0)


def nine_of_nine(s: Sources) -> Evidence:
    """Not every printed cost is within 0.05 of its budget."""
    missed = s.printed_misses(ON_MATH).abs().to_numpy()
    within = int((missed < 0.05 - 1e-9).sum())
    says = f"{within} of 9 printed misses are below 0.05; the largest is {missed.max():.3f}"
    return Evidence(within, says, within < 9)


# The set-up and the data.


def pipeline(s: Sources) -> Evidence:
    """The recipe, as printed, shows no gain over the same for everyone with any model."""
    strong, *small = (s.gain(name, "label") for name in (STRONG, *SMALL))
    gsm, math = map(_gain, small)
    return Evidence(
        strong.mean,
        f"on new questions at B = 3, over the same for everyone: {_gain(strong)} with GPT-4o-mini "
        f"on GSM8K; with our 1.5B model {gsm} on GSM8K, {math} on MATH",
        max(gain.low for gain in (strong, *small)) <= 0,
    )


def oracle_as_bound(s: Sources) -> Evidence:
    """The oracle's score on the answers that chose lies above that on others."""
    optimism = {}
    for name in BENCHMARKS:
        found = cross_fitted_oracle(s.answers(name), [3.0], **PAPER_WAY).optimism
        ends = (np.ravel(end)[0] for end in (found.mean, found.low, found.high))
        optimism[name] = Interval(*map(float, ends))
    gsm, math = map(_gain, optimism.values())
    return Evidence(
        min(found.mean for found in optimism.values()),
        f"at B = 3 its own score is above that on other answers by {gsm} on GSM8K, {math} on MATH",
        all(found.low > 0 for found in optimism.values()),
    )


def trials(s: Sources, runs: int = 40) -> Evidence:
    """Two runs of sixteen trials agree on about half of the labels."""
    truth = Population.from_responses(s.answers(MATH)).table()
    drawn = np.random.default_rng(0).binomial(16, truth.acc, (runs, *truth.acc.shape)) / 16
    labels = np.array([frontier(each, truth.cost).at(3).labels for each in drawn])
    got = (labels[..., None] == np.arange(truth.k)).sum(axis=0)  # how often each question got each
    agree = float((got * (got - 1)).sum(axis=1).mean() / (runs * (runs - 1)))
    says = f"two runs of 16 trials agree on {agree:.2f} of the labels (MATH, B = 3)"
    return Evidence(agree, says, agree < 0.9)


def base_accuracy(s: Sources) -> Evidence:
    """One answer is right far more often in counts of others than in print."""
    answers = s.answers(COUNTED)
    levels = np.array(answers.levels)
    found = {str(level): answers.values[levels == level].mean() for level in sorted(set(levels))}
    printed = {
        level: row["acc1"] for level, row in s.tables["qwen2.5-7b-math"]["per_level"].items()
    }
    lead = min(found[level] - printed[level] for level in found)
    ours, theirs = (", ".join(f"{x:.3f}" for x in each.values()) for each in (found, printed))
    says = f"one answer of Qwen2.5-7B on levels 2, 3, 4: {theirs} printed, {ours} by others' counts"
    return Evidence(lead, says, lead > 0.1)


def stratified(s: Sources) -> Evidence:
    """No whole numbers of questions per level give the overall accuracies."""
    levels = [[cell["acc1"] for cell in s.tables[name]["per_level"].values()] for name in ON_MATH]
    overall = s.printed("Fixed", ON_MATH)[1.5].to_list()
    counts, error = nearest_mix(levels, overall)
    says = f"the nearest mix of 200, {counts}, misses by {error:.4f}; rounding allows 0.001"
    return Evidence(error, says, error > 0.001)


def sixteen_features(s: Sources) -> Evidence:
    """The figure of importances names features that the list lacks."""
    listed, drawn = s.sentences["listed_features"], s.sentences["figure_features"]
    # The list has some names in the singular that the figure has in the plural.
    lacking = [name for name in drawn if name not in listed and name.rstrip("s") not in listed]
    leaks = [name for name in lacking if name in LEAKS]
    says = f"{len(lacking)} names in the figure are not in the list; {', '.join(leaks)} needs the "
    return Evidence(len(lacking), f"{says}answer key", bool(lacking and leaks))


# The main results.


def beats_everyone(s: Sources) -> Evidence:
    """The table fits memory; on new questions a model of the paper shows no gain."""
    ours, one = s.printed("Ours"), s.printed("Fixed")[1.5]
    baselines = [s.printed(method) for method in ("Fixed", "Random", "Heuristic")]
    ahead = int(np.all([(ours > rows).to_numpy() for rows in baselines], axis=0).sum())
    remembered = (0.8 * s.printed("Oracle")).add(0.2 * one, axis=0)
    off = float((ours - remembered).abs().to_numpy().max())
    strong = s.gain(STRONG, "label")
    return Evidence(
        off,
        f"ahead in {ahead} of 12 cells, each within {off:.4f} of what remembering four fifths of "
        f"the questions gives; on new ones {_gain(strong)} over the same for all with GPT-4o-mini",
        ahead == 12 and off < 0.003 and strong.low <= 0,
    )


def table_as_evidence(s: Sources) -> Evidence:
    """Random numbers beat the baselines too, if training questions are scored."""
    ahead = cells = 0
    for name in BENCHMARKS:
        found = s.record(f"{name} reconstructed, noise")
        found = found.pivot(index="target", columns="method", values="accuracy")
        ahead += int(found.Ours.gt(found[["Fixed", "Random", "Heuristic"]].max(axis=1)).sum())
        cells += len(found)
    says = (
        f"by our reconstruction random numbers beat all three baselines in {ahead} of {cells} "
        "cells on GSM8K and MATH"
    )
    return Evidence(ahead, says, ahead == cells)


def relative_gain(s: Sources) -> Evidence:
    """The gain is over a method that spends less."""
    main = s.tables["qwen2.5-7b-math"]["main"]
    spent, fixed = (main[method]["cost"][-1] for method in ("Ours", "Fixed"))
    says = f"Ours costs {spent:.2f} answers at B = 3, Fixed {fixed:.2f}"
    return Evidence(spent / fixed - 1, says, spent > fixed)


def points_over_fixed(s: Sources) -> Evidence:
    """The text states the table's differences, to a rounding."""
    lead = (s.printed("Ours") - s.printed("Fixed"))[3.0]
    stated = [s.tables[name]["claimed_gain"] for name in lead.index]
    off = float((lead - stated).abs().max())
    says = f"at B = 3 the text is at most {100 * off:.1f} points off its table"
    return Evidence(off, says, off < 0.001 + 1e-9)


def imitation(s: Sources) -> Evidence:
    """Random numbers imitate as many labels, if training questions are scored."""
    noise = [s.record(f"{name} reconstructed, noise").imitation.dropna() for name in BENCHMARKS]
    least, most = min(map(min, noise)), max(map(max, noise))
    says = (
        f"random numbers imitate {least:.0%} to {most:.0%} on GSM8K and MATH, scored on all "
        "questions"
    )
    return Evidence(least, says, least > 0.88)


def plateau(s: Sources) -> Evidence:
    """In print sixteen answers add more than Fixed has gained at three."""
    least = min(min(s.tables[name]["level_gain"]) for name in ON_MATH)
    fixed = s.printed("Fixed", ON_MATH)
    rise = float((fixed[3.0] - fixed[1.5]).max())
    says = (
        f"in print Fixed rises by at most {in_points(rise)} points from B = 1.5 to 3 on MATH, and "
        f"a vote of 16 by at least {in_points(least)} over one answer, on every level"
    )
    return Evidence(least, says, least - rise > 0.01)


def predictable(s: Sources) -> Evidence:
    """The text ranks how hard a question is, for every model tried."""
    ranked = {name: _ranked_by_text(s.answers(name)) for name in (GSM8K, MATH, STRONG)}
    gsm, math, strong = (f"{value:.2f}" for value, _ in ranked.values())
    chance = max(chance for _, chance in ranked.values())
    return Evidence(
        min(value for value, _ in ranked.values()),
        f"on new questions the text ranks the accuracy of one answer with a correlation of {gsm} "
        f"and {math} for our 1.5B model on GSM8K and MATH, {strong} for GPT-4o-mini (chance "
        f"reaches {chance:.2f})",
        all(value > chance for value, chance in ranked.values()),
    )


def _ranked_by_text(answers: Responses) -> tuple[float, float]:
    """How predictions of one answer's accuracy rank it, and what chance reaches."""
    phi = text_features(answers.questions).to_numpy(dtype=float)
    right = answers.values.mean(axis=1)
    model = make_pipeline(StandardScaler(), RidgeCV(np.logspace(0, 4, 9)))
    guess = cross_val_predict(model, phi, right, cv=KFold(5, shuffle=True, random_state=0))
    return float(spearmanr(guess, right).statistic), 1.96 / np.sqrt(answers.n - 3)


# Patterns and ablations.


def two_is_frequent(s: Sources) -> Evidence:
    """Two larger budgets are often more frequent than two answers."""
    rows = np.concatenate([s.tables[name]["label_shares"] for name in ON_MATH])
    behind = int((np.sort(rows[:, 2:], axis=1)[:, -2] > rows[:, 1]).sum())
    says = f"b = 2 is behind two larger budgets in {behind} of 9 printed rows"
    return Evidence(behind, says, behind > 0)


def inverted_u(s: Sources) -> Evidence:
    """The hump appears where no budget helps anyone."""
    table = s.nobody_gains().table(**PAPER_WAY)
    bought = table.cost[frontier(table).at(3).labels]
    fifths = np.array_split(np.argsort(table.acc[:, 0], kind="stable"), 5)
    spent = [bought[rows].mean() for rows in fifths]
    more = float(spent[2] - (spent[0] + spent[4]) / 2)
    says = f"{more:.1f} more answers for the middle fifth where no budget helps anyone (simulated)"
    return Evidence(more, says, more > 1)


def trees_beat_linear(s: Sources) -> Evidence:
    """On new questions trees do not lead logistic regression."""
    sets = (*SMALL, STRONG, "math-7b-agree", "math-7b-differ")
    both = {name: [s.gain(name, policy) for policy in ("ranked", "logistic")] for name in sets}
    ahead = sum(trees.low > linear.high for trees, linear in both.values())
    trees, linear = map(_gain, both[STRONG])
    return Evidence(
        ahead,
        f"on new questions, made to spend B = 3, trees are clearly ahead of logistic regression in "
        f"{ahead} of {len(sets)} sets; with GPT-4o-mini on GSM8K they gain {trees}, it {linear}",
        ahead == 0,
    )


def eight_to_25(s: Sources) -> Evidence:
    """The low end is not in the table of classifiers, but among the main results."""
    errors = [1 - row["imitation"] for row in s.ablations["classifiers"].values()]
    main = [1 - s.tables[name]["oracle_gap"]["imitation"][-1] for name in ON_MATH]
    says = (
        f"the table of classifiers has {min(errors):.1%} to {max(errors):.1%}, the main results on "
        f"MATH at B = 3 {min(main):.1%} to {max(main):.1%}"
    )
    return Evidence(min(errors), says, min(errors) > 0.1 > max(main))


def a_few_dozen(s: Sources, draws: int = 12) -> Evidence:
    """A ranking learned from two or four dozen questions shows no gain on all others.

    The interval is for one training set: it covers the questions and the draw of those that teach.
    """
    answers = s.answers(STRONG)
    phi = text_features(answers.questions).to_numpy(dtype=float)
    choose, score = (half.table() for half in answers.split_samples(0))
    rise = score.acc[:, 2] - score.acc[:, 0]  # of four answers over one
    three = answers.split_samples(0)[1].table([3]).acc[:, 0]  # the same for everyone
    model = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    gains = {}
    for most in (24, 48):
        found = np.full((draws, answers.n), np.nan)
        for seed in range(draws):
            train, new = np.split(np.random.default_rng(seed).permutation(answers.n), [most])
            deserves = frontier(choose.acc[train], choose.cost).at(3).labels > 0
            more = model.fit(phi[train], deserves).predict_proba(phi[new])[:, 1]
            top = np.argsort(np.argsort(-more)) < round(len(new) * 2 / 3)
            found[seed, new] = score.acc[new, 0] + top * rise[new] - three[new]
        gains[most] = _of_one_draw(found)
    few, more = map(_gain, gains.values())
    return Evidence(
        gains[24].mean,
        f"with GPT-4o-mini on GSM8K, over three answers for everyone: {few} on all others from 24 "
        f"labelled questions, {more} from 48",
        all(gain.low <= 0 for gain in gains.values()),
    )


def _of_one_draw(found: np.ndarray) -> Interval:
    """The mean gain over draws of a training set, with an interval for a single draw."""
    gain = mean_interval(np.nanmean(found, axis=0))
    by_draw = np.nanmean(found, axis=1).std(ddof=1)
    half = float(np.hypot((gain.high - gain.low) / 2, 1.96 * by_draw))
    return Interval(gain.mean, gain.mean - half, gain.mean + half)


def bottleneck(s: Sources) -> Evidence:
    """Richer features help on MATH where the text helps, and at the other end nothing does."""
    sets = {
        "our 1.5B model": "math-1.5b",
        "Qwen2.5-7B if wrong answers differ": "math-7b-differ",
        "Qwen2.5-7B if they agree": "math-7b-agree",
    }
    both = {who: [s.gain(name, row) for row in ("curve", "all text")] for who, name in sets.items()}
    says = [f"{who} {_gain(base)} become {_gain(rich)}" for who, (base, rich) in both.items()]
    name = "math-7b-differ"
    questions = s.gain(name, "curve", 2, 5000).mean - s.gain(name, "curve", 2).mean
    features = s.gain(name, "all text", 2).mean - s.gain(name, "curve", 2).mean
    small, differ, agree = both.values()
    return Evidence(
        differ[1].mean - differ[0].mean,
        f"at B = 3 on MATH curves from fifteen features and from all that the text offers: "
        f"{'; '.join(says)}. At B = 2, if they differ, all text adds {in_points(features)}, five "
        f"times as many training questions {in_points(questions)}",
        all(rich.low > base.mean for base, rich in (small, differ))
        and agree[1].high <= agree[0].high
        and features > questions > 0,
    )


def even_importances(s: Sources) -> Evidence:
    """Columns of random numbers have importances like those printed."""
    found = s.record("importances on MATH")
    least, most = s.ablations["importance_range"]
    low, high = float(found.noise_low[0]), float(found.noise_high[0])
    beyond = int((found.importance > found.shuffled_high).sum())
    says = (
        f"random columns range from {low:.3f} to {high:.3f} on MATH, printed {least} to {most}; "
        f"{beyond} of {len(found)} text features pass what shuffled labels give"
    )
    return Evidence(high, says, low > least - 0.03 and high < most + 0.03)
