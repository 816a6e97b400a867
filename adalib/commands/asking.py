"""The options that `route` and `serve` share: whom they ask, with which settings, at what price."""

from __future__ import annotations

import argparse
from dataclasses import dataclass
from math import inf
from typing import TYPE_CHECKING

from adalib.commands.options import KINDS, add_shared, price

if TYPE_CHECKING:
    from adalib.llm.client import Client
    from adalib.router.asking import Asking
    from adalib.vote.meaning import Meaning

_SAME_KEY = "ADALIB_SAME_KEY"  # the variable with the key of the embeddings endpoint


def add_asking(parser: argparse.ArgumentParser, *, tries: int, deadline: float) -> None:
    """Declare the shared options; commands differ in how long and how often they try."""
    _add_endpoint(parser)
    _add_limits(parser, tries, deadline)
    _add_prices(parser)
    _add_answers(parser)


def _add_endpoint(parser: argparse.ArgumentParser) -> None:
    """Declare who is asked."""
    add = parser.add_argument
    add("--model", metavar="M", help="the model's name at that endpoint")
    add(
        "--prompt",
        metavar="FILE",
        help="prompt file or name of a bundled prompt, as the answers were collected with",
    )
    add_shared(parser, "--key-env")


def _add_limits(parser: argparse.ArgumentParser, tries: int, deadline: float) -> None:
    """Declare how much, how long and how often."""
    add = parser.add_argument
    add(
        "--cap",
        type=float,
        default=inf,
        help="most that one question may cost, in the router's unit",
    )
    add(
        "--deadline",
        type=float,
        default=deadline,
        metavar="S",
        help=f"seconds per question (default {deadline:g})",
    )
    add(
        "--timeout",
        type=float,
        default=60.0,
        metavar="S",
        help="seconds for one request (default 60)",
    )
    add(
        "--tries",
        type=int,
        default=tries,
        help=f"requests for one answer before giving up (default {tries})",
    )


def _add_prices(parser: argparse.ArgumentParser) -> None:
    """Declare what tokens cost, and the total."""
    add = parser.add_argument
    add(
        "--total",
        type=float,
        default=inf,
        metavar="$",
        help="most dollars that all votes may cost; a hung or cut answer counts at its worst case",
    )
    add_shared(parser, "--price-in", "--price-out")
    add(
        "--price-cached",
        type=price,
        metavar="$",
        help="dollars per million tokens read from the endpoint's cache (default: --price-in)",
    )


def _add_answers(parser: argparse.ArgumentParser) -> None:
    """Declare what an answer is, and when two are the same."""
    add = parser.add_argument
    add("--kind", help=f"{KINDS} (default: as fitted)")
    add(
        "--same",
        metavar="URL",
        help=f"when words are one answer: an embeddings endpoint (its key: {_SAME_KEY}), "
        "or python:module:function",
    )
    add(
        "--same-model",
        metavar="M",
        default="text-embedding-3-small",
        help="its model (text-embedding-3-small)",
    )
    add(
        "--same-at",
        type=float,
        default=0.8,
        metavar="COS",
        help="cosine from which two are one (default 0.8)",
    )
    add(
        "--refuse",
        action="store_true",
        help="refuse questions without a short answer (default: one answer, passed on)",
    )


@dataclass(frozen=True)
class AskingOptions:
    """The shared options as plain values, named as on the command line."""

    model: str
    prompt: str | None
    key_env: str
    temperature: float | None
    max_tokens: int
    cap: float
    deadline: float
    timeout: float
    tries: int
    total: float
    price_in: float
    price_out: float
    price_cached: float | None
    kind: str | None
    same: str | None
    same_model: str
    same_at: float
    refuse: bool

    @classmethod
    def of(cls, args: argparse.Namespace) -> AskingOptions:
        """Take the shared options out of all that was given."""
        if not args.model:
            raise ValueError("name the model as the endpoint knows it: --model M")
        return cls(**{name: getattr(args, name) for name in cls.__dataclass_fields__})

    def client(self, url: str) -> Client:
        """Return the endpoint; retries are the vote's own, which puts money aside for each."""
        from adalib.llm.client import Client

        return Client(url, self.model, key_env=self.key_env, timeout=self.timeout)

    def asking(self, kind: str) -> Asking:
        """Return the settings; ``kind`` is what the router was fitted with."""
        from adalib.router.asking import Asking
        from adalib.router.purse import Prices

        prices = Prices(self.price_in, self.price_out, self.price_cached)
        if self.total != inf and not prices.any:
            need = "--price-in or --price-out, dollars per million tokens"
            raise ValueError(f"--total needs {need}: without, nothing costs")
        return Asking(
            temperature=self.temperature,
            max_tokens=self.max_tokens,
            kind=self.kind or kind,
            cap=self.cap,
            deadline=self.deadline,
            tries=self.tries,
            other="refuse" if self.refuse else "pass",
            prices=prices,
            same=self._meaning(),
        )

    def _meaning(self) -> Meaning | None:
        """Return how answers in words are compared: by an embedding, by a function, or None."""
        from adalib.llm.client import Client
        from adalib.vote.meaning import Meaning

        if not self.same:
            return None
        if self.same.startswith("python:"):
            return Meaning(self.same.removeprefix("python:"))
        endpoint = Client(self.same, self.same_model, key_env=_SAME_KEY, timeout=self.timeout)
        return Meaning(embed=endpoint.embed, cosine=self.same_at)
