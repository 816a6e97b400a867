"""The sampled answers that a command works on, of one model or of several."""

from __future__ import annotations

from dataclasses import replace
from importlib.util import find_spec
from statistics import median_high
from typing import TYPE_CHECKING, Literal

from adalib.commands.options import parse_prices

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses

_LONG = 200  # characters; an answer that was read out of a text is shorter


def read_source(
    file: str, *, gold: str | None = None, prices: str | None = None, kind: str | None = None
) -> tuple[Responses | Menu, str]:
    """Read the answers of a file, which has its correct answers inside."""
    if gold:
        raise ValueError(f"{file}: has its own correct answers; leave out --gold")
    return read_answers(file, prices, kind=kind), ""


def read_answers(
    file: str,
    prices: str | None = None,
    per: Literal["tokens", "samples"] | None = None,
    kind: str | None = None,
) -> Responses | Menu:
    """Read sampled answers, those of several models at the prices given or at the file's own.

    With a kind, the answers are read out of the texts again.
    """
    from adalib.datasets.loading import load
    from adalib.datasets.menu import Menu

    answers = load(file)
    if isinstance(answers, Menu):
        if kind:
            raise ValueError(
                f"{file}: holds several models, and --kind reads one; give the answers of one model"
            )
        for responses in answers.models.values():
            _check_answers(responses)
        return answers.priced(parse_prices(prices) if prices else answers.prices or {}, per)
    if kind:
        answers = _read_anew(answers, kind)
    _check_answers(answers)
    if prices:
        raise ValueError(f"{file}: holds one model, so --prices has nothing to price; leave it out")
    return answers


def _read_anew(responses: Responses, kind: str) -> Responses:
    """Read the answers by kind out of the texts that the file keeps."""
    from adalib.vote.kinds import answer_reader

    read = answer_reader(kind)
    texts = responses.extras.get("texts")
    if texts is None:
        raise ValueError(
            f"{responses.source}: keeps no texts to read a {kind} from; "
            "collect again, or leave --kind out"
        )
    finishes = responses.extras.get("finish") or [["stop"] * len(row) for row in texts]
    answers = []
    for row_texts, row_finishes in zip(texts, finishes, strict=True):
        pairs = zip(row_texts, row_finishes, strict=True)
        answers.append([read(text, finish == "stop") for text, finish in pairs])
    return replace(responses, answers=answers, correct=None)


def _check_answers(responses: Responses) -> None:
    """Refuse answers whose accuracies would be wrong."""
    _check_extracted(responses)
    _check_formulas(responses)


def _check_extracted(responses: Responses) -> None:
    """Refuse whole texts in the place of answers: no two agree, and none is right."""
    if responses.correct is not None:
        return
    typical_answer = median_high(len(row[0]) for row in responses.answers)
    longest_gold = max(len(gold) for gold in responses.golds)
    if typical_answer > _LONG > longest_gold:
        fault = "its answers are whole texts; read the answer out of each (adalib.extract_answer)"
        raise ValueError(f"{responses.source}: {fault}, or say which are right in a field correct")


def _check_formulas(responses: Responses) -> None:
    """Refuse formulas if the library that compares them is missing."""
    from adalib.vote.answers import is_formula

    if find_spec("math_verify") or "classes" in responses.extras:
        return
    if any(is_formula(answer) for row in responses.answers for answer in row):
        raise ModuleNotFoundError(name="math_verify")
