"""What decides on each claim of the paper: a number, what it says, and whether it bears our verdict out.

The claims themselves, their places and the verdicts are lines of ``data/simulated/paper_register.jsonl``. What a
function looks at is an argument, so that a test can show it something that flips the verdict.
"""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd

from adalib.evaluate.intervals import in_points
from adalib.paper import results, settings
from adalib.paper.ablations import LEAKS
from adalib.paper.patterns import by_level, level_shares, nearest_mix
from adalib.paper.settings import PAPER, PAPER_ABLATIONS, PAPER_CLAIMS, PAPER_SETTINGS, PAPER_WAY, REAL, TARGETS
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier
from adalib.solve.oracle import oracle_labels
from adalib.table import archetypes
from referee import measures, rows_results, rows_theory
from referee.measures import SHOWN

_MATH = PAPER_SETTINGS[:3]


def method_claim(rows=measures.honest):
    label = rows()["label"]
    parts = map(in_points, (label.gain, label.gain_low, label.gain_high))
    says = "imitation gains {} points ({} to {}) held out (real, B = 3)".format(*parts)
    return label.gain, says, label.gain_low > 0


def fast(seconds=rows_theory.seconds_to_train):
    took = seconds()
    return took, f"{took:.2f} seconds of processor time on the machine that built this page", took < 1


def windows_claim(estimates=measures.estimates):
    windows, subsets = estimates("windows"), estimates("subsets")
    off, error = float(windows.mean()), float(windows.mean(axis=1).std() / np.sqrt(len(windows)))
    ratio = float((windows**2).mean() / (subsets**2).mean())
    says = f"off by {off:+.4f} on average at b = 16, with {ratio:.1f} times the variance of all subsets (simulated)"
    return ratio, says, abs(off) < 4 * error


def upper(samples=48):
    score, truth = measures.rehearsed(samples), settings.paper_population(SHOWN).table()
    claimed, worth = (float(value[:, -1].mean()) for value in (score.claimed, score.accuracy))
    best = frontier(truth.acc, truth.cost).at(3).accuracy
    says = f"claims {claimed:.3f}; its labels are worth {worth:.3f}, the best have {best:.3f} (simulated, B = 3)"
    return claimed - best, says, claimed - best > 0.01 and worth < best


def few_trials(trials=measures.trials):
    votes, best = trials().loc[16], trials(True).loc[16]
    says = f"two runs of 16 trials agree on {votes.agree:.2f} of the labels, by best-of-K on {best.agree:.2f}"
    says += f"; the commonest label has {votes.common:.2f}; worth {votes.worth:.3f} ± {votes.spread:.3f} (simulated)"
    return votes.agree, says, max(votes.agree, best.agree) < 0.9


def one_trial(trials=measures.trials):
    one = trials().loc[1]
    says = f"one trial: standard error {one.error:.3f} for a fixed budget; its labels claim {one.claimed:.3f}, worth "
    return one.error, f"{says}{one.worth:.3f} (simulated, B = 3)", one.error < 0.03 < one.claimed - one.worth


def grading(printed=PAPER):
    made, first = PAPER_CLAIMS["elsewhere"][SHOWN], printed[SHOWN]["main"]["Fixed"]["accuracy"][0]
    spread = np.ptp([printed[name]["per_level"]["2"]["acc1"] for name in _MATH])
    level2 = f"on level 2 three models differ by {spread:.3f}"
    says = f"{first:.3f} printed, {made:.3f} by its makers on MATH-500; {level2}"
    return made - first, says, made - first > 0.2 and spread < 0.02


def stratified(printed=PAPER):
    levels = [[cell["acc1"] for cell in printed[n]["per_level"].values()] for n in _MATH]
    overall = [printed[n]["main"]["Fixed"]["accuracy"][0] for n in _MATH]
    counts, error = nearest_mix(levels, overall)
    return error, f"the nearest mix of 200, {counts}, misses by {error:.4f}; rounding allows 0.001", error > 0.001


def listed(row=rows_theory.features):
    lacking = int(row().cells[1].ours)
    says = f"{lacking} names in the figure are not in the list; {LEAKS[0]} needs the answer key"
    return lacking, says, lacking > 0


def overhead(seconds=rows_theory.seconds_to_route):
    took = 1e3 * seconds()
    says = f"reading 15 features and routing takes {took:.2f} ms a question on the machine that built this page"
    return took, says, took < 1


def seeds(printed=PAPER):
    table = settings.utility(SHOWN)
    error = float(table.acc[:, 0].std() / np.sqrt(0.2 * table.n))
    spread = max(max(printed[n]["main"]["Ours"]["std"]) for n in PAPER_SETTINGS)
    says = f"40 questions have a standard error of {error:.3f} (simulated); printed: at most {spread:.3f}"
    return error, says, error > 10 * spread


def worth_claim(setting="word-fewshot"):
    found = measures.oracle_of(setting, 2)
    says = (
        f"{in_points(found['gain'])} points over the best random mix at cost {found['cost']:.2f} (real, cross-fitted)"
    )
    return found["gain"], says, found["gain"] > 0.02


def kinds_claim(setting="word-fewshot"):
    kinds = archetypes(settings.utility(setting))
    least = min(float(np.mean(kinds == kind)) for kind in ("easy", "responsive", "diminishing", "hard"))
    return least, f"the rarest of the four kinds has {least:.0%} of the questions (real)", least > 0.05


def decoupled(row=rows_theory.oracle):
    worst = max(cell.ours for cell in row().cells)
    return worst, f"largest difference from trying all plans: {worst:g}", worst < 1e-9


def single_knob(row=rows_results.known):
    prices = sum(len(settings.path(name).lam) for name in PAPER_SETTINGS)
    lost = int(row().cells[0].ours)
    return lost, f"{lost} of {prices} prices give a plan that another of equal cost beats", lost == 0


def free(printed=PAPER):
    cost = printed["deepseek-v3-gsm8k"]["lambda_sweep"]["cost"][-1]
    return cost, f"the paper's own table prints a cost of {cost:.3f} at the price 0, not 16", cost < 15.9


def leaving(setting="word-fewshot"):
    table = settings.utility(setting)
    content = oracle_labels(table.acc, table.cost, 0.01) == 0
    hard = float(np.mean(archetypes(table)[content] == "hard"))
    return hard, f"{hard:.0%} of the questions that stay at b = 1 at a price of 0.01 are hard (real)", hard > 0.3


def targeting(misses=measures.printed_misses):
    missed = misses()
    over, most = sum(miss > 0 for miss in missed), max(abs(miss) for miss in missed[:9])
    return over, f"{over} of 12 printed plans overspend; the largest miss on MATH is {most:.3f}", over > 0


def nine(misses=measures.printed_misses):
    math = [abs(miss) for miss in misses()[:9]]
    within = sum(miss < 0.05 - 1e-9 for miss in math)
    return within, f"{within} of 9 printed misses are below 0.05; the largest is {max(math):.3f}", within < 9


def mixing(misses=measures.mixed_misses):
    off = misses()
    return max(off), f"largest miss in {len(off)} cases: {max(off):g} (expected cost)", max(off) < 1e-9


def logarithm(budget=8.5):
    jump, cost = np.array([[0.2, 0.2, 0.2, 0.2, 0.8]] * 2), np.array([1, 2, 4, 8, 16])
    error = bisect(jump, cost, budget).error
    says = f"two equal questions, B = {budget:g}: off by {error:g} after 50 steps, as after any number"
    return error, says, error > 1


def lattice(finer=None):
    tables = [settings.answers("qwen2.5-7b-math").table(**way) for way in (PAPER_WAY, finer or {})]
    widest = [float(np.diff(frontier(table.acc, table.cost).cost).max()) for table in tables]
    says = f"simulated Qwen2.5-7B: widest step {widest[0]:.2f} with windows, {widest[1]:.2f} with all subsets"
    return widest[1] / widest[0], says, widest[1] < 0.7 * widest[0]


def _holds(statement: str, lines: slice, fared=measures.failures):
    """Of a statement that is right as printed: it fails nowhere."""
    table = fared(statement)[lines]
    broken = int(table.failures.sum())
    return broken, f"{broken} failures in {table.cases.iloc[0]} random cases", broken == 0


def _fails(statement: str, line: int, fared=measures.failures):
    """Of a statement that is not: it fails, and what we put in its place does not."""
    table = fared(statement)
    broken, ours = int(table.failures[line]), int(table.failures[table.version == "ours"].sum())
    says = f"fails in {broken} of {table.cases[line]} random cases; what we put in its place in {ours}"
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
    missed, everett = int(fared("Proposition 1").failures[1]), int(fared("Everett").failures.sum())
    says = f"misses the best plan for B in {missed} of 700 random cases, that for its own cost in {everett}"
    return missed, says, missed > 0 and everett == 0


def proportional(compared=measures.compared):
    runs = pd.concat([compared(split).runs for split in ("row", "question")])
    tight = float((runs.regret / runs.largest).mean())
    return tight, f"regret is {tight:.0%} of its bound on average over {len(runs)} runs (simulated pool)", tight < 0.5


def drawn_claim(lines=measures.lines_passed, fared=measures.failures):
    (dotted, dashed), theorem = lines(), fared("Theorem 2")
    broken, cases = int(theorem.failures[:2].sum()), theorem.cases.iloc[0]
    says = f"of {cases} random cases, accuracy lost passes the dotted line in {dotted} and the dashed in {dashed}"
    return dotted, f"{says}; regret passes the dotted line in {broken}", min(dotted, dashed) > 0 and broken == 0


def vanishes(copies=measures.perfect_copies):
    broken, tried = copies()
    return broken, f"a perfect copy breaks the bound in {broken} of {tried} random cases", broken > 0


def everywhere(implied=results.implied_held_out):
    gain = 100 * implied().gain
    says = f"{gain.mean():+.2f} points over a coin at equal cost ({gain.min():+.1f} to {gain.max():+.1f})"
    return gain.mean(), f"outside training, if so, {says}", abs(gain.mean()) < 0.5


def noise_table(row=rows_results.main):
    ours = [cell for cell in row().cells if ", Ours," in cell.name]
    inside = sum(cell.agrees for cell in ours)
    says = f"noise features give {inside} of its {len(ours)} cells (simulated); on GSM8K 0.02 would pass b = 1 for all"
    return inside, says, inside == len(ours)


def matched(gains=results.claimed_gains):
    best = gains().set_index("setting").loc["qwen2.5-7b-math"]
    left = f"beside a coin at equal cost {best.over_mix:.3f} is left"
    says = f"costs {best.cost:.2f} against {best.fixed_cost:.2f}; {left}"
    return best.cost / best.fixed_cost - 1, says, best.cost > best.fixed_cost


def points(gains=measures.printed_gains, claimed=results.claimed_gains):
    ours, said = 100 * gains("Ours")[:3], [100 * end for end in PAPER_CLAIMS["gain_range"]]
    off = float(100 * (claimed().claimed - claimed().difference).abs().max())
    says = f"the table has {ours.min():.1f} to {ours.max():.1f} points on MATH; at B = 3 the text is off by {off:.1f}"
    return ours.min(), says, off < 0.1 + 1e-9 and np.allclose(np.round([ours.min(), ours.max()]), said)


def imitation(gap=results.oracle_gap, implied=results.implied_held_out):
    table, implied = gap(), implied()
    off = float((table.imitation - table.printed_imitation).abs().max())
    below = int((implied.held_out_imitation < implied.majority).sum())
    new = f"implied on new questions: below always-one in {below} of 12"
    return off, f"noise features come within {off:.3f} (simulated, scored on all); {new}", off < 0.02 and below > 6


def thrift(table=results.main_table):
    ours = table().set_index(["setting", "method", "target"]).loc[(SHOWN, "Ours", 3.0)]
    says = f"noise features spend {ours.cost:.2f} of 3 as well; printed {ours.printed_cost:.2f}"
    return ours.cost, says, ours.cost < 2.9


def heuristic(gains=measures.printed_gains):
    length, random = (100 * gains(method)[:3] for method in ("Heuristic", "Random"))
    said, ahead = [100 * end for end in PAPER_CLAIMS["heuristic_range"]], int((random > length).sum())
    says = f"the table has {length.min():.1f} to {length.max():.1f} points on MATH, as the text says"
    says += f"; Random, which knows nothing, is ahead in {ahead} of {length.size} cells"
    return length.max(), says, np.allclose([length.min(), length.max()], said, atol=0.05) and ahead > 0


def baselines(printed=PAPER):
    same, extra = 0, []
    for name in PAPER_SETTINGS:
        fixed, random = (printed[name]["main"][method]["accuracy"] for method in ("Fixed", "Random"))
        one, four = fixed[0], printed[name]["implied_acc4"]
        same += random[1] == fixed[1]
        extra += [one + (four - one) * (B - 1) / 3 - r for B, r in zip(TARGETS, random, strict=True)]
    says = f"Random at B = 2 is Fixed in {same} of 4; a mix of 1 and 4 is up to {100 * max(extra):.1f} points better"
    return max(extra), says, same == 4 and max(extra) > 0.005


def middle(frontier=measures.frontier_of_shown):
    front = frontier().set_index("budget")
    noise, oracle = (float(lead.idxmax()) for lead in (front.learned - front.fixed, front.oracle - front["mix"]))
    says = f"noise leads Fixed most at B = {noise:g}, the true oracle the best mix at B = {oracle:g} (simulated)"
    return noise, says, 2 <= noise <= 6


def plateau(printed=PAPER):
    least = min(min(printed[name]["level_gain"]) for name in _MATH)
    three = max(np.subtract(*printed[name]["main"]["Fixed"]["accuracy"][::-2]) for name in _MATH)
    says = f"in print Fixed gains at most {in_points(three)} points from B = 1.5 to 3 on MATH, and a vote of 16"
    return least, f"{says} at least {in_points(least)} over one answer, on every level", least - three > 0.01


def predictable(rows=measures.honest):
    question, family = rows()["curve"], rows(by_family=True)["curve"]
    parts = map(in_points, (question.gain, family.gain, family.gain_low, family.gain_high))
    says = "on our questions {} points over the mix at B = 3; on families never seen {} ({} to {})".format(*parts)
    return question.gain, says, question.gain_low > 0


def medium(by_level=by_level):
    overlap = 0
    for name in _MATH:
        gains = by_level(settings.utility(name), [str(level) for level in settings.levels_of(name)]).set_index("level")
        overlap += gains.gain_low["3"] < gains.gain_high["2"]
    return overlap, f"the intervals of levels 2 and 3 overlap in {overlap} of 3 settings (simulated)", overlap == 3


def by_difficulty(printed=PAPER):
    first = [[cell["acc1"] for cell in printed[name]["per_level"].values()] for name in _MATH]
    spread = float(np.ptp(first, axis=0).min())
    return spread, f"three models on the same questions; level-2 accuracies differ by {spread:.3f}", spread < 0.02


def selective(budget=3.0):
    ones = [float(np.mean(settings.path(name).at(budget).labels == 0)) for name in REAL]
    says = f"{min(ones):.0%} to {max(ones):.0%} of the questions at B = {budget:g}, four real settings (in-sample)"
    return min(ones), says, min(ones) > 0.5


def two_rare(printed=PAPER):
    more = [np.subtract(*printed[name]["main"]["Fixed"]["accuracy"][1::-1]) for name in PAPER_SETTINGS]
    says = f"printed Fixed at b = 2 minus b = 1: {in_points(min(more))} to {in_points(max(more))} points"
    return max(more), says, max(more) < 0.0005


def two_frequent(printed=PAPER):
    rows = np.concatenate([printed[name]["label_shares"] for name in _MATH])
    behind = int((np.sort(rows[:, 2:], axis=1)[:, -2] > rows[:, 1]).sum())
    return behind, f"b = 2 is behind two larger budgets in {behind} of 9 printed rows", behind > 0


def hump(null=measures.null_hump):
    value = null()
    says = f"{value:.1f} more answers for the middle fifth where nobody benefits (simulated null)"
    return value, says, value > 1


def levels_claim(printed=PAPER):
    gains = np.array([printed[name]["level_gain"] for name in _MATH])
    more = int((gains[:, 0] > gains[:, 2]).sum())
    shares = level_shares(measures.searched(SHOWN, 1.5).labels, settings.levels_of(SHOWN), 5).iloc[:, 2:].sum(axis=1)
    get = f"simulated, {shares[2]:.0%} and {shares[4]:.0%} get b ≥ 4"
    return more, f"level 2 gains more in {more} of 3 printed settings; {get}", more == 3


def faithful(copied=measures.copied):
    apart = copied()
    return apart, f"noise copies the map within {apart:.2f} a cell (simulated, B = 3)", apart < 0.15


def four_clusters(clusters=measures.clusters):
    centres = clusters()
    easy, hard, first = (centres[key] for key in ("easy_first", "hard_highest", "responsive_first"))
    says = f"easy from {easy:.2f}, hard below {hard:.2f}; responsive from {first:.2f}, not 0.35 (simulated)"
    return first, says, easy >= 0.75 and hard < 0.25 and abs(first - 0.35) > 0.1


def responsive(clusters=measures.clusters):
    share = clusters()["responsive_share"]
    return share, f"{share:.0%} of the larger budgets (simulated); both come from the same curves", share < 0.95


def trees(table=measures.classifier_table):
    ours = {split: measures.trees_over_linear(table(split)) for split in ("row", "question")}
    rows, questions = map(in_points, (ours["row"], ours["question"]))
    says = f"with noise features {rows} points split by rows, {questions} split by questions (simulated)"
    return ours["question"], says, ours["row"] > 0.01 and abs(ours["question"]) < 0.01


def constant_gap(printed=PAPER_ABLATIONS):
    table = pd.DataFrame(printed["classifiers"]).T
    both = table.accuracy + table.gap
    first, oracle = (
        float(np.mean([np.take(PAPER[name]["main"][method]["accuracy"], column) for name in _MATH]))
        for method, column in (("Fixed", 0), ("Oracle", range(3)))
    )
    off = first - table.accuracy["svm"]
    says = f"accuracy and gap add up to {both.min():.3f} to {both.max():.3f} in all five rows; mean oracle {oracle:.3f}"
    says += f"; the SVM, of cost 1.00, is {off:.3f} below one answer each"
    return off, says, (both - oracle).abs().max() < 0.001


def errors_claim(printed=PAPER_ABLATIONS):
    errors = 1 - pd.DataFrame(printed["classifiers"]).T.imitation
    return errors.min(), f"the table has {errors.min():.1%} to {errors.max():.1%}", errors.min() > 0.1


def near_claim(near=measures.near):
    share, first = (near()[key] for key in ("near", "to_first"))
    says = f"noise: {share:.0%} of errors go next door, {first:.0%} to b = 1 (simulated, by rows)"
    return share, says, share < 0.5


def dozens(curve=measures.curve_of_data):
    crossed = measures.passes_fixed(curve())
    return crossed, f"noise features cross Fixed at {crossed:.0%} of the data (simulated, B = 3)", crossed <= 0.25


def bottleneck(curve=measures.curve_of_data):
    every = curve().loc["all"]
    gap = float(every.oracle[1.0] - every.accuracy[1.0])
    return gap, f"noise features, trained on all, are {gap:.3f} from the oracle (simulated)", abs(gap) < 0.005


def powers(menus=measures.menus):
    true = menus("true")
    fine, coarse, without = (true[menu] for menu in ("fine", "coarse", "without 2"))
    parts = [in_points(value, 2) for value in (fine, coarse, without)]
    says = "fine {} points, coarse {}, without 2 {} (simulated truth)".format(*parts)
    return fine, says, abs(without) < 1e-9 and 0 < fine < 0.003


def even(noise=measures.noise_importances):
    (low, high), said = noise(), PAPER_ABLATIONS["importance_range"]
    total = 15 * said[0] + said[1]
    says = f"noise columns range from {low:.3f} to {high:.3f}; 15 × {said[0]} + {said[1]} = {total:.2f} > 1"
    return high - low, says, said[0] - 0.03 < low and high < said[1] + 0.03


def first_claim(row=rows_results.known):
    differs, prices = int(row().cells[0].ours), sum(len(settings.path(name).lam) for name in PAPER_SETTINGS)
    says = f"the solve stage allocates otherwise than a rule of 1966 (Fox) at {differs} of {prices} prices"
    return differs, says, differs == 0


def difference(rows=measures.honest):
    label, curve = rows()["label"], rows()["curve"]
    parts = [in_points(row.gain) for row in (curve, label)]
    says = "pricing predicted curves {} points, imitating labels {} (real, held out, B = 3)".format(*parts)
    return curve.gain - label.gain, says, curve.gain > label.gain


def any_setting(settings=("word-fewshot", "drill-fewshot")):
    words, drills = (measures.oracle_of(setting, 3)["gain"] for setting in settings)
    gains = "{} points on word problems, {} on drills".format(*map(in_points, (words, drills)))
    says = f"cross-fitted oracle over the best mix at B = 3: {gains} (real)"
    return drills / words, says, drills < words / 2


def discrete(menu=tuple(range(1, 17))):
    population = settings.paper_population(SHOWN)
    tables = population.table(), population.table(menu)
    few, many = (frontier(table.acc, table.cost).at(2).bound for table in tables)
    more = many - few
    says = f"all whole numbers up to 16 add {in_points(more, 2)} points to the true oracle at B = 2 (simulated)"
    return more, says, 0 < more < 0.005
