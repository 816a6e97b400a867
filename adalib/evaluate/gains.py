"""What every policy gains, as one picture: a dot on a line of its own, with its interval.

Rows go in, and markup comes out that needs no script and takes letters and colours from the page
around it. A table below it may say more of the same policies: pointing at one marks both.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from html import escape
from typing import NamedTuple

import numpy as np

from adalib.colours import MEANINGS
from adalib.evaluate.intervals import in_points

_STYLE = """
.gains { --ours: OURS; --other: OTHER; margin: 1rem 0; }
.gains .one { display: grid; grid-template-columns: minmax(7rem, 17rem) 1fr; gap: .8rem;
  align-items: center; padding: .1rem .3rem; font-size: .85rem; line-height: 1.3; }
.gains .one > :first-child { text-align: right; overflow-wrap: break-word; }
.gains .is-ours > :first-child { font-weight: 650; }
.gains .track { position: relative; height: 1.2rem; }
.gains .track > * { position: absolute; white-space: nowrap; }
.gains .zero { top: -.2rem; bottom: -.2rem; border-left: 1px solid currentColor; opacity: .5; }
.gains .span { top: .55rem; border-top: 2px solid var(--other); }
.gains .dot { box-sizing: border-box; top: calc(.275rem + 1px); width: .55rem; height: .55rem;
  margin-left: -.275rem; border-radius: 50%;
  border: 2px solid var(--other); background: var(--pst-color-background, Canvas); }
.gains .is-ours .span { border-color: var(--ours); }
.gains .is-ours .dot { border-color: var(--ours); background: var(--ours); }
.gains .tick { transform: translateX(-50%); font-variant-numeric: tabular-nums; }
.gains div.many { overflow-x: auto; }
@media (max-width: 600px) { .gains .one { grid-template-columns: 8.5rem 1fr; gap: .5rem; } }
""".replace("OURS", MEANINGS["price"]).replace("OTHER", MEANINGS["mix"])


class Gain(NamedTuple):
    """A line of the picture: a policy's gain over the same for everyone, with its interval."""

    policy: str
    gain: float
    low: float
    high: float
    ours: bool = False
    more: Sequence[str] = ()  #: what the table says of it


def gains_figure(rows: Iterable[Gain], words: str, heads: Sequence[str] = ()) -> str:
    """Draw the gains of one set, the largest first.

    Parameters
    ----------
    rows : iterable of Gain
        The policies.
    words : str
        The caption, which says on which set, at which cost.
    heads : sequence of str, optional
        Columns of the table: what ``more`` of each row holds. Without, there is no table.

    Returns
    -------
    str
        A figure, as HTML.
    """
    lines = sorted(rows, key=lambda row: -row.gain)
    lowest = min([0.0, *(row.low for row in lines)])
    ticks = ticks_around(lowest, max([0.0, *(row.high for row in lines)]))

    def at(value: float) -> float:
        return float(100 * np.interp(value, ticks[[0, -1]], [0, 1]))

    drawn = "\n".join(_line(number, row, at) for number, row in enumerate(lines))
    axis = "".join(
        f'<span class="tick" style="left:{at(tick):.2f}%">{in_points(tick)}</span>'
        for tick in ticks
    )
    table = _table(lines, heads) if heads else ""
    return (
        f'<figure class="gains"><style>{_STYLE}{_linked(len(lines)) if heads else ""}</style>\n'
        f"{drawn}\n"
        f'<div class="one" aria-hidden="true"><span></span><span class="track">{axis}</span></div>'
        f"<figcaption>{escape(words)}</figcaption>{table}</figure>"
    )


def _line(number: int, row: Gain, at: Callable[[float], float]) -> str:
    """A policy's name, its interval and its dot."""
    said = _said(row)
    left, right = at(row.low), at(row.high)
    return (
        f'<div class="one g{number}{" is-ours" * row.ours}" title="{escape(said)}">'
        f"<span>{escape(row.policy).replace('_', '_<wbr>')}</span>"
        f'<span class="track" role="img" aria-label="{escape(said)}">'
        f'<i class="zero" style="left:{at(0):.2f}%"></i>'
        f'<i class="span" style="left:{left:.2f}%;width:{right - left:.2f}%"></i>'
        f'<i class="dot" style="left:{at(row.gain):.2f}%"></i></span></div>'
    )


def _said(row: Gain) -> str:
    """A gain with its interval, in points."""
    return f"{in_points(row.gain)} [{in_points(row.low)}, {in_points(row.high)}]"


def _table(lines: Sequence[Gain], heads: Sequence[str]) -> str:
    """The same policies in the same order, with all that is known of them."""
    head = "".join(f"<th>{escape(name)}</th>" for name in ("policy", "gain, points", *heads))
    body = "\n".join(
        f'<tr class="g{number}">'
        + "".join(f"<td>{escape(text)}</td>" for text in (row.policy, _said(row), *row.more))
        + "</tr>"
        for number, row in enumerate(lines)
    )
    return (
        '<div class="many"><table class="dataframe"><thead><tr>'
        f"{head}</tr></thead><tbody>\n{body}\n</tbody></table></div>"
    )


def _linked(count: int) -> str:
    """The rule by which a policy is marked in picture and table at once."""
    both = ", ".join(f".gains:has(.g{number}:hover) .g{number}" for number in range(count))
    return f"{both} {{ background: #8883; }}"


def ticks_around(low: float, high: float) -> np.ndarray:
    """About five round numbers that enclose an axis."""
    rough = max(high - low, 1e-6) / 5
    size = 10.0 ** np.floor(np.log10(rough))
    step = size * next(nice for nice in (1, 2, 5, 10) if nice * size >= rough)
    return step * np.arange(np.floor(low / step), np.ceil(high / step) + 1)
