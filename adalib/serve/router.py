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
from collections import Counter
from collections.abc import Awaitable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from adalib.ask.endpoint import Ask, NoAnswerError
from adalib.ask.reply import Answer
from adalib.ask.runner import Runner
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
from adalib.sequential.priced import LEAST
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.sequential.race_session import RaceSession
from adalib.serve.budget import BudgetController
from adalib.vote.answers import ClassesSoFar
from adalib.vote.extract import extract_answer, marks_answer

TAUGHT = 1000  # questions that a policy learns from at most, as in `held_out`
_LONGEST_QUESTION = 20_000  # characters of a question that a policy reads
_LONG_TEXT = 300  # characters from which a text needs a marked answer: an essay holds numbers too
_SHORT_TEXT = 40  # characters of a text that is an answer as it is, such as "Paris"
_FILE = "router.json"

# Why no further answer was asked.
WORTH = "not worth its price"
LONGEST = "the longest vote"
NOT_SHORT = "no short answer"


class PlannedVote(NamedTuple):
    """What a policy makes of one question at a price."""

    session: Any  #: of priced stopping, or of a race
    expected: float  #: what such a question cost in training


@dataclass(frozen=True)
class Routed:
    """The winner of a vote, and how it came about.

    Attributes
    ----------
    answer : str
        The winner, "" if no answer could be read.
    winner : Answer
        The first reply that gave it.
    votes : dict of str to int
        How many replies gave each answer.
    answers : tuple of Answer
        All replies that came in.
    tokens : int
        Tokens written, those of cancelled replies included.
    cancelled : int
        Replies of a race that were cancelled.
    cost, price : float
        What the vote cost in the policy's unit, and the price at which it began.
    reason : str
        Why no further answer was asked.
    """

    answer: str
    winner: Answer
    votes: dict[str, int]
    answers: tuple[Answer, ...]
    tokens: int
    cancelled: int
    cost: float
    price: float
    reason: str


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

    def tokens_of(self, answer: Answer) -> float:
        """Return the tokens of an answer; the usual number where the endpoint reports none."""
        return self.usual.get("tokens", 0.0) if answer.tokens is None else float(answer.tokens)

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

    async def answer(self, question: str, ask: Ask, *, seconds: float | None = None) -> Routed:
        """Ask until the vote is closed, and return the winner.

        If asking fails, or takes longer than ``seconds``, the answers so far decide. Where there is
        none, the error is raised.

        Parameters
        ----------
        question : str
            What the policy reads.
        ask : callable
            A coroutine function of a `Runner` that returns one `Answer`, such as
            `adalib.ask.endpoint.model_asker` makes.
        seconds : float, optional
            Time for the whole vote.

        Returns
        -------
        Routed
        """
        price = self.controller.price
        plan = self.plan(question, price)
        vote = _Vote(self, plan.session, ask)
        self.controller.open(plan.expected)
        reason = ""
        try:
            async with asyncio.timeout(seconds):
                reason = await vote.run()
        except Exception as error:
            if not vote.answers:
                raise
            reason = in_words(error)
        finally:
            # A vote that was cut short is no saving, and must not lower the price.
            if reason in (WORTH, LONGEST) or vote.cost > self.controller.budget:
                self.controller.close(plan.expected, vote.cost)
            else:
                self.controller.drop(plan.expected)
        return vote.routed(price, reason)

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


class _NotShortError(Exception):
    """The first answer is not a short one, so there is nothing to vote on."""


class _Vote:
    """The vote on one question: the answers that came in, and which of them are the same.

    An answer counts once its class is known. Classes are numbered one answer at a time, because
    which class is new depends on those before.
    """

    def __init__(self, router: Router, session: Any, ask: Ask) -> None:
        self.router = router
        self.session = session
        self.ask = ask
        self.answers: list[Answer] = []
        self.ballots: list[str] = []
        self.numbers: list[int] = []  # the class of each ballot; -1 where it is none
        self._classes = ClassesSoFar()
        self._one_at_a_time = asyncio.Lock()

    async def run(self) -> str:
        """Ask until the session wants no more, and return why it does not."""
        try:
            if isinstance(self.session, RaceSession):
                await self.session.run(self._race)
            else:
                await self._ask_in_rounds()
        except _NotShortError:
            return NOT_SHORT
        return LONGEST if len(self.answers) >= self.router.most_answers else WORTH

    async def _ask_in_rounds(self) -> None:
        """Ask for as many answers at once as the session wants, and count them in that order."""
        while self.session.goes_on:
            runners = [Runner(len(self.answers) + k) for k in range(self.session.asks)]
            answers, error = await _until_one_fails([self.ask(runner) for runner in runners])
            for answer in answers:  # those before and beside a failure are paid for, and count
                ballot, fields = await self._count(answer)
                self.session.add(ballot, **fields)
            if error is not None:
                raise error

    async def _race(self, runner: Runner) -> tuple[int | None, dict[str, Any]]:
        """Ask for one answer of a race, which runs next to others."""
        ballot, fields = await self._count(await self.ask(runner))
        return ballot, fields

    async def _count(self, answer: Answer) -> tuple[int | None, dict[str, Any]]:
        """Note one more answer; return its class, None if unreadable, and what a policy reads."""
        ballot = short_answer(answer)
        async with self._one_at_a_time:
            # Formulas are compared as mathematics, which takes a while; a server has other work.
            number = await asyncio.to_thread(self._classes.add, ballot)
            self.answers.append(answer)
            self.ballots.append(ballot)
            self.numbers.append(number)
        if max(self.numbers) < 0:  # a text that was cut would be cut the next time too
            raise _NotShortError
        usual = self.router.usual
        given = {name: getattr(answer, name) for name in ("tokens", *self.session.reads)}
        fields = {
            name: usual.get(name) if value is None else value for name, value in given.items()
        }
        return None if number < 0 else number, fields

    @property
    def tokens(self) -> float:
        """Tokens written so far, those of cancelled answers included."""
        if isinstance(self.session, RaceSession):
            return self.session.tokens
        return sum(self.router.tokens_of(answer) for answer in self.answers)

    @property
    def cost(self) -> float:
        """What the vote cost, in the unit of the budget."""
        return self.tokens if self.router.unit == "tokens" else float(len(self.answers))

    def routed(self, price: float, reason: str) -> Routed:
        """Return the outcome; the winner is the first of the leading answers."""
        leaders = self.session.leaders
        winner = self.numbers.index(leaders[0]) if leaders else 0
        read = [number for number in self.numbers if number >= 0]
        return Routed(
            answer=self.ballots[winner] if leaders else "",
            winner=self.answers[winner],
            votes=dict(Counter(self.ballots[self.numbers.index(number)] for number in read)),
            answers=tuple(self.answers),
            tokens=round(self.tokens),
            cancelled=getattr(self.session, "cancelled", 0),
            cost=self.cost,
            price=price,
            reason=reason,
        )


def short_answer(answer: Answer) -> str:
    """Return the answer to vote with; "" where a reply is not a short answer.

    A long text counts only if its answer is marked (a box, "Answer:", "####"), because an essay
    holds numbers too. A text of a few words is an answer as it is, unless it marks an answer and
    then gives none. A text that was cut is no answer: its last number may be half of one.
    """
    if answer.finish != "stop":
        return ""
    text = answer.text.strip()
    if len(text) > _LONG_TEXT and not extract_answer(text, finished=False):
        return ""
    is_answer = len(text) <= _SHORT_TEXT and not marks_answer(text)
    return answer.answer or (text if is_answer else "")


async def _until_one_fails(
    questions: Sequence[Awaitable[Answer]],
) -> tuple[list[Answer], BaseException | None]:
    """Wait for all answers; if one fails, cancel those still running and return its error too."""
    tasks = [asyncio.ensure_future(question) for question in questions]
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_EXCEPTION)
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)  # until their connections are closed
    ended = [task for task in tasks if not task.cancelled()]
    errors = [task.exception() for task in ended if task.exception() is not None]
    answers = [task.result() for task in ended if task.exception() is None]
    return answers, errors[0] if errors else None


def in_words(error: BaseException) -> str:
    """Say why a vote failed, without the endpoint's own words, which may hold a text or a key."""
    if isinstance(error, NoAnswerError):
        return str(error)
    return "out of time" if isinstance(error, TimeoutError) else type(error).__name__


def _features(embedding: TextEmbedding | None, questions: Sequence[str]) -> np.ndarray | None:
    """Return the features of questions, a row each, as `held_out` has them."""
    return None if embedding is None else describe(embedding, questions)
