"""One drawing of the whole book, which returns in each part with the current boxes lit."""

from __future__ import annotations

from adabook.figures.page import HTML

#: Left and upper edge, width and height, what stands in the box, and what it is told as.
_BOXES = {
    "question": (8, 8, 116, 48, ("a new", "question"), "a new question"),
    "text": (144, 8, 116, 48, ("read its text,", "or do not"), "its text, which may be read"),
    "plan": (280, 8, 116, 48, ("plan: how", "many to ask?"), "the plan of how many to ask"),
    "answers": (8, 112, 116, 48, ("answers", "come in"), "the answers that come in"),
    "watch": (144, 112, 116, 48, ("watch: is one", "more worth λ?"), "is one more worth λ"),
    "vote": (280, 102, 116, 30, ("vote",), "the vote"),
    "check": (280, 140, 116, 30, ("or check each",), "the check of each answer"),
    "budget": (8, 216, 116, 48, ("the budget:", "what you pay"), "the budget"),
    "price": (144, 216, 252, 48, ("one price λ for an answer,", "the same for all"), "the price"),
}
_TIP = "m-7 -4 l7 4 l-7 4"
_UP = "m-4 7 l4 -7 l4 7"
_ARROWS = (
    f"M124 32 H142 {_TIP} M260 32 H278 {_TIP} M124 136 H142 {_TIP} M124 240 H142 {_TIP}"
    "M338 56 V84 H66 V110 m-4 -7 l4 7 l4 -7"  # from the plan to the answers
    f"M186 160 V182 H66 V162 {_UP}"  # ask for one more
    f"M260 136 H268 V117 H278 {_TIP} M268 136 V155 H278 {_TIP}"
)
#: Where the price is asked: in the plan, and while one watches.
_PRICED = f"M222 216 V162 {_UP} M396 240 H410 V32 H398 m7 -4 l-7 4 l7 4"


def whole(*lit: str) -> HTML:
    """Draw the way from a question to an answer, with the boxes of these names lit.

    The names are question, text, plan, answers, watch, vote, check, budget and price.

    >>> whole("watch").html.count("is-lit")
    1
    """
    if unknown := sorted(set(lit) - set(_BOXES)):
        raise ValueError(f"no box is called {unknown[0]!r}: use one of {', '.join(_BOXES)}")
    here = "".join(f" This part is about {_BOXES[name][5]}." for name in lit)
    return HTML(
        '<figure class="adalib-drawing">'
        '<svg xmlns="http://www.w3.org/2000/svg" width="420" viewBox="0 0 420 272" role="img" '
        'fill="none" stroke="currentColor" stroke-width="1.5" font-size="15">'
        "<title>From a question to its answer</title><desc>A new question comes. Its text may be "
        "read, and a plan says how many answers to ask for. The answers come in. While you watch "
        "them, you ask for one more as long as it is worth the price λ. Then they vote, or each "
        "is checked. The budget sets the price, which is the same for all questions. It decides "
        f"in the plan, and it decides while you watch.{here}</desc>"
        f'<path d="{_ARROWS}"/><path d="{_PRICED}" style="stroke: var(--price, #d55e00)"/>'
        f"{''.join(_box(name, name in lit) for name in _BOXES)}</svg></figure>"
    )


def _box(name: str, is_lit: bool) -> str:
    """Draw a box with its words in the middle."""
    x, y, wide, high, words, _ = _BOXES[name]
    first = y + high / 2 + 5 - 9 * (len(words) - 1)
    lines = "".join(
        f'<text x="{x + wide / 2:g}" y="{first + 18 * at:g}">{line}</text>'
        for at, line in enumerate(words)
    )
    group, look = "<g>", ""
    if is_lit:
        group = '<g class="is-lit" font-weight="700">'
        look = ' style="stroke: var(--mark, #b8560f); fill: var(--mark, #b8560f)"'
        look += ' stroke-width="3" fill-opacity="0.2"'
    return (
        f'{group}<rect x="{x}" y="{y}" width="{wide}" height="{high}" rx="4"{look}/>'
        f'<g fill="currentColor" stroke="none" text-anchor="middle">{lines}</g></g>'
    )
