"""An exam with questions of its own: the paper in one file, the key in another.

A secret and a name draw it: a proof, a question on the two programs, a long question of another
kind, and three short ones of homework that ask for something else. A person marks the proof, by the
rubric in the key. Every number of a key is computed in fractions, from the table that is printed.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from fractions import Fraction
from pathlib import Path
from typing import NamedTuple

import numpy as np

from adabook import exact
from adabook.exact import best_whole, best_within, chosen, cost_at, labels_at, mean
from adabook.homework import Question, drawn_questions

_COST = np.array([1, 2, 4], dtype=object)
_LETTERS = "XYZ"
_LONG, _SHORT = (8, 20), (4, 10)  # points and minutes
_HEAD = """# Exam: {name}

**{points} points, {minutes} minutes.** Pen, paper and a calculator. Name: ______________________
"""
_KEY_HEAD = """# Key: {name}

{points} points and {minutes} minutes in all. Students get the other file.
"""
_BUDGET = "The budget is {:g} answers per question on average. A policy may randomise."


class Asked(NamedTuple):
    """A question of an exam: its title, its text, its key, and what it is worth."""

    title: str
    text: str
    key: str
    worth: tuple[int, int] = _LONG


def write_exam(name: str, secret: str, target: Path) -> tuple[Path, Path]:
    """Draw an exam from a secret and a name, and write it and its key into a folder."""
    asked = drawn_exam(name, secret)
    points, minutes = map(sum, zip(*(one.worth for one in asked), strict=True))
    paper = [_HEAD.format(name=name, points=points, minutes=minutes)]
    key = [_KEY_HEAD.format(name=name, points=points, minutes=minutes)]
    for number, one in enumerate(asked, 1):
        worth = "*{} points, {} minutes.*".format(*one.worth)
        paper.append(f"## {number}. {one.title}\n\n{worth}\n\n{one.text}")
        key.append(f"## {number}. {one.title}\n\n{one.key}")
    target.mkdir(mode=0o700, parents=True, exist_ok=True)
    target.chmod(0o700)  # it may have been there: the key is nobody else's
    written = target / f"exam-{name}.md", target / f"key-{name}.md"
    for path, texts in zip(written, (paper, key), strict=True):
        path.write_text("\n\n".join(texts) + "\n", encoding="utf-8")
    return written


def drawn_exam(name: str, secret: str) -> list[Asked]:
    """Draw the questions of an exam."""
    seed = hashlib.sha256(f"exam\0{secret}\0{name}".encode()).digest()
    rng = np.random.default_rng(int.from_bytes(seed[:8], "big"))
    numbers = {
        title: question
        for title, question in drawn_questions(name, f"exam\0{secret}").items()
        if isinstance(question, Question)
    }
    long = DUALITY[rng.integers(len(DUALITY))], BY_HAND[rng.integers(len(BY_HAND))]
    asked = set().union(*(_ASKS.get(one, ()) for one in long))
    left = [title for title in numbers if title not in asked]
    short = sorted(rng.choice(left, 3, replace=False), key=left.index)
    return [
        *(one(rng) for one in long),
        PROOFS[rng.integers(len(PROOFS))],
        *(_short(title, numbers[title]) for title in short),
    ]


def _table(rng: np.random.Generator) -> np.ndarray:
    """Accuracies of three questions, in steps of 0.05: one climbs early, one late, one hardly."""
    start = rng.integers(6, 12, 3)
    early = rng.integers(3, 6), rng.integers(1, 3)
    late = rng.integers(0, 2), rng.integers(4, 7)
    flat = rng.integers(0, 2), rng.integers(-2, 1)
    rises = np.cumsum([early, late, flat], axis=1)
    return exact.table(np.column_stack([start, start[:, None] + rises]), 20)


def _shown(acc: np.ndarray) -> str:
    """A table as Markdown."""
    rows = ["| question | one answer | two | four |", "|---|---|---|---|"]
    rows += [
        f"| {letter} | " + " | ".join(f"{float(value):.2f}" for value in row) + " |"
        for letter, row in zip(_LETTERS, acc, strict=True)
    ]
    return "\n".join(rows)


def _plan(labels: np.ndarray) -> str:
    """A plan in words: "X takes 1, Y takes 4"."""
    return ", ".join(f"{one} takes {_COST[j]}" for one, j in zip(_LETTERS, labels, strict=True))


def _at(value: Fraction) -> str:
    """A number of a key, with four digits after the point."""
    return f"{float(value):.4f}"


def _short_number(value: Fraction) -> str:
    """A number with four digits in all, and no zeros at its end."""
    return f"{float(value):.4g}"


def _split_at(rng: np.random.Generator) -> tuple[np.ndarray, Fraction, exact.Plan]:
    """A table, a budget and its best plan, where one price and one split question are right."""
    while True:
        acc = _table(rng)
        budget = Fraction(int(rng.integers(5, 9)), 4)
        best = best_within(acc, _COST, budget)
        as_steep = [step for step in exact.steps(acc, _COST) if step.slope == best.lam]
        if 0 < best.share < 1 and len(as_steep) == 1:
            return acc, budget, best


# The two programs


def programs(rng: np.random.Generator) -> Asked:
    """Write both programs, and solve them."""
    acc, budget, best = _split_at(rng)
    assert best.step
    net = (acc - best.lam * _COST).max(axis=1)
    values = ", ".join(f"$u_{x}={_at(value)}$" for x, value in zip(_LETTERS, net, strict=True))
    shown = float(budget)
    return Asked(
        "The pair of linear programs",
        f"""{_shown(acc)}

{_BUDGET.format(shown)}

1. Write the best policy as a linear program, and its dual. Say what the variables are. (4)
2. Solve the primal program by sorting slopes. (2)
3. Solve the dual, and check that both values agree. (2)""",
        rf"""(1) With the shares $p_{{ij}}\ge 0$, how often question $i$ gets budget $j$: maximise
$\tfrac13\sum_{{i,j}}\mathrm{{Acc}}_{{ij}}\,p_{{ij}}$ such that $\sum_j p_{{ij}}=1$ for
every $i$ and $\tfrac13\sum_{{i,j}}c_j\,p_{{ij}}\le {shown:g}$. The dual: minimise
$\tfrac13\sum_i u_i+{shown:g}\lambda$ such that
$u_i+\lambda\,c_j\ge\mathrm{{Acc}}_{{ij}}$ for all $i$, $j$ and $\lambda\ge 0$.

(2) The value is {_at(best.bound)}; {_LETTERS[best.step.row]} gets {_COST[best.step.high]} answers
with chance {_at(best.share)} and otherwise {_COST[best.step.low]}.

(3) $\lambda={_at(best.lam)}$ and {values}. The dual value is {_at(best.bound)}, too.

**Deductions.** A primal without $\sum_j p_{{ij}}=1$ (2). A free $\lambda$ instead of
$\lambda\ge 0$ (1). A step that is not on the envelope (1).""",
    )


def conditions(rng: np.random.Generator) -> Asked:
    """Find the Karush-Kuhn-Tucker condition that a proposal violates."""
    while True:
        acc, budget, best = _split_at(rng)
        higher = [lam for lam in exact.prices(acc, _COST) if lam > best.lam]
        above = min(higher, default=best.lam + Fraction(1, 10))
        price = round((best.lam + above) / 2, 3)
        if best.lam < price < above:
            break
    labels = labels_at(acc, _COST, price)
    paid = mean(_COST[labels])
    return Asked(
        "The conditions of Karush, Kuhn and Tucker",
        f"""{_shown(acc)}

{_BUDGET.format(float(budget))} Somebody proposes the price {float(price):g} and the plan:
{_plan(labels)}.

1. Write the Karush-Kuhn-Tucker conditions of the linear program. (4)
2. Which of them does the proposal violate, and by how much? (2)
3. Which price belongs to a policy that satisfies them all? (2)""",
        rf"""(1) Feasibility of the shares and of the price; no column has a net value above that of
a column in use, $p_{{ij}}>0\Rightarrow\mathrm{{Acc}}_{{ij}}-\lambda c_j=u_i=\max_k
(\mathrm{{Acc}}_{{ik}}-\lambda c_k)$; complementary slackness,
$\lambda\,({float(budget):g}-\text{{mean cost}})=0$.

(2) Complementary slackness: the plan costs {_at(paid)}, and the price times the unspent budget is
{_at(price * (budget - paid))}. The other conditions hold.

(3) $\lambda={_at(best.lam)}$.

**Deductions.** No condition on columns that are not in use (2). The plan is called infeasible
(1).""",
    )


# By hand


def staircase(rng: np.random.Generator) -> Asked:
    """Draw the cost as a function of the price."""
    acc = _table(rng)
    prices = exact.prices(acc, _COST)
    costs = [cost_at(acc, _COST, price) for price in prices]
    return Asked(
        "A staircase",
        f"""{_shown(acc)}

On a tie a question takes the smaller budget.

1. Find every price at which a question changes its budget. (4)
2. What is the average cost at each of these prices, and at a price of zero? (4)""",
        f"""(1) The prices are {", ".join(map(_at, prices))}.

(2) From the highest price down the average cost is {", ".join(map(_short_number, costs))};
at a price of zero it is {_short_number(cost_at(acc, _COST, Fraction(0)))}.

**Deductions.** A price of a step that is not on the envelope (2). The cost below a price
instead of at it (2).""",
    )


def halving(rng: np.random.Generator) -> Asked:
    """Search for a price by bisection."""
    acc, budget, _ = _split_at(rng)
    low, high, steps = Fraction(0), Fraction(2, 5), []
    for _ in range(4):
        middle = (low + high) / 2
        paid = cost_at(acc, _COST, middle)
        low, high = (low, middle) if paid <= budget else (middle, high)
        ends = f"[{float(low):g}, {float(high):g}]"
        steps.append(f"{float(middle):g} costs {_short_number(paid)}: {ends}")
    return Asked(
        "Bisection",
        f"""{_shown(acc)}

The budget is {float(budget):g} answers per question on average, and the price lies between 0 and
0.4. On a tie a question takes the smaller budget.

1. Halve this interval four times. Give each price that you try, its cost and the next interval. (5)
2. Which end of the last interval would you use, and why? (1)
3. Would a hundred more steps spend the budget exactly? Why? (2)""",
        f"""(1) {"; ".join(steps)}.

(2) The high end, {float(high):g}: it keeps the budget.

(3) No. The cost falls in steps, and {float(budget):g} lies between two of them: a question is
split.

**Deductions.** The wrong end is moved (3).""",
    )


def gap(rng: np.random.Generator) -> Asked:
    """Compare the best whole plan with the bound."""
    acc, budget, best = _split_at(rng)
    plan, accuracy = best_whole(acc, _COST, budget)
    return Asked(
        "The integrality gap",
        f"""{_shown(acc)}

The budget is {float(budget):g} answers per question on average.

1. Find the best plan that gives every question one budget. (3)
2. How accurate is the best policy that may randomise? (3)
3. How large is the gap? Why can it be no larger than 1/3 here, whatever the table? (2)""",
        f"""(1) Its mean accuracy is {_at(accuracy)}, for example: {_plan(plan)}.

(2) {_at(best.bound)}.

(3) {_at(best.bound - accuracy)}. At most one question is split; without its part of a step one of
three questions loses at most 1, and the mean at most 1/3.

**Deductions.** A plan that overspends (2). A gap without its reason (1).""",
    )


def crossfit(rng: np.random.Generator) -> Asked:
    """Estimate by hand what an oracle is worth, with two halves."""
    first = _table(rng)
    second = np.clip(first + exact.table(rng.integers(-3, 4, first.shape), 20), 0, 1)
    # No slope between two points has such a fourth digit, so nothing is tied.
    price = Fraction(int(rng.integers(20, 120)), 1000) + Fraction(3, 10_000)
    halves = (first, second)
    plans = [labels_at(half, _COST, price) for half in halves]
    claims = [mean(chosen(half, plan)) for half, plan in zip(halves, plans, strict=True)]
    scores = [mean(chosen(half, plan)) for half, plan in zip(halves[::-1], plans, strict=True)]
    return Asked(
        "Cross-fitting",
        f"""Two halves of the answers estimate the same accuracies.

{_shown(first)}

{_shown(second)}

1. Which budgets does each half choose at the price {float(price):g}? (3)
2. What accuracy does each half claim for its own choice, and what does the other half say? (3)
3. What is the cross-fitted accuracy, and why is the mean claim too high on average? (2)""",
        f"""(1) The first: {_plan(plans[0])}. The second: {_plan(plans[1])}.

(2) The claims are {_at(claims[0])} and {_at(claims[1])}, the scores on the other half
{_at(scores[0])} and {_at(scores[1])}.

(3) {_at(mean(scores))}. Each half chooses what was lucky in it; the other half has other luck.

**Deductions.** Choosing and scoring on one half (3). The price is forgotten (2).""",
    )


def _short(name: str, question: Question) -> Asked:
    """A short question of homework, and its key with what loses points."""
    mistakes = "\n".join(
        f"- {_short_number(value)}: {hint} (2)" for hint, value in question.wrong.items()
    )
    answer = f"{float(round(question.answer, 4)):g}"
    return Asked(
        name.capitalize(),
        f"```\n{question.text}\n```",
        f"The answer is {answer}: {question.hint}.\n\n{mistakes}",
        _SHORT,
    )


# Proofs, which a person marks


def _proof(title: str, claim: str, rubric: str) -> Asked:
    """A claim to be proved, and what is worth points in a proof of it."""
    return Asked(title, f"{claim}\n\nGive the reason for each step in words. (8)", rubric)


DUALITY: list[Callable[[np.random.Generator], Asked]] = [programs, conditions]
BY_HAND: list[Callable[[np.random.Generator], Asked]] = [staircase, halving, gap, crossfit]
#: The questions of homework that a long question asks already.
_ASKS: dict[Callable[[np.random.Generator], Asked], set[str]] = {
    programs: {"bound", "dual value"},
    conditions: {"slackness", "price"},
    gap: {"whole", "bound"},
}
PROOFS = [
    _proof(
        "A proof: the dual bounds every policy",
        r"Let $\lambda\ge 0$, and let a plan $b_1,\dots,b_N$ cost at most $B$ on average. Prove "
        r"that its mean accuracy is at most "
        r"$\frac1N\sum_i\max_b(\mathrm{Acc}(x_i,b)-\lambda b)+\lambda B$.",
        r"""- The budget holds, so $\lambda\,(B-\text{mean cost})\ge 0$ may be added, because
  $\lambda\ge 0$ (4; without $\lambda\ge 0$: 3).
- The sum is the plan's mean net value plus $\lambda B$ (2).
- No question's net value is above its largest one (2).

Any other road that argues each inequality earns the same.""",
    ),
    _proof(
        "A proof: a higher price never buys more",
        r"A question takes the budget $b$ at the price $\lambda$ and $b'$ at the price "
        r"$\lambda'>\lambda$. Prove that $b'\le b$.",
        r"""- At $\lambda$ nothing beats $b$:
  $\mathrm{Acc}(b)-\lambda b\ge\mathrm{Acc}(b')-\lambda b'$ (3).
- At $\lambda'$ nothing beats $b'$, likewise (2).
- Their sum is $(\lambda'-\lambda)(b-b')\ge 0$, and the first factor is positive (3).

A picture of two lines earns 3 at most. An argument by slopes of the envelope is right if it says
why the slopes fall.""",
    ),
    _proof(
        "A proof: Everett's theorem",
        r"At a price $\lambda\ge 0$ every question takes a budget with its largest net value, and "
        r"the plan costs $C$ on average. Prove that no plan that costs $C$ or less has a higher "
        r"mean accuracy.",
        r"""- For every other plan, the oracle's mean net value is at least the plan's (3).
- Written out, the difference in accuracy is at least $\lambda$ times the difference in cost (3).
- The other plan costs no more and $\lambda\ge 0$, so that difference is not negative (2; without
  $\lambda\ge 0$: 1).""",
    ),
    _proof(
        "A proof: budgets have falling returns",
        r"Let $V(B)$ be the best mean accuracy of policies that may randomise within the budget "
        r"$B$. Prove that $\theta V(B_1)+(1-\theta)V(B_2)\le V(\theta B_1+(1-\theta)B_2)$ for "
        r"$0\le\theta\le 1$.",
        r"""- Follow the best policy for $B_1$ with chance $\theta$, else the one for $B_2$ (3).
- Its mean cost is at most $\theta B_1+(1-\theta)B_2$, so it is allowed (3).
- Its mean accuracy is the left side, and $V$ is the best of all that are allowed (2).

By duality: one price for the middle budget bounds both values (4); the bounds are mixed (4).""",
    ),
]
