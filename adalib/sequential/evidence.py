"""All that the signals of a policy know at one moment, as the features of a linear rule.

A replay and a live session both get their features here, from the same signals, so they cannot
differ. A feature that is not finite is an error: comparisons with NaN are false, and a rule that
compares its gain with zero would never stop.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from adalib.sequential.signals import SIGNALS, usual_signals
from adalib.sequential.signals.base import Lesson, Signal
from adalib.sequential.signals.votes import VoteCount
from adalib.sequential.streams import Streams
from adalib.sequential.votes import Votes
from adalib.vote.answers import ClassesSoFar


class Evidence(NamedTuple):
    """The states of some signals: at every checkpoint of many streams, or at one moment of one."""

    signals: Mapping[str, Signal]
    states: Mapping[str, Any]  #: by the name of the signal
    deciding_count: VoteCount  #: the count that closes the vote

    @property
    def votes(self) -> Votes:
        """The deciding count."""
        return self.states[self.deciding_count.name]

    def at(self, column: int) -> Evidence:
        """Return the evidence at one checkpoint."""
        return self._replace(states={name: state.at(column) for name, state in self.states.items()})

    def features(self) -> np.ndarray:
        """Return the features at one moment, shape (d, ...); raise if one is not finite."""
        lead = self.deciding_count.lead(self.votes.without_value())
        features = []
        for name, signal in self.signals.items():
            state = self.states[name]
            visible = state.without_value() if isinstance(state, Votes) else state
            rows = np.array(signal.features(visible, lead), dtype=float)
            if not np.isfinite(rows).all():
                raise ValueError(
                    f"the signal {name!r} gives a feature that is not finite; "
                    "mend its features() so that every number is"
                )
            features.append(rows)
        return np.concatenate(features)


class SignalPolicy:
    """Base class: a policy that looks at signals, some of which count votes."""

    signals: tuple[str, ...] | None  #: the names asked for; None for the usual ones
    signals_in_use: dict[str, Signal]
    deciding_count: VoteCount

    @staticmethod
    def checked_names(names: Sequence[str] | str | None) -> tuple[str, ...] | None:
        """Return the names of signals, of which one may come alone; ValueError for any other."""
        names = (names,) if isinstance(names, str) else names
        unknown = sorted(set(names or ()) - set(SIGNALS))
        if unknown:
            fields = {name: signal.reads for name, signal in SIGNALS.items()}
            known = [f"{name} (reads {field})" if field else name for name, field in fields.items()]
            raise ValueError(f"{unknown[0]!r} is no signal; choose among {', '.join(known)}")
        return None if names is None else tuple(names)

    def fit_signals(self, lesson: Lesson, usual: Sequence[str] | None = None) -> None:
        """Keep the wanted signals that say something, and the count that votes best."""
        usual = usual_signals() if usual is None else usual
        wanted = {VoteCount.name, *(self.signals or usual)}
        self.signals_in_use = {}
        for name, kind in SIGNALS.items():
            superseded = self.signals is None and kind.unless in self.signals_in_use
            if name not in wanted or superseded:
                continue
            signal = kind()
            if signal.fit(lesson):
                self.signals_in_use[name] = signal
        self.deciding_count = max(self.counts(), key=lambda count: count.gain)

    def signals_to_dict(self) -> dict[str, Any]:
        """Return what the signals have learned, as plain values for a JSON file."""
        return {
            "signals": {name: signal.to_dict() for name, signal in self.signals_in_use.items()},
            "deciding_count": self.deciding_count.name,
        }

    def restore_signals(self, data: Mapping[str, Any]) -> None:
        """Take back what `signals_to_dict` returned; raise an error if it is not sound."""
        saved = data["signals"]
        self.signals_in_use = {name: kind() for name, kind in SIGNALS.items() if name in saved}
        for name, learned in saved.items():
            self.signals_in_use[name].restore(learned)
        self.deciding_count = {count.name: count for count in self.counts()}[data["deciding_count"]]

    def evidence_at(
        self,
        columns: np.ndarray,
        streams: Streams,
        features: ArrayLike | None = None,
        *,
        trained_on: bool = False,
    ) -> Evidence:
        """Return what the signals know of streams after the answers ``columns``, from 0.

        ``trained_on`` says that these are the questions from which the policy learned.
        """
        states = {
            name: signal.replayed(streams, columns, features, trained_on)
            for name, signal in self.signals_in_use.items()
        }
        return Evidence(self.signals_in_use, states, self.deciding_count)

    def evidence_of_one_answer(self) -> Evidence:
        """Return the evidence after one unreadable answer, which shows how many features it has."""
        live = LiveEvidence(self, np.zeros(self.takes))
        live.add(None, {})
        return live.now()

    def counts(self) -> list[VoteCount]:
        """Return the signals that are counts of the answers."""
        return [one for one in self.signals_in_use.values() if isinstance(one, VoteCount)]

    @property
    def reads(self) -> dict[str, str]:
        """The fields of an answer that the policy reads, each with the signal that does."""
        return {signal.reads: name for name, signal in self.signals_in_use.items() if signal.reads}

    @property
    def takes(self) -> int:
        """How many features of a question the policy needs; 0 if none."""
        return max(signal.takes for signal in self.signals_in_use.values())


class LiveEvidence:
    """What the signals of a policy know about one question while its answers arrive."""

    def __init__(self, policy: SignalPolicy, features: ArrayLike | None) -> None:
        self._policy = policy
        self._live = {name: signal.live(features) for name, signal in policy.signals_in_use.items()}
        self._classes = ClassesSoFar()

    def add(self, answer: Hashable, fields: Mapping[str, float | None]) -> None:
        """Show one more answer to every signal; None or "" is one that could not be read.

        A text counts for the first text that it equals, as in the answers that taught the policy.
        """
        if isinstance(answer, str):
            answer = self._classes.first_member(answer)
        for live in self._live.values():
            live.add(answer, fields)

    def now(self) -> Evidence:
        """Return the evidence of this moment."""
        states = {name: live.state() for name, live in self._live.items()}
        return Evidence(self._policy.signals_in_use, states, self._policy.deciding_count)

    def votes(self, count: str) -> Votes:
        """Return the state of one count of the answers, by its name."""
        return self._live[count].state()

    @property
    def leaders(self) -> list[Hashable]:
        """The leading answers in the order they came: one, several that are tied, or none."""
        return self._live[self._policy.deciding_count.name].leaders  # type: ignore[attr-defined]
