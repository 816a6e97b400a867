"""What an operator sees: metrics for Prometheus, and a word when training no longer fits.

Two things are compared with training: the share of answers that cannot be read, and what questions
cost. When one leaves what training showed, the log and the page say so once, with the next command.
"""

from __future__ import annotations

import logging
from collections import Counter, deque
from collections.abc import Callable, Iterator
from functools import partial
from math import inf, sqrt
from typing import Any

import prometheus_client as prometheus
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric

from adalib.router.routed import Routed
from adalib.router.router import Router

SHOWN = 300  # questions on the live page, and compared with training
ENOUGH = 100  # answers from which a share of unreadable ones is believed
_LOG = logging.getLogger("uvicorn.error")  # the one that the operator reads
_AGAIN = "adalib collect QUESTIONS --out DIR --base-url URL --model M, then adalib fit"


class Watch:
    """Count votes and compare them with training.

    Parameters
    ----------
    router : Router
        Whose budget, purse and training figures are shown.
    open_now, bound : callable
        Votes being answered, and the most by which costs can pass their budgets.
    shared : callable
        Whether a store of several servers answers; None where there is none.
    """

    def __init__(
        self,
        router: Router,
        open_now: Callable[[], int],
        bound: Callable[[], float],
        shared: Callable[[], bool | None],
    ) -> None:
        self.router = router
        self.open_now = open_now
        self.bound = bound
        self.shared = shared
        self.recent: deque[list[float]] = deque(maxlen=SHOWN)
        self.costs: deque[tuple[float, float]] = deque(maxlen=SHOWN)  # real, and in training
        self.reads: deque[tuple[int, int]] = deque(maxlen=SHOWN)  # unreadable answers, all answers
        self.samples: Counter[int] = Counter()
        self.notes: dict[str, str] = {}  # what left training, by name
        self._make_metrics()

    def note(self, routed: Routed) -> None:
        """Count a vote that was closed."""
        self.questions.inc()
        self.agreement.observe(routed.agreement)
        self.rounds.observe(routed.rounds)
        self.waiting.observe(routed.waiting)
        self.samples[routed.samples] += 1
        self.reads.append((routed.unread, routed.samples))
        if routed.counted:
            controller = self.router.controller
            average = controller.average or 0.0
            figures = [controller.asked, routed.price, average, routed.samples, routed.agreement]
            self.recent.append([*figures, routed.rounds])
            self.costs.append((routed.cost, routed.expected))
        self._compare()

    def forget(self) -> None:
        """Begin anew, with another router."""
        self.costs.clear()
        self.reads.clear()
        self.notes.clear()

    @property
    def cost_ratio(self) -> float:
        """What the latest questions cost, as a multiple of what their rules cost in training."""
        expected = sum(expected for _, expected in self.costs)
        return sum(cost for cost, _ in self.costs) / (expected or 1.0)

    @property
    def unread_share(self) -> float:
        """The share of the latest answers that could not be read."""
        return sum(unread for unread, _ in self.reads) / max(self._answers, 1)

    @property
    def _answers(self) -> int:
        """How many of the latest answers were counted."""
        return sum(samples for _, samples in self.reads)

    def _compare(self) -> None:
        """Warn the operator if costs or unread answers differ from training."""
        drifts = len(self.costs) == SHOWN and not 2 / 3 < self.cost_ratio < 3 / 2
        cost = f"questions cost {self.cost_ratio:.2g} times what they did in training"
        self._say("drift", drifts, f"{cost}; sample and fit again: {_AGAIN}")
        trained = self.router.unread_share
        if trained is None:
            return
        # Three standard deviations of such a sample, and two points that are too few to matter.
        spread = 3 * sqrt(trained * (1 - trained) / max(self._answers, 1)) + 0.02
        unread = self._answers >= ENOUGH and self.unread_share > trained + spread
        share = f"{self.unread_share:.1%} of the answers cannot be read, {trained:.1%} in training"
        mend = "check --kind, --prompt and --max-tokens; see the texts with --keep votes.jsonl"
        self._say("unread", unread, f"{share}; {mend}")

    def _say(self, name: str, holds: bool, text: str) -> None:
        """Show a note while it holds; log it when it begins to."""
        if holds and name not in self.notes:
            _LOG.warning(text)
        if holds:
            self.notes[name] = text
        else:
            self.notes.pop(name, None)

    def live(self) -> dict[str, Any]:
        """What the live page shows of the budget."""
        controller = self.router.controller
        purse = self.router.purse
        names = ("budget", "average", "price", "low", "asked", "let_go", "apart", "apart_spent")
        return {name: getattr(controller, name) for name in names} | {
            "unit": self.router.unit,
            "bound": self.bound(),
            "money": purse.spent,
            "total": None if purse.total == inf else purse.total,
            "shared": self.shared(),
            "samples": sorted(self.samples.items()),
            "recent": [[round(value, 6) for value in row] for row in self.recent],
            "notes": list(self.notes.values()),
        }

    def metrics(self) -> bytes:
        """The figures in Prometheus' text format."""
        return prometheus.generate_latest(self._registry)

    def collect(self) -> Iterator[Metric]:
        """Export the sums that router and purse keep; Prometheus calls this."""
        tally = self.router.tally
        purse = self.router.purse
        yield CounterMetricFamily("adalib_samples", "Answers sampled", tally.samples)
        yield CounterMetricFamily("adalib_cost", "Cost in the router's unit", tally.cost)
        yield CounterMetricFamily("adalib_dollars", "Cost of votes in dollars", tally.money)
        tokens = CounterMetricFamily("adalib_tokens", "Tokens", labels=["kind"])
        tokens.add_metric(["written"], tally.tokens)
        tokens.add_metric(["read"], tally.prompt_tokens)
        tokens.add_metric(["cancelled"], tally.cancelled_tokens)  # also among those written
        yield tokens
        yield CounterMetricFamily("adalib_cancelled", "Answers cancelled", tally.cancelled)
        yield GaugeMetricFamily("adalib_purse_spent", "Dollars spent of the total", purse.spent)
        yield GaugeMetricFamily("adalib_purse_total", "Dollars that may be spent", purse.total)

    def _make_metrics(self) -> None:
        """Create the Prometheus metrics."""
        self._registry = registry = prometheus.CollectorRegistry()
        registry.register(self)
        counter = partial(prometheus.Counter, registry=registry)
        histogram = partial(prometheus.Histogram, registry=registry)
        controller = self.router.controller
        self.replies = counter("adalib_requests", "Replies by status", ["status"])
        self.questions = counter("adalib_questions", "Questions voted on")
        self.changed = counter("adalib_shadow_changed", "Votes that would have changed the reply")
        tenths = [k / 10 for k in range(1, 11)]
        self.agreement = histogram("adalib_agreement", "Share of the winner", buckets=tenths)
        self.seconds = histogram("adalib_seconds", "Seconds per vote")
        summary = partial(prometheus.Summary, registry=registry)
        self.rounds = summary("adalib_rounds", "Rounds of answers per question")
        self.waiting = summary(
            "adalib_waiting_tokens", "Tokens waited for one after the other, per question"
        )
        gauges: list[tuple[str, str, Callable[[], float]]] = [
            ("price", "Price of compute, in accuracy per unit of cost", lambda: controller.price),
            ("budget", "Average cost to hold", lambda: controller.budget),
            ("average_cost", "Average cost so far", lambda: controller.average or 0.0),
            ("bound", "Most that costs can pass their budgets by, in sum", self.bound),
            (
                "let_go",
                "Unspent budget forgotten, less debt written off",
                lambda: controller.let_go,
            ),
            ("apart_questions", "Questions outside the average", lambda: controller.apart),
            ("apart_cost", "Their cost", lambda: controller.apart_spent),
            ("shared", "Whether a store of several servers answers", lambda: bool(self.shared())),
            ("drift", "Latest costs as a multiple of those in training", lambda: self.cost_ratio),
            ("unread_share", "Latest answers that could not be read", lambda: self.unread_share),
            ("open_requests", "Votes being answered", self.open_now),
        ]
        for name, text, value in gauges:
            prometheus.Gauge(f"adalib_{name}", text, registry=registry).set_function(value)
