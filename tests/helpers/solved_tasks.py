"""Right answers to the functions and proofs of homework, as a student would write them."""

FUNCTIONS = {
    "seats": """
import itertools

def my_function(acc, cost, budget):
    best = 0.0
    for plan in itertools.product(range(len(cost)), repeat=len(acc)):
        paid = sum(cost[column] for column in plan) / len(acc)
        if sum(column > 0 for column in plan) <= {number} and paid <= budget + 1e-9:
            best = max(best, sum(row[column] for row, column in zip(acc, plan)) / len(acc))
    return best
""",
    "charge": """
def my_function(acc, cost, budget):
    # The best total accuracy by what has been paid so far, question by question.
    total = {{0.0: 0.0}}
    for row in acc:
        longer = {{}}
        for paid, right in total.items():
            for column, gain in enumerate(row):
                bill = round(paid + cost[column] + (column > 0) * {number}, 9)
                longer[bill] = max(longer.get(bill, 0), right + gain)
        total = longer
    limit = len(acc) * budget + 1e-9
    return max(right for paid, right in total.items() if paid <= limit) / len(acc)
""",
    "weights": """
def my_function(acc, cost, budget):
    weights = [1 + {number} * place for place in range(len(acc))]

    def best(place, left):
        if place == len(acc):
            return 0.0
        rest = sum(weights[place + 1:]) * cost[0]
        values = [
            weights[place] * gain + best(place + 1, left - weights[place] * price)
            for gain, price in zip(acc[place], cost)
            if weights[place] * price + rest <= left + 1e-9
        ]
        return max(values)

    return best(0, budget * sum(weights)) / sum(weights)
""",
}

_HEAD = """
import numpy as np

def net(acc, cost, lam):
    return (acc - lam * cost).max(axis=1).mean()

"""
#: Roads to every claim: the lines of each.
_ROADS = {
    "mixture": [
        """
    lambda share, value_low, value_high: share * value_low + (1 - share) * value_high,
    "The dual function bounds each value at any price.",
    lambda acc, cost, lam, low, high, share: (
        share * (net(acc, cost, lam) + lam * low) + (1 - share) * (net(acc, cost, lam) + lam * high)
    ),
    lambda value_mix: value_mix,
""",
        """
    lambda share, value_low, value_high: share * value_low + (1 - share) * value_high,
    lambda acc, cost, lam, low, high, share: (
        net(acc, cost, lam) + lam * (share * low + (1 - share) * high)
    ),
    lambda value_mix: value_mix,
""",
        # The road of the Sensitivity theorem, with the budget written out.
        """
    lambda share, value_low, value_high: share * value_low + (1 - share) * value_high,
    lambda value_mix, lam, low, high, share: (
        share * (value_mix + lam * (low - (share * low + (1 - share) * high)))
        + (1 - share) * (value_mix + lam * (high - (share * low + (1 - share) * high)))
    ),
    lambda value_mix: value_mix,
""",
    ],
    "estimates": [
        """
    lambda acc, cost, lam, error: net(acc, cost, lam) - 2 * error,
    lambda guess, cost, lam, error: net(guess, cost, lam) - error,
    lambda acc, cost, lam, plan: (acc - lam * cost)[range(len(plan)), plan].mean(),
""",
        """
    lambda acc, cost, lam, error: net(acc, cost, lam) - 2 * error,
    lambda acc, guess, cost, lam, error: (
        (guess - lam * cost)[range(len(acc)), (acc - lam * cost).argmax(axis=1)].mean() - error
    ),
    lambda guess, cost, lam, plan, error: (
        (guess - lam * cost)[range(len(plan)), plan].mean() - error
    ),
    lambda acc, cost, lam, plan: (acc - lam * cost)[range(len(plan)), plan].mean(),
""",
    ],
    "classes": [
        """
    lambda share, value_left, value_right: share * value_left + (1 - share) * value_right,
    lambda left, right, cost, lam, low, high, share: (
        share * (net(left, cost, lam) + lam * low)
        + (1 - share) * (net(right, cost, lam) + lam * high)
    ),
    lambda value_both: value_both,
""",
        """
    lambda share, value_left, value_right: share * value_left + (1 - share) * value_right,
    lambda left, right, cost, lam, low, high, share: (
        net(np.vstack([left, right]), cost, lam) + lam * (share * low + (1 - share) * high)
    ),
    lambda value_both: value_both,
""",
    ],
}
PROOFS = {
    claim: [f"{_HEAD}my_proof = [{lines}]" for lines in roads] for claim, roads in _ROADS.items()
}


def answered(text, name):
    """The answer that a text of code makes."""
    names = {}
    exec(text, names)
    return names[name]


def function(task):
    """The code that solves a task's function."""
    return FUNCTIONS[task.variant].format(number=task.number)


def proof(task):
    """The code that proves a task's claim."""
    return PROOFS[task.variant][0]
