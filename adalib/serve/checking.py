"""Ask a model until an answer passes a check, or give up at the price of the moment.

What `adalib.Router` does for votes, for a check in place of the vote: a policy decides, a budget is
held over all questions, and the reason for the end is recorded. The check is code of the user's, so
it may hang, raise, or say something that is neither True nor False; none of these is a pass.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass

import numpy as np

from adalib.ask.endpoint import Ask
from adalib.ask.reply import Answer
from adalib.ask.runner import Runner
from adalib.sequential.checked import CheckedSession, CheckedStopping
from adalib.serve.budget import BudgetController

#: A coroutine function that says of an answer whether it passes.
Check = Callable[[Answer], Awaitable[bool]]

PASSED = "an answer passed"
WORTH = "not worth its price"
_SECONDS = 60.0


@dataclass(frozen=True)
class CheckedAnswer:
    """The answer that passed, or None, and how it came about.

    Attributes
    ----------
    answer : Answer or None
        The answer that passed; None if none did.
    answers : tuple of Answer
        All answers, in their order.
    cost, price : float
        How many answers were paid for, those that never came included, and the price at which the
        question began.
    reason : str
        Why no further answer was asked.
    """

    answer: Answer | None
    answers: tuple[Answer, ...]
    cost: float
    price: float
    reason: str

    @property
    def passed(self) -> bool:
        """Whether an answer passed."""
        return self.answer is not None


class CheckedRouter:
    """Ask until an answer passes, and hold the average number of answers at a budget.

    Parameters
    ----------
    policy : CheckedStopping
        What decides, fitted without features.
    budget : float
        Average answers per question.
    check : coroutine function
        Says of an `Answer` whether it passes.
    seconds : float
        Time for one check; one that takes longer counts as a failure.

    Attributes
    ----------
    controller : BudgetController
        Holds the budget, for all questions together.

    Examples
    --------
    >>> from adalib import CheckedStopping, Passes
    >>> from adalib.ask.collect import run_to_end
    >>> async def ask(runner):
    ...     return Answer(f"try {runner.number}", "", "stop")
    >>> async def check(answer):
    ...     return answer.text == "try 1"
    >>> policy = CheckedStopping().fit(Passes([2, 8, 5, 9], attempts=10))
    >>> found = run_to_end(CheckedRouter(policy, 2.0, check).answer(ask))
    >>> found.answer.text, found.cost, found.reason
    ('try 1', 2.0, 'an answer passed')
    """

    def __init__(
        self, policy: CheckedStopping, budget: float, check: Check, *, seconds: float = _SECONDS
    ) -> None:
        if policy.paid != (1.0, 1.0):
            raise ValueError("a router counts answers; fit a policy on passes that cost 1 each")
        self.policy = policy
        self.check = check
        self.seconds = seconds
        # Where nothing further pays the price is 0, which could not be multiplied.
        self.controller = BudgetController(budget, max(policy.price(budget), 1e-6))

    async def answer(self, ask: Ask) -> CheckedAnswer:
        """Ask one question until an answer passes or another is not worth its price.

        An error of the check ends the question, and is no failure of the answer; its kind is the
        reason. An error in asking is raised if there is no answer yet, and else ends the question.
        Whatever happens, what was asked for is booked.

        Parameters
        ----------
        ask : callable
            A coroutine function of a `Runner` that returns one `Answer`, such as
            `adalib.ask.endpoint.model_asker` makes.

        Returns
        -------
        CheckedAnswer
        """
        price = self.controller.price
        member = self.policy.at_price(price)
        expected = float(self.policy.costs[member])
        session = self.policy.begin(member)
        runners: list[Runner] = []
        answers: list[Answer] = []
        self.controller.open(expected)
        reason = ""
        try:
            reason = await self._run(session, ask, runners, answers)
        finally:
            cost = float(sum(runner.paid for runner in runners))
            # A question that the policy gave up at once cost nothing, and lowers the price for the
            # next. One that was cut short, by an error or by who asked, saved nothing.
            if reason in (PASSED, WORTH):
                self.controller.close(expected, cost)
            else:
                self.controller.cut(expected, cost)
        answer = answers[-1] if session.passed else None
        return CheckedAnswer(answer, tuple(answers), cost, price, reason)

    async def _run(
        self, session: CheckedSession, ask: Ask, runners: list[Runner], answers: list[Answer]
    ) -> str:
        """Ask and check until the session wants no more; return why it ended."""
        while session.goes_on:
            runners.append(Runner(len(answers)))
            try:
                answers.append(await ask(runners[-1]))
            except Exception as error:
                if not answers:
                    raise
                return f"asking ended with {type(error).__name__}"
            try:
                async with asyncio.timeout(self.seconds):
                    said = await self.check(answers[-1])
            except TimeoutError:
                said = False
            except Exception as error:
                return f"the check ended with {type(error).__name__}"
            if not isinstance(said, bool | np.bool_):
                return f"the check said {type(said).__name__}, not True or False"
            session.add(passed=bool(said))
        return PASSED if session.passed else WORTH
