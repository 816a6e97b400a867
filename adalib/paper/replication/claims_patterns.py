"""Claims about who gets the budget."""

from __future__ import annotations

import numpy as np

from adalib.paper.patterns import level_shares
from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.replication.measures import SHOWN, clusters, null_hump, searched
from adalib.paper.replication.measures_learned import copied
from adalib.paper.replication.register import claims_about
from adalib.paper.settings import answers
from adalib.paper.stand_ins import paper_population

claim = claims_about("patterns")
_MATH = PAPER_SETTINGS[:3]


def _shares(setting: str) -> np.ndarray:
    return np.array(PAPER[setting]["label_shares"])


@claim("gains by level", "stands", "App. F.1, Table per_level", "ch08-levels")
def _medium():
    """Voting helps most at medium difficulty: level 3 gains 7 to 8.5 points, levels 2 and 4 less.

    As printed, subject to the grading. The intervals are wide, and the three settings share their questions.
    """
    gains = [PAPER[name]["level_gain"] for name in _MATH]
    most = sum(int(np.argmax(gain) == 1) for gain in gains)
    return most, f"the middle level gains most in {most} of 3 printed settings", most == 3


@claim("difficulty, not model", "open", "App. F.1", "ch08-levels", inferred=True)
def _by_difficulty():
    """The gains follow from the difficulty of the questions rather than from the model.

    Three models that look this much alike on level 2 may share a grader rather than a difficulty.
    """
    first = [[cell["acc1"] for cell in PAPER[name]["per_level"].values()] for name in _MATH]
    spread = float(np.ptp(first, axis=0).min())
    return spread, f"three models on the same questions; their level-2 accuracies differ by {spread:.3f}", spread < 0.02


@claim("selective oracle", "stands", "App. F.2, Table oracle_dist", "ch08-shares")
def _selective():
    """Even at B = 3 about two thirds of the questions get a single answer.

    So they do on our stand-ins.
    """
    ones = [float(np.mean(searched(name, 3.0).labels == 0)) for name in _MATH]
    says = f"{min(ones):.0%} to {max(ones):.0%} of the questions at B = 3 (simulated, in-sample)"
    return min(ones), says, min(ones) > 0.5


@claim("b = 2 is rare", "stands corrected", "App. F.2", "ch05-two-answers")
def _two_rare():
    """b = 2 is rare because its gain is often too small.

    Its gain is exactly zero when every answer can be read; where it is chosen, noise chose it.
    """
    worst = max(float(np.abs(np.diff(paper_population(n).acc((1, 2)), axis=1)).max()) for n in PAPER_SETTINGS)
    return worst, f"Acc(2) − Acc(1) is at most {worst:.0e} in the simulated truth; printed means agree", worst < 1e-9


@claim("b = 2 is frequent", "falls", "App. H.3", "ch08-shares")
def _two_frequent():
    """b = 2 and b = 4 are the most frequent labels of medium questions.

    The table says otherwise, and so does another section of the paper.
    """
    rows = np.concatenate([_shares(name) for name in _MATH])
    fewer = int((rows[:, 1] < rows[:, 2]).sum())
    return fewer, f"b = 2 is rarer than b = 4 in {fewer} of 9 printed rows, and b = 1 has 63% or more", fewer >= 8


@claim("inverted U", "stands corrected", "§5.6, App. F.4", "ch08-hump")
def _hump():
    """The oracle gives most to questions of medium accuracy, which verifies that they benefit.

    The pattern is there, and noise draws it too; only a gain on other samples shows benefit.
    """
    value = null_hump()
    return value, f"{value:.1f} more answers for the middle fifth where nobody benefits (simulated null)", value > 1


@claim("by level", "open", "App. F.5, Fig. heatmap", "ch08-levels", inferred=True)
def _levels():
    """Levels 3 and 4 get the larger budgets, level 2 hardly any.

    In the table level 2 gains more than level 4; both can be true, and only the data would tell.
    """
    gains = np.array([PAPER[name]["level_gain"] for name in _MATH])
    more = int((gains[:, 0] > gains[:, 2]).sum())
    shares = level_shares(searched(SHOWN, 1.5).labels, answers(SHOWN).levels, 5).iloc[:, 2:].sum(axis=1)
    says = (
        f"level 2 gains more in {more} of 3 printed settings; simulated, {shares[2]:.0%} and {shares[4]:.0%} get b ≥ 4"
    )
    return more, says, more == 3


@claim("faithful copy", "falls", "§5.6, Fig. heatmap", "ch08-copy")
def _faithful():
    """The learned policy faithfully replicates the oracle's allocation.

    As evidence of learning: scored on training questions, noise replicates it too.
    """
    apart = copied()
    return apart, f"noise copies the map within {apart:.2f} a cell (simulated, B = 3)", apart < 0.15


@claim("four clusters", "stands corrected", "App. F.6, Fig. archetypes (a, b)", "ch08-archetypes")
def _four_clusters():
    """K-means on the curves finds the four kinds.

    It finds easy and hard; it always returns four clusters, and the middle two are a matter of cutting.
    """
    found = clusters()
    says = (
        f"easy from {found['easy_first']:.2f}, hard below {found['hard_highest']:.2f}; responsive from "
        f"{found['responsive_first']:.2f}, not 0.35 (simulated)"
    )
    return found["responsive_first"], says, found["easy_first"] >= 0.75 and found["hard_highest"] < 0.25


@claim("responsive minority", "stands corrected", "App. F.6, Fig. archetypes (c)", "ch08-circle")
def _responsive():
    """Essentially all larger budgets go to the responsive cluster.

    Cluster and budget are read off the same curves, so this is nearly a tautology.
    """
    share = clusters()["responsive_share"]
    return share, f"{share:.0%} of the larger budgets (simulated); both come from the same curves", share < 0.95
