"""Games that run on a page, with no kernel and no network.

A function computes all that its game needs and leaves it on the page as data;
``book/_static/NAME.js`` plays it. Make it the last expression of a cell.
"""

from adalib.teach.games.base import Game
from adalib.teach.games.classroom import market
from adalib.teach.games.holding import PriceList, bill, hold, hold_run, still_run
from adalib.teach.games.menus import Charges, menu_bill, priced_in_dollars
from adalib.teach.games.prices import feed, guess, kinds, lineup, sentence, spend, tangent, votes
from adalib.teach.games.racing import race
from adalib.teach.games.stopping import limit_prices, states, stop

__all__ = [
    "Charges",
    "Game",
    "PriceList",
    "bill",
    "feed",
    "guess",
    "hold",
    "hold_run",
    "kinds",
    "limit_prices",
    "lineup",
    "market",
    "menu_bill",
    "priced_in_dollars",
    "race",
    "sentence",
    "spend",
    "states",
    "still_run",
    "stop",
    "tangent",
    "votes",
]
