"""The router: a policy, what it reads, and a budget that is held, in one thing that can be asked and saved.

A saved router is a folder of three files of JSON. ``router.json`` says what it holds, with the SHA-256 of the two
others and of itself. A checksum finds damage and careless editing; against someone who means harm only the folder's
permissions help, and what such a file could do is decide badly: nothing in it runs.
"""

from __future__ import annotations

import asyncio
import math
import os
from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from adalib.datasets.files import DataError, read_lines, write_lines
from adalib.datasets.folds import drawn
from adalib.datasets.responses import Responses
from adalib.datasets.sealed import digest, number, read_sealed, whole, write_sealed
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_values
from adalib.llm.client import Client
from adalib.llm.collect import settings_of
from adalib.llm.loop import wait_for
from adalib.llm.questions import Prompt, load_prompt, load_questions
from adalib.llm.store import Store, read_answers
from adalib.router.ask import (
    MOST_TOKENS,
    Asking,
    AskingClient,
    Decision,
    FixedVote,
    Routed,
    ask,
    ask_many,
)
from adalib.router.controller import BudgetController, Reach
from adalib.router.purse import Ledger, Purse, Tally
from adalib.sequential.files import load_stopping, save_stopping
from adalib.sequential.policy import LEAST, PricedStopping
from adalib.sequential.rounds import PricedRounds
from adalib.sequential.streams import Money
from adalib.vote.answers import same_answer
from adalib.vote.kinds import storable_kind

if TYPE_CHECKING:
    from adalib.learn.policies import CurvePolicy

__all__ = ["Reader", "Router", "recommended", "route"]

_BUDGETS = (1, 2, 4, 8, 16)
_DIMS = 16
_FORMAT = "adalib router, version 2"
_MEND = "fit and save the router again"
_MOST_ANSWERS = 10_000  # to a question; who asks for more has been tampered with
LONGEST_QUESTION = 20_000  # characters of a question that a policy reads
_PARTS = ("policy.json", "reader.json")
_STOPPING: dict[str, type[PricedStopping]] = {"priced": PricedStopping, "rounds": PricedRounds}
_TAUGHT = 1000  # questions that priced stopping learns from at most, as `held_out` has it

Unit = Literal["samples", "tokens"]


@dataclass(frozen=True)
class Reader:
    """What a router reads off a question before it asks: the features of `held_out`, kept for new questions."""

    embedding: TextEmbedding

    def read(self, questions: Sequence[str]) -> np.ndarray:
        """The features of some questions, a row each; a question's row does not depend on the others."""
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
    """Compare both policies at this budget on questions left out: "priced" or "curve", whichever gains more."""
    from adalib.evaluate.heldout import Protocol, held_out  # here, because a server learns nothing
    from adalib.learn.policies import CurvePolicy

    learners: dict[str, Any] = {
        "curve": CurvePolicy(seed=seed),
        "priced": PricedStopping(signals, cost=cost, seed=seed),
    }
    offered = [
        b for b in _BUDGETS if 2 * b <= responses.samples
    ]  # half of the answers choose, half keep the score
    protocol = Protocol(groups=groups, table=partial(Responses.table, cost=cost), seed=seed)
    rows = held_out(responses, [budget], offered, learners=learners, noises=0, protocol=protocol)
    return max((row for row in rows if row.policy in learners), key=lambda row: row.gain).policy


class Router:
    """Answer questions by a learned policy, and hold the average cost at a budget. Made by `fit` or `load`.

    Explained in the chapter "Deploy".

    Attributes
    ----------
    policy, reader : PricedStopping or CurvePolicy, Reader or None
        What decides, and what it reads off a question; None where it looks at votes alone.
    cost, budgets : {"samples", "tokens"} or Money, tuple of int
        What an answer costs; numbers of answers on offer to a curve policy.
    controller, purse : BudgetController, Purse
        What holds the budget, for all questions together, and the total in money: ``router.purse = Purse(5.0)``.
    """

    def __init__(
        self,
        policy: PricedStopping | CurvePolicy,
        reader: Reader | None,
        budget: float,
        cost: Unit | Money = "samples",
        budgets: Sequence[int] = _BUDGETS,
    ) -> None:
        self.policy = policy
        self.reader = reader
        self.cost = cost
        self.budgets = tuple(budgets)
        self.votes_alone = False  # whether the endpoint lacks what the policy weighs answers by
        self.unread_share: float | None = None  # of training answers; None in folders of before
        # At the dearest end nothing further pays; the controller needs a price that it can still multiply.
        first = max(policy.price(budget), 1e-6)
        self.controller = BudgetController(
            budget, first, reach=self.reach(Asking(max_tokens=MOST_TOKENS))
        )
        self.controller.low = self.least
        self.purse = Purse()
        self.tally = Tally()
        self.kind = "auto"

    @classmethod
    def fit(
        cls,
        responses: Responses,
        *,
        budget: float,
        policy: Literal["priced", "curve", "verdict"] = "priced",
        signals: Sequence[str] = ("votes", "text"),
        cost: Unit | Money = "samples",
        schedule: Sequence[int] | None = None,
        round_price: float | None = None,
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
            Average cost of a question at most, in the unit of ``cost``: what is not worth its price is not asked.
        policy : {"priced", "curve", "verdict"}
            Decide after every answer, before the first one, or whichever of the two gains more at
            this budget on held-out questions, which takes as long as `evaluate`.
        signals : sequence of str
            What priced stopping looks at; "certainty" and "entropy" need log-probabilities, here and from the endpoint.
        cost : {"samples", "tokens"} or Money
            A price list holds the average bill of a question; priced stopping only.
        schedule : sequence of int, optional
            Numbers of answers at which priced stopping may stop: ``range(4, 41, 4)`` waits for a tenth of the rounds.
        round_price : float, optional
            What waiting for a round of answers costs, in accuracy: 1, 2, 4 or 8 are then asked at once, as
            `adalib.sequential.rounds` says. In place of a schedule.
        groups : sequence, optional
            Questions of one group are left out together when the policy is valued.
        taught : int
            Questions that priced stopping learns from, drawn at random where there are more, as in `held_out`.
        seed : int

        Raises
        ------
        ValueError
            If the budget is below the cost of one answer.
        """
        if policy not in ("priced", "curve", "verdict"):
            raise ValueError(f"policy is {policy!r}; choose 'priced', 'curve' or 'verdict'")
        if isinstance(cost, Money) and policy != "priced":
            raise ValueError(
                "a price list needs policy='priced': the others count answers or tokens"
            )
        if round_price is not None and (policy != "priced" or schedule is not None):
            raise ValueError(
                "a price on rounds needs policy='priced', and no schedule: it chooses how many are asked"
            )
        unread_share = float(np.mean([not answer for row in responses.answers for answer in row]))
        chosen: str = policy
        if policy == "verdict" and not isinstance(cost, Money):
            chosen = recommended(responses, budget, signals, cost, groups, seed)
        if chosen == "priced" or isinstance(cost, Money):
            rows = drawn(range(responses.n), taught, seed)
            groups = None if groups is None else [groups[row] for row in rows]
            responses = responses.take(rows)
            told = "text" in signals and any(text.strip() for text in responses.questions)
            reader = Reader(TextEmbedding(_DIMS).fit(responses.questions)) if told else None
            stopping = PricedStopping(signals, cost=cost, schedule=schedule, seed=seed)
            if round_price is not None:
                stopping = PricedRounds(round_price, signals, cost=cost, seed=seed)
            stopping.fit(
                responses, None if reader is None else reader.read(responses.questions), groups
            )
            router = cls(stopping, reader, budget, cost)
            router.unread_share = unread_share
            return router
        from adalib.learn.policies import CurvePolicy

        reader = Reader(TextEmbedding(_DIMS).fit(responses.questions))
        budgets = tuple(b for b in _BUDGETS if b <= responses.samples)
        table = responses.table(budgets, cost=cost)
        curve = CurvePolicy(seed=seed).fit(
            reader.read(responses.questions), table.acc, table.cost, groups=groups
        )
        router = cls(curve, reader, budget, cost, budgets)
        router.unread_share = unread_share
        return router

    def at_budget(self, budget: float) -> Router:
        """The same policy under a budget, and with a purse, of its own."""
        return type(self)(self.policy, self.reader, budget, self.cost, self.budgets)

    def adopt(self, other: Router, asking: Asking) -> None:
        """Decide as another router does from now on, under the budget that is held here."""
        if self.controller.low == self.least:  # nobody chose another
            self.controller.low = other.least
        self.policy, self.reader, self.cost, self.budgets = (
            other.policy,
            other.reader,
            other.cost,
            other.budgets,
        )
        self.controller.first_price = max(self.policy.price(self.controller.budget), 1e-6)
        self.controller.reach = self.reach(asking)
        self.unread_share = other.unread_share
        self.votes_alone = False

    def plan(self, question: str, price: float) -> Decision:
        """Decide what to do with one question at a price: for `ask`, and for whoever wants to look."""
        if self.votes_alone and isinstance(self.policy, PricedStopping):
            # As many answers as the budget pays for, weighed alike.
            one = float(self.policy.costs[0]) / int(self.policy.schedule[0])
            answers = max(int(self.controller.budget / one * (1 + 1e-9)), 1)
            return Decision(FixedVote(answers), answers * one, (answers,))
        question = question[:LONGEST_QUESTION]
        known = None if self.reader is None else self.reader.read([question])
        if not isinstance(self.policy, PricedStopping):
            column = int(self.policy.at_price([] if known is None else known, price)[0])
            answers = self.budgets[column]
            return Decision(FixedVote(answers), float(self.policy.cost_[column]), (answers,))
        stopping: PricedStopping = self.policy
        number = stopping.at_price(price)
        session = stopping.begin(number, None if known is None else known[0])
        return Decision(session, float(stopping.costs[number]), tuple(stopping.schedule.tolist()))

    def reach(self, asking: Asking) -> Reach:
        """What a price can do to the cost of a question asked so, for `BudgetController.bound`."""
        answer, policy = self.cost_of(asking.max_tokens), self.policy
        if not isinstance(
            policy, PricedStopping
        ):  # no accuracy is above 1, and all answers come in one round
            costs, gains, most, turn = (
                policy.cost_,
                np.ones(policy.cost_.size),
                self.budgets[-1] * answer,
                np.inf,
            )
        else:
            costs, gains = policy.costs, policy.accuracies - policy.accuracies[0]
            most, turn = float(policy.schedule[-1]) * answer, policy.largest_round * answer
        high = max(gains[1:] / (costs[1:] - costs[0]), default=0.0)
        return Reach(float(high), float(costs[0]), min(asking.cap, most), min(asking.cap, turn))

    @property
    def least(self) -> float:
        """The price below which nothing is bought, budget left or not; 0 where the policy spends it all."""
        if not isinstance(self.policy, PricedStopping):
            return LEAST * self.budgets[-1] / float(self.policy.cost_[-1])
        return 0.0 if self.policy.exact else LEAST / self.policy.unit

    @property
    def unit(self) -> str:
        """What the budget is counted in."""
        return "dollars" if isinstance(self.cost, Money) else self.cost

    @property
    def name(self) -> str:
        """The kind of policy, as the folder's file has it."""
        return next(
            (name for name, kind in _STOPPING.items() if type(self.policy) is kind), "curve"
        )

    def cost_of(self, tokens: int) -> float:
        """What an answer of so many tokens costs in the policy's unit."""
        if isinstance(self.cost, Money):
            return self.cost.per_answer + self.cost.per_token * tokens
        return 1.0 if self.cost == "samples" else float(tokens)

    def answer(
        self, question: str, client: AskingClient, *, prompt: Prompt | None = None, **how: Any
    ) -> Routed:
        """Answer one question, put to a client such as `adalib.llm.client.Client` as a prompt says.

        ``how`` are fields of `Asking`, such as temperature, max_tokens, cap, price, deadline or prices.
        """
        messages = (prompt or load_prompt()).fill(question)
        return wait_for(ask(self, client, question, messages, self._asking(how)))

    def answer_many(
        self,
        questions: Iterable[str],
        client: AskingClient,
        *,
        prompt: Prompt | None = None,
        concurrency: int = 16,
        progress: bool = True,
        **how: Any,
    ) -> list[Routed]:
        """Answer many questions, ``concurrency`` at a time, under one budget; in their order, otherwise as `answer`.

        The progress bar shows the spend and the running average.
        """
        routed: dict[int, Routed] = {}
        work, filled = list(enumerate(questions)), prompt or load_prompt()
        wait_for(
            ask_many(
                self,
                client,
                work,
                filled,
                self._asking(how),
                routed.__setitem__,
                concurrency,
                progress,
            )
        )
        return [routed[number] for number, _ in work]

    def _asking(self, settings: dict[str, Any]) -> Asking:
        return Asking(**{"kind": self.kind, **settings})

    def save(self, folder: str | os.PathLike) -> None:
        """Write the router into a folder: JSON with checksums, nothing that runs. `load` reads it anywhere."""
        folder = Path(folder)
        try:
            folder.mkdir(parents=True, exist_ok=True)
            (folder / "router.json").unlink(
                missing_ok=True
            )  # written last: a folder without it is no router
        except OSError as error:
            raise DataError(
                f"{folder}: cannot be written ({error.strerror}); choose another folder"
            ) from None
        if not isinstance(self.policy, PricedStopping):
            self.policy.save(folder / "policy.json")
        else:
            save_stopping(self.policy, folder / "policy.json")
        write_lines(
            folder / "reader.json",
            [{"embedding": self.reader.embedding.to_dict()} if self.reader else {}],
        )
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
        """Read a router that `save` wrote; its decisions are those of the saved one, digit for digit.

        Raises
        ------
        DataError
            One line, if a file is missing, damaged, changed or of another version.
        """
        folder = Path(folder)
        try:
            (about,) = read_sealed(folder / "router.json", _FORMAT, 1, _MEND)
            if set(about["files"]) != set(_PARTS) or about["policy"] not in ("curve", *_STOPPING):
                raise ValueError("its parts are not named")
            for name in _PARTS:
                if digest(folder / name) != about["files"][name]:
                    raise DataError(
                        f"{folder / name}: is not the file that was saved (its checksum differs); {_MEND}"
                    )
            kept = next((record for _, record in read_lines(folder / "reader.json")), None)
            reader = Reader(TextEmbedding.from_dict(kept["embedding"])) if kept else None
            policy = _load_policy(folder / "policy.json", about["policy"])
            budgets = [whole(budget, "a budget", 1, _MOST_ANSWERS) for budget in about["budgets"]]
            _check_fit(policy, reader, budgets)
            cost = policy.cost if isinstance(policy, PricedStopping) else about["cost"]
            if cost not in ("samples", "tokens") and not isinstance(cost, Money):
                raise ValueError("its cost is neither samples nor tokens nor a price list")
            router = cls(policy, reader, number(about["budget"], "budget", 1e-300), cost, budgets)
            router.kind = storable_kind(about.get("kind", "auto"))
            if about.get("unread_share") is not None:
                router.unread_share = number(about["unread_share"], "unread_share", 0, 1)
            return router
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
            why = error if isinstance(error, ValueError) else repr(error)
            raise DataError(f"{folder}: is not a sound router ({why}); {_MEND}") from None


def _load_policy(file: Path, kind: str) -> PricedStopping | CurvePolicy:
    """The policy of a saved router; one that decides before asking needs the libraries that learn."""
    if kind in _STOPPING:
        return load_stopping(file, _STOPPING[kind])
    from adalib.learn.policies import CurvePolicy, load_policy

    policy = load_policy(file)
    if not isinstance(policy, CurvePolicy):
        raise ValueError("its policy cannot be held to a budget")
    return policy


def _check_fit(
    policy: PricedStopping | CurvePolicy, reader: Reader | None, budgets: Sequence[int]
) -> None:
    """Refuse parts that are sound each for itself, and do not belong together."""
    if isinstance(policy, PricedStopping) and int(policy.schedule[-1]) > _MOST_ANSWERS:
        raise ValueError(f"it would ask a question {int(policy.schedule[-1]):,} times")
    if not isinstance(policy, PricedStopping) and (
        len(budgets) != policy.cost_.size or sorted(set(budgets)) != budgets
    ):
        raise ValueError(f"it has {len(budgets)} budgets and a policy of {policy.cost_.size}")
    needs = policy.takes if isinstance(policy, PricedStopping) else policy.n_features_in_
    reads = 0 if reader is None else reader.read([""]).shape[1]
    if needs and needs != reads:
        raise ValueError(f"its policy takes {needs} features and its reader gives {reads}")


def route(
    router: Router,
    client: Client,
    questions: str | os.PathLike,
    out: str | os.PathLike,
    asking: Asking,
    *,
    total: float = math.inf,
    prompt: str | os.PathLike | None = None,
    concurrency: int = 16,
) -> str:
    """Answer a file of questions into a folder, and return one line on what came of it.

    The same call goes on where an earlier one ended. ``ledger.json`` in the folder keeps the money, the
    debt and the largest concurrency, so that all runs together stay within one total and one bound.
    Interrupted once, it finishes open questions; twice, it drops them.
    """
    asked = load_questions(questions)
    filled = load_prompt(prompt)
    folder = Path(out)
    settings = settings_of(client, asked, filled, asking.temperature, asking.max_tokens)
    settings |= {"budget": router.controller.budget, "cost": router.unit}
    kept: dict[str, dict[str, Any]] = {}
    with Store(folder, settings, {"messages": filled.messages}) as store:
        kept |= {record.pop("id"): record for record, _ in read_answers(store.answers)}
        ledger = Ledger(folder / "ledger.json")
        try:
            router.purse = Purse(total, ledger)
            router.controller.keep_in(ledger, router.unit)
            work = [(q["id"], q["question"]) for q in asked if q["id"] not in kept]

            def keep(name: str, answer: Routed) -> None:
                kept[name] = {"sample": 0, **asdict(answer)}
                store.append({"id": name, **kept[name]})

            stop = asyncio.Event()
            with store.reporting(len(asked)):
                wait_for(
                    ask_many(router, client, work, filled, asking, keep, concurrency, True, stop),
                    stop,
                )
        finally:
            ledger.close()
    rows = [
        q | {name: value for name, value in kept[q["id"]].items() if name != "sample"}
        for q in asked
    ]
    write_lines(folder / "routed.jsonl", rows)
    right = sum(same_answer(row["answer"], str(row["gold"])) for row in rows)
    cost = sum(row["cost"] for row in rows) / len(rows)
    rounds = sum(row["rounds"] for row in rows) / len(rows)
    money = sum(row["money"] for row in rows)
    budget = f"(budget {router.controller.budget:g})"
    return (
        f"wrote {folder / 'routed.jsonl'}: {right} of {len(rows)} right, "
        f"{cost:.4g} {router.unit} per question {budget} in {rounds:.3g} rounds, ${money:.2f}"
    )
