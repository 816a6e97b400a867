"""Answer a file of questions in rounds, each of which is a batch.

A router that was fitted for rounds (``adalib fit --rounds 3``) says after each round which votes
are closed, and asks on for the others. The command is repeated: it reads what came back, writes the
next round, and at the end the answers. See `adalib.batch.ledger` for the folder.
"""

from __future__ import annotations

import os
import secrets
import warnings
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cached_property
from math import inf, sqrt
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from tqdm.auto import tqdm

from adalib.ask.ceiling import (
    Bill,
    PricePair,
    at_most,
    billed,
    checked_prices,
    spread,
    table,
    total,
    usual_read,
)
from adalib.ask.collect import (
    check_settings,
    fill_prompt,
    hash_of,
    load_prompt,
    load_questions,
    request_fields,
)
from adalib.ask.endpoint import Wishes, check_base_url
from adalib.batch.ledger import RECEIVED, TRIES, Ledger
from adalib.batch.lines import Request, request_line
from adalib.datasets.files import DataError, held, make_folder, read_json, read_whole, write_lines
from adalib.datasets.responses import Prices
from adalib.sequential.priced_stopping import PricedStopping
from adalib.serve.router import LONGEST, TAUGHT, WORTH, Router
from adalib.vote.answers import answer_classes
from adalib.vote.extract import Kind

_SETTINGS = "job.json"
_ANSWERS = "answers.jsonl"
_MANY_ROUNDS = 3  # each takes up to a day
CEILING = "the ceiling is reached"


class Vote(NamedTuple):
    """How far the vote on one question is."""

    leaders: list[str]  #: the leading answers
    again: list[Request]  #: what failed and is to be sent once more
    more: list[Request]  #: what the next round asks
    why: str  #: why it is closed; "" while it is open


def batch(
    folder: str | os.PathLike,
    questions: str | os.PathLike,
    out: str | os.PathLike,
    *,
    model: str,
    prompt: str | os.PathLike | None = None,
    temperature: float | None = 0.7,
    max_tokens: int = 256,
    reasoning_effort: str | None = None,
    kind: Kind = "number",
    prices: PricePair | None = None,
    most_dollars: float | None = None,
    dry_run: bool = False,
    again: bool = False,
    submit: bool = False,
    base_url: str | None = None,
    key_env: str = "OPENAI_API_KEY",
) -> Path | None:
    """Go on with a job in batches, as far as what came back allows.

    Call it again with the same arguments whenever something came back: the folder remembers the
    rest, and nothing is sent twice. Explained in the chapter "What an answer costs".

    Parameters
    ----------
    folder : path-like
        A router of ``adalib fit``, best one for few rounds (``--rounds 3``).
    questions : path-like or str
        JSON Lines with ``id``, ``question`` and whatever else the answers should carry, or the name
        of a bundled set.
    out : path-like
        The folder of the job: files to send, ``received`` for what comes back, and
        ``answers.jsonl`` at the end.
    model : str
        The model's name at the endpoint.
    prompt : path-like or str, optional
        A prompt file or the name of a bundled one, as for `collect`.
    temperature : float or None
        Sampling temperature; None leaves the choice to the endpoint.
    max_tokens : int
        Tokens at which an answer is cut.
    reasoning_effort : str, optional
        How long a reasoning model may think, such as ``low`` or ``high``.
    kind : {"number", "choice", "text"}
        What is read out of a text that marks no answer.
    prices : (float, float), optional
        Dollars for a million tokens of the prompt and of the answer, as the batch bills them.
    most_dollars : float, optional
        What the job may cost at most. A round is sent only as far as it cannot pass it.
    dry_run : bool
        Say what the job should cost and what it can cost, and write nothing.
    again : bool
        Ask again for what did not come back. It stays booked, since it may have been billed.
    submit : bool
        Send the rounds and fetch what came back, with the ``openai`` package.
    base_url : str, optional
        With ``submit``: the endpoint; default OpenAI's own.
    key_env : str
        With ``submit``: the environment variable that holds the key.

    Returns
    -------
    Path or None
        The file of answers, once every vote is closed.

    Raises
    ------
    DataError
        If a file is bad, or the folder was begun with other settings.
    ValueError
        If the first round could cost more than ``most_dollars``.
    """
    if submit:  # a missing library is said before anything is written
        from adalib.batch.submit import Endpoint

        if base_url is not None:
            check_base_url(base_url, "base_url")
    paid = checked_prices(prices, most_dollars)
    if max_tokens < 1:
        raise ValueError(f"max_tokens is {max_tokens}; give more than 0")
    router = Router.load(folder)
    policy = router.policy
    if not isinstance(policy, PricedStopping):
        raise ValueError(
            f"{folder}: is a race, which cancels answers, and a batch cannot; fit it with --rounds"
        )
    asked = load_questions(questions, needs=("id", "question"))
    messages = load_prompt(prompt)
    fields = request_fields(model, temperature, max_tokens, reasoning_effort)
    fields |= Wishes.of(policy.reads, streams=False).fields
    votes = Votes(router, policy, [question["question"] for question in asked])
    prompts = [fill_prompt(messages, question["question"]) for question in asked]
    bounds = [at_most(filled, max_tokens) for filled in prompts]
    if dry_run:
        read = float(np.mean([usual_read(filled) for filled in prompts]))
        print(estimate(votes, bounds, read, paid, most_dollars))
        return None
    where = Path(out)
    saved = read_whole(Path(folder, "router.json"))
    settings = fields | {
        "messages": messages,
        "kind": kind,
        "router": hash_of(saved.decode("utf-8", "replace")),
        "questions": hash_of([[question["id"], question["question"]] for question in asked]),
    }
    make_folder(where)
    with held(where / _SETTINGS, f"{where}: another program works on this job; wait for it"):
        tag = _begun(where, settings, len(policy.schedule))
        ledger = Ledger(where, tag)
        make_folder(where / RECEIVED)
        client = Endpoint(ledger, base_url, key_env) if submit else None
        if client:
            client.fetch()
        ledger.take_in(kind)
        lost = ledger.waiting() if again else []
        if client:  # what is still being worked on is not lost
            lost = client.lost(again)
        if lost:
            ledger.lose(lost)
        job = _Job(ledger, votes, bounds, paid, inf if most_dollars is None else most_dollars)
        if not ledger.waiting():
            lines = {
                request: request_line(
                    request.name(tag), {"messages": prompts[request.question], **fields}
                )
                for request in job.next_round()
            }
            if not lines:
                return job.write_answers(asked, where / _ANSWERS)
            ledger.write_round(lines)
        if client:
            client.send()
        print(job.told(where))
        for line in client.told() if client else job.to_do(where):
            print(line)
        return None


def _begun(folder: Path, settings: dict[str, Any], rounds: int) -> str:
    """Return the tag of a job, of which the settings are written down before anything is sent."""
    if not any(folder.glob("round-*")):  # until then they may change, as a ceiling may demand
        if rounds > _MANY_ROUNDS:
            warnings.warn(
                f"this router may stop after each of {rounds} rounds, and a batch may take a day; "
                "fit one with --rounds 3",
                stacklevel=3,
            )
        tag = secrets.token_hex(4)
        write_lines(folder / _SETTINGS, [settings | {"tag": tag}])
        return tag
    before = read_json(read_whole(folder / _SETTINGS), str(folder / _SETTINGS))
    tag = str(before.pop("tag", ""))
    for name in ("questions", "router"):
        if before.get(name) != settings[name]:
            raise DataError(
                f"{folder}: was begun with other {name}; give those, or begin in another folder"
            )
    check_settings(folder, before, settings)
    return tag


class Votes:
    """The votes of a policy on many questions, from whatever answers are there.

    Which of the policy's two rules decides on a question is drawn once, in their exact shares.
    """

    def __init__(self, router: Router, policy: PricedStopping, questions: Sequence[str]) -> None:
        self.policy = policy
        self.usual = router.usual
        self.mix = policy.mix(router.controller.budget)
        self.n = len(questions)
        order = np.random.default_rng(0).permutation(self.n)
        self.members = np.where(order < round(self.mix.share * self.n), self.mix.high, self.mix.low)
        self.features = router.features(questions)

    def of(self, question: int, ledger: Ledger) -> Vote:
        """Count the answers to one question, and say what it needs next."""
        features = None if self.features is None else self.features[question]
        session = self.policy.begin(int(self.members[question]), features)
        again: list[Request] = []
        fault = ""
        tries = ledger.copies(question)
        for copy, attempt in enumerate(tries):
            answer = ledger.answer(question, copy)
            if answer is not None:
                given = {name: answer[name] for name in session.reads}
                numbers = {
                    name: self.usual.get(name) if value is None else value
                    for name, value in given.items()
                }
                session.add(answer["answer"] or None, **numbers)
                continue
            failed = ledger.fault(Request(question, copy, attempt))
            if failed is None:
                continue  # not back yet
            if failed["again"] and attempt < TRIES:
                again.append(Request(question, copy, attempt + 1))
            else:
                fault = failed["fault"]
        more: list[Request] = []
        why = ""
        if not session.goes_on:
            why = LONGEST if len(tries) >= self.policy.most_answers else WORTH
            again = []
        elif fault and not again:
            why = f"failed: {fault}"
        elif not again:
            more = [Request(question, len(tries) + k, 1) for k in range(session.asks)]
        return Vote([str(leader) for leader in session.leaders], again, more, why)


class _Job:
    """One job, once what came back was read: what it has spent, asks next, and has found."""

    def __init__(
        self,
        ledger: Ledger,
        votes: Votes,
        bounds: Sequence[Bill],
        prices: Prices | None,
        most_dollars: float,
    ) -> None:
        self.ledger = ledger
        self.votes = votes
        self.bounds = bounds
        self.prices = prices
        self.most_dollars = most_dollars

    @cached_property
    def known(self) -> list[Bill]:
        """The most that one answer to each question can take, with its prompt as last counted."""
        read: dict[int, float] = {}
        for request in self.ledger.sent:
            for reply in self.ledger.replies(request):
                if reply["prompt_tokens"] is not None:
                    before = read.get(request.question, 0)
                    read[request.question] = max(before, reply["prompt_tokens"])
        return [
            replace(most, read=float(read.get(number, most.read)))
            for number, most in enumerate(self.bounds)
        ]

    def booked(self) -> tuple[Bill, Bill]:
        """Return what was paid, and what every other line that was sent can have cost."""
        paid, open_ = [], []
        for request in self.ledger.sent:
            most = self.known[request.question]
            replies = self.ledger.replies(request)
            paid += [billed(reply, most) for reply in replies]
            open_ += [] if replies else [most]
        return total(paid), total(open_)

    def dollars(self, bill: Bill) -> float:
        """Return what a bill costs; 0 where no prices are known."""
        return 0.0 if self.prices is None else bill.dollars(self.prices)

    def next_round(self) -> list[Request]:
        """Return what to send next, as far as the ceiling allows; nothing once all is done."""
        found = [self.votes.of(question, self.ledger) for question in _shown(self.votes.n)]
        wanted = [vote.again or vote.more for vote in found if not vote.why]
        left = self.most_dollars - self.dollars(total(self.booked()))
        need = [len(one) * self.dollars(self.known[one[0].question]) for one in wanted]
        if not self.ledger.sent and sum(need) > left:
            raise ValueError(
                f"the first round can cost ${sum(need):.4g}, more than --most-dollars "
                f"{self.most_dollars:g}; raise it, lower --max-tokens, or give fewer questions"
            )
        # What failed first, then those who have the fewest answers.
        order = sorted(
            range(len(wanted)), key=lambda k: (wanted[k][0].attempt == 1, wanted[k][0].copy)
        )
        lines: list[Request] = []
        for place in order:
            if need[place] <= left:
                left -= need[place]
                lines += wanted[place]
        return lines

    def told(self, folder: Path) -> str:
        """Say what is waited for, and what it costs so far."""
        waiting = self.ledger.waiting()
        open_questions = len({request.question for request in waiting})
        paid, open_ = self.booked()
        return (
            f"{folder}, round {self.ledger.rounds}: waiting for {len(waiting):,} answers to "
            f"{open_questions:,} of {self.votes.n:,} questions\n"
            + table({"paid": paid, "at most": paid + open_}, self.prices)
        )

    def to_do(self, folder: Path) -> list[str]:
        """Say which files to send, and where to put what comes back."""
        files = dict.fromkeys(self.ledger.sent[request] for request in self.ledger.waiting())
        return [
            *(f"send {folder / file}" for file in files),
            f"put what comes back, errors too, into {folder / RECEIVED}, and run the same command "
            "again",
        ]

    def write_answers(self, asked: Sequence[Mapping[str, Any]], path: Path) -> Path:
        """Write the answers, the votes, what was paid and why each vote was closed."""
        lines = []
        whys: Counter[str] = Counter()
        for number in _shown(self.votes.n):
            vote = self.votes.of(number, self.ledger)
            found = [
                self.ledger.answer(number, copy) for copy in range(len(self.ledger.copies(number)))
            ]
            replies = [one for one in found if one is not None]
            why = vote.why or CEILING
            whys[why.partition(":")[0]] += 1
            known = {
                name: value for name, value in asked[number].items() if value not in ("", None)
            }
            lines.append(known | _outcome(replies, vote, why))
        write_lines(path, lines)
        paid, open_ = self.booked()
        print(table({"paid": paid, "at most": paid + open_}, self.prices))
        print("; ".join(f"{count:,} {why}" for why, count in whys.most_common()))
        return path


def _outcome(replies: Sequence[Mapping[str, Any]], vote: Vote, why: str) -> dict[str, Any]:
    """Return what is told of one question."""
    texts = [reply["answer"] for reply in replies]
    classes = answer_classes(texts).tolist()
    named = [texts[classes.index(number)] if number >= 0 else "" for number in classes]
    winner = vote.leaders[0] if vote.leaders else ""
    text = next((reply["text"] for reply in replies if reply["answer"] == winner), "")
    outcome: dict[str, Any] = {
        "answer": winner,
        "text": text if winner else "",
        "votes": dict(Counter(filter(None, named))),
        "answers": texts,
        "why": why,
    }
    for name in ("tokens", "logprob"):
        numbers = [reply[name] for reply in replies]
        if numbers and None not in numbers:
            outcome[name] = numbers
    read = [reply["prompt_tokens"] for reply in replies]
    if read and None not in read:
        outcome["prompt_tokens"] = max(read)
    return outcome


def _shown(n: int) -> Any:
    """Return the numbers of all questions, with a progress bar where a terminal shows it."""
    return tqdm(range(n), desc="counting votes", unit=" questions", disable=None)


def estimate(
    votes: Votes,
    bounds: Sequence[Bill],
    read: float,
    prices: Prices | None,
    most_dollars: float | None,
) -> str:
    """Say what a job should cost, with its range, and what it can cost at most.

    How many answers a question gets lies between the first checkpoint and the last. Among all
    spreads with the mean that was seen in training, the widest has the variance (mean - first)
    (last - mean): the range is never too narrow for questions like those.
    """
    policy, mix = votes.policy, votes.mix
    mean = float((1 - mix.share) * policy.costs[mix.low] + mix.share * policy.costs[mix.high])
    first, last = (float(policy.schedule[end]) for end in (0, -1))
    answers = min(max(mean / policy.unit, first), last)
    half = spread(sqrt((answers - first) * (last - answers)), votes.n, TAUGHT)
    each = Bill(1.0, read, votes.usual.get("tokens", float(bounds[0].written)))
    expected = answers * votes.n
    rows = {
        "expected": expected * each,
        "from": max(expected - half, first * votes.n) * each,
        "to": min(expected + half, last * votes.n) * each,
        "at most": (last * TRIES) * total(bounds),
    }
    lines = [
        table(rows, prices),
        f"expected of {votes.n:,} questions like those that taught the router; at most if every "
        f"question gets {last:g} answers of {bounds[0].written:g} tokens and each is sent and "
        f"billed {TRIES} times",
    ]
    if most_dollars is not None:
        begins = 0.0 if prices is None else (first * total(bounds)).dollars(prices)
        lines.append(
            f"--most-dollars holds it at ${most_dollars:g}"
            if begins <= most_dollars
            else f"--most-dollars {most_dollars:g} is too low: the first round can cost "
            f"${begins:.4g}"
        )
    return "\n".join(lines)
