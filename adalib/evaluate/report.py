"""One page to look at and to send: accuracy against cost, with every policy and its interval.

Rows go in and a page comes out, for `adalib evaluate --report`, a class's scoreboard and the
book's. It needs no network and no script, prints, and is as legible on black as on white.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape

import numpy as np

from adalib.colours import MEANINGS
from adalib.evaluate.gains import Gain, gains_figure, ticks_around
from adalib.evaluate.intervals import in_points
from adalib.evaluate.scores import HeldOutRow

Scale = Callable[[float], float]  # from a number to its place in the figure

_COLOURS = {
    "watches": MEANINGS["price"],
    "plans": MEANINGS["policy"],
    "baseline": MEANINGS["mix"],
}
_KINDS = {
    "watches": "watches the answers come in",
    "plans": "decides before it asks",
    "baseline": "learns nothing",
}
#: Policies of this package that it does not take from others or from the paper.
OURS = ("curve", "priced_votes", "priced", "race")
_WIDTH, _HEIGHT = 760, 440
_LEFT, _RIGHT, _TOP, _BOTTOM = 52, 210, 12, 44  # margins; names of policies stand on the right
_LINE = 15  # from one name to the next
_PAGE = """
:root { color-scheme: light dark; --ink: #1c1c1c; --paper: #fff; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e6e6; --paper: #161616; } }
@media print { :root { --ink: #000; --paper: #fff; } }
body { margin: 2rem auto; max-width: 50rem; padding: 0 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); }
h1 { font-size: 1.4rem; } .verdict { font-size: 1.15rem; font-weight: 600; }
"""
_STYLE = """
.rows svg { width: 100%; min-width: 40rem; height: auto; }
.rows svg text { fill: currentColor; font-size: 12px; }
.rows .axis { stroke: #8886; } .rows .worth { stroke: currentColor; }
.rows .mix { stroke: currentColor; stroke-dasharray: 5 4; fill: none; }
.rows div { overflow-x: auto; } .rows table { border-collapse: collapse; font-size: .85rem; }
.rows th, .rows td { padding: .15rem .5rem; text-align: right; white-space: nowrap; }
.rows th { border-bottom: 1px solid; }
.rows td:nth-child(-n+2), .rows th:nth-child(-n+2) { text-align: left; }
"""


def page(
    rows: Sequence[HeldOutRow],
    title: str,
    verdict: str,
    notes: Sequence[str] = (),
    dollars: float | None = None,
    worth: float | None = None,
    more: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the page as HTML.

    Parameters
    ----------
    rows : sequence of HeldOutRow
        What is shown.
    title, verdict : str
        What was evaluated, and the sentence that says what came out.
    notes : sequence of str
        Paragraphs below the table: what was paid, and how it was tested.
    dollars : float, optional
        What the unit of the rows' costs costs, such as an average answer.
    worth : float, optional
        Dollars that a right answer is worth, where costs are in dollars too. The best row at this
        price is named, and the price is drawn as a line: on it, accuracy just pays for its cost.
    more : mapping of str to sequence of str, optional
        Further columns of the table, a text per row.

    Returns
    -------
    str
        A self-contained page.
    """
    price = None if worth is None or dollars is None else dollars / worth
    paragraphs = [*notes]
    if price is not None:
        best = _best(rows, price)
        paragraphs.insert(
            0,
            f"Where a right answer is worth ${worth:g} and a unit of cost ${dollars:.3g}, the "
            f"price is {price:.3g}, and the best of these is {best.policy} at target "
            f"{best.target:g}. On the line through it, more right answers just pay for their cost.",
        )
    shown = "".join(f"<p>{escape(text)}</p>\n" for text in paragraphs)
    return f"""<!doctype html>
<html lang="en">
<head><meta charset="utf-8"><meta name="generator" content="adalib">
<meta name="viewport" content="width=device-width">
<title>{escape(title)}</title><style>{_PAGE}</style></head>
<body>
<h1>{escape(title)}</h1>
<p class="verdict">{escape(verdict)}</p>
{_gains(rows)}
{figure_and_table(rows, dollars, price, more)}
{shown}</body>
</html>
"""


def figure_and_table(
    rows: Sequence[HeldOutRow],
    dollars: float | None = None,
    price: float | None = None,
    more: Mapping[str, Sequence[str]] | None = None,
) -> str:
    """Return the part of the page that shows the rows, for a page that has its own words."""
    shown = f"{_figure(rows, price)}<div>{_table(rows, dollars, more or {})}</div>"
    return f'<div class="rows"><style>{_STYLE}</style>\n{shown}</div>'


def _gains(rows: Sequence[HeldOutRow]) -> str:
    """Draw what every policy gains, target by target; the mix is not compared with itself."""
    lines: dict[float, list[Gain]] = {}
    for row in rows:
        if row.gain_low is not None and row.gain_high is not None:
            line = Gain(row.policy, row.gain, row.gain_low, row.gain_high, row.policy in OURS)
            lines.setdefault(row.target, []).append(line)
    return "\n".join(
        gains_figure(own, f"Points gained over the same for everyone at equal cost, at {target:g}.")
        for target, own in sorted(lines.items())
    )


def _best(rows: Sequence[HeldOutRow], price: float) -> HeldOutRow:
    """Return the row that is best at a price, of what anybody could do: no oracle."""
    possible = [row for row in rows if row.kind != "baseline" or row.policy == "mix"] or rows
    return max(possible, key=lambda row: row.accuracy - price * row.cost)


def _figure(rows: Sequence[HeldOutRow], price: float | None) -> str:
    """Draw accuracy against cost: the bar, every policy with its interval, and the price."""
    costs = [row.cost for row in rows]
    lowest = min(min(row.low, row.mix_accuracy) for row in rows)
    highest = max(row.high for row in rows)
    x_ticks, y_ticks = ticks_around(min(costs), max(costs)), ticks_around(lowest, highest)
    bottom = _HEIGHT - _BOTTOM

    def x(cost: float) -> float:
        return float(np.interp(cost, x_ticks[[0, -1]], [_LEFT, _WIDTH - _RIGHT]))

    def y(accuracy: float) -> float:
        return float(np.interp(accuracy, y_ticks[[0, -1]], [bottom, _TOP]))

    parts = [
        f'<path class="axis" d="M{_LEFT} {y(at):.1f}H{_WIDTH - _RIGHT}"/>'
        f'<text x="{_LEFT - 6}" y="{y(at) + 4:.1f}" text-anchor="end">{100 * at:.4g}%</text>'
        for at in y_ticks
    ]
    parts += [
        f'<text x="{x(at):.1f}" y="{bottom + 16}" text-anchor="middle">{at:.4g}</text>'
        for at in x_ticks
    ]
    middle = (_LEFT + _WIDTH - _RIGHT) / 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 8}" text-anchor="middle">average cost</text>')
    bar = sorted({(row.cost, row.mix_accuracy) for row in rows})
    parts.append(f'<polyline class="mix" points="{_points(bar, x, y)}"/>')
    if price is not None:
        best = _best(rows, price)
        net = best.accuracy - price * best.cost
        # Only the part of the line that lies in the frame.
        ends = np.clip((y_ticks[[0, -1]] - net) / price, x_ticks[0], x_ticks[-1])
        line = [(cost, net + price * cost) for cost in ends.tolist()]
        parts.append(f'<polyline class="worth" points="{_points(line, x, y)}"/>')

    policies: dict[str, list[HeldOutRow]] = {}
    for row in sorted(rows, key=lambda row: row.cost):
        policies.setdefault(row.policy, []).append(row)
    named = _unbeaten(rows)
    parts += [_marks(name, own, x, y) for name, own in policies.items() if name not in named]
    # From the top down, no two names on one line.
    in_order = sorted(named, key=lambda name: -policies[name][-1].accuracy)
    last = _TOP - _LINE / 2
    for number, name in enumerate(in_order):
        own = policies[name]
        room = bottom - _LINE * (len(in_order) - number - 1)
        last = max(min(max(last + _LINE, y(own[-1].accuracy)), room), last + _LINE)
        parts += [_marks(name, own, x, y), _name(name, own[-1], last, x, y)]
    label = "Accuracy against average cost; dashed, the same for everyone."
    if len(named) < len(policies):
        label += " Named are those that nothing cheaper beats; the others stand in the table."
    return (
        f'<div><svg viewBox="0 0 {_WIDTH} {max(_HEIGHT, last + _LINE):.0f}" role="img" '
        f'aria-label="{label}">\n'
        + "\n".join(parts)
        + "\n</svg></div>"
        + f"<p>{label} {_legend()}</p>"
    )


def _unbeaten(rows: Sequence[HeldOutRow]) -> set[str]:
    """Return the policies that are right more often than all that cost less."""
    found = set()
    best = -np.inf
    for row in sorted(rows, key=lambda row: (row.cost, -row.accuracy)):
        if row.accuracy > best:
            best = row.accuracy
            found.add(row.policy)
    return found


def _marks(name: str, own: list[HeldOutRow], x: Scale, y: Scale) -> str:
    """Draw one policy: a line through its targets, and their intervals."""
    colour = _COLOURS[own[0].kind]
    marks = [
        f'<line stroke="{colour}" x1="{x(row.cost):.1f}" x2="{x(row.cost):.1f}" '
        f'y1="{y(row.low):.1f}" y2="{y(row.high):.1f}" opacity=".45"/>'
        f'<circle fill="{colour}" cx="{x(row.cost):.1f}" cy="{y(row.accuracy):.1f}" r="3.5">'
        f"<title>{escape(name)}: {100 * row.accuracy:.1f}% for {row.cost:.2f}</title></circle>"
        for row in own
    ]
    points = _points([(row.cost, row.accuracy) for row in own], x, y)
    return f'<polyline fill="none" stroke="{colour}" points="{points}"/>{"".join(marks)}'


def _name(name: str, end: HeldOutRow, line: float, x: Scale, y: Scale) -> str:
    """Write a name on the right, and lead a line to the last mark of its policy."""
    right = _WIDTH - _RIGHT + 12
    return (
        f'<line class="axis" x1="{x(end.cost):.1f}" y1="{y(end.accuracy):.1f}" '
        f'x2="{right}" y2="{line:.1f}"/>'
        f'<text x="{right + 4}" y="{line + 4:.1f}">{escape(name)}</text>'
    )


def _points(pairs: Iterable[tuple[float, float]], x: Scale, y: Scale) -> str:
    """Write points as SVG has them."""
    return " ".join(f"{x(cost):.1f},{y(accuracy):.1f}" for cost, accuracy in pairs)


def _legend() -> str:
    """Say what the colours mean."""
    return " ".join(
        f'<span style="color:{_COLOURS[kind]}">&#9679;</span> {text}'
        for kind, text in _KINDS.items()
    )


def _table(
    rows: Sequence[HeldOutRow], dollars: float | None, more: Mapping[str, Sequence[str]]
) -> str:
    """Write every row."""
    names = ["policy", "kind", "target", "cost", "right, %", "gain, points", "mix needs"]
    if dollars is not None:
        names.append("$ per 1,000 questions")
    lines = []
    for number, row in enumerate(rows):
        cells = [
            row.policy,
            "" if row.kind == "baseline" else row.kind,
            f"{row.target:g}",
            f"{row.cost:.2f}",
            f"{100 * row.accuracy:.1f} [{100 * row.low:.1f}, {100 * row.high:.1f}]",
            _gain(row),
            "–" if row.mix_cost is None else f"{row.mix_cost:.2f}",
        ]
        if dollars is not None:
            cells.append(f"{1000 * dollars * row.cost:.3g}")
        cells += [texts[number] for texts in more.values()]
        lines.append("".join(f"<td>{escape(cell)}</td>" for cell in cells))
    head = "".join(f"<th>{escape(name)}</th>" for name in (*names, *more))
    body = "\n".join(f"<tr>{line}</tr>" for line in lines)
    return f"<table><thead><tr>{head}</tr></thead><tbody>\n{body}\n</tbody></table>"


def _gain(row: HeldOutRow) -> str:
    """Write a gain with its interval; the mix is not compared with itself."""
    if row.gain_low is None or row.gain_high is None:
        return "–"
    low, high = in_points(row.gain_low, 2), in_points(row.gain_high, 2)
    return f"{in_points(row.gain, 2)} [{low}, {high}]"
