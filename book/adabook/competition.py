"""Rank the policies of a class on questions and answers that nobody has seen.

``python -m adabook.competition rank ENTRIES`` scores every Python file of a folder on the part that
``make competition`` kept, and writes ``scoreboard.csv`` and ``scoreboard.html`` next to that part.
A policy runs in a process of its own (`adabook.entrant`, confined by `adabook.sandbox`). It is sent
the features of questions, or the answers that it has paid for, and sends decisions back; what they
cost and whether they are right is counted here. So there is nothing in its process to read ahead,
and no judge to patch.

Every policy is scored twice more, where it should gain nothing: with random numbers in place of the
features, and with the right answers dealt to other questions.
"""

from __future__ import annotations

import argparse
import csv
import json
import sys
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from adabook import entrant, sandbox
from adabook.controls import with_other_marks
from adabook.grade import harmless
from adalib.datasets.folds import members
from adalib.datasets.loading import load
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import noise_features
from adalib.evaluate.compare import stopping_policies
from adalib.evaluate.intervals import mean_interval
from adalib.evaluate.learners import Questions, cores, kind_of, outcomes, planned, planning_policies
from adalib.evaluate.report import page
from adalib.evaluate.scores import Outcome, Scores
from adalib.learn.describe import DESCRIBED, describe
from adalib.sequential.alike import Alike
from adalib.sequential.watching import watch

#: Files of the part that the teacher keeps.
OPEN, HIDDEN, SETTINGS = "open.jsonl", "hidden.jsonl", "settings.json"
KEPT = Path("_build/competition/keep")
#: Numbers of answers on offer.
BUDGETS = (1, 2, 4, 8, 16)
#: Numbers of answers that the bar may give to everyone.
_ANY = range(1, BUDGETS[-1] + 1)
#: Letters that a file may have: a longer one is a memory and no rule.
LONGEST = 100_000
_SECONDS = 60  # of the processor's time that one run of a policy may take
_PATIENCE = 20  # times as long by the clock, on a busy machine and for one that sleeps
_REPLY = 1_000_000  # characters
#: The two controls.
RANDOM, SHUFFLED = "random features", "shuffled golds"
_NOTHING = 1e-9  # a gain that is none
_none = partial(np.empty, 0)
_SURE = 0.999  # of a control, since there are two for each of many entries
_TRUSTS = "without it an entry has your rights and could read the kept part: this trusts your class"
#: Rows of the book that stand in every scoreboard, by what they are called there.
BOOK = {
    "label": "book: the paper's classifier",
    "curve": "book: curves from the text",
    "priced": "book: watching every signal",
    "priced_votes": "book: watching the votes",
    "margin": "book: a lead in votes",
    "adaptive_consistency": "book: Adaptive-Consistency",
    "esc": "book: ESC",
}


@dataclass(frozen=True, eq=False)
class Part:
    """What entries learn from and are scored on, and what they may spend on average."""

    learn: Questions
    score: Questions
    budget: float
    seed: int

    @property
    def orders(self) -> int:
        """In how many orders answers are shown: they share none, or one would tell of another."""
        return max(self.score.answers.samples // BUDGETS[-1], 1)

    @cached_property
    def everyone(self) -> Alike:
        """What the same number of answers for everyone scores, whatever number it is."""
        return Alike.of_tables([self.score.answers.table(_ANY)])

    @cached_property
    def shown(self) -> Alike:
        """What every number scores on the answers that policies are shown.

        These are few, and so lucky or unlucky. Compared with all answers, whoever asks once gained.
        """
        answers = self.score.answers
        right = [
            watch(_Asks(number), answers, BUDGETS[-1], seed=self.seed, orders=self.orders).accuracy
            for number in _ANY
        ]
        accuracy = np.column_stack(right)
        return Alike(np.broadcast_to(np.array(_ANY, dtype=float), accuracy.shape), accuracy)

    def with_random_features(self) -> Part:
        """Replace all that is known of a question by random numbers."""
        width = self.learn.features.shape[1]
        drawn = noise_features(len(self.learn.features), width, seed=self.seed)
        others = noise_features(len(self.score.features), width, seed=self.seed + 1)
        return replace(
            self,
            learn=replace(self.learn, features=drawn.set_axis(self.learn.features.columns, axis=1)),
            score=replace(
                self.score, features=others.set_axis(self.score.features.columns, axis=1)
            ),
        )

    def with_others_labels(self) -> Part:
        """Let a policy learn from accuracies that belong to other questions."""
        rows = np.random.default_rng(self.seed).permutation(self.learn.table.n)
        return replace(self, learn=replace(self.learn, table=self.learn.table.take(rows)))

    def with_others_golds(self) -> Part:
        """Give every question the marks of another one's answers, in both halves."""
        return replace(self, learn=self._remarked(self.learn), score=self._remarked(self.score))

    def _remarked(self, questions: Questions) -> Questions:
        answers = with_other_marks(questions.answers, self.seed)
        return replace(questions, answers=answers, table=answers.table(BUDGETS))


def read_part(folder: Path) -> Part:
    """Read what ``make competition`` kept."""
    settings = json.loads((folder / SETTINGS).read_text(encoding="utf-8"))
    both = [load(folder / name) for name in (OPEN, HIDDEN)]
    texts = [part.questions for part in both]
    parts = []
    for answers, of_part in zip(both, texts, strict=True):
        assert isinstance(answers, Responses)
        values = describe(tuple(texts[0]), tuple(of_part))
        features = pd.DataFrame(values, columns=DESCRIBED[: values.shape[1]])
        table = answers.table(BUDGETS)
        parts.append(Questions(features, answers, table, members(answers, None)))
    return Part(parts[0], parts[1], settings["budget"], settings["seed"])


class Entry:
    """A policy that was handed in, run where it can reach nothing.

    It has the methods of its kind, so whatever scores a policy can score it. Use it in a ``with``
    statement. Answers get new names on the way, A, B and so on as they come: a policy may count
    them, and finds no right answer in them that it has learned by heart.
    """

    def __init__(self, source: str, budget: float, seconds: int = _SECONDS) -> None:
        self.source = source
        self.budget = budget
        self.seconds = seconds
        self.name: str | None = None  # of its class; the first one of the file
        self.taught: list[tuple[str, dict[str, Any]]] = []
        self.copies: list[Entry] = []

    def __enter__(self) -> Entry:
        with ExitStack() as stack:
            asked = sandbox.Conversation(
                entrant, _PATIENCE * self.seconds, data=False, work=self.seconds
            )
            self.process = stack.enter_context(asked)
            told = self.ask("start", source=self.source, budget=self.budget, name=self.name)
            self.close = stack.pop_all().close
        self.names, self.kind, self.closes = told["names"], told["kind"], told["answers"]
        return self

    def __exit__(self, *_: object) -> None:
        for one in self.copies:
            one.close()
        self.close()

    def __deepcopy__(self, _: object) -> Entry:
        """Return one that was taught the same, in a process that knows nothing of this one."""
        other = Entry(self.source, self.budget, self.seconds)
        other.name = self.name
        self.copies.append(other.__enter__())
        for method, words in self.taught:
            other.ask(method, **words)
        return other

    def ask(self, method: str, **words: Any) -> Any:
        """Send a request and wait for the reply; RuntimeError with what went wrong."""
        try:
            return self.process.ask([method, words], _REPLY)
        except TimeoutError:
            raise RuntimeError(
                f"took more than {self.seconds} seconds of the processor's time"
            ) from None

    def fit(self, first: Any, table: Any = None) -> None:
        """Let it learn, from features and a table or from answers."""
        if table is None:
            self._teach("watch", answers=_plain(first))
            return
        cost = np.asarray(table.cost).tolist()
        self._teach(
            "plan",
            features=_frame(first),
            acc=table.acc.tolist(),
            cost=cost,
            budgets=list(table.budgets),
        )

    def _teach(self, method: str, **words: Any) -> None:
        self.taught = [(method, words)]
        self.ask(method, **words)

    def predict(self, features: pd.DataFrame) -> np.ndarray:
        """Return the column that it names for every question."""
        columns = np.array(self.ask("columns", features=_frame(features)))
        if columns.shape != (len(features),) or columns.dtype.kind != "i":
            raise RuntimeError(
                f"predict named {columns.size} columns for {len(features)} questions"
            )
        return columns

    def more(self, seen: Sequence) -> bool:
        """Return whether it asks again."""
        return self.ask("more", seen=list(_renamed(seen))) is True

    def answer(self, seen: Sequence) -> str:
        """Return the answer that it names, by the name that we know."""
        shown = list(_renamed(seen))
        named = self.ask("answer", seen=shown)
        places = [number for number, one in enumerate(shown) if one[0] == named]
        if not places:
            raise RuntimeError(f"answer named {named!r}, which it had not seen")
        return seen[places[0]].answer


class _Asks:
    """A policy that asks so many times."""

    def __init__(self, times: int) -> None:
        self.times = times

    def more(self, seen: Sequence) -> bool:
        return len(seen) < self.times


class _Voting:
    """An entry without an answer of its own, whose vote is closed as every vote is."""

    def __init__(self, entry: Entry) -> None:
        self.fit, self.more = entry.fit, entry.more


def _renamed(seen: Sequence) -> Iterator[tuple]:
    """Rename answers to A, B and so on, in the order in which they came; "" stays."""
    names = {"": ""}
    for answer, *numbers in seen:
        yield names.setdefault(answer, name_of(len(names) - 1)), *numbers


def name_of(number: int) -> str:
    """Return the name of the number-th distinct answer.

    >>> name_of(0), name_of(25), name_of(26)
    ('A', 'Z', 'A1')
    """
    turn, letter = divmod(number, 26)
    return chr(ord("A") + letter) + (str(turn) if turn else "")


def renamed(
    answers: Responses, rng: np.random.Generator, places: np.ndarray | None = None
) -> Responses:
    """Return answers under new names and, with ``places``, in another order.

    In some sets the right answer has the same name everywhere, which a policy could learn.
    """
    order = np.arange(answers.samples) if places is None else places
    order = np.broadcast_to(order, (answers.n, answers.samples))

    def in_order(values: np.ndarray) -> np.ndarray:
        return np.take_along_axis(values, order, axis=1)

    classes, values = in_order(answers.classes), in_order(answers.values)
    texts, golds = [], []
    for own, right in zip(classes, values, strict=True):
        distinct = rng.permutation(np.unique(own[own >= 0]))  # a name must not tell who came first
        names = {number: name_of(place) for place, number in enumerate(distinct)}
        texts.append([names.get(number, "") for number in own])
        golds.append(names.get(own[right.argmax()], "none") if right.any() else "none")
    fields: dict[str, Any] = {
        field: None if getattr(answers, field) is None else in_order(getattr(answers, field))
        for field in ("tokens", "logprob", "entropy")
    }
    extras: dict[str, list] = {"classes": classes.tolist()}
    if "read" in answers.extras:  # features of texts that do not ship
        extras["read"] = answers.extras["read"]
    return replace(
        answers, golds=golds, answers=texts, correct=values, levels=None, extras=extras, **fields
    )


def _frame(features: pd.DataFrame) -> dict:
    return {"columns": list(features.columns), "values": features.to_numpy().tolist()}


def _plain(answers: Responses) -> dict:
    """Return answers as plain data, from which `Responses` is made again."""
    fields = {
        name: None if values is None else np.asarray(values).tolist()
        for name, values in (
            ("tokens", answers.tokens),
            ("logprob", answers.logprob),
            ("correct", answers.values),
        )
    }
    texts = {name: list(getattr(answers, name)) for name in ("ids", "questions", "golds")}
    given = [list(map(str, row)) for row in answers.answers]
    return {**texts, "answers": given, **fields, "extras": {"classes": answers.classes.tolist()}}


def played(policy: Any, part: Part) -> Outcome:
    """Let a policy learn and decide; return what every scored question cost, and its accuracy."""
    if policy.kind == "plans":
        return Outcome(*planned(policy, part.learn, part.score, [part.budget])[0][:2])
    if not policy.closes:
        policy = _Voting(policy)
    policy.fit(part.learn.answers)
    tried = watch(policy, part.score.answers, BUDGETS[-1], seed=part.seed, orders=part.orders)
    return Outcome(tried.cost, tried.accuracy)


@dataclass(frozen=True, eq=False, kw_only=True)
class Row:
    """One row of the scoreboard."""

    entry: str
    kind: str = ""
    cost: np.ndarray = field(default_factory=_none)  # of every question, as are the next two
    accuracy: np.ndarray = field(default_factory=_none)
    gains: np.ndarray = field(default_factory=_none)
    #: What the controls gained, question by question, by their names.
    controls: Mapping[str, np.ndarray] = field(default_factory=dict)
    seconds: float = np.nan
    letters: int = 0
    fault: str = ""  #: why it was not scored

    def notes(self, budget: float) -> list[str]:
        """Say what a person should look at."""
        found = [self.fault] if self.fault else []
        if self.overspends(budget):
            found.append(f"spends more than {budget:g}")
        for name, gains in self.controls.items():
            if mean_interval(gains, _SURE).low > _NOTHING:
                found.append(f"gains from {name}: read the file")
        return found

    def overspends(self, budget: float) -> bool:
        """Whether chance does not explain that it spends more than the budget."""
        return self.cost.size > 0 and bool(mean_interval(self.cost).low > budget)


def gains_of(outcome: Outcome, alike: Alike) -> np.ndarray:
    """Return the gain of every question over the same for everyone at the cost really paid."""
    return outcome.accuracy - alike.at(outcome.cost.mean())


def score(policy: Any, part: Part) -> tuple[Outcome, np.ndarray]:
    """Let a policy play; return its outcome, and what it gains on the answers that it played on."""
    outcome = played(policy, part)
    return outcome, gains_of(outcome, part.everyone if policy.kind == "plans" else part.shown)


def scored(entry_name: str, source: str, part: Part) -> list[Row]:
    """Score what somebody handed in, a row for each of its policies, as everywhere."""
    row = Row(entry=entry_name, letters=len(source))
    if len(source) > LONGEST:
        return [replace(row, fault=f"has more than {LONGEST:,} letters: a memory is no policy")]
    try:
        with Entry(source, part.budget) as entry:
            names = entry.names
    except Exception as error:
        return [replace(row, fault=str(error).strip() or type(error).__name__)]
    several = len(names) > 1
    return [
        _scored(replace(row, entry=f"{entry_name}: {name}") if several else row, name, source, part)
        for name in names
    ]


def _scored(row: Row, name: str, source: str, part: Part) -> Row:
    """Score one policy, with its controls; a fault is noted and stops nobody else."""
    begun = time.perf_counter()

    def entered() -> Entry:
        entry = Entry(source, part.budget)
        entry.name = name
        return entry

    try:
        with entered() as entry:
            outcome, gains = score(entry, part)
            row = replace(
                row,
                kind=entry.kind,
                cost=outcome.cost,
                accuracy=outcome.accuracy,
                gains=gains,
                seconds=time.perf_counter() - begun,
            )
        controls: dict[str, np.ndarray] = {}
        for control, make in _CONTROLS[row.kind].items():
            other = make(part)
            with entered() as entry:
                _, controls[control] = score(entry, other)
    except Exception as error:
        return replace(row, fault=str(error).strip() or type(error).__name__)
    return replace(row, controls=controls)


#: Where a policy of each kind should gain nothing.
_CONTROLS: Mapping[str, Mapping[str, Callable[[Part], Part]]] = {
    "plans": {RANDOM: Part.with_random_features, SHUFFLED: Part.with_others_labels},
    "watches": {SHUFFLED: Part.with_others_golds},
}


def book_row(name: str, part: Part) -> Row:
    """Score a policy of the book on the same questions."""
    policy = {**planning_policies(), **stopping_policies()}[name]
    begun = time.perf_counter()
    (found,) = outcomes(name, policy, part.learn, part.score, [part.budget])
    cost, accuracy = found[:2]
    return Row(
        entry=BOOK[name],
        kind=kind_of(name, policy, part.budget),
        cost=cost,
        accuracy=accuracy,
        gains=gains_of(Outcome(cost, accuracy), part.everyone),
        seconds=time.perf_counter() - begun,
    )


def placed(rows: Sequence[Row], budget: float) -> list[tuple[str, Row]]:
    """Return the rows with their places, best first; those without a place come last.

    A row shares the place of the best row before it that it is not clearly behind: the 95% interval
    of their difference, question by question, contains 0. Who spends more than the budget, or could
    not be scored, has no place.
    """
    able = [row for row in rows if not row.fault and not row.overspends(budget)]
    able.sort(key=lambda row: -row.gains.mean())
    found: list[tuple[str, Row]] = []
    best: Row | None = None
    for number, row in enumerate(able, 1):
        if best is None or mean_interval(best.gains - row.gains).low > 0:
            best, place = row, number
        found.append((str(place), row))
    return found + [("", row) for row in rows if row not in able]


def as_frame(rows: Sequence[Row], budget: float) -> pd.DataFrame:
    """Return the scoreboard as a table of texts and numbers."""
    lines = []
    for place, row in placed(rows, budget):
        low, gain, high = _ends(row.gains)
        lines.append(
            {
                "place": place,
                "entry": row.entry,
                "decides": row.kind,
                "gain": gain,
                "low": low,
                "high": high,
                "answers": round(float(row.cost.mean()), 2) if row.cost.size else np.nan,
                "right": round(float(row.accuracy.mean()), 4) if row.accuracy.size else np.nan,
                **{name: _written(row.controls.get(name)) for name in (RANDOM, SHUFFLED)},
                "seconds": round(row.seconds, 1),
                "letters": row.letters or "",
                "notes": "; ".join(row.notes(budget)),
            }
        )
    return pd.DataFrame(lines)


def _ends(gains: np.ndarray) -> tuple[float, float, float]:
    """Return a mean gain in points between the ends of its interval."""
    if not gains.size:
        return np.nan, np.nan, np.nan
    found = mean_interval(gains)
    low, mean, high = (round(100 * float(end), 2) for end in (found.low, found.mean, found.high))
    return low, mean, high


def _written(gains: np.ndarray | None) -> str:
    """Write what a control gained."""
    if gains is None:
        return ""
    low, gain, high = _ends(gains)
    return f"{gain:+.1f} [{low:+.1f}, {high:+.1f}]"


_WORDS = (
    "{questions} questions that nobody had seen, {budget:g} answers on average. The gain is in "
    "points over the same number of answers for everyone at the same cost, with its 95% interval. "
    "Rows that share a place cannot be told apart. The two controls should gain nothing; a row "
    "with a note counts once somebody has read its file."
)


def write_scoreboard(rows: Sequence[Row], part: Part, folder: Path) -> pd.DataFrame:
    """Write the scoreboard as CSV and as the page of `adalib evaluate --report`; return it."""
    frame = as_frame(rows, part.budget)
    safe = frame.assign(**{name: frame[name].map(harmless) for name in ("entry", "notes")})
    safe.to_csv(folder / "scoreboard.csv", index=False, quoting=csv.QUOTE_MINIMAL)
    able = [(place, row) for place, row in placed(rows, part.budget) if row.gains.size]
    texts = frame.set_index("entry").loc[[row.entry for _, row in able]].astype(str)
    words = _WORDS.format(questions=part.score.table.n, budget=part.budget)
    notes = [f"{line.entry}: {line.notes}." for line in frame.itertuples() if line.notes]
    kinds = {f"{place}. {row.entry}" if place else row.entry: row.kind for place, row in able}
    scores = Scores(list(kinds), kinds)
    for name, (_, row) in zip(kinds, able, strict=True):
        scores.add(name, part.budget, Outcome(row.cost, row.accuracy), part.everyone)
    html = page(
        scores.rows(np.arange(part.score.table.n)),
        "Scoreboard",
        words,
        notes,
        more={name: texts[name].tolist() for name in (RANDOM, SHUFFLED, "seconds", "letters")},
    )
    (folder / "scoreboard.html").write_text(html, encoding="utf-8")
    return frame


def rank(entries: Path, kept: Path = KEPT, workers: int = 0) -> pd.DataFrame:
    """Score every Python file of a folder, next to the book's rows; write and return the table.

    Parameters
    ----------
    entries : Path
        A folder of Python files, one policy each.
    kept : Path
        What ``make competition`` kept.
    workers : int
        How many are scored at a time; by default one per core.
    """
    part = read_part(kept)
    files = sorted(file for file in entries.glob("*.py") if not file.is_symlink())
    if not files:
        raise ValueError(f"{entries}: has no Python file; collect one per student there")
    with ProcessPoolExecutor(workers or cores()) as pool:
        book = [pool.submit(book_row, name, part) for name in BOOK]
        handed_in = []
        for file in files:
            source = file.read_text(encoding="utf-8", errors="replace")
            handed_in.append(pool.submit(scored, file.stem, source, part))
        rows = [job.result() for job in book]
        rows += [row for job in handed_in for row in job.result()]
    return write_scoreboard(rows, part, kept.parent)


def main(words: Sequence[str]) -> int:
    """Run the command line; return its exit code."""
    parser = argparse.ArgumentParser(prog="python -m adabook.competition", description=__doc__)
    parser.add_argument("command", choices=["rank"])
    parser.add_argument("entries", type=Path, help="a folder with one Python file per student")
    parser.add_argument("kept", type=Path, nargs="?", default=KEPT, help="what was kept")
    given = parser.parse_args(words)
    if not sandbox.bubblewrap():
        print(f"{sandbox.MEND}; {_TRUSTS}", file=sys.stderr)
    try:
        frame = rank(given.entries, given.kept)
    except (OSError, ValueError) as error:
        print(error, file=sys.stderr)
        return 2
    columns = ["place", "entry", "gain", "low", "high", "answers", "notes"]
    print(frame[columns].to_string(index=False))
    print(f"{len(frame)} rows:  {given.kept.parent / 'scoreboard.html'}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
