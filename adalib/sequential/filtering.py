"""Votes weighted or filtered by confidence, of a number of answers that is fixed beforehand.

CISC (Taubenfeld et al. 2025) weighs every vote by how sure the model was of it; DeepConf's offline rule (Fu et al.
2025) also leaves out the least sure answers. Neither stops early: they are peers for the better vote, not for the
better stop.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from adalib.datasets.jsonl import DataError
from adalib.sequential.streams import Streams
from adalib.sequential.votes import count_votes

__all__ = ["Filtered", "filtered_value"]


@dataclass(frozen=True)
class Filtered:
    """Ask ``answers`` times; the ``keep`` most confident of them vote, with weights of this ``sharpness``."""

    answers: int
    keep: float
    sharpness: float

    def play(self, streams: Streams) -> tuple[np.ndarray, np.ndarray]:
        """The answer after which each stream stops, counted from 0, and what its vote is worth there."""
        answers = min(self.answers, streams.classes.shape[1])
        stops = np.full(len(streams.classes), answers - 1)
        return stops, filtered_value(streams, answers, self.keep, self.sharpness)


def filtered_value(streams: Streams, answers: int, keep: float, sharpness: float) -> np.ndarray:
    """What a vote of the most confident answers is worth, stream by stream.

    Explained in chapter 10, "When to stop".

    Parameters
    ----------
    streams : Streams
        With log-probabilities.
    answers : int
        How many are asked.
    keep : float
        Share of them that votes, the most confident ones; at least one.
    sharpness : float
        How steeply certainty weighs, as in `Streams.votes`.

    Returns
    -------
    ndarray, shape (M,)
    """
    if streams.logprob is None:
        raise DataError('there are no log-probabilities; add "logprob" to every line of the file')
    if keep >= 1:
        return streams.votes(sharpness).value[:, answers - 1]
    certain = streams.logprob[:, :answers]
    least = -np.sort(-certain, axis=1)[:, max(int(np.ceil(keep * answers)), 1) - 1]
    classes = np.where(certain >= least[:, None], streams.classes[:, :answers], -1)
    weights = np.exp(np.maximum(sharpness * certain, -600.0))
    return count_votes(classes, streams.worth[:, :answers], weights).value[:, -1]
