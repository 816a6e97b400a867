"""Games that run on a page, with no kernel and no network, and in JupyterLab.

A function computes all that its game needs and leaves it there as data; ``front/NAME.js`` plays
it. Make it the last expression of a cell.
"""

from adabook.games.base import Game
from adabook.games.classroom import market
from adabook.games.holding import PriceList, bill, hold, hold_run, still_run
from adabook.games.prices import guess, kinds, lineup, sentence, spend, tangent, votes
from adabook.games.racing import race
from adabook.games.stopping import limit_prices, states, stop

__all__ = [
    "Game",
    "PriceList",
    "bill",
    "guess",
    "hold",
    "hold_run",
    "kinds",
    "limit_prices",
    "lineup",
    "market",
    "race",
    "sentence",
    "spend",
    "states",
    "still_run",
    "stop",
    "tangent",
    "votes",
]
