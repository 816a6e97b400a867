"""The signals of priced stopping: what each one reads, learns, remembers and says, in one object each.

Whatever stops under a price (a replay, a session, a saved policy, the router) asks the objects of `SIGNALS` and knows
none of them by name. Votes, certainty and entropy are counts of the answers, each with its own weights. The text speaks
before anything is asked: a smooth guess from the questions most like it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple, Protocol

import numpy as np
from numpy.typing import ArrayLike

from adalib.datasets.responses import Responses
from adalib.datasets.sealed import number, numbers
from adalib.sequential.peers import NEVER, Confidence, Margin, Rule
from adalib.sequential.streams import BallotBox, Streams, Votes, count_votes, weight_of

__all__ = ["SIGNALS", "Seen", "Signal", "Text", "USUAL", "VoteCount", "WeighedCount"]

_SHARPNESS = (0.0, 1.5, 3.0, 6.0, 12.0)
_EARLY = 8  # checkpoints at which they are compared
_LONG = 16  # the text is asked for the accuracy of one answer, and of a vote of so many
#: A text that explains less than this of what questions left out differ in is not listened to: it would only move the
#: budget about. Noise explains about nothing; the texts of the bundled settings explain more, by family too.
_TOLD = 0.03


class Signal(Protocol):
    """One thing that a stopping rule looks at: a count of the answers, or what is known before the first.

    Its state is arrays over streams and checkpoints, some of which ``at(columns)`` keeps, or numbers in a session.
    """

    name: ClassVar[str]  #: by which it is chosen, and found in a file
    reads: ClassVar[str] = ""  #: the field of an answer that it needs, in `Responses` and in a reply
    takes: int = 0  #: features of a question that it needs before the first answer

    def fit(self, answers: Responses, streams: Streams, schedule: np.ndarray, fold: np.ndarray, features: Any) -> bool:
        """Learn from training questions; False where there is nothing to hear, and then it is left out."""
        return True

    def watch(self, streams: Streams, columns: np.ndarray, features: ArrayLike | None, taught: bool) -> Any:
        """The state of streams after these answers; ``taught`` if it learned from their questions."""

    def begin(self, features: ArrayLike | None) -> Any:
        """One question in a session: a `BallotBox` to count its answers in, or the state that no answer changes."""

    def features(self, state: Any, lead: list) -> list:
        """Numbers that a straight line can weigh; ``lead`` says how clear the vote is, by the count that decides it."""

    def to_dict(self) -> dict[str, Any]:
        """What it learned, as plain values for a file of JSON."""
        return {}

    def restore(self, kept: dict[str, Any]) -> None:
        """Take back what `to_dict` gave; ValueError if it is not sound."""


class VoteCount(Signal):
    """The votes so far, one an answer; the lead in steps and as a curve: the tenth vote says less than the second."""

    name = "votes"
    gain = 0.0  #: what closing the vote by this count brings over plain votes, on training questions
    sharpness = 0.0  #: how much what a reply says of its answer counts
    sign: ClassVar[int] = 1  #: whether a larger number makes an answer weigh more, or less

    def count(self, streams: Streams) -> Votes:
        """The count after every answer."""
        return streams.votes(self.sign * self.sharpness, self.reads)

    def watch(self, streams: Streams, columns: np.ndarray, features: ArrayLike | None, taught: bool) -> Votes:
        return self.count(streams).at(columns)

    def begin(self, features: ArrayLike | None) -> BallotBox:
        return BallotBox()

    def weight(self, said: Mapping[str, float | None]) -> float:
        """What the vote of an answer weighs in a session, by what its reply says."""
        return 1.0

    def features(self, state: Votes, lead: list) -> list:
        n, ahead = state.n, state.leader - state.runner
        shares = [state.leader / n, state.runner / n, state.distinct / n, state.empty / n, np.exp(-0.5 * ahead)]
        return [*shares, *(ahead >= k for k in (1, 2, 3, 4, 6)), state.leader >= 2, (state.leader <= 1) & (n >= 2)]

    def lead(self, state: Votes) -> list:
        """How clear the vote is, for signals whose word depends on it."""
        return [state.leader / state.n, np.exp(-0.5 * (state.leader - state.runner))]

    def rules(self, state: Votes, cap: int, longest: int) -> list[Rule]:
        """Plain rules on this count with a cap: leads, quitting where nothing repeats, and Beta thresholds."""
        waits = [NEVER, *(wait for wait in (3, 5, 8, 12) if wait < longest)]
        leads: list[Rule] = [Margin(ahead, cap, wait) for ahead in (1, 2, 3, 4, 5) for wait in waits]
        return leads + [Confidence(level, cap) for level in (0.7, 0.8, 0.9, 0.95, 0.99)]


class WeighedCount(VoteCount):
    r"""Votes that weigh :math:`e^{\pm\kappa x}`, where :math:`x` is what the model's reply says of an answer.

    :math:`\kappa`, the sharpness, is whatever votes best on early training answers; where it is 0 nothing is heard.
    """

    called: ClassVar[str]  # the number, in words

    def steps(self, told: np.ndarray) -> Sequence[float]:
        """The sharpnesses that are compared, 0 first."""
        return _SHARPNESS

    def fit(self, answers: Responses, streams: Streams, schedule: np.ndarray, fold: np.ndarray, features: Any) -> bool:
        early, told = schedule[:_EARLY], streams.read(self.reads)
        if told is None:
            return False
        classes, worth, told = (part[:, : early[-1]] for part in (streams.classes, streams.worth, told))
        steps = self.steps(told)
        weights = [None, *(weight_of(self.sign * step, told) for step in steps[1:])]
        values = [count_votes(classes, worth, weight).at(early - 1).value.mean() for weight in weights]
        best = int(np.argmax(values))
        self.sharpness, self.gain = float(steps[best]), float(values[best] - values[0])
        return best > 0

    def weight(self, said: Mapping[str, float | None]) -> float:
        told = said.get(self.reads)
        if told is None:
            raise ValueError(f"this policy weighs answers by their {self.called}; give {self.reads} with every answer")
        return float(weight_of(self.sign * self.sharpness, told))

    def features(self, state: Votes, lead: list) -> list:
        first, second = state.leader, state.runner
        ahead = first - second
        shares = [first, second, ahead, first / (first + second + 1e-9)]
        scales = [np.exp(-2 * ahead), np.exp(-6 * ahead), np.log(first + 1e-3), first / state.n, np.exp(-2 * first)]
        return [*shares, *scales, first * first, first * second, second * second]

    def lead(self, state: Votes) -> list:
        return [np.exp(-2 * (state.leader - state.runner)), state.leader, state.runner]

    def rules(self, state: Votes, cap: int, longest: int) -> list[Rule]:
        one = float(state.leader[:, 0].mean())  # what an average answer weighs
        return [Margin(ahead * one, cap) for ahead in (0.5, 0.75, 1, 1.25, 1.5, 2, 2.5, 3, 4)]

    def to_dict(self) -> dict[str, Any]:
        return {"sharpness": self.sharpness}

    def restore(self, kept: dict[str, Any]) -> None:
        self.sharpness = number(kept["sharpness"], "sharpness", 1e-9, 1e3)


class Certainty(WeighedCount):
    """How sure the model was of its answer: the mean log-probability of the tokens it wrote."""

    name, reads, called = "certainty", "logprob", "log-probability"


class TokenEntropy(WeighedCount):
    """How many ways the model saw to go on: the mean entropy of its tokens."""

    name, reads, sign, called = "entropy", "entropy", -1, "mean token entropy"


class Length(WeighedCount):
    """How long the model wrote, in mean training answers: every endpoint tells it, and long answers are often wrong.

    Where short votes are no better ones, plain votes close the vote, and length only says when to go on.
    """

    name, reads, sign, called = "length", "tokens", -1, "number of tokens"

    def steps(self, told: np.ndarray) -> Sequence[float]:
        return [step / max(float(told.mean()), 1.0) for step in (0.0, 0.5, 1.0, 2.0, 4.0)]

    def fit(self, answers: Responses, streams: Streams, schedule: np.ndarray, fold: np.ndarray, features: Any) -> bool:
        if answers.tokens is None or not np.ptp(answers.tokens):
            return False
        if not super().fit(answers, streams, schedule, fold, features):
            self.sharpness, self.gain = 1 / max(float(answers.tokens.mean()), 1.0), -1.0
        return True


class Guess(NamedTuple):
    """What the text says: the accuracy of one answer, and of a long vote."""

    start: Any
    end: Any

    def at(self, columns: ArrayLike) -> Guess:
        return self  # the same at every checkpoint


_WIDTHS = (0.35, 0.7, 1.4)  # of the kernel, in standard deviations per feature
_RIDGES = (0.1, 0.3, 1.0, 3.0, 10.0, 30.0)


class Text(Signal):
    """What the text says before anything is asked: kernel ridge regression, Gaussian in the standardised features.

    The stopping rule learns from guesses by the other folds (``left_out``), so that it knows how little the text is
    worth (``explained``, a share of the variance); from guesses by a fit that saw the question it would trust it.
    """

    name = "text"

    def fit(self, answers: Responses, streams: Streams, schedule: np.ndarray, fold: np.ndarray, features: Any) -> bool:
        if features is None or not fold.any():
            return False
        x, y = np.asarray(features, dtype=float), answers.table((1, min(_LONG, answers.samples))).acc
        if x.ndim != 2 or not np.isfinite(x).all() or len(x) != len(y):
            raise ValueError(f"features have shape {x.shape}; give one row of finite numbers for each of {len(y)}")
        self.center, self.scale, self.mean, self.takes = x.mean(axis=0), x.std(axis=0), y.mean(axis=0), x.shape[1]
        self.scale[self.scale < 1e-12] = 0.0
        self.points = self._standardised(x)
        parts, best = [np.flatnonzero(fold == f) for f in np.unique(fold)], np.inf
        for width in _WIDTHS:
            values, vectors = np.linalg.eigh(_kernel(self.points, self.points, width))
            turned = vectors.T @ (y - self.mean)
            for ridge in _RIDGES:
                spread = 1 / (values.clip(0) + ridge)
                weights = vectors @ (spread[:, None] * turned)
                missed = np.empty_like(weights)  # by the guess of all other folds: the weights, undone by the own block
                for part in parts:
                    missed[part] = np.linalg.solve((vectors[part] * spread) @ vectors[part].T, weights[part])
                error = (missed**2).mean()
                if error < best:
                    best, self.width, self.weights, self.left_out = error, width, weights, (y - missed).clip(0, 1)
        self.explained = 1 - float(((y - self.left_out) ** 2).sum() / max(((y - self.mean) ** 2).sum(), 1e-12))
        return self.explained > _TOLD

    def foretold(self, features: ArrayLike | None, taught: bool = False) -> np.ndarray:
        """Its guesses for questions, (N, 2) in [0, 1]; ``taught`` if it learned from them."""
        if taught:
            return self.left_out
        if features is None:
            raise ValueError("this policy was fitted with features of the text; give those of the question")
        x = self._standardised(np.asarray(features, dtype=float))
        return (self.mean + _kernel(x, self.points, self.width) @ self.weights).clip(0, 1)

    def _standardised(self, x: np.ndarray) -> np.ndarray:
        """A column that never changed (its scale is 0) says nothing."""
        return np.divide(x - self.center, self.scale, out=np.zeros(x.shape), where=self.scale != 0)

    def watch(self, streams: Streams, columns: np.ndarray, features: ArrayLike | None, taught: bool) -> Guess:
        return Guess(*self.foretold(features, taught)[streams.question].T)

    def begin(self, features: ArrayLike | None) -> Guess:
        return Guess(*self.foretold(None if features is None else np.asarray(features, dtype=float)[None])[0])

    def features(self, state: Guess, lead: list) -> list:
        start, end = state
        alone = [start, end, start * end, start * start, end * end]
        return [*alone, *(clear * guess for clear in lead for guess in state)]

    def to_dict(self) -> dict[str, Any]:
        kept = ("center", "points", "mean", "weights", "scale", "width")
        return {name: np.asarray(getattr(self, name)).tolist() for name in kept}

    def restore(self, kept: dict[str, Any]) -> None:
        self.points = numbers(kept["points"], "points", (None, None))
        rows, self.takes = self.points.shape
        shapes = {"center": (self.takes,), "scale": (self.takes,), "mean": (2,), "weights": (rows, 2)}
        for name, shape in shapes.items():
            setattr(self, name, numbers(kept[name], name, shape))
        self.width = number(kept["width"], "width", 1e-6)


def _kernel(a: np.ndarray, b: np.ndarray, width: float) -> np.ndarray:
    distance = ((a**2).sum(axis=1)[:, None] + (b**2).sum(axis=1) - 2 * a @ b.T).clip(0)
    return np.exp(-distance / (2 * width**2 * a.shape[1]))


#: Every signal there is, by its name, in the order of their features.
SIGNALS: Mapping[str, type[Signal]] = {one.name: one for one in (VoteCount, Certainty, TokenEntropy, Length, Text)}

#: What is looked at unless told otherwise; length only where there is no certainty, beside which it adds nothing.
USUAL = ("votes", "text", "certainty", "length")


class Seen(NamedTuple):
    """What some signals know, by name, and the count that decides the vote: at every checkpoint, or of one question."""

    signals: Mapping[str, Signal]
    told: Mapping[str, Any]
    decides: VoteCount

    @property
    def votes(self) -> Votes:
        """The count that decides."""
        return self.told[self.decides.name]

    def at(self, column: int) -> Seen:
        """The same at one checkpoint."""
        return self._replace(told={name: state.at(column) for name, state in self.told.items()})

    def features(self) -> np.ndarray:
        """All that is known at one moment, in numbers, shape (d, ...)."""
        lead = self.decides.lead(self.votes)
        parts = [signal.features(self.told[name], lead) for name, signal in self.signals.items()]
        return np.array([part for told in parts for part in told], dtype=float)
