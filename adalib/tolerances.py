"""When two computed numbers count as equal: every tolerance of the package, each with its reason.

Sums and ratios of floats are rounded, and the rounding differs with the order of a sum. Without a
tolerance that rounding would settle ties, and refuse a budget that is met exactly.
"""

#: Net values and gains closer than this are tied. A price at which two budgets tie is a ratio and
#: therefore rounded, so the two net values computed from it differ in the last digit. Costs and
#: budgets are compared with the same number, relative to their size.
TIE = 1e-12

#: Shares that should sum to 1 may miss it by this much: people write 0.333333333 for a third.
SUM = 1e-9

#: What a rule cost in training is a mean over thousands of answers, whose last digits depend on the
#: order of the sum. A budget below it by this share is met.
TRAINED = 1e-9

#: Averages over the same votes differ by less than this from one platform to the next.
SAME_VOTES = 1e-13


def within(budget: float) -> float:
    """Return the largest sum that counts as ``budget``: that much, and a hair for rounding."""
    return budget * (1 + TIE)


def meets(budget: float, cheapest: float, rounding: float = TIE) -> bool:
    """Whether a budget pays for the cheapest choice, up to rounding; NaN does not."""
    return bool(budget >= cheapest * (1 - rounding))
