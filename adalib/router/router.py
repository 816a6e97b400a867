"""A router in a folder: three files of JSON, and checksums that are looked at before anything else is.

``router.json`` says what the folder holds: the format and its version, the budget, and the SHA-256 of the two others
and of itself. A checksum finds damage and careless editing; against someone who means harm only the folder's
permissions help, and what such a file could do is decide badly: nothing in it runs.
"""

from __future__ import annotations

import asyncio
import contextlib
import os
import threading
from collections.abc import Coroutine, Iterable, Sequence
from dataclasses import asdict
from functools import lru_cache, partial
from pathlib import Path
from typing import Any, Literal

import numpy as np

from adalib.datasets.files import DataError, read_lines, write_lines
from adalib.datasets.folds import drawn
from adalib.datasets.responses import Responses
from adalib.datasets.sealed import digest, number, open_seal, seal, whole
from adalib.evaluate.heldout import TAUGHT, Protocol, held_out
from adalib.evaluate.verdict import verdict
from adalib.learn.curve_policy import CurvePolicy
from adalib.learn.embedding import TextEmbedding
from adalib.learn.features import text_values
from adalib.learn.label_policy import load_policy
from adalib.llm.questions import Prompt, load_prompt
from adalib.router.ask import Asking, Client, Counted, Plan, Routed, ask, ask_many
from adalib.router.controller import BudgetController, Purse
from adalib.sequential.priced import PricedStopping
from adalib.sequential.saving import load_stopping, save_stopping
from adalib.sequential.streams import Money

__all__ = ["Reader", "Router", "recommended", "wait_for"]


# What a router reads off a question before it asks: the features that `held_out` uses, kept for new questions.


_DIMS = 16


class Reader:
    """Turn questions into the features of `held_out`: `text_features`, and an embedding of the training questions.

    Examples
    --------
    >>> reader = Reader(["3 red hens", "4 red hens", "two trains meet"])
    >>> reader.read(["5 red hens"]).shape
    (1, 31)
    """

    def __init__(self, questions: Sequence[str] | None = None, embedding: TextEmbedding | None = None) -> None:
        self.embedding = embedding if questions is None else TextEmbedding(_DIMS).fit(questions)

    def read(self, questions: Sequence[str]) -> np.ndarray:
        """The features of some questions, a row each; a question's row does not depend on the others."""
        embedded = [self.embedding.embed(question) for question in questions]
        return np.column_stack([text_values(questions), np.array(embedded)])

    def to_dict(self) -> dict[str, Any]:
        """Plain values, for a file of JSON."""
        return {"embedding": self.embedding.to_dict()}

    @classmethod
    def from_dict(cls, kept: dict[str, Any]) -> Reader:
        """What `to_dict` gave."""
        return cls(embedding=TextEmbedding.from_dict(kept["embedding"]))


# Which policy to deploy: the one that gains most on questions it has not seen.


def recommended(
    responses: Responses,
    budget: float,
    budgets: Sequence[int],
    signals: Sequence[str],
    cost: Literal["samples", "tokens"] = "samples",
    groups: Sequence | None = None,
    seed: int = 0,
) -> tuple[str, str]:
    """Hold out, compare at this budget, and name "priced" or "curve" with the verdict's sentence.

    Explained in chapter 11, "Deploy".

    Parameters
    ----------
    responses : Responses
        As many as `held_out` needs.
    budget : float
        Average cost at which they are compared.
    budgets : sequence of int
        Numbers of answers on offer to the curve policy; those with twice as many answers in the file are used.
    signals, cost, groups, seed
        As for `Router.fit`.
    """
    learners = {"curve": CurvePolicy(seed=seed), "priced": PricedStopping(signals, cost=cost, seed=seed)}
    offered = [b for b in budgets if 2 * b <= responses.samples]
    protocol = Protocol(groups=groups, table=partial(Responses.table, cost=cost), seed=seed)
    rows = held_out(responses, [budget], offered, learners=learners, noises=0, protocol=protocol)
    best = max((row for row in rows if row.policy in learners), key=lambda row: row.gain)
    return best.policy, verdict(rows)


# One event loop in the background, for those who call without one of their own.
#
# A notebook's own loop is taken, and an HTTP client belongs to the loop that first used it: so all calls share one.


def wait_for(work: Coroutine, stop: threading.Event | None = None) -> Any:
    """Run a coroutine on the background loop and wait for what it returns.

    An interrupt cancels it. With ``stop`` the first one sets that, and waits for the work to end by itself; the second
    cancels. Either way the interrupt goes on to the caller.
    """
    future = asyncio.run_coroutine_threadsafe(work, _loop())
    try:
        return future.result()
    except KeyboardInterrupt:
        if stop is not None:
            stop.set()
            with contextlib.suppress(KeyboardInterrupt, Exception):
                future.result()
        future.cancel()
        raise


@lru_cache(maxsize=1)
def _loop() -> asyncio.AbstractEventLoop:
    loop = asyncio.new_event_loop()
    threading.Thread(target=loop.run_forever, name="adalib-router", daemon=True).start()
    return loop


# The router: a policy, what it reads, and a budget that is held, in one thing that can be saved and asked.


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
        _save(self, folder)

    @classmethod
    def load(cls, folder: str | os.PathLike) -> Router:
        """Read a router that `save` wrote; its decisions are those of the saved one, digit for digit.

        Raises
        ------
        DataError
            One line, if a file is missing, damaged, changed or of a newer version.
        """
        policy, reader, about = _load(folder)
        try:
            cost = about["cost"] if isinstance(about["cost"], str) else Money(**about["cost"])
            return cls(policy, reader, about["budget"], cost, about["budgets"])
        except (TypeError, ValueError) as error:  # no price meets its budget, or no price list
            raise DataError(f"{folder}: is not a sound router ({error}); fit and save the router again") from None


_KIND, _VERSION = "adalib router", 1
_MEND = "fit and save the router again"
_PARTS = ("policy.json", "reader.json")


def _save(router: Router, folder: str | os.PathLike) -> None:
    """Write the parts first and ``router.json`` last: a folder without it is no router."""
    folder = Path(folder)
    try:
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "router.json").unlink(missing_ok=True)
    except OSError as error:
        raise DataError(f"{folder}: cannot be written ({error.strerror}); choose another folder") from None
    curve = isinstance(router.policy, CurvePolicy)
    if curve:
        router.policy.save(folder / "policy.json")
    else:
        save_stopping(router.policy, folder / "policy.json")
    write_lines(folder / "reader.json", [{} if router.reader is None else router.reader.to_dict()])
    about = {
        "format": _KIND,
        "version": _VERSION,
        "policy": "curve" if curve else "priced",
        "budget": router.controller.budget,
        "cost": router.cost if isinstance(router.cost, str) else asdict(router.cost),
        "budgets": list(router.budgets),
        "files": {name: digest(folder / name) for name in _PARTS},
    }
    write_lines(folder / "router.json", seal([about]))


def _load(folder: str | os.PathLike) -> tuple[PricedStopping | CurvePolicy, Reader | None, dict[str, Any]]:
    """Read the policy, the reader and what ``router.json`` says, or refuse in one line."""
    folder = Path(folder)
    about = _about(folder / "router.json")
    for name in _PARTS:
        if digest(folder / name) != about["files"][name]:
            raise DataError(f"{folder / name}: is not the file that was saved (its checksum differs); {_MEND}")
    try:
        kept = next((record for _, record in read_lines(folder / "reader.json")), None)
        reader = Reader.from_dict(kept) if kept else None
        policy = (load_policy if about["policy"] == "curve" else load_stopping)(folder / "policy.json")
        _check_fit(policy, reader, about)
        return policy, reader, about
    except DataError:
        raise
    except (AttributeError, KeyError, TypeError, ValueError, IndexError, OverflowError) as error:
        raise DataError(f"{folder}: is not a sound router ({error!r}); {_MEND}") from None


def _about(path: Path) -> dict[str, Any]:
    lines = [record for _, record in read_lines(path)]
    about = lines[0] if len(lines) == 1 else {}
    if about.get("format") != _KIND or not isinstance(about.get("version"), int):
        raise DataError(f"{path}: is not a saved router; {_MEND}")
    if about["version"] > _VERSION:
        raise DataError(f"{path}: is of version {about['version']}, this adalib reads {_VERSION}; install a newer one")
    open_seal(lines, path, _MEND)
    files = about.get("files")
    if not isinstance(files, dict) or set(files) != set(_PARTS) or about.get("policy") not in ("curve", "priced"):
        raise DataError(f"{path}: is not a sound router (its parts are not named); {_MEND}")
    return about


def _check_fit(policy: PricedStopping | CurvePolicy, reader: Reader | None, about: dict[str, Any]) -> None:
    """Refuse parts that are sound each for itself, and do not belong together."""
    number(about["budget"], "budget", 1e-300)
    cost = about["cost"]
    if isinstance(cost, dict) and set(cost) == {"per_token", "per_answer"} and isinstance(policy, PricedStopping):
        number(cost["per_token"], "price of a token", 1e-300)
        number(cost["per_answer"], "price of an answer", 0.0)
    elif cost not in ("samples", "tokens"):
        raise ValueError("its cost is neither samples nor tokens nor a price list")
    asked = [whole(budget, "a budget", 1, 10**9) for budget in about["budgets"]]
    if isinstance(policy, CurvePolicy):
        if len(asked) != policy.cost_.size or sorted(set(asked)) != asked:
            raise ValueError(f"it has {len(asked)} budgets and a policy of {policy.cost_.size}")
        needs = policy.n_features_in_
    elif isinstance(policy, PricedStopping):
        needs = 0 if policy.prior is None else policy.prior.points.shape[1]
    else:
        raise ValueError("its policy cannot be held to a budget")
    reads = 0 if reader is None else reader.read([""]).shape[1]
    if needs and needs != reads:
        raise ValueError(f"its policy takes {needs} features and its reader gives {reads}")
