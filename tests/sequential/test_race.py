"""The priced race: against closed forms, simulation by hand, and live."""

import asyncio
import json
from collections import Counter
from copy import copy
from dataclasses import replace

import numpy as np
import pytest
from virtual_time import in_virtual_time

from adalib.datasets.files import DataError
from adalib.datasets.populations import beta_population
from adalib.sequential.heat import Heats, RaceOutcome, Waves
from adalib.sequential.induction import cross_fitted
from adalib.sequential.race import PricedRace
from adalib.sequential.race_rules import PlainRace, PricedMember, settle_race
from adalib.sequential.race_session import RaceSession
from adalib.sequential.streams import make_streams


def with_lengths(answers, rng, slow_if_wrong=1.5):
    """Give every answer an exponential length, longer in the mean where it is wrong."""
    mean = 100 * np.where(answers.values > 0, 1.0, slow_if_wrong)
    return replace(answers, tokens=np.ceil(rng.exponential(mean)))


@pytest.fixture(scope="module")
def halves():
    answers = beta_population(150, 1.5, 1.2, seed=3).sample(48)
    return with_lengths(answers, np.random.default_rng(0)).split_samples(0)


@pytest.fixture(scope="module")
def race(halves):
    return PricedRace(("votes",), most=8, repeats=4).fit(halves[0])


def test_a_race_fitted_by_itself_is_the_one_of_the_library(race, halves):
    """At the same prices, which count in tokens of an average answer."""
    member = next(one for one in race.members if isinstance(one, PricedMember))
    prices = member.token_price, member.waiting_price
    alone = race.fit_member(halves[0], member.start, *prices)
    assert alone.rules.keys() == member.rules.keys()
    for finish, rule in member.rules.items():
        np.testing.assert_allclose(alone.rules[finish], rule, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize(("n", "k"), [(4, 2), (8, 1), (8, 3), (8, 8)])
def test_exponential_lengths_that_say_nothing_about_being_right(n, k):
    answers = beta_population(4000, 2, 1, seed=1).sample(8)
    answers = replace(answers, tokens=np.random.default_rng(1).exponential(1.0, (4000, 8)))
    played = PlainRace(n, k).play(Heats(make_streams(answers, 8, repeats=1, cost="tokens")))
    # The k-th of n exponentials: 1/n + ... + 1/(n-k+1) of the time, and k answers' tokens.
    assert played.clock.mean() == pytest.approx(sum(1 / (n - i) for i in range(k)), rel=0.06)
    assert played.tokens.mean() == pytest.approx(k, rel=0.06)


def by_hand(lengths, classes, worth, rule):
    """Play a plain race finish by finish, and return tokens, accuracy and clock."""
    starts = [0] * rule.start
    count = 0
    while True:
        count += 1
        ends = sorted((s + n, j) for j, (s, n) in enumerate(zip(starts, lengths, strict=False)))
        clock = ends[count - 1][0]
        held = Counter(classes[j] for _, j in ends[:count] if classes[j] >= 0)
        *_, second, first = sorted([0, 0, *held.values()])
        if count == rule.last or first - second >= rule.lead:
            break
        if count == rule.look:
            starts += [clock] * rule.more
    # All that finished by now, tied ones too, have a vote.
    held = Counter(classes[j] for end, j in ends if end <= clock and classes[j] >= 0)
    right = [worth[classes.index(c)] for c in held if held[c] == max(held.values())]
    tokens = sum(min(clock - s, n) for s, n in zip(starts, lengths, strict=False))
    return tokens, np.mean(right or [0.0]), clock


def test_plain_races_by_hand():
    answers = beta_population(30, 1, 1, seed=5).sample(8)
    tokens = np.random.default_rng(5).integers(1, 40, (30, 8))
    streams = make_streams(replace(answers, tokens=tokens), 8, repeats=2, cost="tokens")
    for rule in (PlainRace(4, 2), PlainRace(5, 5, 2), PlainRace(3, 3, 2, 2, 4, 6), PlainRace(2, 1)):
        played = rule.play(Heats(streams))
        for row, lengths in enumerate(streams.read("tokens").tolist()):
            expected = by_hand(lengths, streams.classes[row].tolist(), streams.worth[row], rule)
            found = played.tokens[row], played.accuracy[row], played.clock[row]
            assert found == pytest.approx(expected)


class TestInduction:
    """One price pair against dynamic programming, in a world with two runners and two lengths."""

    PRICES = [(0.0, 0.0), (0.02, 0.0), (0.0, 0.05), (0.05, 0.02), (0.3, 0.1)]

    @pytest.mark.parametrize(("token", "waiting"), PRICES)
    def test_two_runners(self, token, waiting):
        # An answer takes 1 or 3 ticks with equal chance; it is right with 0.8 if short, else 0.4.
        # Wrong answers are all the same one. Start two, close at the first finish or the second.
        rng = np.random.default_rng(0)
        m = 40_000
        lengths = rng.choice([1.0, 3.0], (m, 2))
        right = rng.random((m, 2)) < np.where(lengths == 1, 0.8, 0.4)
        heat = TwoRunners(lengths, right)
        fold = rng.integers(0, 5, m)

        def learn(finish, x, gains):
            return cross_fitted(x, gains, fold, 1e-9)[1].__getitem__

        prices = np.array([[token], [waiting]])
        played = settle_race(heat, Waves(2), 2, prices, learn)
        net = (played.accuracy - token * played.tokens - waiting * played.clock).mean()
        assert net == pytest.approx(self.best(token, waiting), abs=0.006)

    @staticmethod
    def best(token, waiting):
        """The value by enumeration: both short, both long, or one of each.

        After a short one with a long one still running, one closes, or goes on to share the vote.
        """
        short = 0.8 - 2 * token - waiting
        long = 0.4 - 6 * token - 3 * waiting
        shared = 0.6 - 4 * token - 3 * waiting
        return short / 4 + long / 4 + max(short, shared) / 2


class TwoRunners:
    """Heats of two runners for the induction, with the first length as the only feature."""

    def __init__(self, lengths, right):
        order = np.argsort(lengths, axis=1, kind="stable")
        self.clock = np.take_along_axis(lengths, order, axis=1)
        came = np.take_along_axis(right, order, axis=1).astype(float)
        tied = self.clock[:, 0] == self.clock[:, 1]
        both = came.mean(axis=1)
        self.value = np.column_stack([np.where(tied, both, came[:, 0]), both])
        self.tokens = np.column_stack([2 * self.clock[:, 0], self.clock.sum(axis=1)])

    def closed(self, waves, finished):
        figures = [one[:, finished - 1] for one in (self.tokens, self.value, self.clock)]
        count = np.full_like(figures[0], finished)
        return RaceOutcome(*figures, count, np.full_like(count, 2))

    def features(self, waves, finished):
        return np.array([self.clock[:, 0] == 3.0], dtype=float)

    def pieces(self, levels):
        return [slice(0, len(self.clock))]


class TestPolicy:
    def test_budgets_are_met(self, race, halves):
        budgets = [race.unit * b for b in (1.2, 2, 3)]
        assert race.replay(halves[0], budgets).cost.mean(axis=0) == pytest.approx(budgets, rel=0.07)
        played = race.replay(halves[1], budgets)
        assert played.cost.mean(axis=0) == pytest.approx(budgets, rel=0.15)
        accuracy = played.accuracy.mean(axis=0)
        assert accuracy[0] < accuracy[1] < accuracy[2]
        assert (played.finished <= played.started).all()

    def test_waiting_has_its_price(self):
        # All answers take nearly as long: few at once and then more is cheap in tokens, but slow.
        answers = beta_population(150, 1.5, 1.2, seed=6).sample(16)
        tokens = 100 + np.random.default_rng(6).random((150, 16))
        teach, score = replace(answers, tokens=tokens).split_samples(0)
        race = PricedRace(("votes",), most=6, repeats=3).fit(teach)
        budget = 3 * race.unit
        waits = [race.replay(score, [budget], waiting_price=p).waiting.mean() for p in (0.0, 0.2)]
        assert waits[0] > 1.2
        assert waits[1] < 1.1
        assert race.waits(budget, 0.2) == pytest.approx(waits[1], rel=0.05)
        low, high, share = race.mix(budget)
        spent = (1 - share) * race.costs[low] + share * race.costs[high]
        assert spent <= budget * (1 + 1e-9)

    @pytest.mark.parametrize("limit", [0.0, 0.5, 0.7, 10.0])
    def test_the_lowest_price_that_meets_the_limit(self, race, limit):
        limited = copy(race)
        limited.waiting_limit = limit
        limited.waiting_price = 0.3
        for budget in (1.3 * race.unit, 2 * race.unit):
            price = limited.price_of_waiting(budget)
            tried = np.linspace(0, 0.3, 301)
            meets = [race.waits(budget, one) <= limit for one in tried]
            lowest = tried[np.argmax(meets)] if any(meets) else 0.3
            assert price == pytest.approx(lowest, abs=0.0011)
            assert limited.waits(budget) == race.waits(budget, price)

    def test_at_least_as_good_as_its_plain_members(self, race, halves):
        _, score = halves
        budget = 2 * race.unit
        ours = race.replay(score, [budget], waiting_price=0.0).accuracy.mean()
        for rule in (PlainRace(2, 2), PlainRace(4, 1), PlainRace(3, 2)):
            played = race.play([rule], race.streams(score, 1, 16))
            if played.tokens.mean() <= budget:
                assert ours > played.accuracy.mean() - 0.01, rule

    def test_a_saved_race_plays_the_same(self, race, halves):
        again = PricedRace.from_dict(json.loads(json.dumps(race.to_dict())))
        budgets = [race.unit * b for b in (1.2, 2, 3)]
        for price in (0.0, 0.1):
            played = (one.replay(halves[1], budgets, waiting_price=price) for one in (race, again))
            assert all(map(np.array_equal, *played))

    def test_damaged_data_are_refused(self, race):
        data = json.loads(json.dumps(race.to_dict()))
        for change in ({"kind": "stopping"}, {"most": 1}, {"unit": -1}, {"costs": [1.0]}):
            with pytest.raises(DataError):
                PricedRace.from_dict(data | change)
        priced = next(member for member in data["members"] if "rules" in member)
        priced["rules"][0][3][0].pop()  # a rule of another size
        with pytest.raises(DataError):
            PricedRace.from_dict(data)

    @pytest.mark.parametrize(
        ("race", "closes"),
        [
            (PlainRace(3, 1), True),
            (PlainRace(3, 3), True),
            (PlainRace(3, 0), False),
            (PlainRace(3, 4), False),
            (PlainRace(6, 6), True),
            (PlainRace(4, 4, 2.0, 1, 3, 2), False),  # seven answers, and six may start
            (PlainRace(3, 3, 2.0, 1, 3, 2), True),
            (PlainRace(3, 3, 2.0, 3, 3, 6), True),
            (PlainRace(3, 3, 2.0, 0, 3, 2), False),  # a wave that starts at no finish
            (PlainRace(3, 3, 2.0, 4, 3, 6), False),  # or at one that waits for it
            (PlainRace(3, 3, 2.0, 2, 3, 2), False),  # closed where the wave would start
            (PlainRace(2, 2, 2.0, 2, 3, 6), False),  # closed at a finish that never comes
        ],
    )
    def test_a_saved_plain_race_is_read_only_if_it_closes(self, race, closes):
        saved = json.loads(json.dumps(race.to_dict()))["plain"]
        if closes:
            assert PlainRace.from_dict(saved, 6) == race
        else:
            with pytest.raises(ValueError, match="never comes"):
                PlainRace.from_dict(saved, 6)

    def test_what_it_needs(self, halves):
        with pytest.raises(ValueError, match="no signal"):
            PricedRace(("mood",))
        for least, field in [(1, "most"), (0, "waiting_price"), (0, "waiting_limit")]:
            with pytest.raises(ValueError, match=f"{field} (is )?{least - 1}"):
                PricedRace(**{field: least - 1})
        single = PricedRace(("votes",), most=1, repeats=1, waiting_price=0, waiting_limit=0)
        single.fit(halves[0])  # alone, an answer takes as long as it costs
        assert single.waits(2 * single.unit) == pytest.approx(single.costs.max() / single.unit)
        with pytest.raises(DataError, match="tokens"):
            PricedRace(most=4).fit(replace(halves[0], tokens=None))


@pytest.fixture(scope="module")
def played(race, halves):
    streams = race.streams(halves[1], 1, 1)
    return streams, race.play(race.members, streams)


class TestSession:
    def test_live_as_replayed(self, race, played):
        streams, outcome = played
        lengths = streams.read("tokens")

        async def live(row, number):
            session = race.begin(number)

            async def ask(runner):
                await asyncio.sleep(lengths[row, runner.number])
                answer = int(streams.classes[row, runner.number])
                return None if answer < 0 else answer, {"tokens": lengths[row, runner.number]}

            await session.run(ask)
            return session

        for row in range(0, len(lengths), 11):
            for number in range(len(race.members)):
                session = in_virtual_time(live(row, number))
                assert session.tokens == pytest.approx(outcome.tokens[row, number])
                assert session.clock == outcome.clock[row, number]
                started = session.finished + session.cancelled
                assert started == outcome.started[row, number]
                assert session.finished >= outcome.finished[row, number]  # more where some tie
                worth = dict(zip(streams.classes[row], streams.worth[row], strict=True))
                value = np.mean([worth[leader] for leader in session.leaders] or [0.0])
                assert value == pytest.approx(outcome.accuracy[row, number])

    def test_an_answer_that_finishes_while_being_cancelled_votes(self, race):
        session = RaceSession(race, PlainRace(3, 1))
        cancelled = []

        async def ask(runner):
            try:
                await asyncio.sleep(1 + 9 * (runner.number > 0))
            except asyncio.CancelledError:
                cancelled.append(runner.number)
                return "late", {"tokens": 10}  # it was done before the cancellation arrived
            return "early", {"tokens": 1}

        in_virtual_time(session.run(ask))
        assert session.cancelled == 0
        assert session.finished == 3
        assert len(cancelled) == 2
        assert session.tokens == 1 + 10 + 10
        assert session.leaders == ["late"]

    def test_cancelled_answers_cost_what_they_had_generated(self, race):
        session = RaceSession(race, PlainRace(3, 1))

        async def ask(runner):
            if runner.number == 0:
                await asyncio.sleep(5)
                return "7", {"tokens": 5}
            for _ in range(100):
                await asyncio.sleep(2)
                runner.tokens = (runner.tokens or 0) + 1
            return "8", {"tokens": 100}

        assert in_virtual_time(session.run(ask)) == ["7"]
        assert session.cancelled == 2
        assert session.tokens == 5 + 2 * session.cancelled  # at time 5 each had written two

    def test_after_an_error_nothing_keeps_running(self, race):
        session = RaceSession(race, PlainRace(4, 4))
        stopped = []

        async def ask(runner):
            if runner.number == 0:
                await asyncio.sleep(2)
                raise RuntimeError("the endpoint is gone")
            if runner.number == 1:
                return "7", {"tokens": 1}
            try:
                await asyncio.sleep(100)
            finally:
                stopped.append(runner.number)

        with pytest.raises(RuntimeError, match="gone"):
            in_virtual_time(session.run(ask))
        assert session.leaders == ["7"]
        assert not session.running
        assert not session.goes_on
        assert (session.finished, session.cancelled, stopped) == (1, 3, [2, 3])

    def test_tokens_must_be_a_number(self, race):
        session = race.begin(0)
        (runner, *_) = session.begin_answers()
        with pytest.raises(ValueError, match="nan tokens"):
            session.finish(runner.number, "7", tokens=float("nan"))
        assert runner.number in session.running  # and is not lost
