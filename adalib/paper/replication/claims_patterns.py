"""Claims about who gets the budget."""

from __future__ import annotations

import numpy as np

from adalib.paper.patterns import level_shares
from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.replication.cells import Link
from adalib.paper.replication.figure_rows import clusters, copied, null_hump
from adalib.paper.replication.measures import SHOWN, answers, searched
from adalib.paper.replication.verdict import Claim, Evidence
from adalib.paper.stand_ins import paper_population

__all__ = ["CLAIMS"]

_PATTERNS = "patterns"
_EIGHT = "08_patterns"
_MATH = PAPER_SETTINGS[:3]


def _shares(setting: str) -> np.ndarray:
    return np.array(PAPER[setting]["label_shares"])


def _medium() -> Evidence:
    gains = [PAPER[name]["level_gain"] for name in _MATH]
    most = sum(int(np.argmax(gain) == 1) for gain in gains)
    return Evidence(most, f"the middle level gains most in {most} of 3 printed settings", most == 3)


def _by_difficulty() -> Evidence:
    first = [[cell["acc1"] for cell in PAPER[name]["per_level"].values()] for name in _MATH]
    spread = float(np.ptp(first, axis=0).min())
    return Evidence(
        spread, f"three models on the same questions; their level-2 accuracies differ by {spread:.3f}", spread < 0.02
    )


def _selective() -> Evidence:
    ones = [float(np.mean(searched(name, 3.0).labels == 0)) for name in _MATH]
    says = f"{min(ones):.0%} to {max(ones):.0%} of the questions at B = 3 (simulated, in-sample)"
    return Evidence(min(ones), says, min(ones) > 0.5)


def _two_rare() -> Evidence:
    worst = max(float(np.abs(np.diff(paper_population(n).acc((1, 2)), axis=1)).max()) for n in PAPER_SETTINGS)
    return Evidence(
        worst, f"Acc(2) − Acc(1) is at most {worst:.0e} in the simulated truth; printed means agree", worst < 1e-9
    )


def _two_frequent() -> Evidence:
    rows = np.concatenate([_shares(name) for name in _MATH])
    fewer = int((rows[:, 1] < rows[:, 2]).sum())
    return Evidence(
        fewer, f"b = 2 is rarer than b = 4 in {fewer} of 9 printed rows, and b = 1 has 63% or more", fewer >= 8
    )


def _hump() -> Evidence:
    value = null_hump()
    return Evidence(
        value, f"{value:.1f} more answers for the middle fifth where nobody benefits (simulated null)", value > 1
    )


def _levels() -> Evidence:
    gains = np.array([PAPER[name]["level_gain"] for name in _MATH])
    more = int((gains[:, 0] > gains[:, 2]).sum())
    shares = level_shares(searched(SHOWN, 1.5).labels, answers(SHOWN).levels, 5).iloc[:, 2:].sum(axis=1)
    says = (
        f"level 2 gains more in {more} of 3 printed settings; simulated, {shares[2]:.0%} and {shares[4]:.0%} get b ≥ 4"
    )
    return Evidence(more, says, more == 3)


def _faithful() -> Evidence:
    apart = copied()
    return Evidence(apart, f"noise copies the map within {apart:.2f} a cell (simulated, B = 3)", apart < 0.15)


def _four_clusters() -> Evidence:
    found = clusters()
    says = (
        f"easy from {found['easy_first']:.2f}, hard below {found['hard_highest']:.2f}; responsive from "
        f"{found['responsive_first']:.2f}, not 0.35 (simulated)"
    )
    return Evidence(found["responsive_first"], says, found["easy_first"] >= 0.75 and found["hard_highest"] < 0.25)


def _responsive() -> Evidence:
    share = clusters()["responsive_share"]
    return Evidence(
        share, f"{share:.0%} of the larger budgets (simulated); both come from the same curves", share < 0.95
    )


CLAIMS = (
    Claim(
        "gains by level",
        _PATTERNS,
        "Voting helps most at medium difficulty: level 3 gains 7 to 8.5 points, levels 2 and 4 less.",
        "App. F.1, Table per_level",
        "stands",
        "As printed, subject to the grading. The intervals are wide, and the three settings share their questions.",
        Link(_EIGHT, "By level"),
        _medium,
    ),
    Claim(
        "difficulty, not model",
        _PATTERNS,
        "The gains follow from the difficulty of the questions rather than from the model.",
        "App. F.1",
        "open",
        "Three models that look this much alike on level 2 may share a grader rather than a difficulty.",
        Link(_EIGHT, "By level"),
        _by_difficulty,
        inferred=True,
    ),
    Claim(
        "selective oracle",
        _PATTERNS,
        "Even at B = 3 about two thirds of the questions get a single answer.",
        "App. F.2, Table oracle_dist",
        "stands",
        "So they do on our stand-ins.",
        Link(_EIGHT, "How many get how much"),
        _selective,
    ),
    Claim(
        "b = 2 is rare",
        _PATTERNS,
        "b = 2 is rare because its gain is often too small.",
        "App. F.2",
        "stands corrected",
        "Its gain is exactly zero when every answer can be read; where it is chosen, noise chose it.",
        Link("05_estimation", "Why two answers are worth one"),
        _two_rare,
    ),
    Claim(
        "b = 2 is frequent",
        _PATTERNS,
        "b = 2 and b = 4 are the most frequent labels of medium questions.",
        "App. H.3",
        "falls",
        "The table says otherwise, and so does another section of the paper.",
        Link(_EIGHT, "How many get how much"),
        _two_frequent,
    ),
    Claim(
        "inverted U",
        _PATTERNS,
        "The oracle gives most to questions of medium accuracy, which verifies that they benefit.",
        "§5.6, App. F.4",
        "stands corrected",
        "The pattern is there, and noise draws it too; only a gain on other samples shows benefit.",
        Link(_EIGHT, "The hump and its null"),
        _hump,
    ),
    Claim(
        "by level",
        _PATTERNS,
        "Levels 3 and 4 get the larger budgets, level 2 hardly any.",
        "App. F.5, Fig. heatmap",
        "open",
        "In the table level 2 gains more than level 4; both can be true, and only the data would tell.",
        Link(_EIGHT, "By level"),
        _levels,
        inferred=True,
    ),
    Claim(
        "faithful copy",
        _PATTERNS,
        "The learned policy faithfully replicates the oracle's allocation.",
        "§5.6, Fig. heatmap",
        "falls",
        "As evidence of learning: scored on training questions, noise replicates it too.",
        Link(_EIGHT, "Oracle against learned, by level"),
        _faithful,
    ),
    Claim(
        "four clusters",
        _PATTERNS,
        "K-means on the curves finds the four kinds.",
        "App. F.6, Fig. archetypes (a, b)",
        "stands corrected",
        "It finds easy and hard; it always returns four clusters, and the middle two are a matter of cutting.",
        Link(_EIGHT, "Archetypes, found by an algorithm"),
        _four_clusters,
    ),
    Claim(
        "responsive minority",
        _PATTERNS,
        "Essentially all larger budgets go to the responsive cluster.",
        "App. F.6, Fig. archetypes (c)",
        "stands corrected",
        "Cluster and budget are read off the same curves, so this is nearly a tautology.",
        Link(_EIGHT, "A circle, and how to open it"),
        _responsive,
    ),
)
