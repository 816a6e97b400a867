"""What stands behind the server: room for so many requests, and figures for whoever watches."""

from __future__ import annotations

import asyncio
from collections import Counter, deque
from typing import TYPE_CHECKING, Any

from prometheus_client import CollectorRegistry, Gauge, Histogram, generate_latest
from prometheus_client import Counter as Counted

from adalib.llm.endpoint import Endpoint, EndpointError
from adalib.llm.questions import Prompt
from adalib.router.asking import LATE, PURSE, Asking, NotShortError, Routed, ask
from adalib.router.protocol import Request, RequestError
from adalib.router.router import Router

if TYPE_CHECKING:
    from adalib.router.shared import Share

__all__ = ["Service"]

_SHOWN = 300  # questions on the live page


class Service:
    """A router in front of an endpoint, shared by all requests. Explained in chapter 11, "Deploy".

    Parameters
    ----------
    router : Router
    endpoint : Endpoint
    how : Asking
        Defaults of a request.
    prompt : Prompt, optional
        Put around a request of a single turn; others are passed on as they are.
    limit : int
        Requests at a time; further ones are told to come back.
    share : Share, optional
        Where several servers share one budget.
    """

    def __init__(
        self,
        router: Router,
        endpoint: Endpoint,
        how: Asking,
        prompt: Prompt | None = None,
        limit: int = 64,
        share: Share | None = None,
    ):
        if limit < 1:
            raise ValueError(f"the limit is {limit}; give at least 1")
        self.router, self.endpoint, self.how, self.prompt, self.limit = router, endpoint, how, prompt, limit
        self.share = share
        self.open = 0
        self.recent: deque[list[float]] = deque(maxlen=_SHOWN)
        self.samples: Counter[int] = Counter()
        self._make_metrics()

    def enter(self) -> None:
        """Take one of the places, or be told to come back."""
        if self.open >= self.limit:
            raise RequestError(429, f"{self.limit} requests are open; come back", "rate_limit_error", "server_busy")
        self.open += 1

    def leave(self) -> None:
        """Give the place back."""
        self.open -= 1

    async def answer(self, asked: Request) -> list[Routed]:
        """Answer a request, every choice of it."""
        with self.seconds.time():
            tasks = [
                asyncio.create_task(ask(self.router, self.endpoint, asked.question, asked.messages, asked.how))
                for _ in range(asked.choices)
            ]
            try:
                found = await asyncio.gather(*tasks)
            except NotShortError as error:
                raise RequestError(422, str(error), code="no_short_answer") from None
            except EndpointError as error:
                raise _told(error) from None
            finally:
                for task in tasks:
                    task.cancel()
        if self.share is not None:
            await self.share.flush()  # what a caller was told, the others know
        for one in found:
            self._note(one)
        return found

    def _note(self, one: Routed) -> None:
        self.samples[one.samples] += 1
        self.asked.inc()
        self.sampled.inc(one.samples)
        self.spent.inc(one.cost)
        self.money.inc(one.money)
        self.tokens.labels("written").inc(one.tokens)
        self.tokens.labels("read").inc(one.prompt_tokens)
        self.agreement.observe(one.agreement)
        average = self.router.controller.average or 0.0
        self.recent.append([self.router.controller.asked, one.price, average, one.samples, one.agreement])

    def live(self) -> dict[str, Any]:
        """What the live page shows."""
        controller, purse = self.router.controller, self.router.purse
        return {
            "model": self.endpoint.model,
            "budget": controller.budget,
            "unit": self.router.unit,
            "average": controller.average,
            "price": controller.price,
            "asked": controller.asked,
            "money": purse.spent,
            "total": None if purse.total == float("inf") else purse.total,
            "open": self.open,
            "limit": self.limit,
            "shared": None if self.share is None else self.share.reached,
            "samples": sorted(self.samples.items()),
            "recent": [[round(value, 6) for value in row] for row in self.recent],
        }

    def _shared(self) -> bool:
        return self.share is not None and self.share.reached

    def metrics(self) -> bytes:
        """The figures in Prometheus' text format."""
        return generate_latest(self._registry)

    def _make_metrics(self) -> None:
        self._registry = registry = CollectorRegistry()
        controller = self.router.controller
        self.replies = Counted("adalib_requests", "Replies by status", ["status"], registry=registry)
        self.asked = Counted("adalib_questions", "Questions answered", registry=registry)
        self.sampled = Counted("adalib_samples", "Answers sampled", registry=registry)
        self.spent = Counted("adalib_cost", "Cost in the router's unit", registry=registry)
        self.money = Counted("adalib_dollars", "Cost in dollars", registry=registry)
        self.tokens = Counted("adalib_tokens", "Tokens", ["kind"], registry=registry)
        shares = [k / 10 for k in range(1, 11)]
        self.agreement = Histogram("adalib_agreement", "Share of the winner", buckets=shares, registry=registry)
        self.seconds = Histogram("adalib_seconds", "Seconds a request", registry=registry)
        for name, told, value in (
            ("adalib_price", "Price of compute, in accuracy a unit of cost", lambda: controller.price),
            ("adalib_budget", "Average cost to hold", lambda: controller.budget),
            ("adalib_average_cost", "Average cost so far", lambda: controller.average or 0.0),
            ("adalib_shared", "Whether the budget is shared and the store answers", self._shared),
            ("adalib_open_requests", "Requests being answered", lambda: self.open),
        ):
            Gauge(name, told, registry=registry).set_function(value)


def _told(error: EndpointError) -> RequestError:
    """An endpoint's fault as the caller's error: no credit, too late, too many, a bad request, or a bad gateway.

    A key or an address that the endpoint refuses is ours and not the caller's: a 401 would send them to their own key.
    """
    why = str(error)
    if why.startswith(PURSE) or error.code == "insufficient_quota":
        return RequestError(429, why, "insufficient_quota", "insufficient_quota")
    if why.startswith(LATE):
        return RequestError(504, why, "timeout_error", "timeout")
    if error.status == 429:
        return RequestError(429, why, "rate_limit_error", "upstream_busy")
    if error.status in (400, 413, 415, 422):
        return RequestError(error.status, why, "invalid_request_error", "upstream_refused")
    return RequestError(502, why, "upstream_error", "upstream_error")
