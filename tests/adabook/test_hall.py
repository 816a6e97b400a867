"""The market on phones: bids add up, the truth is best where students pay the harm, and only the
teacher leads."""

from __future__ import annotations

import json
import socket
import threading
import urllib.error
import urllib.request

import numpy as np
import pytest
import segno
from conftest import PATIENCE
from playwright.sync_api import expect

import adalib
from adabook.hall import EACH, RULES, Hall, best_lie, market_size, outcome, server

BUDGETS = [1, 2, 4, 8, 16]
KEY = "teacher"
expect.set_options(timeout=PATIENCE)  # ten browsers on a loaded machine need more than the usual


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


def test_four_browsers_play_both_rounds(address, new_page):
    phones = [new_page(viewport={"width": 390, "height": 844}) for _ in range(4)]
    for phone in phones:
        phone.goto(address)
        phone.locator(".market-card").wait_for()
    phones[0].reload()  # keeps its card
    teacher = new_page()
    teacher.goto(f"{address}#{KEY}")
    expect(teacher.get_by_text("Phones: 4. Hands: 0.")).to_be_visible()
    teacher.get_by_role("button", name="Call the price").click()
    state = ask(address, key=KEY)
    points = np.array([card["points"] for card in state["cards"]])
    bought = adalib.oracle_labels(points / 100, BUDGETS, 0.05)
    for seat, phone in enumerate(phones):
        phone.get_by_role("button", name=f"{BUDGETS[bought[seat]]}", exact=True).click()
        expect(phone.get_by_text(f"You show {BUDGETS[bought[seat]]}.")).to_be_visible()
    total = int(np.take(BUDGETS, bought).sum())
    expect(teacher.get_by_text(f"they take {total} of {4 * EACH} answers")).to_be_visible()
    teacher.get_by_role("button", name="the harm").click()
    liar = phones[3]
    liar.get_by_label("16:", exact=True).fill("100")
    liar.get_by_role("button", name="Hand in").click()
    expect(liar.get_by_text("Handed in.")).to_be_visible()
    expect(teacher.get_by_text("Phones: 4. Hands: 1.")).to_be_visible()
    teacher.get_by_role("button", name="Settle").click()
    expect(phones[1].get_by_text("You get")).to_be_visible()
    expect(
        teacher.get_by_text("1 wrote something else than their card: it paid for 0")
    ).to_be_visible()


def test_the_teachers_page_shows_phones_the_way_until_the_first_round(address, new_page):
    teacher = new_page()
    teacher.goto(f"{address}#{KEY}")
    code = teacher.locator(".hall-code .qrline")
    expect(code).to_be_in_viewport(ratio=1)  # and whole
    drawn = segno.make(address, micro=False).svg_inline(omitsize=True)
    assert f'd="{code.get_attribute("d")}"' in drawn
    teacher.get_by_role("button", name="Call the price").click()
    expect(teacher.get_by_text("they take 0 of 0 answers")).to_be_visible()
    expect(code).to_have_count(0)


def test_a_press_that_is_lost_on_the_way_is_sent_again(address, new_page):
    phone = new_page()
    lost = []

    def lose(route):
        if '"show"' in (route.request.post_data or "") and len(lost) < 2:
            lost.append(route.abort())
        else:
            route.continue_()

    phone.route("**/*", lose)
    phone.goto(address)
    phone.locator(".market-card").wait_for()
    ask(address, key=KEY, what="price", value=5)
    phone.get_by_role("button", name="4", exact=True).click()
    expect(phone.get_by_text("You show 4.")).to_be_visible()
    assert len(lost) == 2


def test_a_class_that_comes_in_at_once_has_room():
    with server("127.0.0.1", 0, KEY) as hall:  # which is busy and accepts none
        port = hall.server_address[1]
        phones = [socket.create_connection(("127.0.0.1", port), timeout=20) for _ in range(100)]
        for phone in phones:
            phone.close()


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


@pytest.mark.parametrize("students", [5, 8, 40])
def test_one_liar_teaches_something_in_a_class_of_any_size(students):
    """Where nothing is charged a lie pays and harms; where the harm is, it does not pay."""
    hall = Hall(KEY)
    points = [hall._card(seat)["points"] for seat in range(students)]
    each = market_size(points, BUDGETS)
    free, charged = (best_lie(points, BUDGETS, rule, each) for rule in ("nothing", "the harm"))
    assert free.gain >= 5
    assert free.others < 0
    assert charged.gain < 1e-6
    # Played by hand: the liar's card is written, and the rule is asked for both plans.
    lie = [100 * (budget == free.budget) for budget in BUDGETS]
    said = [*points[: free.seat], lie, *points[free.seat + 1 :]]
    got = [outcome(cards, BUDGETS, free.seat, "nothing", each)[0] for cards in (said, points)]
    assert points[free.seat][got[0]] - points[free.seat][got[1]] == pytest.approx(free.gain)


def test_a_full_hall_is_settled_soon_enough_and_alike(address):
    """Equal cards pay alike, so a large class costs no more solutions than there are cards."""
    phones = [ask(address)["me"] for _ in range(60)]
    ask(address, key=KEY, what="write", value="the harm")
    told = ask(address, key=KEY, what="settle")["told"]
    hall = Hall(KEY)
    points = [hall._card(seat)["points"] for seat in range(len(phones))]
    for seat in (0, 7, 59):
        column, paid = outcome(points, BUDGETS, seat, "the harm")
        assert told[seat]["budget"] == BUDGETS[column]
        assert told[seat]["paid"] == pytest.approx(paid)


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
