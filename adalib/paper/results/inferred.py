"""What the paper's printed tables imply, by arithmetic alone: inferred, without its code and answers."""

from __future__ import annotations

import pandas as pd

from adalib.paper.printed import PAPER, PAPER_SETTINGS
from adalib.paper.results.replica import TARGETS

__all__ = ["claimed_gains", "implied_held_out"]

_TRAINED = 0.8  # share of the questions that the paper trains on


def implied_held_out() -> pd.DataFrame:
    """What the printed tables imply for questions outside the training set, if all questions were scored: inferred.

    Suppose that the learned policy repeats the oracle on the 80% of the questions it was trained on. Then every printed
    average is 0.8 times the oracle's value plus 0.2 times the value on the others, and the latter can be solved for.
    Rounding in print leaves about 0.005 in accuracy and imitation and 0.04 in cost. Explained in chapter 7, "Results".

    Returns
    -------
    DataFrame
        A row a setting and target. Printed ``imitation`` and ``accuracy``, and what they would be (``imitation_if``,
        ``accuracy_if``) if the other questions all got one answer; then the implied ``held_out_imitation`` beside the
        ``majority`` rate, ``held_out_accuracy`` beside ``one_answer`` each, ``held_out_cost``, the random ``mix`` of
        budgets 1 and 4 at that cost, and the ``gain`` over it.
    """
    rows = []
    for name in PAPER_SETTINGS:
        paper = PAPER[name]
        main, one, four = paper["main"], paper["main"]["Fixed"]["accuracy"][0], paper["implied_acc4"]
        for t, target in enumerate(TARGETS):
            # The sweep prints the oracle's cost to a digit more than the main table.
            oracle, oracle_cost = main["Oracle"]["accuracy"][t], paper["lambda_sweep"]["cost"][t]
            ours, cost = main["Ours"]["accuracy"][t], main["Ours"]["cost"][t]
            imitation, majority = paper["oracle_gap"]["imitation"][t], paper["label_shares"][t][0]
            paid = _rest(cost, oracle_cost)
            mix = one + (four - one) * (paid - 1) / 3
            rows.append(
                {
                    "setting": name,
                    "target": target,
                    "imitation": imitation,
                    "imitation_if": _TRAINED + (1 - _TRAINED) * majority,
                    "accuracy": ours,
                    "accuracy_if": _TRAINED * oracle + (1 - _TRAINED) * one,
                    "held_out_imitation": _rest(imitation, 1.0),
                    "majority": majority,
                    "held_out_accuracy": _rest(ours, oracle),
                    "one_answer": one,
                    "held_out_cost": paid,
                    "mix": mix,
                    "gain": _rest(ours, oracle) - mix,
                }
            )
    return pd.DataFrame(rows)


def claimed_gains() -> pd.DataFrame:
    """Gains stated in the paper's text, beside its own table at B = 3, and at equal cost: from printed numbers alone.

    Explained in chapter 7, "Results".

    Returns
    -------
    DataFrame
        A row a setting: the gain ``claimed`` over Fixed, the ``difference`` in the table, what Fixed and Ours cost
        there, the random ``mix`` of budgets 1 and 4 at Ours' cost, and Ours' gain ``over_mix``.
    """
    rows = []
    for name in PAPER_SETTINGS:
        paper = PAPER[name]
        ours, plain = ({key: values[-1] for key, values in paper["main"][m].items()} for m in ("Ours", "Fixed"))
        one = paper["main"]["Fixed"]["accuracy"][0]
        mix = one + (paper["implied_acc4"] - one) * (ours["cost"] - 1) / 3
        rows.append(
            {
                "setting": name,
                "claimed": paper["claimed_gain"],
                "difference": ours["accuracy"] - plain["accuracy"],
                "fixed_cost": plain["cost"],
                "cost": ours["cost"],
                "mix": mix,
                "over_mix": ours["accuracy"] - mix,
            }
        )
    return pd.DataFrame(rows)


def _rest(whole: float, trained: float) -> float:
    """The mean on the other questions, if ``whole`` averages all and the trained ones have ``trained``."""
    return (whole - _TRAINED * trained) / (1 - _TRAINED)
