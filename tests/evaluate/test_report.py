"""The page of a report: it holds every row, draws what the rows say, and needs nothing else."""

import re
from xml.etree import ElementTree

import numpy as np
import pytest

from adalib.evaluate.report import page
from adalib.evaluate.scores import HeldOutRow

# The line of the best mix is accuracy 0.4 + 0.1 cost.
ROWS = [
    ("oracle", "baseline", 2.0, 0.95),
    ("mix", "baseline", 2.0, 0.6),
    ("text <b>", "plans", 1.0, 0.55),
    ("text <b>", "plans", 3.0, 0.72),
    ("votes", "watches", 2.0, 0.7),
]


def made(policy, kind, cost, accuracy):
    gain = None if policy == "mix" else 0.01
    return HeldOutRow(
        policy=policy,
        kind=kind,
        target=cost,
        cost=cost,
        accuracy=accuracy,
        low=accuracy - 0.02,
        high=accuracy + 0.03,
        mix_accuracy=0.4 + 0.1 * cost,
        gain=gain or 0.0,
        gain_low=gain,
        gain_high=gain,
        imitation=None,
        majority=None,
        gains=np.zeros(3),
    )


@pytest.fixture
def html():
    rows = [made(*row) for row in ROWS]
    return page(rows, "mine & yours", "It <pays>.", ["How it was tested."], 0.002, 0.01)


def drawn(html):
    """The figure, read as XML, and what its axes say: places by number."""
    figure = ElementTree.fromstring(re.search(r"<svg.*?</svg>", html, re.DOTALL)[0])
    texts = [(one.text, float(one.get("x")), float(one.get("y"))) for one in figure.iter("text")]
    right = [(float(text[:-1]) / 100, y - 4) for text, _, y in texts if text.endswith("%")]
    below = [(float(text), x) for text, x, _ in texts if re.fullmatch(r"[\d.]+", text)]
    return figure, np.array(below), np.array(right)


def test_the_figure_shows_every_row_and_its_interval_where_the_axes_say(html):
    figure, below, right = drawn(html)
    places = [(float(one.get("cx")), float(one.get("cy"))) for one in figure.iter("circle")]
    bars = [[one.get(end) for end in ("x1", "y1", "y2")] for one in figure.iter("line")]
    assert len(places) == len(ROWS)
    assert (below[0, 0], right[0, 0]) <= (1.0, 0.53)
    assert below[-1, 0] >= 3.0
    assert right[-1, 0] >= 0.98

    def at(numbers, value):
        return np.interp(value, *numbers.T)

    for _, _, cost, accuracy in ROWS:
        place = at(below, cost), at(right, accuracy)
        assert any(np.allclose(place, one, atol=0.2) for one in places)
        ends = at(right, accuracy - 0.02), at(right, accuracy + 0.03)
        found = [
            bar for bar in bars if np.allclose([float(end) for end in bar[1:]], ends, atol=0.2)
        ]
        assert any(abs(float(bar[0]) - place[0]) < 0.2 for bar in found)


def test_of_many_policies_those_are_named_that_nothing_cheaper_beats():
    rng = np.random.default_rng(2)
    rows = [
        made(f"rule{number}", "watches", cost, accuracy)
        for number, (cost, accuracy) in enumerate(rng.uniform(0.3, 0.9, (30, 2)))
    ]
    figure, _, _ = drawn(page(rows, "many", "It pays."))
    named = {one.text for one in figure.iter("text") if one.text.startswith("rule")}
    assert named == {
        row.policy
        for row in rows
        if not any(other.cost < row.cost and other.accuracy >= row.accuracy for other in rows)
    }
    assert 1 < len(named) < 15
    assert len(list(figure.iter("circle"))) == 30


def test_the_price_is_a_line_through_the_best_that_anybody_could_do(html):
    """At 0.002 / 0.01 = 0.2 per unit, text at 1 nets 0.35 and votes 0.30. No oracle counts."""
    figure, below, right = drawn(html)
    (line,) = [one for one in figure.iter("polyline") if one.get("class") == "worth"]
    ends = np.array([pair.split(",") for pair in line.get("points").split()], dtype=float)
    costs = np.interp(ends[:, 0], below[:, 1], below[:, 0])
    accuracies = np.interp(-ends[:, 1], -right[:, 1], right[:, 0])
    np.testing.assert_allclose(accuracies, 0.35 + 0.2 * costs, atol=0.002)
    assert "the best of these is text &lt;b&gt; at target 1." in html
    without = page([made(*row) for row in ROWS], "mine", "It pays.")
    assert 'class="worth"' not in without


def test_the_table_holds_every_row_and_what_it_costs(html):
    lines = [
        re.findall("<td>(.*?)</td>", line) for line in re.findall("<tr>(.*?)</tr>", html) if line
    ]
    lines = [line for line in lines if line]
    assert [(line[0], line[1], float(line[3])) for line in lines] == [
        (name.replace("<b>", "&lt;b&gt;"), "" if kind == "baseline" else kind, cost)
        for name, kind, cost, _ in ROWS
    ]
    assert lines[4][4] == "70.0 [68.0, 73.0]"
    assert (lines[1][5], lines[4][5]) == ("–", "+1.00 [+1.00, +1.00]")
    assert [line[-1] for line in lines] == ["4", "4", "2", "6", "4"]


def test_further_columns_have_a_text_a_row():
    texts = [f"text {number}" for number in range(len(ROWS))]
    markup = page([made(*row) for row in ROWS], "mine", "It pays.", more={"said": texts})
    assert re.findall("<td>(text \\d)</td></tr>", markup) == texts


@pytest.mark.parametrize("dollars", [None, 0.01])
def test_each_cell_of_the_table_has_a_head(dollars):
    markup = page([made(*row) for row in ROWS], "mine", "It pays.", [], dollars)
    lines = re.findall("<tr>(.*?)</tr>", markup)
    cells = [line.count("<td>") or line.count("<th>") for line in lines]
    assert cells == [7 + (dollars is not None)] * (1 + len(ROWS))


def test_the_page_is_escaped_and_needs_nothing_else(html):
    assert "<b>" not in html
    assert "It &lt;pays&gt;." in html
    assert not re.search(r"<script|<link|src=|url\(|https?:", html)
    assert "prefers-color-scheme: dark" in html
    assert "@media print" in html
