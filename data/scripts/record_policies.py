"""Score every policy of the book by one protocol; the result is data/recorded/policies.jsonl.

The protocol is `adabook.protocol`: sets, deals, targets, features. A part is named by its set, by
what is paid ("answers" or "tokens", or "other marks", where every question has the marks of another
one's answers and nothing should gain), by its family and by its deal. The families are

- "plans": policies that decide before asking, with controls, and the same number for everyone;
- "words": the same from the words of the questions, which are not bundled. Name files that have
  ``id`` and ``question``; the texts are found by their hash;
- "watches": policies that stop while answers come in;
- a file of ``book/adabook/policies``: published rules, each at its budget, or at what it spends;
- "taught 5000": predicted curves with five times as many training questions;
- "bill": the tokens that the policies of the short scoreboard take, watching under a budget that
  is held, and watching in rounds. The other policies are those of "plans" and "watches";
- "time": how long one waits for the policies of the short scoreboard that have several answers
  written at once. It hardly differs from deal to deal, so the first is enough.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from inspect import signature
from itertools import permutations, product
from pathlib import Path
from pkgutil import iter_modules
from typing import Any

import numpy as np
import pandas as pd
from recording import Part, main
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeCV
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from adabook import policies
from adabook.controls import with_other_marks
from adabook.protocol import BOUNDED, DEALS, RIVALS, TARGETS, VOTED, answers_of, features_of
from adabook.recorded import figures
from adabook.scoreboard import BUDGET, ROUNDS, SET
from adalib.datasets.files import read_lines
from adalib.datasets.loading import text_hash
from adalib.datasets.responses import Cost, Responses
from adalib.evaluate.baselines import from_labels, noise_features, waiting_times
from adalib.evaluate.compare import RACE, answer_cost, in_answers, stopping_policies
from adalib.evaluate.heldout import Protocol, held_out, oracles_at
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Policy, Questions, WithFeatures, fresh, outcomes, planned
from adalib.evaluate.policy_files import classes_in
from adalib.evaluate.scores import HeldOutRow
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.label_policy import LabelPolicy
from adalib.sequential.priced import LEAST
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.sequential.replay import REPLAYS, Tried
from adalib.serve.budget import BudgetController
from adalib.table import NUMBERS

_MANY = 5000  # training questions, where a set has them
_PENALTIES = np.logspace(-1, 3, 9)  # of ridge regression, chosen by the training questions
_NULL_AT = 3.0
_VISITS = 4  # of each question to its fold's server, which so meets about a thousand
#: What is paid, by its name in the record.
PAID: Mapping[str, Cost] = {"answers": "samples", "tokens": "tokens"}
#: Our policies that watch, by the names of their rows: on votes alone, and on all that a file has.
OURS = {"priced_votes": "votes", "priced": "all signals"}


def parts(texts: Mapping[str, str]) -> Iterator[Part]:
    """Yield the name of a part, and a function that computes its rows."""
    files = [file.name for file in iter_modules(policies.__path__)]
    jobs: list[tuple[str, str, str, Callable, tuple]] = [(SET, "answers", "bill", bill, ())]
    for name in (*VOTED, *BOUNDED):
        jobs.append((name, "answers", "plans", plans, ()))
        if answers_of(name).extras.get("read") is not None:
            jobs.append((name, "answers", "words", by_words, (texts,)))
    jobs += [(name, "answers", f"taught {_MANY}", taught, ()) for name in BOUNDED]
    for name, (paid, cost) in product(VOTED, PAID.items()):
        jobs.append((name, paid, "watches", watches, (cost,)))
    for name in RIVALS:
        jobs.append((name, "other marks", "watches", null, ()))
        for file in files:
            jobs += [(name, paid, file, published, (cost, file)) for paid, cost in PAID.items()]
            jobs.append((name, "other marks", file, null, (file,)))
    yield f"{SET}, answers, time, deal 0", partial(waits, SET, 0)
    for deal, (name, paid, family, compute, given) in product(DEALS, jobs):
        yield f"{name}, {paid}, {family}, deal {deal}", partial(compute, name, deal, *given)


def scored(
    name: str,
    deal: int,
    learners: Mapping[str, Policy],
    targets: Sequence[float] = TARGETS,
    cost: Cost = "samples",
    answers: Responses | None = None,
    noises: int = 0,
    **protocol: Any,
) -> list[HeldOutRow]:
    """Hold policies out by the protocol, with targets and costs in average answers."""
    answers = answers_of(name) if answers is None else answers
    unit = answer_cost(answers, cost)
    rows = held_out(
        answers,
        [target * unit for target in targets],
        [number for number in NUMBERS if number <= answers.samples // 2],
        learners=learners,
        features=features_of(name),
        noises=noises,
        protocol=Protocol(seed=deal, cost=cost, **protocol),
    )
    return [in_answers(row, unit) for row in rows]


def kept(rows: Sequence[HeldOutRow], names: Sequence[str] | None = None) -> list[dict]:
    """Return what is recorded of rows: figures, kind, and the lead over the static oracle."""
    oracle = {row.target: row.gains for row in rows if row.policy == "oracle"}
    return [
        {
            **figures(row),
            "target": round(row.target, 6),
            "policy": OURS.get(row.policy, row.policy),
            "kind": row.kind,
            "over_oracle": lead(row.gains - oracle[row.target]),
        }
        for row in rows
        if names is None or row.policy in names
    ]


def lead(gains: np.ndarray) -> list[float]:
    """Return a mean gain with its interval."""
    found = mean_interval(gains)
    return [round(float(end), 5) for end in (found.mean, found.low, found.high)]


def plans(name: str, deal: int) -> list[dict]:
    """Score policies that decide before they ask, and numbers that are the same for everyone."""
    curve = CurvePolicy(seed=deal)
    trees = LabelPolicy(spend="budget", seed=deal)
    logistic = make_pipeline(StandardScaler(), LogisticRegression(max_iter=1000))
    lines = LabelPolicy(logistic, spend="budget", seed=deal)
    noise = noise_features(answers_of(name).n, seed=deal).astype("f4")
    learners: dict[str, Policy] = {
        "one": Everyone(1),
        "three": Everyone(3),
        "label": LabelPolicy(seed=deal),
        "curve": curve,
        "curve, noise": WithFeatures(curve, noise),
        "ranked": trees,
        "logistic": lines,
        "logistic, noise": WithFeatures(lines, noise),
    }
    return kept(scored(name, deal, learners, noises=1))


class Everyone:
    """The same number of answers for everyone, whatever the budget, scored in expectation."""

    plans = True

    def __init__(self, number: int) -> None:
        self.number = number

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Learn nothing."""
        table = test.answers.table([self.number])
        return [Tried(np.full(table.n, float(self.number)), table.acc[:, 0]) for _ in targets]


def by_words(name: str, deal: int, texts: Mapping[str, str]) -> list[dict]:
    """Score ridge regressions on words and, where they are known, on level and subject."""
    answers = answers_of(name)
    found = [texts[read["text"]] for read in answers.extras["read"]]
    words = partial(weighted_words, np.array(found, dtype=object))
    learners: dict[str, Policy] = {"words": Described([words])}
    if answers.levels is not None:
        kinds = [
            f"{level} {kind}"
            for level, kind in zip(answers.levels, answers.extras["type"], strict=True)
        ]
        kind = partial(columns_of, pd.get_dummies(kinds).to_numpy(dtype=float))
        paper = partial(standardised, features_of(name).to_numpy())
        learners["level and subject"] = Described([kind])
        learners["all text"] = Described([words, kind, paper])
    return kept(scored(name, deal, learners), list(learners))


#: Turns rows that teach and rows that are scored into two arrays of features.
Describe = Callable[[np.ndarray, np.ndarray], tuple[np.ndarray, np.ndarray]]


def weighted_words(texts: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Weigh words by TF-IDF, as the training texts have them."""
    words = TfidfVectorizer(sublinear_tf=True, min_df=2)
    return words.fit_transform(texts[train]).toarray(), words.transform(texts[test]).toarray()


def columns_of(values: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Take some rows of a table as they are."""
    return values[train], values[test]


def standardised(values: np.ndarray, train: np.ndarray, test: np.ndarray):
    """Give every column mean 0 and a small spread, so that it does not outweigh words."""
    scale = StandardScaler().fit(values[train])
    return scale.transform(values[train]) / 4, scale.transform(values[test]) / 4


class Described:
    """Ridge regression of the accuracy curve on descriptions that are learned fold by fold."""

    plans = True

    def __init__(self, descriptions: Sequence[Describe]) -> None:
        self.descriptions = descriptions

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Describe the questions, predict their curves, and let the price decide."""
        rows = train.features.index.to_numpy(), test.features.index.to_numpy()
        pairs = [describe(*rows) for describe in self.descriptions]
        first, second = (np.hstack(arrays) for arrays in zip(*pairs, strict=True))
        policy = CurvePolicy(RidgeCV(_PENALTIES))
        return planned(policy, described(train, first), described(test, second), targets)


def described(questions: Questions, values: np.ndarray) -> Questions:
    """Return questions with other features."""
    features = pd.DataFrame(values, index=questions.features.index)
    features.columns = features.columns.astype(str)
    return replace(questions, features=features)


def taught(name: str, deal: int) -> list[dict]:
    """Score predicted curves that learned from many questions, at two answers each."""
    rows = scored(name, deal, {"curve": CurvePolicy(seed=deal)}, [2.0], taught=_MANY)
    return kept(rows, ["curve"])


def watches(name: str, deal: int, cost: Cost) -> list[dict]:
    """Score what stops while answers come in, on votes alone and on all that the file has."""
    learners = stopping_policies(cost)
    if cost == "tokens":
        learners[RACE] = PricedRace()
        # What the rules that count answers really take.
        unit = answer_cost(answers_of(name), cost)
        learners["votes, paid in answers"] = InAnswers(("votes",), unit)
        learners["all signals, paid in answers"] = InAnswers(None, unit)
    names = [*learners, *(("oracle", "mix") if cost == "tokens" else ())]
    return kept(scored(name, deal, learners, cost=cost), names)


class InAnswers:
    """A stopping rule that counts answers and pays their tokens."""

    def __init__(self, signals: Sequence[str] | None, unit: float) -> None:
        self.signals = signals
        self.unit = unit

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Fit and play the rule in answers, and add up the tokens of those that it took."""
        policy = PricedStopping(self.signals)
        policy = policy.limited_to(min(train.answers.samples, test.answers.samples))
        policy.fit(train.answers, train.features, train.groups.tolist())
        streams = policy.streams(test.answers, 1, REPLAYS)
        tokens = np.asarray(streams.read("tokens")).cumsum(axis=1)
        policy.cost = "tokens"  # for the bar: everyone pays tokens
        alike = policy.own_vote(test.answers, policy.most_answers, test.allowed)
        tried = []
        for target in targets:
            mix = policy.mix(max(target / self.unit, float(policy.costs.min())))
            shares = np.array([1 - mix.share, mix.share])
            members = [policy.members[mix.low], policy.members[mix.high]]
            stops, accuracy = policy.play(members, streams, test.features)
            paid = np.take_along_axis(tokens, policy.schedule[stops] - 1, axis=1)
            outcome = streams.mean(paid @ shares), streams.mean(accuracy @ shares)
            tried.append(Tried(*outcome, alike=alike))
        return tried


def written(file: str, answers: Responses) -> dict[str, type]:
    """Return the policies in a file of ``adabook/policies`` that these answers allow, by name."""
    path = Path(policies.__path__[0], f"{file}.py")
    return {
        name: one
        for name, one in classes_in(path.read_bytes(), str(path)).items()
        if answers.logprob is not None or not needs_logprob(one, answers)
    }


def needs_logprob(policy: type, answers: Responses) -> bool:
    """Whether a policy refuses answers without log-probabilities, as these are."""
    try:
        if hasattr(policy, "more"):
            fresh(policy, _NULL_AT).fit(answers.take(range(10)))
    except ValueError:
        return True
    return False


def published(name: str, deal: int, cost: Cost, file: str) -> list[dict]:
    """Score the policies of a file; a rule without a budget stands at what it spends.

    ``over`` is the lead of our two policies on such a rule, asked to spend as much.
    """
    answers = answers_of(name)
    own = written(file, answers)
    alone = {policy for policy, one in own.items() if "budget" not in signature(one).parameters}
    able = {policy: one for policy, one in own.items() if policy not in alone}
    found = kept(scored(name, deal, able, cost=cost), list(able)) if able else []
    if not alone:
        return found
    rules = [
        row
        for row in scored(name, deal, {one: own[one] for one in alone}, [TARGETS[-1]], cost)
        if row.policy in alone
    ]
    # Of two halves of the answers, one has the longer ones: all of it costs more than an average.
    least = 1.0 if cost == "samples" else 1.01
    spent = {rule.policy: max(rule.cost, least) for rule in rules}
    ours = {one: policy for one, policy in stopping_policies(cost).items() if one in OURS}
    at = {
        (row.policy, round(row.target, 9)): row.gains
        for row in scored(name, deal, ours, sorted(set(spent.values())), cost)
    }
    for rule in rules:
        target = round(spent[rule.policy], 9)
        over = {OURS[one]: lead(at[one, target] - rule.gains) for one in OURS}
        found.append({**figures(rule), "target": None, "kind": rule.kind, "over": over})
    return found


def null(name: str, deal: int, file: str | None = None) -> list[dict]:
    """Return what policies that watch gain where the marks are those of other questions."""
    answers = answers_of(name)
    learners = stopping_policies() if file is None else written(file, answers)
    if not learners:
        return []
    marked = with_other_marks(answers)
    rows = scored(name, deal, learners, [_NULL_AT], answers=marked)
    return kept(rows, [row.policy for row in rows if row.kind == "watches"])


def bill(name: str, deal: int) -> list[dict]:
    """Return the tokens per question of the short scoreboard's policies, and the held budget's row.

    A policy that decides before it asks takes that many average answers to the question; one that
    watches takes those that it read.
    """
    trees = LabelPolicy(seed=deal)
    learners: dict[str, Any] = {
        "one": Before(Everyone(1)),
        "three": Before(Everyone(3)),
        "label": Before(trees),
        # Not called "noise", which `held_out` has itself.
        "random": Before(Noise(trees, answers_of(name).n, deal)),
        "curve": Before(CurvePolicy(seed=deal)),
        "votes": Watching(by_the_mix),
        "held": Watching(partial(by_the_debt, deal)),
        "rounds": Watching(by_the_mix, ROUNDS),
    }
    names = {f"bill, {one}": policy for one, policy in learners.items()}
    rows = {row.policy: row for row in scored(name, deal, names, [BUDGET])}
    found: list[dict] = [
        {"policy": "oracle", "target": BUDGET, "tokens": tokens_of_oracle(answers_of(name), deal)}
    ]
    for one, policy in learners.items():
        row = {**figures(rows[f"bill, {one}"]), "policy": "noise" if one == "random" else one}
        tokens = float(np.concatenate(policy.tokens).mean())
        found.append({**row, "tokens": round(tokens, 3)})
    return found


def waits(name: str, deal: int) -> list[dict]:
    """Return how long one waits, in average answers, where several are written at once."""
    planners = {"label": LabelPolicy(seed=deal), "curve": CurvePolicy(seed=deal)}
    rows = scored(name, deal, planners, [BUDGET], noises=1)
    rows += scored(name, deal, {RACE: PricedRace()}, [BUDGET], cost="tokens")
    waiting = {row.policy: row.waiting for row in rows if row.policy in (RACE, "noise", *planners)}
    waiting["oracle"] = next(row.waiting for row in rows if row.policy == "oracle")
    together = waiting_times(answers_of(name), (1, int(BUDGET))).mean(axis=0)
    waiting |= dict(zip(("one", "three"), together, strict=True))
    return [
        {"policy": policy, "target": BUDGET, "waiting": round(float(time), 4)}
        for policy, time in waiting.items()
    ]


class Before:
    """A policy that decides before it asks, and the tokens of that many average answers."""

    plans = True

    def __init__(self, policy: Policy) -> None:
        self.policy = policy
        self.tokens: list[np.ndarray] = []

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Try the policy at a single target."""
        (one,) = outcomes("planned", self.policy, train, test, targets)
        self.tokens.append(one.cost * test.answers.tokens.mean(axis=1))
        return [Tried(one.cost, one.accuracy)]


class Noise:
    """Random numbers in place of the text, other ones for each half, as `held_out` draws them."""

    plans = True

    def __init__(self, policy: LabelPolicy, n: int, deal: int) -> None:
        self.policies = [
            WithFeatures(policy, noise_features(n, seed=1000 * deal + half).astype("f4"))
            for half in range(2)
        ]

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Learn from the noise of the half that teaches."""
        return self.policies[train.half].trial(train, test, targets)


def tokens_of_oracle(answers: Responses, deal: int) -> float:
    """Return the tokens per question of the cross-fitted oracle at the scoreboard's budget."""
    found = []
    for teach, score in permutations(answers.split_samples(deal)):
        table = teach.table(NUMBERS)
        ((_, labels),) = oracles_at(table, [BUDGET])
        number = from_labels(labels, table.k).expected(table.cost)
        found.append(number * np.asarray(score.tokens).mean(axis=1))
    return round(float(np.mean(found)), 3)


#: Turns a policy, a budget and what each of its members takes and scores, an array (figures,
#: questions, orders, members), into those figures of every question.
Decide = Callable[[PricedStopping, float, np.ndarray], np.ndarray]


class Watching:
    """Stopping by votes, and the tokens of the answers that it read."""

    def __init__(self, decide: Decide, schedule: Sequence[int] | None = None) -> None:
        self.decide = decide
        self.schedule = schedule
        self.tokens: list[np.ndarray] = []

    def trial(self, train: Questions, test: Questions, targets: Sequence[float]) -> list[Tried]:
        """Learn from ``train``, and play the answers of ``test`` back by every member."""
        (target,) = targets
        policy = PricedStopping(("votes",), schedule=self.schedule)
        policy = policy.limited_to(min(train.answers.samples, test.answers.samples))
        policy.fit(train.answers, train.features, train.groups.tolist())
        streams = policy.streams(test.answers, 1, REPLAYS)
        stops, right = policy.play(policy.members, streams)
        answers = policy.schedule[stops]
        spent = np.asarray(streams.read("tokens")).cumsum(axis=1)
        tokens = np.take_along_axis(spent, answers - 1, axis=1)
        played = np.stack([answers, right, tokens])
        by_question = played.reshape(3, test.answers.n, -1, len(policy.members))
        cost, accuracy, tokens = self.decide(policy, target, by_question)
        self.tokens.append(tokens)
        return [Tried(cost, accuracy)]


def by_the_mix(policy: PricedStopping, budget: float, played: np.ndarray) -> np.ndarray:
    """Let the policy's mix of two members decide, in all orders."""
    mix = policy.mix(budget)
    low, high = played[..., mix.low], played[..., mix.high]
    return ((1 - mix.share) * low + mix.share * high).mean(axis=-1)


def by_the_debt(deal: int, policy: PricedStopping, budget: float, played: np.ndarray) -> np.ndarray:
    """Let a price that moves decide, while questions come one by one, each in a random order."""
    _, n, orders, _ = played.shape
    rng = np.random.default_rng(deal)
    questions = rng.permutation(np.repeat(np.arange(n), _VISITS))
    controller = BudgetController(budget, policy.price(budget), low=LEAST / policy.unit)
    met = np.zeros((len(played), n))
    for question, order in zip(questions, rng.integers(orders, size=questions.size), strict=True):
        member = policy.at_price(controller.price)
        taken = played[:, question, order, member]
        controller.open(policy.costs[member])
        controller.close(policy.costs[member], taken[0])
        met[:, question] += taken
    return met / _VISITS


def read_texts(files: Sequence[str | Path]) -> dict[str, str]:
    """Return the texts of some files of questions, by their hash."""
    lines = [line for path in files for _, line in read_lines(path)]
    return {text_hash(line["question"]): line["question"] for line in lines}


if __name__ == "__main__":
    main(policies=lambda files: parts(read_texts(files)))
