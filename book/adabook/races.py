"""What the rules of a race bring and cost on each question: tables for the chapter on markets."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from adalib.datasets.responses import Responses
from adalib.sequential.heat import Heats
from adalib.sequential.race_rules import PlainRace
from adalib.sequential.streams import make_streams


def race_tables(
    answers: Responses, rules: Sequence[tuple[int, int]], repeats: int = 40
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    """Accuracy, tokens and waiting of every rule (columns) on every question (rows).

    A rule (n, k) starts n answers, stops at the k-th finish and lets these k vote. Each cell is a
    mean over random orders of the recorded answers; tokens and waiting are in average answers.
    """
    if answers.tokens is None:
        raise ValueError("a race needs the tokens of every answer; these answers have none")
    streams = make_streams(answers, max(n for n, _ in rules), repeats=repeats, cost="tokens")
    heats = Heats(streams)
    races = [PlainRace(n, k).play(heats) for n, k in rules]
    average_length = answers.tokens.mean()
    accuracy = np.column_stack([streams.mean(race.accuracy) for race in races])
    tokens = np.column_stack([streams.mean(race.tokens) for race in races]) / average_length
    waiting = np.column_stack([streams.mean(race.clock) for race in races]) / average_length
    return accuracy, tokens, waiting
