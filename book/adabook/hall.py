"""The market game on a classroom's phones: ``python -m adabook.hall`` on the teacher's laptop.

A phone that opens the address gets a card. The teacher calls a price and everyone bids, or everyone
writes down a card, true or not, and a rule says what is paid. Nothing is stored: it all ends with
the command. `hall.js` is the page of the phones and of the teacher.
"""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Sequence
from contextlib import suppress
from functools import cache
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Lock
from typing import Any, NamedTuple

import numpy as np
import segno

import adalib
from adabook.games import market
from adabook.games.scripts import FRONT, joined
from adalib.solve.integer import integer_optimum

RULES = ("nothing", "one price", "the harm")  # that students pay
EACH = 3  # answers for each student, on average
_SIZES = (EACH, 4, 5, 6, 8)  # that are tried where nobody could gain by a lie
_PAYS = 5  # points that a lie should gain, to be worth a discussion
_TRIED = 12  # cards that lie in turn, one at a time
_MOST = 500  # phones

_HEAD = (
    '<!doctype html><html lang="en"><meta charset="utf-8"><title>The market game</title>'
    '<meta name="viewport" content="width=device-width"><style>:root { --oracle: #1668b0; '
    "--price: #b02a37; --mix: #777; --pst-color-primary: #1668b0; --pst-color-border: #777; "
    "--pst-color-text-base: #111 } body { font: 18px sans-serif; max-width: 38em; margin: auto; "
    "padding: 0 1em } @media (min-width: 900px) { body { font-size: 24px } } "
    "main .hall-code svg { display: block; width: 55vmin; margin: auto }"
)


def plan(points: list[list[int]], budgets: list[int], rule: str, each: int) -> np.ndarray:
    """The columns that all students get if the cards read so, for so many answers each."""
    acc, cost = np.array(points) / 100, np.array(budgets)
    if rule == "one price":
        return adalib.oracle_labels(acc, cost, _clearing(acc, cost, each))
    return integer_optimum(acc, cost, each).labels


def _clearing(acc: np.ndarray, cost: np.ndarray, each: int) -> float:
    """One price at which what is bought surely fits."""
    return adalib.frontier(acc, cost).at(each).lam + 1e-9


def payments(
    points: list[list[int]],
    budgets: list[int],
    columns: np.ndarray,
    rule: str,
    each: int,
    seats: Sequence[int],
) -> list[float]:
    """The points that students pay for a plan; equal cards pay alike, and are solved once."""
    acc, cost = np.array(points) / 100, np.array(budgets)
    if rule == "nothing":
        return [0.0] * len(seats)
    if rule == "one price":
        return (100 * _clearing(acc, cost, each) * (cost[columns[list(seats)]] - 1.0)).tolist()
    reached = acc[np.arange(len(acc)), columns]

    @cache
    def could(card: tuple[float, ...]) -> float:
        """What the others could share: all answers but one, which stays."""
        others = np.delete(acc, np.flatnonzero((acc == card).all(axis=1))[0], axis=0)
        most = (each * len(acc) - 1) / len(others)
        return integer_optimum(others, cost, most).accuracy * len(others)

    cards = acc.tolist()
    return [
        float(100 * (could(tuple(cards[seat])) - (reached.sum() - reached[seat]))) for seat in seats
    ]


def outcome(
    points: list[list[int]], budgets: list[int], who: int, rule: str, each: int = EACH
) -> tuple[int, float]:
    """The column that a student gets if the cards read so, and the points that are paid for it."""
    columns = plan(points, budgets, rule, each)
    return int(columns[who]), payments(points, budgets, columns, rule, each, [who])[0]


class Lie(NamedTuple):
    """One card that writes 100 at one budget and 0 elsewhere, while all others write the truth."""

    seat: int
    budget: int
    gain: float  # in points, for the liar
    others: float  # for all others together


def best_lie(points: list[list[int]], budgets: list[int], rule: str, each: int) -> Lie:
    """The extreme lie that gains most, among the cards that differ."""
    honest = plan(points, budgets, rule, each)
    seats = {tuple(card): seat for seat, card in reversed(list(enumerate(points)))}
    found = []
    for seat in sorted(seats.values())[:_TRIED]:
        (due,) = payments(points, budgets, honest, rule, each, [seat])
        for column in range(1, len(budgets)):
            lie = [100 * (at == column) for at in range(len(budgets))]
            said = [*points[:seat], lie, *points[seat + 1 :]]
            got = plan(said, budgets, rule, each)
            change = [
                card[new] - card[old] for card, new, old in zip(points, got, honest, strict=True)
            ]
            if change[seat] <= 0:
                continue
            paid = payments(said, budgets, got, rule, each, [seat])[0] - due
            others = float(sum(change) - change[seat])
            found.append(Lie(seat, budgets[column], change[seat] - paid, others))
    return max(found, key=lambda lie: lie.gain, default=Lie(0, budgets[-1], 0.0, 0.0))


def market_size(points: list[list[int]], budgets: list[int]) -> int:
    """So many answers each that an extreme lie pays where nothing is charged, or the usual number.

    Among five students there may be too few answers for anyone to take them from the others.
    """
    pays = (each for each in _SIZES if best_lie(points, budgets, "nothing", each).gain >= _PAYS)
    return next(pays, EACH)


class Hall:
    """The cards, the phones that hold them, the round that is played, and what they showed."""

    def __init__(self, key: str) -> None:
        game = market(adalib.load("word-fewshot")).data
        self.cards, self.budgets = game["cards"], game["budgets"]
        self.key = key  # the teacher's
        self.seats: dict[str, int] = {}
        self.bills: dict[float, int] = {}  # by the prices that were called
        self._begin("wait", None)

    def _begin(self, kind: str, value: Any) -> None:
        self.round = {"kind": kind, "value": value, "number": secrets.token_hex(4)}
        self.hands: dict[int, Any] = {}  # a budget, or a card as written
        self.told: dict[int, dict[str, float]] = {}  # what each got by the rule
        self.each = EACH
        self.lie: Lie | None = None  # what one liar would have made of it

    def answer(self, me: str, key: str, what: str, value: Any, number: str) -> dict[str, Any]:
        """Do what a phone or the teacher asks, and return what it sees; ValueError to refuse."""
        if secrets.compare_digest(key.encode(), self.key.encode()):
            return self._teacher(what, value)
        if me not in self.seats:
            if len(self.seats) == _MOST:
                raise ValueError(f"the hall is full: {_MOST} phones are in it")
            me = secrets.token_urlsafe(9)
            self.seats[me] = len(self.seats)
        seat = self.seats[me]
        if what == "show":
            is_card = isinstance(value, list) and len(value) == len(self.budgets)
            fits = is_card and all(type(v) is int and 0 <= v <= 100 for v in value)
            if number != self.round["number"] or self.told:
                raise ValueError("that round is over")
            if not (fits if self.round["kind"] == "write" else value in self.budgets):
                raise ValueError("write whole numbers from 0 to 100")
            self.hands[seat] = value
        seen = {**self.round, "me": me, "seat": seat + 1, "budgets": self.budgets}
        hand, told = self.hands.get(seat), self.told.get(seat)
        return {**seen, "card": self._card(seat), "hand": hand, "told": told}

    def _card(self, seat: int) -> dict[str, Any]:
        return self.cards[seat % len(self.cards)]  # a large class starts the pack again

    def _teacher(self, what: str, value: Any) -> dict[str, Any]:
        """Begin a round or settle it, and return all that is known."""
        cards = [self._card(seat) for seat in range(len(self.seats))]
        if what == "price":
            if type(value) not in (int, float) or not 0 <= value <= 100:
                raise ValueError("call a price from 0 to 100 points per answer")
            self._begin(what, value)
        elif what == "write" and value in RULES:
            self._begin(what, value)
            if len(cards) > 1:
                self.each = market_size([card["points"] for card in cards], self.budgets)
        elif what == "settle" and self.round["kind"] == "write" and len(cards) > 1:
            self._settle([card["points"] for card in cards])
        if self.round["kind"] == "price":
            self.bills[self.round["value"]] = sum(self.hands.values())
        rounds = [{"price": price, "bill": bill} for price, bill in self.bills.items()]
        seen = {**self.round, "cards": cards, "budgets": self.budgets, "rounds": rounds}
        known = {"hands": len(self.hands), "money": self.each * len(cards), "rules": RULES}
        if self.lie:
            known["lie"] = {**self.lie._asdict(), "seat": self.lie.seat + 1}
        return {**seen, **known, "told": list(self.told.values())}

    def _settle(self, true: list[list[int]]) -> None:
        rule = self.round["value"]
        said = [self.hands.get(seat, points) for seat, points in enumerate(true)]
        columns = plan(said, self.budgets, rule, self.each)
        due = payments(said, self.budgets, columns, rule, self.each, range(len(said)))
        for seat, points in enumerate(true):
            column, paid = int(columns[seat]), due[seat]
            left = truthful = points[column] - paid
            if lied := said[seat] != points:
                honest = [*said[:seat], points, *said[seat + 1 :]]
                at, owed = outcome(honest, self.budgets, seat, rule, self.each)
                truthful = points[at] - owed
            bought = {"budget": self.budgets[column], "points": points[column], "paid": paid}
            self.told[seat] = {**bought, "left": left, "lied": lied, "gain": left - truthful}
        self.lie = best_lie(true, self.budgets, rule, self.each)


class Desk(BaseHTTPRequestHandler):
    """Sends the page, and passes on what it asks."""

    hall: Hall
    lock = Lock()
    timeout = 10

    def do_GET(self) -> None:
        """The page; the teacher's has a key behind the #, which is not sent."""
        script = joined("parts", "market") + Path(__file__).with_name("hall.js").read_text("utf-8")
        style = (FRONT / "games.css").read_text("utf-8")
        phones = f"http://{self.headers['Host']}/"  # by which the teacher came, so phones can, too
        code = segno.make(phones, micro=False).svg_inline(omitsize=True, light="white")
        body = (
            f"{_HEAD}{style}</style><main class='adalib-market'></main>"
            f"<template>{code}</template><script>{script}</script>"
        )
        self._send(200, "text/html; charset=utf-8", body)

    def do_POST(self) -> None:
        """A question in JSON, and its answer."""
        try:
            asked = json.loads(self.rfile.read(min(abs(int(self.headers["Content-Length"])), 2000)))
            names = ("me", "key", "what", "number")
            me, key, what, number = (str(asked.get(name) or "") for name in names)
            with self.lock:
                said = self.hall.answer(me, key, what, asked.get("value"), number)
            self._send(200, "application/json", json.dumps(said))
        except (ValueError, TypeError, AttributeError) as error:
            self._send(400, "application/json", json.dumps({"refused": str(error)}))

    def _send(self, status: int, kind: str, text: str) -> None:
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(text.encode())))
        self.end_headers()
        self.wfile.write(text.encode())

    def log_message(self, *_: Any) -> None:
        """Nothing is stored."""


class Doors(ThreadingHTTPServer):
    """The hall's server, with room for a class that comes in at once."""

    request_queue_size = 128  # connections that wait to be accepted; five by default


def server(host: str, port: int, key: str) -> Doors:
    """The hall at an address; port 0 is any that is free."""
    return Doors((host, port), type("Desk", (Desk,), {"hall": Hall(key)}))


def main() -> None:
    """Open the hall for the network that the laptop is in."""
    host = "127.0.0.1"
    with suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect(("192.0.2.1", 9))  # sends nothing, and tells which address would
        host = probe.getsockname()[0]
    key = secrets.token_urlsafe(9)
    try:
        hall = server("", 8000, key)
    except OSError:  # another program has that port
        hall = server("", 0, key)
    address = f"http://{host}:{hall.server_address[1]}/"
    with suppress(KeyboardInterrupt), hall:
        print(f"Phones:  {address}\nYou:     {address}#{key}", flush=True)
        hall.serve_forever()


if __name__ == "__main__":
    main()
