"""The sixty questions of the first page once more, with the answers that a rule asked for."""

from __future__ import annotations

import html
from collections import Counter
from collections.abc import Hashable, Sequence

from adabook.figures.page import HTML, bold_finding

_COLUMNS, _WIDE, _HIGH, _GAP = 12, 50, 46, 4
_DOTS, _STEP, _RADIUS = 3, 14, 5  # dots side by side, their distance, their radius


def watched(
    answers: Sequence[Sequence[Hashable | None]],
    right: Sequence[bool],
    questions: Sequence[str],
    caption: str,
) -> HTML:
    """Draw a tile per question with a dot per answer that was asked for.

    Dots of the answer that won the vote are full, the others empty; an answer that could not be
    read (None) is a bar. A tile is shaded where the vote is right.

    >>> drawn = watched([["8", "8"], ["3", None, "4"]], [True, False], ["a", "b"], "Two tiles.")
    >>> drawn.html.count("<circle"), drawn.html.count('class="is-full"')
    (4, 3)
    """
    tiles = [
        f'<g transform="translate({_left(at)} {_top(at)})">{_tile(*one)}</g>'
        for at, one in enumerate(zip(answers, right, questions, strict=True))
    ]
    wide = _COLUMNS * (_WIDE + _GAP) - _GAP
    high = _top(len(tiles) - 1) + _HIGH
    told = html.escape(
        f"{len(tiles)} questions with {sum(map(len, answers))} answers; {sum(right)} are right."
    )
    return HTML(
        f'<figure class="adalib-drawing"><svg viewBox="0 0 {wide} {high}" role="img" '
        f'aria-label="{told}" style="width: 100%; max-width: {wide}px">{"".join(tiles)}</svg>'
        f"<figcaption>{bold_finding(caption)}</figcaption></figure>"
    )


def _left(at: int) -> int:
    """Where a tile of a row begins."""
    return at % _COLUMNS * (_WIDE + _GAP)


def _top(at: int) -> int:
    """Where a tile's row begins."""
    return at // _COLUMNS * (_HIGH + _GAP)


def _tile(answers: Sequence[Hashable | None], right: bool, question: str) -> str:
    """One question: a frame, its dots, and its text for a mouse that rests on it."""
    votes = Counter(answer for answer in answers if answer is not None)
    leader = max(votes, key=lambda answer: votes[answer], default=None)
    shade = "0.16" if right else "0"
    frame = (
        f'<rect width="{_WIDE}" height="{_HIGH}" rx="4" fill="currentColor" '
        f'fill-opacity="{shade}" stroke="currentColor" stroke-opacity="0.45"/>'
    )
    dots = []
    for at, answer in enumerate(answers):
        x = _WIDE / 2 + _STEP * (at % _DOTS - (min(len(answers), _DOTS) - 1) / 2)
        y = _HIGH / 2 + _STEP * (at // _DOTS - (len(answers) - 1) // _DOTS / 2)
        if answer is None:
            dots.append(f'<path d="M{x - 4:g} {y:g}h8" stroke="currentColor" stroke-width="2"/>')
        elif answer == leader:
            dots.append(
                f'<circle class="is-full" cx="{x:g}" cy="{y:g}" r="{_RADIUS}" '
                'style="fill: var(--mark, #b8560f)"/>'
            )
        else:
            dots.append(
                f'<circle cx="{x:g}" cy="{y:g}" r="{_RADIUS - 1}" fill="none" '
                'stroke="currentColor" stroke-width="1.5"/>'
            )
    return f"<title>{html.escape(question)}</title>{frame}{''.join(dots)}"
