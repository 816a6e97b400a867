"""What decides on the paper's claims about its results, patterns and ablations.

A function returns a number, the sentence that holds it, and whether it bears our verdict out, as in
`claims_method`.
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from adabook.paper import results, settings
from adabook.paper.patterns import level_shares
from adabook.paper.referee import measures, rows_results
from adabook.paper.referee.measures import MATH, SHOWN, SIMULATED_MATH
from adabook.paper.referee.wording import BOTH, Finding, with_interval
from adabook.paper.settings import (
    BENCHMARKS,
    PAPER,
    PAPER_ABLATIONS,
    PAPER_CLAIMS,
    PAPER_SETTINGS,
    TARGETS,
)
from adalib.evaluate.intervals import in_points, mean_interval
from adalib.solve.bisection import bisect
from adalib.solve.frontier import frontier


def everywhere(implied=results.implied_held_out, held=measures.on_benchmarks) -> Finding:
    """Decide on the claim "beats everyone"."""
    gain = 100 * implied().gain
    clear = sum(row.gain_low > 0 for row in held("label"))
    says = (
        f"{gain.mean():+.2f} points over a mix at equal cost ({gain.min():+.1f} to "
        f"{gain.max():+.1f})"
    )
    says = (
        f"if it remembers, on new ones {says}; held out, a small model gains clearly in {clear} "
        f"of 6 cells {BOTH}"
    )
    return gain.mean(), says, abs(gain.mean()) < 0.5


def noise_table(rows=measures.reconstructed, held=measures.on_benchmarks) -> Finding:
    """Decide on the claim "table as evidence"."""
    cells = rows().pivot(index=["setting", "target"], columns="method", values="accuracy")
    ahead = int(cells.Ours.gt(cells[["Fixed", "Random", "Heuristic"]].max(axis=1)).sum())
    label = held("label")
    clear = sum(row.gain_low > 0 for row in label)
    says = (
        f"by our reconstruction noise features beat all three baselines in {ahead} of "
        f"{len(cells)} cells {BOTH}"
    )
    says += f"; held out, text gains clearly in {clear} of {len(label)}"
    return ahead, says, ahead == len(cells) and clear == 0


def matched(gains=results.claimed_gains) -> Finding:
    """Decide on the claim "matched budgets"."""
    best = gains().set_index("setting").loc["qwen2.5-7b-math"]
    left = f"beside a mix at equal cost {best.over_mix:.3f} is left"
    says = f"costs {best.cost:.2f} against {best.fixed_cost:.2f}; {left}"
    return best.cost / best.fixed_cost - 1, says, best.cost > best.fixed_cost


def points(gains=measures.printed_gains, claimed=results.claimed_gains) -> Finding:
    """Decide on the claim "points over Fixed"."""
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


def imitation(rows=measures.reconstructed, implied=results.implied_held_out) -> Finding:
    """Decide on the claim "imitation"."""
    noise = rows().imitation.dropna()
    implied = implied()
    below = int((implied.held_out_imitation < implied.majority).sum())
    says = (
        f"noise features imitate {noise.min():.0%} to {noise.max():.0%} {BOTH}, "
        "scored on all questions"
    )
    says += f"; on new ones the printed averages then imply less than always b = 1 in {below} of 12"
    return noise.min(), says, noise.min() > 0.88 and below > 6


def thrift(rows=measures.reconstructed) -> Finding:
    """Decide on the claim "thrift"."""
    ours = rows().query("method == 'Ours' and target == 3").set_index("setting").cost
    gsm8k, math = (ours[name] for name in BENCHMARKS)
    says = (
        f"noise features spend {gsm8k:.2f} of 3 on GSM8K and {math:.2f} on MATH as well; printed "
    )
    return ours.max(), f"{says}{PAPER[SHOWN]['main']['Ours']['cost'][-1]:.2f}", ours.max() < 2.9


def heuristic(gains=measures.printed_gains) -> Finding:
    """Decide on the claim "heuristic"."""
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


def baselines(printed=PAPER) -> Finding:
    """Decide on the claim "baselines"."""
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


def middle(along=measures.along) -> Finding:
    """Decide on the claim "largest gains"."""
    found = along().set_index("target")
    oracle, curve = (found[found.policy == policy] for policy in ("oracle", "curve"))
    peaks = oracle.groupby("setting").gain.idxmax()
    says = (
        f"the cross-fitted oracle leads the best mix most at B = {peaks.iloc[0]:g} on GSM8K, "
        f"{peaks.iloc[1]:g} on MATH"
    )
    says += f"; the text's lead is clear at {int((curve.low > 0).sum())} of {len(curve)} budgets"
    return peaks.max(), says, peaks.between(2, 6).all() and not (curve.low > 0).any()


def plateau(printed=PAPER) -> Finding:
    """Decide on the claim "plateau at 3"."""
    least = min(min(printed[name]["level_gain"]) for name in SIMULATED_MATH)
    three = max(
        np.subtract(*printed[name]["main"]["Fixed"]["accuracy"][::-2]) for name in SIMULATED_MATH
    )
    says = (
        f"in print Fixed gains at most {in_points(three)} points from B = 1.5 to 3 on MATH, "
        "and a vote of 16"
    )
    return (
        least,
        f"{says} at least {in_points(least)} over one answer, on every level",
        least - three > 0.01,
    )


def predictable(correlations=measures.ranked_by_text) -> Finding:
    """Decide on the claim "predictable"."""
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


def medium(levels=measures.levels) -> Finding:
    """Decide on the claim "gains by level"."""
    large, small = levels()
    tops = [int(each.gain.idxmax()) for each in (large, small)]
    apart = large.gain_low[3] > large.gain_high[2]
    says = f"on MATH our larger model gains most at level {tops[0]}, our smaller at level {tops[1]}"
    says += f"; the larger one's intervals of levels 2 and 3 {'part' if apart else 'overlap'}"
    return large.gain[3], says, tops == [3, 2] and not apart


def by_difficulty(contrast=measures.contrast) -> Finding:
    """Decide on the claim "difficulty, not model"."""
    found = contrast()
    says = "from our smaller to our larger model, level 3 of MATH gains more than level 2 does, by"
    return found.mean, f"{says} {with_interval(found)}", found.low > 0


def selective(budget=3.0) -> Finding:
    """Decide on the claim "selective oracle"."""
    tables = [measures.in_sample(name) for name in (*BENCHMARKS, MATH[1])]
    ones = [
        float(np.mean(frontier(table.acc, table.cost).at(budget).labels == 0)) for table in tables
    ]
    says = (
        f"{min(ones):.0%} to {max(ones):.0%} of the questions at B = {budget:g}, "
        "GSM8K and MATH (in-sample)"
    )
    return min(ones), says, min(ones) > 0.5


def two_rare(printed=PAPER) -> Finding:
    """Decide on the claim "b = 2 is rare"."""
    more = [
        np.subtract(*printed[name]["main"]["Fixed"]["accuracy"][1::-1]) for name in PAPER_SETTINGS
    ]
    says = (
        f"printed Fixed at b = 2 minus b = 1: {in_points(min(more))} to {in_points(max(more))} "
        "points"
    )
    return max(more), says, max(more) < 0.0005


def two_frequent(printed=PAPER) -> Finding:
    """Decide on the claim "b = 2 is frequent"."""
    rows = np.concatenate([printed[name]["label_shares"] for name in SIMULATED_MATH])
    behind = int((np.sort(rows[:, 2:], axis=1)[:, -2] > rows[:, 1]).sum())
    return behind, f"b = 2 is behind two larger budgets in {behind} of 9 printed rows", behind > 0


def hump(null=measures.null_hump, fifths=measures.fifths) -> Finding:
    """Decide on the claim "inverted U"."""
    value = null()
    best = fifths().sort_values("gain").iloc[-1]
    says = (
        f"{value:.1f} more answers for the middle fifth where nobody benefits (simulated null); "
        "on MATH the fifth "
    )
    says += f"that gains most has {with_interval(best)} on other answers"
    return value, says, value > 1 and best.gain_low > 0


def levels_claim(printed=PAPER) -> Finding:
    """Decide on the claim "by level"."""
    gains = np.array([printed[name]["level_gain"] for name in SIMULATED_MATH])
    more = int((gains[:, 0] > gains[:, 2]).sum())
    table = measures.in_sample()
    labels = bisect(table.acc, table.cost, 1.5).labels
    shares = level_shares(labels, measures.levels_of(MATH[0]), table.k).iloc[:, 2:].sum(axis=1)
    get = (
        f"on our MATH {shares[2]:.0%}, {shares[3]:.0%} and {shares[4]:.0%} of levels 2, "
        "3 and 4 get b ≥ 4 at B = 1.5"
    )
    return more, f"level 2 gains more than 4 in {more} of 3 printed settings; {get}", more == 3


def faithful(copied=measures.copied) -> Finding:
    """Decide on the claim "faithful copy"."""
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


def four_clusters(clusters=measures.real_clusters) -> Finding:
    """Decide on the claim "four clusters"."""
    centres = clusters()
    easy, hard, first = (centres[key] for key in ("easy_first", "hard_highest", "responsive_first"))
    says = (
        f"easy from {easy:.2f}, hard below {hard:.2f}, responsive from {first:.2f} ({BOTH}, "
        "two models)"
    )
    return first, says, easy >= 0.75 and hard < 0.25 and 0.25 < first < 0.5


def responsive(clusters=measures.real_clusters) -> Finding:
    """Decide on the claim "responsive minority"."""
    share = clusters()["responsive_share"]
    return (
        share,
        f"{share:.0%} of the larger budgets on MATH at B = 2; both come from the same curves",
        share < 0.95,
    )


def trees(compared=measures.on_math) -> Finding:
    """Decide on the claim "trees beat linear"."""
    ours = {
        split: measures.trees_over_linear(compared("noise", split)) for split in ("row", "question")
    }
    rows, questions = map(in_points, (ours["row"], ours["question"]))
    lead = compared("text", "fold").gain("gbm", "logistic")
    says = (
        f"on MATH with noise features {rows} points split by rows, {questions} split by questions"
    )
    says += f"; with text, every question scored once, {with_interval(lead)}"
    return (
        ours["question"],
        says,
        ours["row"] > 0.01 and abs(ours["question"]) < 0.01 and lead.low <= 0,
    )


def constant_gap(printed=PAPER_ABLATIONS) -> Finding:
    """Decide on the claim "oracle gap of the ablation"."""
    table = pd.DataFrame(printed["classifiers"]).T
    both = table.accuracy + table.gap
    first, oracle = (
        float(
            np.mean(
                [
                    np.take(PAPER[name]["main"][method]["accuracy"], column)
                    for name in SIMULATED_MATH
                ]
            )
        )
        for method, column in (("Fixed", 0), ("Oracle", range(3)))
    )
    off = first - table.accuracy["svm"]
    says = (
        f"accuracy and gap add up to {both.min():.3f} to {both.max():.3f} in all five rows; "
        f"mean oracle {oracle:.3f}"
    )
    says += f"; the SVM, of cost 1.00, is {off:.3f} below one answer each"
    return off, says, (both - oracle).abs().max() < 0.001


def errors_claim(printed=PAPER_ABLATIONS) -> Finding:
    """Decide on the claim "8 to 25%"."""
    errors = 1 - pd.DataFrame(printed["classifiers"]).T.imitation
    return (
        errors.min(),
        f"the table has {errors.min():.1%} to {errors.max():.1%}",
        errors.min() > 0.1,
    )


def near_claim(compared=measures.on_math) -> Finding:
    """Decide on the claim "near misses"."""
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


def dozens(curve=measures.curve_of_data, grown=results.recorded_frame) -> Finding:
    """Decide on the claim "a few dozen questions"."""
    crossed = measures.passes_fixed(curve(MATH[0]))
    held = [grown(f"{name}, held-out shares") for name in BENCHMARKS]
    label = pd.concat(held).query("policy == 'label'")
    says = (
        f"on MATH noise features cross Fixed at {crossed:.0%} of the data (B = 3); "
        "held out, text gains clearly in "
    )
    says += (
        f"{int((label.low > 0).sum())} of {len(label)} cells {BOTH}, from "
        f"{label.questions.min():.0f} questions up"
    )
    return crossed, says, crossed <= 0.25 and not (label.low > 0).any()


def bottleneck(curve=measures.curve_of_data) -> Finding:
    """Decide on the claim "features are the bottleneck"."""
    every = curve(MATH[0]).loc["all"]
    gap = float(every.oracle[1.0] - every.accuracy[1.0])
    return (
        gap,
        f"noise features, trained on all of MATH, are {gap:.3f} from the oracle",
        abs(gap) < 0.005,
    )


def powers(menus=measures.menus_of) -> Finding:
    """Decide on the claim "powers of two"."""
    found = pd.DataFrame([menus(name) for name in BENCHMARKS])
    parts = [
        f"{in_points(values.min(), 2)} to {in_points(values.max(), 2)}"
        for _, values in found.items()
    ]
    range_by_menu = dict(zip(found.columns, parts, strict=True))
    says = (
        f"cross-fitted {BOTH}: fine {range_by_menu['fine']} points, "
        f"coarse {range_by_menu['coarse']}, without 2 {range_by_menu['without 2']}"
    )
    small = (found["without 2"].abs() < 0.0005).all() and (
        found["coarse"] < found["without 2"]
    ).all()
    return found["fine"].max(), says, small and found["fine"].between(0, 0.003).all()


def even(importances=measures.importances) -> Finding:
    """Decide on the claim "even importances"."""
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


def first_claim(row=rows_results.known) -> Finding:
    """Decide on the claim "first to formalise"."""
    differs = int(row().cells[0].ours)
    prices = sum(len(settings.path(name).lam) for name in BENCHMARKS)
    says = (
        f"the solve stage allocates otherwise than a rule of 1966 (Fox) at {differs} of {prices} "
        "prices"
    )
    return differs, says, differs == 0


def difference(rows=measures.honest) -> Finding:
    """Decide on the claim "unlike marginal rewards"."""
    held = [rows(f"{name} held out") for name in BENCHMARKS]
    leads = [mean_interval(np.subtract(each["curve"].gains, each["label"].gains)) for each in held]
    gsm, math = map(with_interval, leads)
    says = (
        f"held out at B = 3, pricing predicted curves leads imitating labels by {gsm} on GSM8K, "
        f"{math} on MATH"
    )
    # Open is what helps: one way may lead the other, but neither shows a gain over the mix.
    shown = any(each[policy].gain_low > 0 for each in held for policy in ("curve", "label"))
    return max(float(lead.mean) for lead in leads), says, not shown


def any_setting(settings=("word-fewshot", "drill-fewshot")) -> Finding:
    """Decide on the claim "any setting"."""
    words, drills = (measures.oracle_of(setting, 3)["gain"] for setting in settings)
    gains = "{} points on word problems, {} on drills".format(*map(in_points, (words, drills)))
    says = f"cross-fitted oracle over the best mix at B = 3: {gains} (real)"
    return drills / words, says, drills < words / 2


def discrete(menu=tuple(range(1, 17))) -> Finding:
    """Decide on the claim "discrete budgets"."""
    more = [measures.menus_of(name, menu=menu)["mine"] for name in BENCHMARKS]
    parts = [in_points(value, 2) for value in more]
    says = "all whole numbers up to 16 add {} and {} points at B = 2, cross-fitted ".format(*parts)
    return max(more), says + BOTH, min(more) > 0 and max(more) < 0.005
