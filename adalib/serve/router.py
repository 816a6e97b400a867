"""A router: a policy that decides how often to ask, and a budget that is held.

A router decides on one question at a time. It starts a session of its policy at the price of the
moment, asks a model for as many answers as the session wants, and returns the winner of the vote.
What the question cost then moves the price (`adalib.serve.budget`), so that the average cost
stays at the budget.
"""

from __future__ import annotations

import asyncio
import copy
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.ask.endpoint import Ask
from adalib.datasets.files import (
    DataError,
    make_folder,
    number,
    read_json,
    read_whole,
    reading,
    write_lines,
)
from adalib.datasets.folds import subsample
from adalib.datasets.responses import Responses
from adalib.learn.describe import describe, embedding_of
from adalib.learn.embedding import TextEmbedding
from adalib.sequential.live_vote import LONGEST, NOT_SHORT, WORTH, LiveVote, Routed, in_words
from adalib.sequential.priced import LEAST
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.serve.budget import BudgetController

TAUGHT = 1000  # questions that a policy learns from at most, as in `held_out`
_LONGEST_QUESTION = 20_000  # characters of a question that a policy reads
_FILE = "router.json"


class PlannedVote(NamedTuple):
    """What a policy makes of one question at a price."""

    session: Any  #: of priced stopping, or of a race
    expected: float  #: what such a question cost in training


class Router:
    """Answer questions by a learned policy, and hold the average cost at a budget.

    Made by `fit` or `load`. Explained in the chapter "Deploy".

    Parameters
    ----------
    policy : PricedStopping or PricedRace
        What decides, fitted.
    embedding : TextEmbedding or None
        What the policy reads off a question; None where it looks at answers alone.
    budget : float
        Average cost of a question, in the policy's unit.
    usual : dict of str to float, optional
        Mean of each field that the policy reads off a reply, such as ``logprob``. It stands in
        where an endpoint does not report the field, so that all votes weigh the same.

    Attributes
    ----------
    controller : BudgetController
        Holds the budget, for all questions together.

    Examples
    --------
    Fit a router on sampled answers, and let it ask a model. The model here always gives the same
    answer; `adalib.ask.endpoint.model_asker` asks an endpoint.

    >>> from adalib import PricedStopping, Router, load
    >>> from adalib.ask.collect import run_to_end
    >>> from adalib.ask.reply import Answer
    >>> async def ask(runner):
    ...     return Answer("Three and four are seven. Answer: 7", "7", "stop", tokens=9)
    >>> answers = load("word-fewshot").take(range(40))
    >>> router = Router.fit(answers, budget=4, policy=PricedStopping(("votes",)))
    >>> routed = run_to_end(router.answer("What is three plus four?", ask))
    >>> routed.answer, routed.votes
    ('7', {'7': 2})
    """

    def __init__(
        self,
        policy: PricedStopping | PricedRace,
        embedding: TextEmbedding | None,
        budget: float,
        usual: dict[str, float] | None = None,
    ) -> None:
        self.policy = policy
        self.embedding = embedding
        self.usual = dict(usual or {})
        if not isinstance(policy.cost, str):
            raise ValueError('a router sees tokens and no bills; fit a policy with cost="tokens"')
        least = 0.0 if policy.exact else LEAST / policy.unit
        # At the most expensive end nothing further pays, and a price of 0 could not be multiplied.
        self.controller = BudgetController(budget, max(policy.price(budget), 1e-6), low=least)

    @classmethod
    def fit(
        cls,
        responses: Responses,
        budget: float,
        policy: PricedStopping | PricedRace | None = None,
        *,
        groups: Sequence | None = None,
        seed: int = 0,
    ) -> Router:
        """Learn a policy from sampled answers.

        Parameters
        ----------
        responses : Responses
            Answers of the model that will be asked, to questions like those that will come.
        budget : float
            Average cost of a question at most; what is not worth its price is not asked.
        policy : PricedStopping or PricedRace, optional
            What to fit a copy of; default: priced stopping on votes and text. `adalib evaluate`
            says which policy pays. A race counts tokens, so its budget does too.
        groups : sequence, optional
            Questions of one group are left out together when the policy is valued.
        seed : int
            Seed of the sample of 1,000 questions that are learned from where there are more.

        Returns
        -------
        Router
        """
        policy = copy.deepcopy(policy or PricedStopping(("votes", "text")))
        rows = subsample(range(responses.n), TAUGHT, seed)
        lesson = responses.take(rows)
        most = float(lesson.answer_costs(policy.cost).sum(axis=1).mean())
        if budget > most:
            raise ValueError(
                f"the budget is {budget:g}, and all answers to a question of {responses.source} "
                f"cost {most:g} {policy.cost}; give a lower one"
            )
        groups = None if groups is None else [groups[row] for row in rows]
        reads_text = policy.signals is None or "text" in policy.signals
        embedding = embedding_of(lesson.questions) if reads_text else None
        policy.fit(lesson, _features(embedding, lesson.questions), groups)
        if isinstance(policy, PricedRace):
            # Settled here, so that the served race has the price of the race that was held out.
            policy.waiting_price = policy.price_of_waiting(budget)
        usual = {}
        for name in ("tokens", *policy.reads):
            values = getattr(lesson, name, None)
            if values is not None:
                usual[name] = float(np.mean(values))
        return cls(policy, embedding, budget, usual)

    @property
    def unit(self) -> str:
        """What the budget counts: "samples" or "tokens"."""
        return str(self.policy.cost)

    @property
    def races(self) -> bool:
        """Whether it starts several answers and cancels those that are not needed any more."""
        return isinstance(self.policy, PricedRace)

    @property
    def most_answers(self) -> int:
        """The most answers that a question can get."""
        return self.policy.most_answers

    def bound(self, at_once: int, max_tokens: int = 1024) -> float:
        """Return the most by which costs can pass their budgets in sum.

        Parameters
        ----------
        at_once : int
            The most questions that are open at a time.
        max_tokens : int
            Where an answer is cut; only matters where the budget counts tokens.

        Returns
        -------
        float
            In the unit of the budget.
        """
        costs = self.policy.costs
        values = self.policy.values
        gains = (values[1:] - values[0]) / np.maximum(costs[1:] - costs[0], 1e-300)
        most = float(self.most_answers) * (max_tokens if self.unit == "tokens" else 1)
        high = float(max(gains, default=0.0))
        return self.controller.bound(at_once, high=high, cheapest=float(costs[0]), most=most)

    def features(self, questions: Sequence[str]) -> np.ndarray | None:
        """Return what the policy reads off questions, a row each; None if it reads nothing."""
        return _features(self.embedding, [text[:_LONGEST_QUESTION] for text in questions])

    def plan(self, question: str, price: float | None = None) -> PlannedVote:
        """Decide what to do with one question, without asking.

        Parameters
        ----------
        question : str
            The text that the policy reads.
        price : float, optional
            Default: the price of this moment.

        Returns
        -------
        PlannedVote
            A session that takes answers, and what such a question cost in training.
        """
        price = self.controller.price if price is None else price
        best = self.policy.at_price(price)
        features = self.features([question])
        session = self.policy.begin(best, None if features is None else features[0])
        return PlannedVote(session, float(self.policy.costs[best]))

    async def answer(
        self,
        question: str,
        ask: Ask,
        *,
        seconds: float | None = None,
        ending: asyncio.Event | None = None,
    ) -> Routed:
        """Ask until the vote is closed, and return the winner.

        If asking fails, or takes longer than ``seconds``, the answers so far decide. Where there is
        none, the error is raised. Whatever happens, what was asked for is booked.

        Parameters
        ----------
        question : str
            What the policy reads.
        ask : callable
            A coroutine function of a `Runner` that returns one `Answer`, such as
            `adalib.ask.endpoint.model_asker` makes.
        seconds : float, optional
            Time for the whole vote.
        ending : asyncio.Event, optional
            Once it is set, the answers so far decide; a vote that has none waits for its first.

        Returns
        -------
        Routed
        """
        price = self.controller.price
        plan = self.plan(question, price)
        vote = LiveVote(plan.session, ask, self.most_answers, self.usual)
        self.controller.open(plan.expected)
        reason = ""
        try:
            async with asyncio.timeout(seconds):
                reason = await vote.run(ending or asyncio.Event())
        except Exception as error:
            if not vote.came:
                raise
            reason = in_words(error)
        finally:
            cost = vote.tokens if self.unit == "tokens" else float(vote.asked)
            self._book(plan.expected, cost, reason)
        await vote.count_the_rest()
        return vote.routed(cost, price, reason)

    def _book(self, expected: float, cost: float, reason: str) -> None:
        """Book a vote as it ended."""
        if reason in (WORTH, LONGEST):
            self.controller.close(expected, cost)
        elif reason == NOT_SHORT:  # its policy had no say, so it saved nothing
            self.controller.close(expected, cost, saves=False)
        else:
            self.controller.cut(expected, cost)

    def save(self, folder: str | os.PathLike) -> None:
        """Write the router into a folder, as one file of plain JSON."""
        record = {
            "kind": "router",
            "version": 3,
            "budget": self.controller.budget,
            "usual": self.usual,
            "embedding": None if self.embedding is None else self.embedding.to_dict(),
            "policy": self.policy.to_dict(),
        }
        write_lines(make_folder(folder) / _FILE, [record])

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Router:
        """Read a router that `save` wrote, which decides as the saved one did.

        Raises
        ------
        DataError
            One sentence, if the file is missing, damaged or of another kind.
        """
        path = Path(folder) / _FILE
        saved = read_json(read_whole(path), str(path))
        try:
            with reading(saved, "router", 3):
                kinds: dict[str, Any] = {"stopping": PricedStopping, "race": PricedRace}
                kind = kinds[saved["policy"]["kind"]]
                budget = number(saved["budget"], "budget", 0)
                usual = {name: number(mean, name) for name, mean in saved["usual"].items()}
                embedding = saved["embedding"] and TextEmbedding.from_dict(saved["embedding"])
            policy = kind.from_dict(saved["policy"])
            with reading(saved, "router", 3):
                router = cls(policy, embedding, budget, usual)
                router.plan("")  # whether its parts belong together
        except DataError as error:
            raise DataError(f"{path}: {error}") from None
        return router


def _features(embedding: TextEmbedding | None, questions: Sequence[str]) -> np.ndarray | None:
    """Return the features of questions, a row each, as `held_out` has them."""
    return None if embedding is None else describe(embedding, questions)
