"""The router: a policy, what it reads, and a budget that is held, in one thing that can be saved and asked."""

from __future__ import annotations

import os
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from adalib.datasets.folds import drawn
from adalib.datasets.jsonl import DataError
from adalib.datasets.responses import Responses
from adalib.evaluate.heldout import TAUGHT
from adalib.learn.curve_policy import CurvePolicy
from adalib.llm.questions import Prompt, load_prompt
from adalib.router import saving
from adalib.router.asking import Asking, Client, Routed, ask
from adalib.router.background import wait_for
from adalib.router.choose import recommended
from adalib.router.controller import BudgetController, Purse
from adalib.router.many import ask_many
from adalib.router.reader import Reader
from adalib.router.tally import Counted, Plan
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import Money

__all__ = ["Router"]

_BUDGETS = (1, 2, 4, 8, 16)


class Router:
    """Answer questions by a learned policy, and hold the average cost at a budget.

    Made by `fit` or `load`. Explained in chapter 11, "Deploy".

    Parameters
    ----------
    policy : PricedStopping or CurvePolicy
        Fitted.
    reader : Reader or None
        What it reads off a question; None where it looks at votes alone.
    budget : float
        Average cost to hold.
    cost : {"samples", "tokens"} or Money
        What an answer costs.
    budgets : sequence of int
        Numbers of answers on offer to a curve policy.

    Attributes
    ----------
    controller : BudgetController
        Holds the budget; shared by all questions that this router answers.
    purse : Purse
        The total in money; without end until one is set: ``router.purse = Purse(5.0)``.
    """

    def __init__(
        self,
        policy: PricedStopping | CurvePolicy,
        reader: Reader | None,
        budget: float,
        cost: Literal["samples", "tokens"] | Money = "samples",
        budgets: Sequence[int] = _BUDGETS,
    ) -> None:
        self.policy, self.reader, self.cost, self.budgets = policy, reader, cost, tuple(budgets)
        # At the dearest end nothing further pays; the controller needs a price that it can still multiply.
        self.controller = BudgetController(budget, max(policy.price(budget), 1e-6))
        self.purse = Purse()

    @classmethod
    def fit(
        cls,
        responses: Responses,
        *,
        budget: float,
        policy: Literal["priced", "curve", "verdict"] = "priced",
        signals: Sequence[str] = ("votes", "text"),
        cost: Literal["samples", "tokens"] | Money = "samples",
        schedule: Sequence[int] | None = None,
        groups: Sequence | None = None,
        taught: int = TAUGHT,
        seed: int = 0,
    ) -> Router:
        """Learn a policy from sampled answers.

        Parameters
        ----------
        responses : Responses
            Answers of the model that will be asked, to questions like those that will come.
        budget : float
            Average cost of a question, in the unit of ``cost``.
        policy : {"priced", "curve", "verdict"}
            Decide after every answer (chapter 10), before the first (chapter 6), or whichever of the two gains more at
            this budget on held-out questions (chapter 7), which takes as long as `evaluate`.
        signals : sequence of str
            What priced stopping looks at; "certainty" needs log-probabilities, here and from the endpoint.
        cost : {"samples", "tokens"} or Money
            A price list holds the average bill of a question; priced stopping only.
        schedule : sequence of int, optional
            Numbers of answers at which priced stopping may stop: ``range(4, 41, 4)`` waits for a tenth of the rounds.
        groups : sequence, optional
            Questions of one group are left out together when the policy is valued.
        taught : int
            Questions that priced stopping learns from, drawn at random where there are more, as in `held_out`.
        seed : int

        Returns
        -------
        Router

        Raises
        ------
        ValueError
            If the budget is below the cost of one answer.
        """
        if policy not in ("priced", "curve", "verdict"):
            raise ValueError(f"policy is {policy!r}; choose 'priced', 'curve' or 'verdict'")
        if isinstance(cost, Money) and policy != "priced":
            raise ValueError("a price list needs policy='priced': the others count answers or tokens")
        if policy == "verdict":
            policy, _ = recommended(responses, budget, _BUDGETS, signals, cost, groups, seed)
        if policy == "priced":
            rows = drawn(range(responses.n), taught, seed)
            groups = None if groups is None else [groups[row] for row in rows]
            responses = responses.take(rows)
        reads = policy == "curve" or "text" in signals
        reader = Reader(responses.questions) if reads else None
        known = reader.read(responses.questions) if reads else None
        if policy == "priced":
            made = PricedStopping(signals, cost=cost, schedule=schedule, seed=seed)
            return cls(made.fit(responses, known, groups), reader, budget, cost)
        budgets = tuple(b for b in _BUDGETS if b <= responses.samples)
        table = responses.table(budgets, cost=cost)
        curve = CurvePolicy(seed=seed).fit(known, table.acc, table.cost, groups=groups)
        return cls(curve, reader, budget, cost, budgets)

    def plan(self, question: str, price: float) -> Plan:
        """Decide what to do with one question at a price: for `ask`, and for whoever wants to look."""
        known = None if self.reader is None else self.reader.read([question])
        if isinstance(self.policy, CurvePolicy):
            column = int(self.policy.at_price(known, price)[0])
            answers = self.budgets[column]
            return Plan(Counted(answers), float(self.policy.cost_[column]), (answers,))
        number = self.policy.at_price(price)
        session = self.policy.begin(number, None if known is None else known[0])
        stops = tuple(int(stop) for stop in self.policy.schedule)
        return Plan(session, float(self.policy.costs[number]), stops, bool(self.policy.sharpness))

    @property
    def unit(self) -> str:
        """What the budget is counted in."""
        return "dollars" if isinstance(self.cost, Money) else self.cost

    def cost_of(self, tokens: int) -> float:
        """What an answer of so many tokens costs in the policy's unit."""
        if isinstance(self.cost, Money):
            return self.cost.per_answer + self.cost.per_token * tokens
        return 1.0 if self.cost == "samples" else float(tokens)

    def answer(self, question: str, client: Client, *, prompt: Prompt | None = None, **how: Any) -> Routed:
        """Answer one question.

        Parameters
        ----------
        question : str
        client : Client
            The endpoint to ask, see `adalib.llm.endpoint.Endpoint`.
        prompt : Prompt, optional
            How the question is put, as in `collect`; see `load_prompt`.
        **how
            Fields of `Asking`: temperature, max_tokens, cap, price, deadline, other, price_in, price_out.

        Returns
        -------
        Routed
        """
        messages = (prompt or load_prompt()).fill(question)
        return wait_for(ask(self, client, question, messages, Asking(**how)))

    def answer_many(
        self,
        questions: Iterable[str],
        client: Client,
        *,
        prompt: Prompt | None = None,
        concurrency: int = 16,
        progress: bool = True,
        **how: Any,
    ) -> list[Routed]:
        """Answer many questions, some at a time, under one budget.

        Parameters
        ----------
        questions : iterable of str
        client, prompt, how
            As for `answer`.
        concurrency : int
            Questions open at a time.
        progress : bool
            Show a bar with the spend and the running average.

        Returns
        -------
        list of Routed
            In the order of the questions.
        """
        found: dict[int, Routed] = {}
        work = list(enumerate(questions))
        filled, asking = prompt or load_prompt(), Asking(**how)
        wait_for(ask_many(self, client, work, filled, asking, found.__setitem__, concurrency, progress))
        return [found[number] for number, _ in work]

    def save(self, folder: str | os.PathLike) -> None:
        """Write the router into a folder: JSON with checksums, nothing that runs. `load` reads it anywhere."""
        saving.save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Router:
        """Read a router that `save` wrote; its decisions are those of the saved one, digit for digit.

        Raises
        ------
        DataError
            One line, if a file is missing, damaged, changed or of a newer version.
        """
        policy, reader, about = saving.load(folder)
        try:
            cost = about["cost"] if isinstance(about["cost"], str) else Money(**about["cost"])
            return cls(policy, reader, about["budget"], cost, about["budgets"])
        except (TypeError, ValueError) as error:  # no price meets its budget, or no price list
            raise DataError(f"{folder}: is not a sound router ({error}); fit and save the router again") from None
