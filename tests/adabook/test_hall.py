"""The market on phones: bids add up, the truth is best where students pay the harm, and only the
teacher leads."""

from __future__ import annotations

import json
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
from playwright.sync_api import expect

import adalib
from adabook.hall import EACH, RULES, outcome, server

BUDGETS = [1, 2, 4, 8, 16]
KEY = "teacher"


@pytest.fixture
def address():
    with server("127.0.0.1", 0, KEY) as hall:
        threading.Thread(target=hall.serve_forever, daemon=True).start()
        yield f"http://127.0.0.1:{hall.server_address[1]}/"
        hall.shutdown()


def ask(address, **asked):
    """What the hall replies, also where it refuses."""
    try:
        with urllib.request.urlopen(address, json.dumps(asked).encode(), timeout=20) as reply:
            return json.load(reply)
    except urllib.error.HTTPError as refused:
        return json.load(refused)


def test_ten_browsers_play_both_rounds(address, new_page):
    phones = [new_page(viewport={"width": 390, "height": 844}) for _ in range(10)]
    for phone in phones:
        phone.goto(address)
        phone.locator(".market-card").wait_for()
    phones[0].reload()  # keeps its card
    teacher = new_page()
    teacher.goto(f"{address}#{KEY}")
    expect(teacher.get_by_text("Phones: 10. Hands: 0.")).to_be_visible()
    teacher.get_by_role("button", name="Call the price").click()
    state = ask(address, key=KEY)
    points = np.array([card["points"] for card in state["cards"]])
    bought = adalib.oracle_labels(points / 100, BUDGETS, 0.05)
    for seat, phone in enumerate(phones):
        phone.get_by_role("button", name=f"{BUDGETS[bought[seat]]}", exact=True).click()
        expect(phone.get_by_text(f"You show {BUDGETS[bought[seat]]}.")).to_be_visible()
    total = int(np.take(BUDGETS, bought).sum())
    expect(teacher.get_by_text(f"they take {total} of {10 * EACH} answers")).to_be_visible()
    teacher.get_by_role("button", name="the harm").click()
    liar = phones[3]
    liar.get_by_label("16:", exact=True).fill("100")
    liar.get_by_role("button", name="Hand in").click()
    expect(liar.get_by_text("Handed in.")).to_be_visible()
    expect(teacher.get_by_text("Phones: 10. Hands: 1.")).to_be_visible()
    teacher.get_by_role("button", name="Settle").click()
    expect(phones[5].get_by_text("You get")).to_be_visible()
    expect(
        teacher.get_by_text("1 wrote something else than their card: it paid for 0")
    ).to_be_visible()


@pytest.mark.parametrize("rule", RULES)
def test_a_lie_pays_unless_students_pay_the_harm(rule):
    rng = np.random.default_rng(0)
    cards = np.sort(rng.integers(0, 101, (6, 5)), axis=1)
    best = 0.0
    for _ in range(150):
        who, said = rng.integers(6), cards.copy()
        said[who] = np.sort(rng.integers(0, 101, 5))
        worth = [
            cards[who, column] - paid
            for column, paid in (
                outcome(all_.tolist(), BUDGETS, who, rule) for all_ in (said, cards)
            )
        ]
        best = max(best, worth[0] - worth[1])
    assert (best < 1e-6) == (rule == "the harm")


def test_what_does_not_fit_is_refused(address):
    me = ask(address)["me"]
    other = ask(address)["me"]
    assert other != me
    ask(address, key=KEY, what="price", value=5)
    number = ask(address, me=me)["number"]
    for value in (3, -1, [1, 2, 3, 4, 5], "8", None, 10**9):
        assert "refused" in ask(address, me=me, what="show", value=value, number=number)
    assert "over" in ask(address, me=me, what="show", value=4, number="another")["refused"]
    ask(address, me=me, what="price", value=1)  # no teacher
    assert ask(address, key=KEY)["value"] == 5
    for price in (-1, "x", True, 1e9):
        assert "refused" in ask(address, key=KEY, what="price", value=price)
    ask(address, key=KEY, what="write", value="the harm")
    number = ask(address, me=me)["number"]
    for value in (8, [1, 2], [0, 0, 0, 0, 101], [0, 0, 0, 0, 0.5]):
        assert "refused" in ask(address, me=me, what="show", value=value, number=number)
    assert ask(address, me=me, what="show", value=[0, 1, 2, 3, 4], number=number)["hand"]
    assert [one["lied"] for one in ask(address, key=KEY, what="settle")["told"]] == [True, False]
    assert "over" in ask(address, me=me, what="show", value=[0] * 5, number=number)["refused"]
    for body in (b"", b"[]", b"{"):
        with pytest.raises(urllib.error.HTTPError):
            urllib.request.urlopen(address, body, timeout=20)
