"""The router: a policy, what it reads, and a budget that is held, which can be asked and saved.

A saved router is a folder of three files of JSON. ``router.json`` says what it holds, with the
SHA-256 of the two others and of itself. A checksum finds damage and careless editing; against
someone who means harm only the folder's permissions help, and what such a file could do is decide
badly: nothing in it runs.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adalib.datasets.files import DataError, read_lines, write_lines
from adalib.datasets.folds import drawn
from adalib.datasets.responses import Responses
from adalib.datasets.saved import number, whole
from adalib.datasets.sealed import digest, read_sealed, write_sealed
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_values
from adalib.llm.loop import wait_for
from adalib.llm.questions import Prompt, load_prompt
from adalib.router.ask import ask, ask_many
from adalib.router.asking import MOST_TOKENS, Asking, AskingClient, Decision, FixedVote
from adalib.router.controller import BudgetController, Reach
from adalib.router.policies import NAMES, load_policy, planner_for
from adalib.router.purse import Purse, Tally
from adalib.router.routed import Routed
from adalib.sequential.policy import PricedStopping
from adalib.sequential.race import PricedRace
from adalib.sequential.streams import Money
from adalib.vote.kinds import storable_kind

if TYPE_CHECKING:
    from adalib.learn.curve_policy import CurvePolicy

    Policy = PricedStopping | PricedRace | CurvePolicy

_BUDGETS = (1, 2, 4, 8, 16)  # numbers of answers on offer to a curve policy
_DIMS = 16  # of the embedding of a question's text
_FORMAT = "adalib router, version 2"
_MEND = "fit and save the router again"
_MOST_ANSWERS = 10_000  # to a question; a folder that asks for more has been tampered with
LONGEST_QUESTION = 20_000  # characters of a question that a policy reads
_PARTS = ("policy.json", "reader.json")
_TAUGHT = 1000  # questions that priced stopping and races learn from at most, as in `held_out`

Unit = Literal["samples", "tokens"]
Kind = Literal["priced", "curve", "race", "verdict"]


@dataclass(frozen=True)
class Reader:
    """What a router reads off a question before it asks: the features that `held_out` uses."""

    embedding: TextEmbedding

    def read(self, questions: Sequence[str]) -> np.ndarray:
        """Return the features of some questions, one row each; rows do not depend on others."""
        embedded = [self.embedding.embed(question) for question in questions]
        return np.column_stack([text_values(questions), np.array(embedded)])


def recommended(
    responses: Responses,
    budget: float,
    signals: Sequence[str],
    cost: Unit,
    groups: Sequence | None,
    seed: int,
) -> str:
    """Return "priced" or "curve", whichever gains more at this budget on held-out questions."""
    from adalib.evaluate.heldout import Protocol, held_out  # here, because a server learns nothing
    from adalib.learn.curve_policy import CurvePolicy

    learners: dict[str, Any] = {
        "curve": CurvePolicy(seed=seed),
        "priced": PricedStopping(signals, cost=cost, seed=seed),
    }
    # Half of the answers choose, half keep the score.
    offered = [b for b in _BUDGETS if 2 * b <= responses.samples]
    protocol = Protocol(groups=groups, table=partial(Responses.table, cost=cost), seed=seed)
    rows = held_out(responses, [budget], offered, learners=learners, noises=0, protocol=protocol)
    return max((row for row in rows if row.policy in learners), key=lambda row: row.gain).policy


class Router:
    """Answer questions by a learned policy, and hold the average cost at a budget.

    Made by `fit` or `load`. Explained in the chapter "Deploy".

    Parameters
    ----------
    policy : PricedStopping, PricedRace or CurvePolicy
        What decides.
    reader : Reader or None
        What the policy reads off a question; None where it looks at answers alone.
    budget : float
        Average cost of a question.
    cost : {"samples", "tokens"} or Money
        What an answer costs.
    budgets : sequence of int
        Numbers of answers on offer to a curve policy.

    Attributes
    ----------
    controller : BudgetController
        Holds the budget, for all questions together.
    purse : Purse
        The total in money, for example ``router.purse = Purse(5.0)``.
    tally : Tally
        What was asked since the start.
    votes_alone : bool
        Whether the endpoint lacks what the policy weighs answers by.
    kind : str
        What an answer is, see `adalib.vote.kinds`.
    unread_share : float or None
        Share of training answers that could not be read; None in folders of older versions.

    Examples
    --------
    Fit a router on sampled answers, and let it ask a model. The model here always gives the same
    answer; `adalib.llm.client.Client` asks an endpoint.

    >>> from adalib import Router, load
    >>> from adalib.llm.reply import Answer
    >>> class Sure:
    ...     async def sample(self, messages, **settings):
    ...         return Answer("Three and four are seven.\\nAnswer: 7", "stop", 9, 20)
    >>> answers = load("word-fewshot").take(range(40))
    >>> router = Router.fit(answers, budget=4.0, signals=("votes",))
    >>> routed = router.answer("What is three plus four?", Sure())
    >>> routed.answer, routed.samples
    ('7', 2)
    >>> router.controller.budget
    4.0
    """

    def __init__(
        self,
        policy: Policy,
        reader: Reader | None,
        budget: float,
        cost: Unit | Money = "samples",
        budgets: Sequence[int] = _BUDGETS,
    ) -> None:
        self._decide_by(policy, reader, cost, budgets)
        self.votes_alone = False
        self.unread_share: float | None = None
        # At the most expensive end nothing further pays; the controller needs a price that it can
        # multiply.
        first_price = max(self._planner.price(budget), 1e-6)
        reach = self.reach(Asking(max_tokens=MOST_TOKENS))
        self.controller = BudgetController(budget, first_price, reach=reach)
        self.controller.low = self.least
        self.purse = Purse()
        self.tally = Tally()
        self.kind = "auto"

    def _decide_by(
        self,
        policy: Policy,
        reader: Reader | None,
        cost: Unit | Money,
        budgets: Sequence[int],
    ) -> None:
        """Set what decides; the budget and what was spent are not touched."""
        self.policy: Any = policy
        self.reader = reader
        self.cost = cost
        self.budgets = tuple(budgets)
        self._planner = planner_for(policy, self.budgets)

    @classmethod
    def fit(
        cls,
        responses: Responses,
        *,
        budget: float,
        policy: Kind = "priced",
        signals: Sequence[str] = ("votes", "text"),
        cost: Unit | Money = "samples",
        schedule: Sequence[int] | None = None,
        waiting_price: float | None = None,
        groups: Sequence | None = None,
        taught: int = _TAUGHT,
        seed: int = 0,
    ) -> Router:
        """Learn a policy from sampled answers.

        Parameters
        ----------
        responses : Responses
            Answers of the model that will be asked, to questions like those that will come.
        budget : float
            Average cost of a question at most, in the unit of ``cost``: what is not worth its price
            is not asked.
        policy : {"priced", "curve", "race", "verdict"}
            Decide after every answer, before the first, at every finish of answers that run side
            by side, or by whichever of the first two gains more at this budget on held-out
            questions, which takes as long as `evaluate`.
        signals : sequence of str
            What priced stopping and a race look at; "certainty" and "entropy" need
            log-probabilities, here and from the endpoint.
        cost : {"samples", "tokens"} or Money
            A price list holds the average bill of a question; priced stopping only. A race counts
            tokens.
        schedule : sequence of int, optional
            Numbers of answers at which priced stopping may stop: ``range(4, 41, 4)`` waits for a
            tenth of the rounds.
        waiting_price : float, optional
            What a race pays for waiting as long as one average answer takes, in accuracy. Default:
            the lowest price at which it waits no longer than `PricedRace` allows, in training and
            at this budget.
        groups : sequence, optional
            Questions of one group are left out together when the policy is valued.
        taught : int
            Questions that priced stopping and a race learn from, drawn at random where there are
            more, as in `held_out`.
        seed : int
            Seed of all that is drawn at random.

        Returns
        -------
        Router

        Raises
        ------
        ValueError
            If the budget is below the cost of one answer, or the options contradict each other.
        """
        _check_options(policy, cost, schedule, waiting_price)
        unread_share = float(np.mean([not answer for row in responses.answers for answer in row]))
        if policy == "verdict" and not isinstance(cost, Money):
            chosen = recommended(responses, budget, signals, cost, groups, seed)
        else:
            chosen = policy
        if chosen == "curve":
            router = cls._fit_curve(responses, budget, cost, groups, seed)
        else:
            learner: PricedStopping | PricedRace
            if chosen == "race":
                learner = _race(signals, waiting_price, seed)
            else:
                learner = PricedStopping(signals, cost=cost, schedule=schedule, seed=seed)
            rows = drawn(range(responses.n), taught, seed)
            groups = None if groups is None else [groups[row] for row in rows]
            reader = _fit_live(learner, responses.take(rows), groups, "text" in signals)
            if isinstance(learner, PricedRace):
                # Settled here, so that the served race has the price of the race that was held out.
                learner.waiting_price = learner.price_of_waiting(budget)
            router = cls(learner, reader, budget, cost)
        router.unread_share = unread_share
        return router

    @classmethod
    def _fit_curve(
        cls,
        responses: Responses,
        budget: float,
        cost: Any,
        groups: Sequence | None,
        seed: int,
    ) -> Router:
        """Fit a policy that chooses a number of answers from the question alone."""
        from adalib.learn.curve_policy import CurvePolicy

        reader = Reader(TextEmbedding(_DIMS).fit(responses.questions))
        budgets = tuple(b for b in _BUDGETS if b <= responses.samples)
        table = responses.table(budgets, cost=cost)
        features = reader.read(responses.questions)
        curve = CurvePolicy(seed=seed).fit(features, table.acc, table.cost, groups=groups)
        return cls(curve, reader, budget, cost, budgets)

    def at_budget(self, budget: float) -> Router:
        """The same policy under a budget, and with a purse, of its own."""
        return type(self)(self.policy, self.reader, budget, self.cost, self.budgets)

    def adopt(self, other: Router, asking: Asking) -> None:
        """Decide as another router does from now on, under the budget that is held here."""
        if self.controller.low == self.least:  # the operator chose no other
            self.controller.low = other.least
        self._decide_by(other.policy, other.reader, other.cost, other.budgets)
        self.controller.first_price = max(self._planner.price(self.controller.budget), 1e-6)
        self.controller.reach = self.reach(asking)
        self.unread_share = other.unread_share
        self.votes_alone = False

    def plan(self, question: str, price: float) -> Decision:
        """Decide what to do with one question at a price, without asking."""
        if self.votes_alone:
            # As many answers as the budget pays for, weighed alike.
            one = self._planner.one_answer
            answers = max(int(self.controller.budget / one * (1 + 1e-9)), 1)
            return Decision(FixedVote(answers), answers * one, (answers,))
        text = question[:LONGEST_QUESTION]
        features = None if self.reader is None else self.reader.read([text])
        return self._planner.plan(features, price)

    def reach(self, asking: Asking) -> Reach:
        """What a price can do to the cost of a question asked so, for `BudgetController.bound`."""
        return self._planner.reach(self.cost_of(asking.max_tokens), asking.cap)

    def price(self, budget: float) -> float:
        """Return the price at which a budget is spent in training."""
        return self._planner.price(budget)

    @property
    def least(self) -> float:
        """The price below which nothing is bought; 0 where the policy spends the whole budget."""
        return self._planner.least

    @property
    def reads(self) -> Mapping[str, str]:
        """The fields of an answer that the policy weighs answers by, each with its signal."""
        return self._planner.reads

    @property
    def unit(self) -> str:
        """What the budget is counted in."""
        return "dollars" if isinstance(self.cost, Money) else self.cost

    @property
    def name(self) -> str:
        """The kind of policy, as the folder's file has it."""
        return self._planner.name

    def cost_of(self, tokens: int) -> float:
        """What an answer of so many tokens costs in the policy's unit."""
        if isinstance(self.cost, Money):
            return self.cost.per_answer + self.cost.per_token * tokens
        return 1.0 if self.cost == "samples" else float(tokens)

    def answer(
        self, question: str, client: AskingClient, *, prompt: Prompt | None = None, **settings: Any
    ) -> Routed:
        """Answer one question.

        Parameters
        ----------
        question : str
            What the policy reads.
        client : AskingClient
            Whatever gives answers, such as `adalib.llm.client.Client`.
        prompt : Prompt, optional
            Turns the question into what the model is sent.
        **settings
            Fields of `Asking`, such as temperature, max_tokens, cap, price, deadline or prices.

        Returns
        -------
        Routed
        """
        messages = (prompt or load_prompt()).fill(question)
        return wait_for(ask(self, client, question, messages, self._asking(settings)))

    def answer_many(
        self,
        questions: Iterable[str],
        client: AskingClient,
        *,
        prompt: Prompt | None = None,
        concurrency: int = 16,
        progress: bool = True,
        **settings: Any,
    ) -> list[Routed]:
        """Answer many questions under one budget, and return the outcomes in their order.

        As `answer`, with ``concurrency`` questions open at a time. The progress bar shows the spend
        and the running average.
        """
        routed: dict[int, Routed] = {}
        work = list(enumerate(questions))
        filled = prompt or load_prompt()
        asking = self._asking(settings)
        done = routed.__setitem__
        wait_for(ask_many(self, client, work, filled, asking, done, concurrency, progress))
        return [routed[number] for number, _ in work]

    def _asking(self, settings: dict[str, Any]) -> Asking:
        """The settings, with the router's own kind of answer unless another is given."""
        return Asking(**{"kind": self.kind, **settings})

    def save(self, folder: str | os.PathLike) -> None:
        """Write the router into a folder: JSON with checksums, nothing that runs."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            # Written last: a folder without it is no router.
            (folder / "router.json").unlink(missing_ok=True)
        except OSError as error:
            raise DataError(
                f"{folder}: cannot be written ({error.strerror}); choose another folder"
            ) from None
        self._planner.save(folder / "policy.json")
        reader = {"embedding": self.reader.embedding.to_dict()} if self.reader else {}
        write_lines(folder / "reader.json", [reader])
        about = {
            "policy": self.name,
            "budget": self.controller.budget,
            "cost": self.cost if isinstance(self.cost, str) else asdict(self.cost),
            "budgets": list(self.budgets),
            "kind": storable_kind(self.kind),
            "unread_share": self.unread_share,
            "files": {name: digest(folder / name) for name in _PARTS},
        }
        write_sealed(folder / "router.json", _FORMAT, [about])

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Router:
        """Read a router that `save` wrote, which decides as the saved one did, digit for digit.

        Raises
        ------
        DataError
            One line, if a file is missing, damaged, changed or of another version.
        """
        folder = Path(folder)
        try:
            return cls._read(folder)
        except DataError:
            raise
        except RecursionError:
            raise DataError(
                f"{folder}: is not a sound router (it is nested too deep); {_MEND}"
            ) from None
        except (
            AttributeError,
            KeyError,
            TypeError,
            ValueError,
            IndexError,
            OverflowError,
        ) as error:
            reason = str(error) if isinstance(error, ValueError) else repr(error)
            raise DataError(f"{folder}: is not a sound router ({reason}); {_MEND}") from None

    @classmethod
    def _read(cls, folder: Path) -> Router:
        """Read the three files of a router; whatever is wrong with them raises."""
        (about,) = read_sealed(folder / "router.json", _FORMAT, 1, _MEND)
        if set(about["files"]) != set(_PARTS) or about["policy"] not in NAMES:
            raise ValueError("its parts are not named")
        for name in _PARTS:
            if digest(folder / name) != about["files"][name]:
                why = "is not the file that was saved (its checksum differs)"
                raise DataError(f"{folder / name}: {why}; {_MEND}")
        reader = _load_reader(folder / "reader.json")
        policy = load_policy(folder / "policy.json", about["policy"])
        budgets = [whole(budget, "a budget", 1, _MOST_ANSWERS) for budget in about["budgets"]]
        _check_fit(policy, reader, budgets)
        cost = _checked_cost(policy, about["cost"])
        router = cls(policy, reader, number(about["budget"], "budget", 1e-300), cost, budgets)
        router.kind = storable_kind(about.get("kind", "auto"))
        if about.get("unread_share") is not None:
            router.unread_share = number(about["unread_share"], "unread_share", 0, 1)
        return router


def _load_reader(path: Path) -> Reader | None:
    """Read the features' file; it holds an empty object if the policy reads no question."""
    kept = next((record for _, record in read_lines(path)), None)
    return Reader(TextEmbedding.from_dict(kept["embedding"])) if kept else None


def _checked_cost(policy: Any, saved: Any) -> Unit | Money:
    """Return what an answer costs: as the policy says, or as it was saved with one that does not.

    Priced stopping keeps its own cost, which may be a price list.
    """
    cost = policy.cost if isinstance(policy, PricedStopping) else saved
    if cost not in ("samples", "tokens") and not isinstance(cost, Money):
        raise ValueError("its cost is neither samples nor tokens nor a price list")
    if isinstance(policy, PricedRace) and cost != "tokens":
        raise ValueError("its policy is a race, and its cost is not tokens")
    return cost


def _check_options(
    policy: str,
    cost: Any,
    schedule: Sequence[int] | None,
    waiting_price: float | None,
) -> None:
    """Refuse options of `Router.fit` that contradict each other."""
    if policy not in ("priced", "curve", "race", "verdict"):
        choices = "'priced', 'curve', 'race' or 'verdict'"
        raise ValueError(f"policy is {policy!r}; choose {choices}")
    if policy == "race" and cost != "tokens":
        raise ValueError("a race counts tokens; give cost='tokens', and the budget in tokens")
    if waiting_price is not None and policy != "race":
        raise ValueError("a price of waiting needs policy='race'")
    if isinstance(cost, Money) and policy != "priced":
        raise ValueError("a price list needs policy='priced': the others count answers or tokens")
    if schedule is not None and policy == "race":
        raise ValueError("a race has no schedule: it decides at every finish")


def _race(signals: Sequence[str], waiting_price: float | None, seed: int) -> PricedRace:
    """Return a race at a price of waiting, or one that looks for the lowest price it needs."""
    if waiting_price is None:
        return PricedRace(signals, seed=seed)
    return PricedRace(signals, waiting_price=waiting_price, waiting_limit=0.0, seed=seed)


def _fit_live(
    learner: PricedStopping | PricedRace,
    responses: Responses,
    groups: Sequence | None,
    text: bool,
) -> Reader | None:
    """Fit a policy that decides while answers come in, and return what it reads off a question."""
    reader = None
    if text and any(question.strip() for question in responses.questions):
        reader = Reader(TextEmbedding(_DIMS).fit(responses.questions))
    features = None if reader is None else reader.read(responses.questions)
    learner.fit(responses, features, groups)
    return reader


def _check_fit(policy: Any, reader: Reader | None, budgets: Sequence[int]) -> None:
    """Refuse parts that are sound each for itself, and do not belong together."""
    if not isinstance(policy, PricedStopping | PricedRace) and (
        len(budgets) != policy.cost_.size or sorted(set(budgets)) != budgets
    ):
        raise ValueError(f"it has {len(budgets)} budgets and a policy of {policy.cost_.size}")
    planner = planner_for(policy, budgets)
    if planner.most_answers > _MOST_ANSWERS:
        raise ValueError(f"it would ask a question {planner.most_answers:,} times")
    reads = 0 if reader is None else reader.read([""]).shape[1]
    if planner.takes and planner.takes != reads:
        raise ValueError(f"its policy takes {planner.takes} features and its reader gives {reads}")
