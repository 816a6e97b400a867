"""The lambda explorer in a real browser, without a network: every number it prints is held against
adalib's."""

from __future__ import annotations

import json
import re
from pathlib import Path

import numpy as np
import pytest
from explorer_page import (
    STEPS,
    check,
    choose_file,
    digits_of,
    drop,
    look_up,
    random_table,
    shown,
    unfold,
    until,
    walk,
)
from random_tables import averages

import adalib
from adalib.cli import main
from adalib.colours import arm_colours
from adalib.datasets.files import DataError
from adalib.datasets.responses import Responses
from adalib.explorer import read_csv, setting, static_html
from adalib.explorer.static import PARTS, script, style
from adalib.solve.frontier import frontier
from adalib.solve.oracle import average_cost, oracle_labels
from adalib.table import UtilityTable
from adalib.vote.estimators import acc_subsets

pytest_plugins = ["explorer_page"]

FRONT = Path(adalib.__file__).parent / "explorer" / "front"
HOSTILE = (
    '</script><script>window.hacked = 1</script><img src=x onerror="window.hacked = 1"> '
    "'\"&amp; <!-- \u2028 ]]>"
)


def test_every_number_by_mouse(show):
    table = random_table(4, n=120)
    page = show(table)
    prices = set()
    box = page.locator("[data-control=lambda]").bounding_box()
    page.mouse.move(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    page.mouse.down()
    for share in np.linspace(0.05, 0.95, 10):
        page.mouse.move(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        prices.add(check(page, table)["lam"])
    page.mouse.up()
    assert len(prices) == 10
    # The curves can be dragged too: the frontier moves the budget, the staircase the price.
    for at, share in [(0, 0.3), (1, 0.6), (2, 0.5)]:
        curve = page.locator(":is(.ax-drag > svg, svg.ax-dragx)").nth(at)
        curve.scroll_into_view_if_needed()
        box = curve.bounding_box()
        page.mouse.click(box["x"] + share * box["width"], box["y"] + box["height"] / 2)
        prices.add(check(page, table)["lam"])
    assert len(prices) == 13
    page.locator(".ax-map").click(position={"x": 3, "y": 3})
    first = check(page, table)["title"]
    page.get_by_label("Next question").click()
    assert check(page, table)["title"] != first


@pytest.mark.parametrize("per_row", [False, True])
def test_a_budget_typed_in_sets_the_smallest_price_that_fits(show, per_row):
    table = random_table(5, per_row=per_row)
    page = show(table)
    slider = page.locator("[data-control=lambda]")
    prices = [check(page, table)["lam"], *walk(page, table, ["Home", *STEPS, "End"])]
    assert len(set(prices)) >= 10
    assert 0 in prices
    assert re.fullmatch(
        r"price \S+, average cost \S+ (answers|cost units)", slider.get_attribute("aria-valuetext")
    )
    slider = page.locator("[data-control=budget]")
    for keys in ["End", "Home", *STEPS]:
        slider.press(keys)
        seen = check(page, table)
        budget = float(slider.input_value())
        price = frontier(table).at(budget).lam
        spent = average_cost(table.acc, table.cost, price)
        assert seen["lam"] == pytest.approx(price, rel=1e-9, abs=1e-15)
        digits = digits_of(seen["numbers"]["cost"])
        if "No price" in seen["say"]:
            assert (
                f"and {shown(spent, digits)} from here on. Slack {shown(budget - spent, digits)};"
                in seen["say"]
            )
        else:
            assert shown(spent, digits) in seen["say"]


def test_a_budget_that_no_price_meets_is_said_plainly(show):
    # Two equal questions that only gain at 16: the oracle spends 1 or 16, never 8.5 (chapter 3).
    table = UtilityTable([[0, 0, 1], [0, 0, 1]], [1, 4, 16])
    page = show(table)
    exact = page.locator("[data-exact=budget]")
    for budget, words in [
        (
            "8.5",
            "No price spends exactly 8.5: it is 16.00 just below this price and 1.00 from here on. "
            "Slack 7.50;",
        ),
        ("1", "This price spends exactly 1.00: no slack."),
        ("0.5", "No allocation is that cheap: the cheapest costs 1.00."),
        ("20", "Even at price 0 the oracle spends 16.00; the other 4.00 would gain nothing."),
    ]:
        exact.fill(budget)
        exact.press("Enter")
        assert words in check(page, table)["say"]
    price = page.locator("[data-exact=lambda]")
    price.fill("0.05")
    price.press("Enter")
    assert "16.00" in check(page, table)["say"]


@pytest.mark.parametrize(
    ("acc", "cost"),
    [
        ([[0.3, 0.7]], [1, 2]),  # N = 1
        ([[0.3], [0.9]], [1]),  # K = 1
        ([[0.5, 0.5, 0.5]] * 4, [1, 2, 4]),  # flat
        ([[0.9, 0.6, 0.1]] * 3, [1, 2, 4]),  # votes that hurt
        ([[0.1, 0.4, 0.6], [0.2, 0.2, 0.9]], [0, 0, 0]),  # free of charge
        ([[0.1, 0.4, 0.6], [0.2, 0.2, 0.9]], [2, 2, 3]),  # two budgets at one cost
        (
            [[0.1, 0.2, 0.3, 0.3], [0.5, 0.4, 0.7, 0.8], [0.2] * 4],
            [1, 2, 3, 3],
        ),  # and straight lines
        ([[0.1, 0.4, 0.6], [0.2, 0.2, 0.9]], [1e-6, 2e-6, 4e-6]),  # money
        (np.linspace(0, 1, 150).reshape(3, 50), np.arange(1, 51)),  # K = 50
    ],
)
def test_small_and_odd_tables(show, acc, cost):
    table = UtilityTable(acc, cost)
    page = show(table)
    walk(page, table, ["Home", "ArrowRight", *["PageUp"] * 9, "End"])
    page.locator("[data-control=budget]").press("ArrowRight")
    check(page, table)


def test_a_model_has_its_hue_on_the_page_as_in_python(functions):
    for models in (["s", "s", "l"], ["a", "b", "a", "c", "c", "b", "a"], list("abcdefab")):
        theirs = functions.evaluate("(models) => ax.armColours(models)", models)
        for one, other in zip(theirs, arm_colours(models), strict=True):
            channels = (
                [int(colour[at : at + 2], 16) for at in (1, 3, 5)] for colour in (one, other)
            )
            assert np.abs(np.subtract(*channels)).max() <= 1  # a half may be rounded either way


def test_labels_and_path_are_the_same_at_and_beside_every_breakpoint(functions):
    rng = np.random.default_rng(0)
    for trial in range(40):
        n, k = rng.integers(1, 12), rng.integers(1, 7)
        acc = rng.integers(0, 5, (n, k)) / 4 if trial % 2 else rng.random((n, k))
        cost = np.sort(rng.integers(0, 9, (n, k) if trial % 3 else k), axis=-1)
        whole = frontier(acc, cost)
        prices = [*whole.lam, *whole.lam * (1 - 1e-9), *whole.lam * (1 + 1e-9), 2.0]
        ours, path, counts = functions.evaluate(
            """([one, prices]) => {
              const t = ax.build(one);
              const at = (price) => {
                const { labels, cost, accuracy } = ax.oracle(t, price);
                return [[...labels], cost, accuracy];
              };
              const { lam, cost, accuracy } = t.path;
              return [prices.map(at), [lam, cost, accuracy],
                      ax.splitsAt(t.path, lam.map((_, i) => i))];
            }""",
            [setting(UtilityTable(acc, cost)), prices],
        )
        for price, (labels, spent, accuracy) in zip(prices, ours, strict=True):
            expected = oracle_labels(acc, cost, price)
            assert labels == expected.tolist()
            assert [spent, accuracy] == pytest.approx(averages(acc, cost, expected), abs=1e-12)
        ends = np.array([whole.lam, whole.cost, whole.accuracy])[:, ::-1]
        assert np.array(path) == pytest.approx(ends, abs=1e-11)
        labels = (oracle_labels(acc, cost, price) for price in path[0])
        assert counts == [np.bincount(one, minlength=k).tolist() for one in labels]


def test_votes_are_counted_over_all_subsets_with_shared_ties(functions):
    rng = np.random.default_rng(1)
    for answers in range(1, 20):
        budgets = [b for b in (1, 2, 4, 8, 16) if b <= answers]
        classes = rng.integers(-1, rng.integers(1, 6), answers)
        values = rng.integers(0, 2, answers)
        groups = [
            {"count": int(here.sum()), "right": int(values[here].sum())}
            for here in (classes == number for number in set(classes) - {-1})
        ]
        ours = functions.evaluate(
            "(arguments) => ax.subsetAccuracies(...arguments)",
            [groups, int((classes == -1).sum()), budgets],
        )
        expected = acc_subsets(classes[None], values[None], budgets)[0]
        assert ours == pytest.approx(expected.tolist(), abs=1e-12)


def test_hostile_texts_are_shown_as_text(show):
    answers = [[HOSTILE, "<b>7</b>", "7", "7"]] * 2
    responses = Responses(
        ["<i>a</i>", HOSTILE], [HOSTILE, "plain"], ["7", HOSTILE], answers, levels=["<u>1</u>", "2"]
    )
    page = show([setting(responses, name="<x>", title=HOSTILE, about=HOSTILE)])
    texts = page.evaluate(
        "() => [document.querySelector('.adalib-explorer').textContent, window.hacked]"
    )
    assert texts[1] is None
    look_up(page, "<i>a")
    assert page.locator("blockquote").text_content() == HOSTILE
    assert page.locator(".ax-qid").text_content() == "Question <i>a</i> \u00b7 level <u>1</u>"
    assert page.locator(".ax-votes span:first-child").all_text_contents() == [
        "7",
        HOSTILE,
        "<b>7</b>",
    ]
    assert page.locator(".ax-title").text_content().endswith(HOSTILE)
    assert page.locator(".adalib-explorer :is(img, b, u, script)").count() == 0
    assert page.evaluate("window.hacked") is None
    assert HOSTILE in page.title()


def test_a_dropped_csv_is_explored(show, tmp_path):
    page = show(random_table(1))
    text = '\ufeffid,1,2.5,"4"\r\n"a, ""b""",0.1,0.5,0.9\r\n\r\nc,0.123456789,.3,1e-1\r\n'
    drop(page, "mine.csv", text)
    page.get_by_text("2 questions, 3 budgets.").wait_for()
    file = tmp_path / "mine.csv"
    file.write_text(text, encoding="utf-8", newline="")
    table = read_csv(file)
    assert table.ids == ('a, "b"', "c")
    look_up(page, "c")
    walk(page, table, ["Home", "PageUp", "PageUp", "PageUp", "PageUp"])


def test_an_opened_jsonl_is_explored(show, tmp_path):
    rng = np.random.default_rng(2)
    answers = [[str(a) for a in rng.choice([3, 4, 5, 6], 20)] for _ in range(12)]
    answers[0][:3] = ["", " 3.0 ", "x < y"]
    responses = Responses(
        [f"q{i}" for i in range(12)], [f"What is {i}?" for i in range(12)], ["3"] * 12, answers
    )
    responses.save(tmp_path / "mine.jsonl")
    responses.save(tmp_path / "mine.jsonl.gz")
    lines = (tmp_path / "mine.jsonl").read_text(encoding="utf-8").splitlines()
    (tmp_path / "mine.json").write_text("[" + ",\n".join(lines) + "]", encoding="utf-8")
    for name in ("mine.jsonl", "mine.jsonl.gz", "mine.json"):
        page = show(random_table(1))
        choose_file(page, tmp_path / name)
        page.get_by_text("12 questions, 5 budgets.").wait_for()
        assert "same number" in page.locator(".ax-title").text_content()
        table = responses.table()
        walk(page, table, ["Home", "PageUp", "PageUp", "PageUp"])
        look_up(page, "q0")
        votes = page.locator(".ax-votes span:not(.ax-meter)").all_text_contents()
        top = [
            (a, f"{c} \u2713" if share else str(c))
            for a, c, share in setting(responses)["votes"][0][0]
        ]
        assert votes == [text for pair in [*top, ("no answer read", "1")] for text in pair]


@pytest.mark.parametrize("tokens", [False, True])
def test_a_dropped_file_of_several_models_is_a_menu(show, tmp_path, tokens):
    """Two files one after the other, the second in another order: the arms, costs and colours of
    `adalib.load`."""
    rng = np.random.default_rng(5)
    lines = []
    for model, price, samples in (("small", 1, 8), ("large", 4, 6)):
        for i in rng.permutation(9):
            answers = [str(a) for a in rng.choice([3, 4, 5], samples)]
            line = {"id": f"q{i}", "question": f"What is {i}?", "gold": "3", "answers": answers}
            line |= {"model": model, "price": price, "level": int(i % 3)}
            lines.append(
                line | ({"tokens": rng.integers(5, 90, samples).tolist()} if tokens else {})
            )
    path = tmp_path / "menu.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in lines), encoding="utf-8")
    menu = adalib.load(path)
    table = menu.table((1, 2, 4))
    page = show(random_table(1))
    choose_file(page, path)
    page.get_by_text("9 questions, 6 budgets.").wait_for()
    assert "small 1, large 4" in page.locator(".ax-title").text_content()
    walk(page, table, ["Home", "PageUp", "PageUp", "PageUp"])
    assert page.locator(".ax-curve").count() == 2  # one line a model
    look_up(page, "q0")
    assert page.locator(".ax-votes li").count() == 0  # whose votes would they be?


def line(**fields) -> str:
    """A line of a file of answers."""
    return (
        json.dumps({"id": "a", "question": "?", "gold": "1", "answers": ["1", "2"], **fields})
        + "\n"
    )


BAD_FILES = [  # what files of answers are refused for, but for models, is in question_cases.json
    ("e.csv", "", "e.csv: the file is empty."),
    ("h.csv", "id,1,two\na,0,1\n", 'h.csv, line 1: column 3 is headed "two"'),
    ("s.csv", "4,1\n0,1\n", "s.csv, line 1: cost 1 comes after 4"),
    ("n.csv", "1,2\n", "n.csv: there is a header but no row"),
    ("c.csv", "1,2\n0.5\n", "c.csv, line 2: 1 cell where the header has 2."),
    ("v.csv", "id,1,2\na,0.5,0.6\nb,0.5,7\n", 'v.csv, line 3, column "2": "7" is not an accuracy'),
    ("nan.csv", "1,2\n0.5,nan\n", 'nan.csv, line 2, column "2": "nan" is not an accuracy'),
    (
        "t.jsonl",
        "".join(line(model=m) for m in "sls"),
        't.jsonl, line 3: id "a" is already on line 1; give it another',
    ),
    ("k.jsonl", line(answers=["1", {"x": 1}]), 'k.jsonl, line 1: "answers"[1] is an object;'),
    ("m.jsonl", line(model="s") + line(), 'm.jsonl, line 2: has no "model", and other lines have'),
    (
        "o.jsonl",
        line(model="s") + line(model="l") + line(id="b", model="s"),
        'question "b" is not answered by both',
    ),
    (
        "p.jsonl",
        line(model="s", price=1) + line(model="l", price=0),
        'p.jsonl, line 2: "price" is 0; give a number',
    ),
    ("z.jsonl.gz", "not gzip", "z.jsonl.gz: cannot be read"),
    ("<img>.csv", "x", '<img>.csv, line 1: column 1 is headed "x"'),
]


def test_bad_files_are_one_line_above_the_old_view(show):
    table = random_table(1)
    page = show(table)
    trouble = page.locator(".ax-trouble")
    picture = ("card.png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "card.png: is no text but a picture")
    for name, text, words in [*BAD_FILES, picture]:
        drop(page, name, text)
        until(page, "(w) => document.querySelector('.ax-trouble').textContent.includes(w)", words)
        assert "\n" not in trouble.text_content()
        assert trouble.is_visible()
        check(page, table)
    drop(page, "good.csv", "1,2\n0.5,1\n")
    page.get_by_text("1 question, 2 budgets.").wait_for()
    assert not trouble.is_visible()


@pytest.mark.parametrize("name_text", [case[:2] for case in BAD_FILES[:7]])
def test_python_refuses_the_same_csv_files(tmp_path, name_text):
    file = tmp_path / name_text[0]
    file.write_text(name_text[1], encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(str(file))) as raised:
        read_csv(file)
    assert "\n" not in str(raised.value)


def test_the_address_holds_the_view(show):
    tables = {"one": random_table(1), "two": random_table(2)}
    settings = [
        setting(table, name=name, title=name, kind="simulated") for name, table in tables.items()
    ]
    page = show(settings, "#lambda=0.0123&set=two&q=7")
    seen = check(page, tables["two"])
    assert (seen["lam"], seen["title"]) == (0.0123, "Question 7")
    assert "Simulated" in page.locator(".ax-about").text_content()
    page.evaluate("location.hash = '#lambda=0.5&set=one&q=3'")
    until(page, "document.querySelector('.adalib-explorer').dataset.lam === '0.5'")
    assert check(page, tables["one"])["title"] == "Question 3"
    page.locator("[data-control=budget]").press("End")
    page.locator("[data-control=budget]").press("Home")
    until(page, "location.hash.includes('budget=1&')")
    lam = check(page, tables["one"])["lam"]
    held = page.evaluate("Object.fromEntries(new URLSearchParams(location.hash.slice(1)))")
    assert held | {"lambda": float(held["lambda"])} == {
        "lambda": lam,
        "budget": "1",
        "set": "one",
        "q": "3",
    }
    page.reload()
    unfold(page)
    assert check(page, tables["one"])["lam"] == lam
    page.get_by_label("Setting").select_option("two (simulated)")
    # What was asked for holds in the next setting.
    assert page.locator("[data-control=budget]").input_value() == "1"
    check(page, tables["two"])
    page.get_by_role("button", name="Reset").click()
    assert check(page, tables["one"])["title"] != "Question 3"
    for nonsense in (
        "#lambda=abc&set=none&q=9999",
        "#lambda=-1",
        "#a-heading",
        "#lambda=Infinity",
        "#q=",
        "#%E0%A4%A",
    ):
        page.evaluate("(hash) => { location.hash = hash; }", nonsense)
        check(page, tables["one"])


def test_several_explorers_share_a_page(new_page, tmp_path):
    fragments = [static_html([setting(random_table(s), name="t")]) for s in (1, 2)]
    file = tmp_path / "two.html"
    file.write_text(
        "<!DOCTYPE html><meta charset='utf-8'><h2 id='top'>Two</h2>" + "".join(fragments),
        encoding="utf-8",
    )
    page = new_page()
    page.goto(file.as_uri() + "#top")
    price = "document.querySelectorAll('.adalib-explorer')[{}].dataset.lam"
    before = page.evaluate(price.format(0))
    page.locator("[data-control=lambda]").nth(1).press("End")
    until(page, f"(before) => {price.format(1)} !== before", before)
    assert page.evaluate(price.format(0)) == before
    page.wait_for_timeout(300)
    assert page.evaluate("location.hash") == "#top"  # the second explorer does not own the address
    page.locator("[data-control=lambda]").nth(0).press("Home")
    until(page, "location.hash.startsWith('#lambda=0')")


def test_without_scripts_there_is_a_static_figure(show):
    page = show(random_table(1), java_script_enabled=False)
    assert page.locator("noscript svg, figure svg").first.is_visible()
    assert page.locator("polyline").count() == 2


def test_phone_width_overflows_nowhere(show):
    rng = np.random.default_rng(3)
    long = "supercalifragilistic" * 20
    answers = [[long, "1", "2", "3"] * 4 for _ in range(30)]
    golds = rng.choice(["1", long], 30)
    responses = Responses([f"{long}{i}" for i in range(30)], [long] * 30, golds, answers)
    page = show([setting(responses, title=long)], viewport={"width": 390, "height": 800})
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    lefts = (
        "[...document.querySelectorAll('.ax-panel:not([hidden])')]"
        ".map((panel) => panel.getBoundingClientRect().left)"
    )
    assert len(set(page.evaluate(lefts))) == 1  # the panels are stacked
    page.set_viewport_size({"width": 1000, "height": 800})
    until(page, f"() => new Set({lefts}).size === 2")


def test_everything_has_a_name_for_a_screen_reader(show):
    page = show([setting(random_table(1), name=n, title=n, kind="real") for n in ("a", "b")])
    unnamed = page.evaluate(
        """() => [...document.querySelectorAll(
          ":is(input, button, select, svg, [role], [tabindex]):not([hidden])")]
        .filter((node) => !node.getAttribute("aria-label"))
        .filter((node) => !node.labels?.length && !node.textContent.trim())
        .map((node) => node.outerHTML)"""
    )
    assert unnamed == []
    page.locator("[data-control=lambda]").press("End")
    live = page.locator(".ax-hidden[aria-live=polite]")
    until(
        page,
        "document.querySelector('.ax-hidden[aria-live=polite]')"
        ".textContent.startsWith('Price 1.000: ')",
    )
    assert "average cost 1.000 answers, accuracy" in live.text_content()
    # Every control can be reached with the Tab key, and shows where it is.
    page.locator("select").focus()
    reached = set()
    for _ in range(20):
        page.keyboard.press("Tab")
        name = "(at) => at.dataset.control ?? at.ariaLabel ?? at.textContent"
        reached.add(page.evaluate(f"({name})(document.activeElement)"))
        assert page.evaluate("getComputedStyle(document.activeElement).outlineStyle") != "none"
    assert {"lambda", "budget", "Open your own file", "Question shown", "Next question"} <= reached


def test_a_page_carries_at_most_150_kilobytes_of_front_end():
    assert len((script() + style()).encode()) <= 150 * 1024


def test_every_part_of_the_front_end_is_in_the_page():
    assert sorted(PARTS) == sorted(file.stem for file in FRONT.glob("*.js"))


def test_the_page_forbids_the_network_and_text_that_runs(show):
    """Its own policy refuses both, whatever a later change of the scripts may try."""
    page = show(random_table(1))
    policy = page.locator("meta[http-equiv=Content-Security-Policy]").get_attribute("content")
    assert "default-src 'none'" in policy
    assert "unsafe-eval" not in policy


def test_settings_are_checked():
    with pytest.raises(ValueError, match="not ndarray"):
        setting(np.zeros((2, 2)))
    for settings in ([], [setting(random_table(1)), setting(random_table(2))]):
        with pytest.raises(ValueError, match="name of its own"):
            static_html(settings)
    responses = Responses(["a"], ["?"], ["1"], [["1", "2", "2"]])
    with pytest.raises(ValueError, match="the responses 1"):
        setting(random_table(1), responses=responses)
    one = setting(responses)
    assert (one["budgets"], one["unit"]) == (["1", "2"], "answers")
    assert one["votes"] == [[[["2", 2, 0.0], ["1", 1, 1.0]], 0, 0, 0]]


def test_a_menu_is_a_setting_of_arms():
    small, large = (
        Responses(["a", "b"], ["?", "??"], ["7", "8"], [[answer] * 2] * 2) for answer in ("7", "8")
    )
    menu = adalib.Menu({"small": small, "large": large}, prices={"small": 1, "large": 3})
    one = setting(menu)
    assert one["budgets"] == ["small x1", "small x2", "large x1", "large x2"]
    assert (one["cost"], one["unit"], one["questions"]) == ([1, 2, 3, 6], "cost", ["?", "??"])
    assert one["colours"] == arm_colours(["small", "small", "large", "large"])
    assert len(set(one["colours"])) == 4
    assert "votes" not in one


def test_the_widget_checks_its_traits():
    widget = adalib.explore(random_table(1, n=5), lam=0.02)
    assert (widget.lam, widget.budget, widget.selected) == (0.02, None, 0)
    seen = []
    widget.observe(lambda change: seen.append(change.new), "lam")
    widget.lam = 0.5
    assert seen == [0.5]
    for name, value in [
        ("lam", -1.0),
        ("lam", float("nan")),
        ("budget", float("inf")),
        ("selected", 5),
    ]:
        with pytest.raises(Exception, match=f"{name} is {value}; give"):
            setattr(widget, name, value)


def test_the_command_writes_a_page_of_a_csv_file(tmp_path):
    file, out = tmp_path / "mine.csv", tmp_path / "out.html"
    file.write_text("id,1,4\na,0.2,0.9\nb,0.5,0.5\n", encoding="utf-8")
    assert main(["explore", str(file), "--out", str(out)]) == 0
    assert "mine.csv" in out.read_text(encoding="utf-8")
