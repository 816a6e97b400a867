"""What decides on each claim of the paper: a number, what it says, and whether it bears our verdict
out.

The claims themselves, their places and the verdicts are lines of
``data/simulated/paper_register.jsonl``. What a function looks at is an argument, so that a test can
show it something that flips the verdict.
"""

from __future__ import annotations

from functools import partial
from itertools import product

import numpy as np
import pandas as pd

from adalib.evaluate.intervals import in_points, mean_interval
from adalib.paper import results, settings
from adalib.paper.ablations import LEAKS
from adalib.paper.patterns import level_shares, nearest_mix
from adalib.paper.referee import measures, rows_results, rows_theory
from adalib.paper.referee.measures import MATH, SHOWN
from adalib.paper.settings import (
    BENCHMARKS,
    PAPER,
    PAPER_ABLATIONS,
    PAPER_CLAIMS,
    PAPER_SETTINGS,
    PAPER_WAY,
    TARGETS,
)
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import archetypes

_MATH = PAPER_SETTINGS[:3]
_BOTH = "on GSM8K and MATH"


def _ends(interval, digits: int = 1) -> str:
    """A gain in points with its interval; a held-out row calls the ends otherwise."""
    parts = (
        ("gain", "gain_low", "gain_high") if hasattr(interval, "gain") else ("mean", "low", "high")
    )
    mean, low, high = (in_points(getattr(interval, part), digits) for part in parts)
    return f"{mean} points [{low}, {high}]"


def method_claim(rows=measures.honest):
    word = rows()["label"]
    ours = [rows(f"{name} held out")["label"] for name in BENCHMARKS]
    gsm, math = map(_ends, ours)
    says = (
        f"held out at B = 3, imitation gains {_ends(word)} on our word problems, {gsm} on GSM8K, "
        f"{math} on MATH"
    )
    return word.gain, says, word.gain_low > 0 and all(row.gain_low <= 0 for row in ours)


def fast(seconds=rows_theory.seconds_to_train):
    took = seconds()
    return (
        took,
        f"{took:.2f} seconds of processor time on the machine that built this page",
        took < 1,
    )


def windows_claim(estimates=measures.estimates):
    windows = estimates("windows")
    subsets = estimates("subsets")
    off = float(windows.mean())
    error = float(windows.mean(axis=1).std() / np.sqrt(len(windows)))
    ratio = float((windows**2).mean() / (subsets**2).mean())
    says = (
        f"off by {off:+.4f} on average at b = 16, with {ratio:.1f} times the variance of all "
        "subsets"
    )
    return ratio, f"{says} (drawn from the answers to MATH)", abs(off) < 4 * error


def upper(samples=48, optimism=measures.optimism):
    score = measures.rehearsed(samples)
    truth = measures.like_math().table()
    claimed, worth = (float(value[:, -1].mean()) for value in (score.claimed, score.accuracy))
    best = frontier(truth.acc, truth.cost).at(3).accuracy
    gsm, math = (_ends(each) for each in optimism().values())
    says = (
        f"claims {claimed:.3f} where the best labels have {best:.3f} (drawn from the answers to "
        "MATH)"
    )
    says += f"; above its worth on other answers by {gsm} on GSM8K, {math} on MATH"
    clear = all(each.low > 0 for each in optimism().values())
    return claimed - best, says, claimed - best > 0.01 and worth < best and clear


def few_trials(trials=measures.trials):
    votes = trials().loc[16]
    best = trials(True).loc[16]
    says = (
        f"two runs of 16 trials agree on {votes.agree:.2f} of the labels, by best-of-K on "
        f"{best.agree:.2f}"
    )
    says += (
        f"; the commonest label has {votes.common:.2f}; worth {votes.worth:.3f} ± "
        f"{votes.spread:.3f} (MATH)"
    )
    return votes.agree, says, max(votes.agree, best.agree) < 0.9


def one_trial(trials=measures.trials):
    one = trials().loc[1]
    says = (
        f"one trial: standard error {one.error:.3f} for a fixed budget; "
        f"its labels claim {one.claimed:.3f}, worth "
    )
    return (
        one.error,
        f"{says}{one.worth:.3f} (MATH, B = 3)",
        one.error < 0.03 < one.claimed - one.worth,
    )


def grading(printed=PAPER):
    made = PAPER_CLAIMS["elsewhere"][SHOWN]
    first = printed[SHOWN]["main"]["Fixed"]["accuracy"][0]
    spread = np.ptp([printed[name]["per_level"]["2"]["acc1"] for name in _MATH])
    level2 = f"on level 2 three models differ by {spread:.3f}"
    says = f"{first:.3f} printed, {made:.3f} by its makers on MATH-500; {level2}"
    return made - first, says, made - first > 0.2 and spread < 0.02


def stratified(printed=PAPER):
    levels = [[cell["acc1"] for cell in printed[n]["per_level"].values()] for n in _MATH]
    overall = [printed[n]["main"]["Fixed"]["accuracy"][0] for n in _MATH]
    counts, error = nearest_mix(levels, overall)
    return (
        error,
        f"the nearest mix of 200, {counts}, misses by {error:.4f}; rounding allows 0.001",
        error > 0.001,
    )


def listed(row=rows_theory.features):
    lacking = int(row().cells[1].ours)
    says = f"{lacking} names in the figure are not in the list; {LEAKS[0]} needs the answer key"
    return lacking, says, lacking > 0


def overhead(seconds=rows_theory.seconds_to_route):
    took = 1e3 * seconds()
    says = (
        f"reading 15 features and routing takes {took:.2f} ms per question on the machine that "
        "built this page"
    )
    return took, says, took < 1


def seeds(printed=PAPER):
    error = min(float(settings.utility(name).acc[:, 0].std() / np.sqrt(40)) for name in BENCHMARKS)
    spread = max(max(printed[n]["main"]["Ours"]["std"]) for n in PAPER_SETTINGS)
    says = (
        f"40 questions of MATH or GSM8K have a standard error of at least {error:.3f}; printed: "
        f"at most {spread:.3f}"
    )
    return error, says, error > 10 * spread


def worth_claim(names=BENCHMARKS):
    found = [measures.oracle_of(name, 2) for name in names]
    least = min(found, key=lambda row: row["gain"])
    ends = [in_points(least[part]) for part in ("gain", "gain_low", "gain_high")]
    says = "cross-fitted, at least {} points [{}, {}] over the best random mix at B = 2 ".format(
        *ends
    )
    five = min(
        row.gain
        for name in BENCHMARKS
        for row in results.recorded_rows(f"{name} held out")
        if (row.policy, row.target) == ("oracle", 2)
    )
    says += (
        f"{_BOTH}, with up to 40 answers; with the five budgets of the main table {in_points(five)}"
    )
    return least["gain"], says, least["gain"] > 0.02 and least["gain_low"] > 0


def kinds_claim(names=BENCHMARKS):
    kinds = [archetypes(settings.utility(name)) for name in names]
    least = min(
        float(np.mean(k == kind))
        for k in kinds
        for kind in ("easy", "responsive", "diminishing", "hard")
    )
    return (
        least,
        f"the rarest of the four kinds has {least:.0%} of the questions {_BOTH}",
        least > 0.05,
    )


def decoupled(row=rows_theory.oracle):
    worst = max(cell.ours for cell in row().cells)
    return worst, f"largest difference from trying all policies: {worst:g}", worst < 1e-9


def single_knob(row=rows_results.known):
    prices = sum(len(settings.path(name).lam) for name in BENCHMARKS)
    lost = int(row().cells[0].ours)
    return (
        lost,
        f"{lost} of {prices} prices {_BOTH} give a policy that another of equal cost beats",
        lost == 0,
    )


def free(printed=PAPER):
    cost = printed["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return (
        cost,
        f"the paper's own table prints a cost of {cost:.3f} at the price 0, not 16",
        cost < 15.9,
    )


def leaving(setting="word-fewshot"):
    table = settings.utility(setting)
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return (
        hard,
        f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)",
        hard > 0.3,
    )


def targeting(misses=measures.printed_misses):
    missed = misses()
    over = sum(miss > 0 for miss in missed)
    most = max(abs(miss) for miss in missed[:9])
    return (
        over,
        f"{over} of 12 printed policies overspend; the largest miss on MATH is {most:.3f}",
        over > 0,
    )


def nine(misses=measures.printed_misses):
    math = [abs(miss) for miss in misses()[:9]]
    within = sum(miss < 0.05 - 1e-9 for miss in math)
    return (
        within,
        f"{within} of 9 printed misses are below 0.05; the largest is {max(math):.3f}",
        within < 9,
    )


def mixing(misses=measures.mixed_misses):
    off = misses()
    return (
        max(off),
        f"largest miss in {len(off)} cases {_BOTH}: {max(off):g} (expected cost)",
        max(off) < 1e-9,
    )


def logarithm(budget=8.5):
    jump = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2)
    cost = np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, budget).error
    says = (
        f"two equal questions, B = {budget:g}: off by {error:g} after 50 steps, as after any number"
    )
    return error, says, error > 1


def lattice(finer=None):
    half = settings.answers(MATH[0]).split_samples(0)[0]  # 48 answers, as the paper has
    tables = [half.table(**way) for way in (PAPER_WAY, finer or {})]
    widest = [float(np.diff(frontier(table.acc, table.cost).cost).max()) for table in tables]
    says = (
        f"on MATH the widest step is {widest[0]:.2f} with windows of 48 answers, "
        f"{widest[1]:.2f} with all subsets"
    )
    return widest[1] / widest[0], says, widest[1] < 0.7 * widest[0]


def _holds(statement: str, lines: slice, fared=measures.failures):
    """Of a statement that is right as printed: it fails nowhere."""
    table = fared(statement)[lines]
    broken = int(table.failures.sum())
    return broken, f"{broken} failures in {table.cases.iloc[0]} random cases", broken == 0


def _fails(statement: str, line: int, fared=measures.failures):
    """Of a statement that is not: it fails, and what we put in its place does not."""
    table = fared(statement)
    broken = int(table.failures[line])
    ours = int(table.failures[table.version == "ours"].sum())
    says = (
        f"fails in {broken} of {table.cases[line]} random cases; what we put in its place in {ours}"
    )
    return broken, says, broken > 0 and ours == 0


# The lines of a statement's survey that a claim is about; the printed ones come first.
theorem_1 = partial(_holds, "Theorem 1", slice(1))
weak_duality = partial(_holds, "Weak duality", slice(1))
relaxation = partial(_holds, "Proposition 1", slice(2, 3))
theorem_2 = partial(_holds, "Theorem 2", slice(2))
corollary_1 = partial(_holds, "Corollary 1", slice(1))
theorem_3_1 = partial(_holds, "Theorem 3", slice(1))
proposition_1 = partial(_fails, "Proposition 1", 0)
optimality_condition = partial(_fails, "Optimal price", 0)
theorem_3_2 = partial(_fails, "Theorem 3", 1)


def exact(fared=measures.failures):
    missed = int(fared("Proposition 1").failures[1])
    everett = int(fared("Everett").failures.sum())
    says = (
        f"misses the best policy for B in {missed} of 700 random cases, that for its own cost in "
        f"{everett}"
    )
    return missed, says, missed > 0 and everett == 0


def proportional(compared=measures.on_math):
    runs = pd.concat(
        [compared(*way).runs for way in product(("noise", "text"), ("row", "question"))]
    )
    tight = float((runs.regret / runs.largest).mean())
    return (
        tight,
        f"regret is {tight:.0%} of its bound on average over {len(runs)} classifiers on MATH",
        tight < 0.5,
    )


def drawn_claim(lines=measures.lines_passed, fared=measures.failures):
    dotted, dashed = lines()
    theorem = fared("Theorem 2")
    broken = int(theorem.failures[:2].sum())
    cases = theorem.cases.iloc[0]
    says = (
        f"of {cases} random cases, accuracy lost passes the dotted line in {dotted} and the "
        f"dashed in {dashed}"
    )
    return (
        dotted,
        f"{says}; regret passes the dotted line in {broken}",
        min(dotted, dashed) > 0 and broken == 0,
    )


def vanishes(copies=measures.perfect_copies):
    broken, tried = copies()
    return (
        broken,
        f"a perfect copy breaks the bound in {broken} of {tried} random cases",
        broken > 0,
    )


def everywhere(implied=results.implied_held_out, held=measures.on_benchmarks):
    gain = 100 * implied().gain
    clear = sum(row.gain_low > 0 for row in held("label"))
    says = (
        f"{gain.mean():+.2f} points over a mix at equal cost ({gain.min():+.1f} to "
        f"{gain.max():+.1f})"
    )
    says = (
        f"if it remembers, on new ones {says}; held out, a small model gains clearly in {clear} "
        f"of 6 cells {_BOTH}"
    )
    return gain.mean(), says, abs(gain.mean()) < 0.5


def noise_table(rows=measures.reconstructed, held=measures.on_benchmarks):
    cells = rows().pivot(index=["setting", "target"], columns="method", values="accuracy")
    ahead = int(cells.Ours.gt(cells[["Fixed", "Random", "Heuristic"]].max(axis=1)).sum())
    label = held("label")
    clear = sum(row.gain_low > 0 for row in label)
    says = (
        f"by our reconstruction noise features beat all three baselines in {ahead} of "
        f"{len(cells)} cells {_BOTH}"
    )
    says += f"; held out, text gains clearly in {clear} of {len(label)}"
    return ahead, says, ahead == len(cells) and clear == 0


def matched(gains=results.claimed_gains):
    best = gains().set_index("setting").loc["qwen2.5-7b-math"]
    left = f"beside a mix at equal cost {best.over_mix:.3f} is left"
    says = f"costs {best.cost:.2f} against {best.fixed_cost:.2f}; {left}"
    return best.cost / best.fixed_cost - 1, says, best.cost > best.fixed_cost


def points(gains=measures.printed_gains, claimed=results.claimed_gains):
    ours = 100 * gains("Ours")[:3]
    printed_range = [100 * end for end in PAPER_CLAIMS["gain_range"]]
    off = float(100 * (claimed().claimed - claimed().difference).abs().max())
    says = (
        f"the table has {ours.min():.1f} to {ours.max():.1f} points on MATH; "
        f"at B = 3 the text is off by {off:.1f}"
    )
    return (
        ours.min(),
        says,
        off < 0.1 + 1e-9 and np.allclose(np.round([ours.min(), ours.max()]), printed_range),
    )


def imitation(rows=measures.reconstructed, implied=results.implied_held_out):
    noise = rows().imitation.dropna()
    implied = implied()
    below = int((implied.held_out_imitation < implied.majority).sum())
    says = (
        f"noise features imitate {noise.min():.0%} to {noise.max():.0%} {_BOTH}, "
        "scored on all questions"
    )
    says += f"; on new ones the printed averages then imply less than always b = 1 in {below} of 12"
    return noise.min(), says, noise.min() > 0.88 and below > 6


def thrift(rows=measures.reconstructed):
    ours = rows().query("method == 'Ours' and target == 3").set_index("setting").cost
    gsm8k, math = (ours[name] for name in BENCHMARKS)
    says = (
        f"noise features spend {gsm8k:.2f} of 3 on GSM8K and {math:.2f} on MATH as well; printed "
    )
    return ours.max(), f"{says}{PAPER[SHOWN]['main']['Ours']['cost'][-1]:.2f}", ours.max() < 2.9


def heuristic(gains=measures.printed_gains):
    length, random = (100 * gains(method)[:3] for method in ("Heuristic", "Random"))
    printed_range = [100 * end for end in PAPER_CLAIMS["heuristic_range"]]
    ahead = int((random > length).sum())
    says = (
        f"the table has {length.min():.1f} to {length.max():.1f} points on MATH, as the text says"
    )
    says += f"; Random, which knows nothing, is ahead in {ahead} of {length.size} cells"
    return (
        length.max(),
        says,
        np.allclose([length.min(), length.max()], printed_range, atol=0.05) and ahead > 0,
    )


def baselines(printed=PAPER):
    same = 0
    extra = []
    for name in PAPER_SETTINGS:
        fixed, random = (
            printed[name]["main"][method]["accuracy"] for method in ("Fixed", "Random")
        )
        one = fixed[0]
        four = printed[name]["implied_acc4"]
        same += random[1] == fixed[1]
        extra += [
            one + (four - one) * (B - 1) / 3 - r for B, r in zip(TARGETS, random, strict=True)
        ]
    says = (
        f"Random at B = 2 is Fixed in {same} of 4; a mix of 1 and 4 is up to "
        f"{100 * max(extra):.1f} points better"
    )
    return max(extra), says, same == 4 and max(extra) > 0.005


def middle(along=measures.along):
    found = along().set_index("target")
    oracle, curve = (found[found.policy == policy] for policy in ("oracle", "curve"))
    peaks = oracle.groupby("setting").gain.idxmax()
    says = (
        f"the cross-fitted oracle leads the best mix most at B = {peaks.iloc[0]:g} on GSM8K, "
        f"{peaks.iloc[1]:g} on MATH"
    )
    says += f"; the text's lead is clear at {int((curve.low > 0).sum())} of {len(curve)} budgets"
    return peaks.max(), says, peaks.between(2, 6).all() and not (curve.low > 0).any()


def plateau(printed=PAPER):
    least = min(min(printed[name]["level_gain"]) for name in _MATH)
    three = max(np.subtract(*printed[name]["main"]["Fixed"]["accuracy"][::-2]) for name in _MATH)
    says = (
        f"in print Fixed gains at most {in_points(three)} points from B = 1.5 to 3 on MATH, "
        "and a vote of 16"
    )
    return (
        least,
        f"{says} at least {in_points(least)} over one answer, on every level",
        least - three > 0.01,
    )


def predictable(correlations=measures.ranked_by_text):
    reach = 1.96 / np.sqrt(297)  # what chance reaches with 300 questions
    (easy, gsm), (hard, math) = correlations().values()
    says = (
        "on unseen questions of GSM8K and MATH, text ranks accuracy with a correlation of "
        f"{easy:.2f} and {hard:.2f}"
    )
    says += (
        f", and the gain from more answers with {gsm:+.2f} and {math:+.2f}; "
        f"chance reaches {reach:.2f}"
    )
    return easy, says, easy > reach and max(abs(gsm), abs(math)) < reach


def medium(levels=measures.levels):
    large, small = levels()
    tops = [int(each.gain.idxmax()) for each in (large, small)]
    apart = large.gain_low[3] > large.gain_high[2]
    says = f"on MATH our larger model gains most at level {tops[0]}, our smaller at level {tops[1]}"
    says += f"; the larger one's intervals of levels 2 and 3 {'part' if apart else 'overlap'}"
    return large.gain[3], says, tops == [3, 2] and not apart


def by_difficulty(contrast=measures.contrast):
    found = contrast()
    says = "from our smaller to our larger model, level 3 of MATH gains more than level 2 does, by"
    return found.mean, f"{says} {_ends(found)}", found.low > 0


def selective(budget=3.0):
    tables = [measures.in_sample(name) for name in (*BENCHMARKS, MATH[1])]
    ones = [
        float(np.mean(frontier(table.acc, table.cost).at(budget).labels == 0)) for table in tables
    ]
    says = (
        f"{min(ones):.0%} to {max(ones):.0%} of the questions at B = {budget:g}, "
        "GSM8K and MATH (in-sample)"
    )
    return min(ones), says, min(ones) > 0.5


def two_rare(printed=PAPER):
    more = [
        np.subtract(*printed[name]["main"]["Fixed"]["accuracy"][1::-1]) for name in PAPER_SETTINGS
    ]
    says = (
        f"printed Fixed at b = 2 minus b = 1: {in_points(min(more))} to {in_points(max(more))} "
        "points"
    )
    return max(more), says, max(more) < 0.0005


def two_frequent(printed=PAPER):
    rows = np.concatenate([printed[name]["label_shares"] for name in _MATH])
    behind = int((np.sort(rows[:, 2:], axis=1)[:, -2] > rows[:, 1]).sum())
    return behind, f"b = 2 is behind two larger budgets in {behind} of 9 printed rows", behind > 0


def hump(null=measures.null_hump, fifths=measures.fifths):
    value = null()
    best = fifths().sort_values("gain").iloc[-1]
    says = (
        f"{value:.1f} more answers for the middle fifth where nobody benefits (simulated null); "
        "on MATH the fifth "
    )
    says += f"that gains most has {_ends(best)} on other answers"
    return value, says, value > 1 and best.gain_low > 0


def levels_claim(printed=PAPER):
    gains = np.array([printed[name]["level_gain"] for name in _MATH])
    more = int((gains[:, 0] > gains[:, 2]).sum())
    table = measures.in_sample()
    labels = bisect(table.acc, table.cost, 1.5).labels
    shares = level_shares(labels, measures.levels_of(MATH[0]), table.k).iloc[:, 2:].sum(axis=1)
    get = (
        f"on our MATH {shares[2]:.0%}, {shares[3]:.0%} and {shares[4]:.0%} of levels 2, "
        "3 and 4 get b ≥ 4 at B = 1.5"
    )
    return more, f"level 2 gains more than 4 in {more} of 3 printed settings; {get}", more == 3


def faithful(copied=measures.copied):
    noise, text = copied()
    says = (
        f"on MATH at B = 3 noise copies the map within {noise:.2f} per cell if most questions "
        "were learned"
    )
    return (
        text,
        f"{says}; on unseen questions text misses it by up to {text:.2f}",
        noise < 0.15 and text > 0.15,
    )


def four_clusters(clusters=measures.real_clusters):
    centres = clusters()
    easy, hard, first = (centres[key] for key in ("easy_first", "hard_highest", "responsive_first"))
    says = (
        f"easy from {easy:.2f}, hard below {hard:.2f}, responsive from {first:.2f} ({_BOTH}, "
        "two models)"
    )
    return first, says, easy >= 0.75 and hard < 0.25 and 0.25 < first < 0.5


def responsive(clusters=measures.real_clusters):
    share = clusters()["responsive_share"]
    return (
        share,
        f"{share:.0%} of the larger budgets on MATH at B = 2; both come from the same curves",
        share < 0.95,
    )


def trees(compared=measures.on_math):
    ours = {
        split: measures.trees_over_linear(compared("noise", split)) for split in ("row", "question")
    }
    rows, questions = map(in_points, (ours["row"], ours["question"]))
    lead = compared("text", "fold").gain("gbm", "logistic")
    says = (
        f"on MATH with noise features {rows} points split by rows, {questions} split by questions"
    )
    says += f"; with text, every question scored once, {_ends(lead)}"
    return (
        ours["question"],
        says,
        ours["row"] > 0.01 and abs(ours["question"]) < 0.01 and lead.low <= 0,
    )


def constant_gap(printed=PAPER_ABLATIONS):
    table = pd.DataFrame(printed["classifiers"]).T
    both = table.accuracy + table.gap
    first, oracle = (
        float(np.mean([np.take(PAPER[name]["main"][method]["accuracy"], column) for name in _MATH]))
        for method, column in (("Fixed", 0), ("Oracle", range(3)))
    )
    off = first - table.accuracy["svm"]
    says = (
        f"accuracy and gap add up to {both.min():.3f} to {both.max():.3f} in all five rows; "
        f"mean oracle {oracle:.3f}"
    )
    says += f"; the SVM, of cost 1.00, is {off:.3f} below one answer each"
    return off, says, (both - oracle).abs().max() < 0.001


def errors_claim(printed=PAPER_ABLATIONS):
    errors = 1 - pd.DataFrame(printed["classifiers"]).T.imitation
    return (
        errors.min(),
        f"the table has {errors.min():.1%} to {errors.max():.1%}",
        errors.min() > 0.1,
    )


def near_claim(compared=measures.on_math):
    text = compared("text", "question")
    noise = compared("noise", "row")
    strict = measures.near_misses(text.confusion("gbm"))
    charity = measures.near(text)
    says = (
        f"on unseen questions of MATH {strict['near']:.0%} of errors go to the next budget, "
        f"{charity['near']:.0%} if 4 "
    )
    says += (
        f"counts as next to 1 (noise by rows: {measures.near(noise)['near']:.0%}); "
        f"{strict['to_first']:.0%} go to b = 1"
    )
    return strict["near"], says, max(strict["near"], charity["near"]) < 0.5


def dozens(curve=measures.curve_of_data, grown=results.recorded_frame):
    crossed = measures.passes_fixed(curve(MATH[0]))
    held = [grown(f"{name}, held-out shares") for name in BENCHMARKS]
    label = pd.concat(held).query("policy == 'label'")
    says = (
        f"on MATH noise features cross Fixed at {crossed:.0%} of the data (B = 3); "
        "held out, text gains clearly in "
    )
    says += (
        f"{int((label.low > 0).sum())} of {len(label)} cells {_BOTH}, from "
        f"{label.questions.min():.0f} questions up"
    )
    return crossed, says, crossed <= 0.25 and not (label.low > 0).any()


def bottleneck(curve=measures.curve_of_data):
    every = curve(MATH[0]).loc["all"]
    gap = float(every.oracle[1.0] - every.accuracy[1.0])
    return (
        gap,
        f"noise features, trained on all of MATH, are {gap:.3f} from the oracle",
        abs(gap) < 0.005,
    )


def powers(menus=measures.menus_of):
    found = pd.DataFrame([menus(name) for name in BENCHMARKS])
    parts = [
        f"{in_points(values.min(), 2)} to {in_points(values.max(), 2)}"
        for _, values in found.items()
    ]
    range_by_menu = dict(zip(found.columns, parts, strict=True))
    says = (
        f"cross-fitted {_BOTH}: fine {range_by_menu['fine']} points, "
        f"coarse {range_by_menu['coarse']}, without 2 {range_by_menu['without 2']}"
    )
    small = (found["without 2"].abs() < 0.0005).all() and (
        found["coarse"] < found["without 2"]
    ).all()
    return found["fine"].max(), says, small and found["fine"].between(0, 0.003).all()


def even(importances=measures.importances):
    found = importances()
    least, most = PAPER_ABLATIONS["importance_range"]  # of the 16 printed features
    low = found.noise_low[0]
    high = found.noise_high[0]
    beyond = int((found.importance > found.shuffled_high).sum())
    says = (
        f"noise columns range from {low:.3f} to {high:.3f} on MATH; "
        f"{beyond} of {len(found)} text features pass "
    )
    says += f"what shuffled labels give; 15 × {least} + {most} = {15 * least + most:.2f} > 1"
    return high - low, says, least - 0.03 < low and high < most + 0.03


def first_claim(row=rows_results.known):
    differs = int(row().cells[0].ours)
    prices = sum(len(settings.path(name).lam) for name in BENCHMARKS)
    says = (
        f"the solve stage allocates otherwise than a rule of 1966 (Fox) at {differs} of {prices} "
        "prices"
    )
    return differs, says, differs == 0


def difference(rows=measures.honest):
    held = [rows(f"{name} held out") for name in BENCHMARKS]
    leads = [mean_interval(np.subtract(each["curve"].gains, each["label"].gains)) for each in held]
    gsm, math = map(_ends, leads)
    says = (
        f"held out at B = 3, pricing predicted curves leads imitating labels by {gsm} on GSM8K, "
        f"{math} on MATH"
    )
    # Open is what helps: one way may lead the other, but neither shows a gain over the mix.
    shown = any(each[policy].gain_low > 0 for each in held for policy in ("curve", "label"))
    return max(lead.mean for lead in leads), says, not shown


def any_setting(settings=("word-fewshot", "drill-fewshot")):
    words, drills = (measures.oracle_of(setting, 3)["gain"] for setting in settings)
    gains = "{} points on word problems, {} on drills".format(*map(in_points, (words, drills)))
    says = f"cross-fitted oracle over the best mix at B = 3: {gains} (real)"
    return drills / words, says, drills < words / 2


def discrete(menu=tuple(range(1, 17))):
    more = [measures.menus_of(name, menu=menu)["mine"] for name in BENCHMARKS]
    parts = [in_points(value, 2) for value in more]
    says = "all whole numbers up to 16 add {} and {} points at B = 2, cross-fitted ".format(*parts)
    return max(more), says + _BOTH, min(more) > 0 and max(more) < 0.005
