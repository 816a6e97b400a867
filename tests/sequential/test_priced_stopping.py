"""Priced stopping on populations whose truth is known, and on real answers; every control."""

import json
from dataclasses import replace
from functools import cache, partial
from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.model_selection import PredefinedSplit, cross_val_predict

from adalib import load, noise_features, text_features
from adalib.datasets.files import DataError
from adalib.datasets.populations import Population, beta_population
from adalib.datasets.responses import Responses
from adalib.evaluate.intervals import mean_interval
from adalib.sequential.checked import CheckedStopping
from adalib.sequential.induction import backward_induction, cross_fitted
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.published_rules import PEERS, TunedRules
from adalib.sequential.race import PricedRace
from adalib.sequential.signals import SIGNALS
from adalib.sequential.signals.base import Lesson
from adalib.sequential.signals.text import Text
from adalib.sequential.signals.votes import VoteCount
from adalib.sequential.signals.weighted import WeightedCount
from adalib.sequential.votes import count_votes, vote_weight
from adalib.vote.answers import answer_classes

EVERY = tuple(SIGNALS)


class Brevity(WeightedCount):
    """A signal that the package does not have: short answers weigh more."""

    name = "brevity"
    reads = "tokens"
    sign = -1
    field_in_words = "length"


class Streak(VoteCount):
    """The example of CONTRIBUTING.md: how many answers at the end agree."""

    name = "streak"

    def features(self, state, lead):
        return [state.run / state.n, state.run >= 3]


class Hindsight(VoteCount):
    """A signal that looks at what only a replay knows: whether the vote is right."""

    name = "hindsight"

    def features(self, state, lead):
        return [state.value]


class Chance(VoteCount):
    """Sixty numbers that say nothing, by which a fit may know its training streams again."""

    name = "chance"

    def features(self, state, lead):
        return list(np.random.default_rng(0).standard_normal((60, *np.shape(state.n))))


class Faulty(VoteCount):
    """A signal that is sound in a replay and not a number live."""

    name = "faulty"

    def features(self, state, lead):
        return [0.0 * state.n if np.ndim(state.n) else np.nan]


@pytest.fixture(scope="module")
def real():
    """Half of the answers to some questions to learn from, the other half of others to play, and
    their features."""
    answers = load("word-hot").take(range(0, 372, 2))
    answers = replace(answers, tokens=answers.tokens / 100)
    teach, score = answers.split_samples(0)
    train, test = np.split(np.random.default_rng(0).permutation(answers.n), [130])
    features = text_features(answers.questions).to_numpy(dtype=float)
    return teach.take(train), score.take(test), features[train], features[test]


THREE = ("votes", "text", "certainty")
MADE_HERE = (Brevity, Streak, Hindsight, Faulty)


@pytest.fixture(
    scope="module",
    params=[THREE, EVERY, ("votes", "brevity"), ("votes", "streak")],
    ids=["usual", "all", "new", "streak"],
)
def fitted(real, request):
    """The usual policy, one with every signal, and one with a signal that is one object made
    here."""
    with pytest.MonkeyPatch.context() as patch:
        for signal in MADE_HERE:
            patch.setitem(SIGNALS, signal.name, signal)
        policy = PricedStopping(request.param, exact=True).fit(real[0], real[2])
        assert set(policy.signals_in_use) == set(request.param)
        yield policy


@pytest.fixture(scope="module")
def votes(real):
    return PricedStopping(("votes",), exact=True).fit(real[0])


def spends(policy, budget):
    """What the mix for a budget costs in training."""
    low, high, share = policy.mix(budget)
    return (1 - share) * policy.costs[low] + share * policy.costs[high]


def test_a_saved_policy_meets_the_same_budgets(real, fitted):
    for budget in (1.0, 1.5, 2.0, 5.0):
        assert spends(fitted, budget) == pytest.approx(budget)
    played = fitted.replay(real[1], [1.5, 3.0], real[3])
    assert played.cost.mean(axis=0) == pytest.approx([1.5, 3.0], rel=0.15)  # 56 questions
    assert played.accuracy.shape == (56, 2)
    again = PricedStopping.from_dict(json.loads(json.dumps(fitted.to_dict())))
    assert all(map(np.array_equal, played, again.replay(real[1], [1.5, 3.0], real[3])))


@pytest.mark.parametrize(
    ("signal", "least"), [("text", 0.01), ("certainty", 0.05), ("entropy", 0.03), ("length", 0.01)]
)
def test_each_signal_adds_to_the_votes(real, votes, signal, least):
    teach, score, features, unknown = real
    more = (
        PricedStopping(("votes", signal), exact=True)
        .fit(teach, features)
        .replay(score, [3.0], unknown)
    )
    assert more.accuracy.mean() > votes.replay(score, [3.0]).accuracy.mean() + least


def test_a_budget_is_spent_where_it_is_worth_it():
    # Two answers, 0.95 and 0.05: a lead of two is right with 0.997, and more brings next to
    # nothing.
    easy = Population(np.tile([0.95, 0.05], (200, 1)), np.zeros(200, dtype=int)).sample(64)
    cap, exact = (
        PricedStopping(("votes",), exact=exact_spending).fit(easy)
        for exact_spending in (False, True)
    )
    assert spends(exact, 8.0) == pytest.approx(8)
    assert spends(cap, 1.5) == pytest.approx(1.5)
    assert spends(cap, 8.0) == spends(cap, 40.0) < 4
    here, there = (policy.replay(easy, [8.0]).accuracy.mean() for policy in (cap, exact))
    assert there - here < 1e-3 * (spends(exact, 8.0) - spends(cap, 8.0)) + 1e-9


@pytest.mark.parametrize(("field", "sign"), [("logprob", -1), ("tokens", 1), ("tokens", -1)])
def test_a_signal_that_misleads_is_noticed(field, sign):
    """Wrong answers are the surer or the shorter ones (or the other way round): never worse than
    votes alone."""
    answers = beta_population(300, 2, 1, seed=5).sample(64)
    noise = np.random.default_rng(0).normal(size=answers.values.shape)
    # Larger where wrong, with the sign.
    lengths = np.exp(1 + 0.5 * (sign * (1 - 2 * answers.values) + noise))
    answers = replace(answers, **{field: lengths if field == "tokens" else -lengths})
    teach, score = answers.split_samples(0)
    train, test = np.arange(200), np.arange(200, 300)
    every, plain = (
        PricedStopping(signals, repeats=8).fit(teach.take(train)) for signals in (None, ("votes",))
    )
    budgets = [1.5, 3.0, 6.0]
    ours, bare = (policy.replay(score.take(test), budgets) for policy in (every, plain))
    # What an answer may bring at most, on average: so much may a difference in cost excuse
    rate = 0.02
    lead = ours.accuracy - bare.accuracy - rate * np.minimum(ours.cost - bare.cost, 0)
    assert (mean_interval(lead).high >= 0).all()
    if sign > 0 and field == "tokens":  # long and wrong: it helps
        assert lead[:, 0].mean() > 0.02


def test_stops_at_a_price_are_those_of_the_nearest_on_the_envelope(real, votes):
    lowest, highest = votes.prices.min(), votes.prices.max()
    answers = []
    for price, near in [(0, lowest), (0.9 * lowest + 0.1 * highest, None), (9, highest)]:
        stops, found = votes.stops_at(real[1], None, price, repeats=2)
        assert found == near or abs(votes.prices - price).min() == abs(found - price)
        answers.append(votes.schedule[stops].mean())
    assert answers[0] > answers[1] > answers[2] == 1


def test_length_is_heard_where_certainty_is_not(real):
    teach = real[0]
    assert set(PricedStopping(repeats=4).fit(teach).signals_in_use) == {"votes", "certainty"}
    policy = PricedStopping(repeats=4).fit(replace(teach, logprob=None))
    assert set(policy.signals_in_use) == {"votes", "length"}
    assert policy.reads == {"tokens": "length"}
    alike = PricedStopping(repeats=4).fit(
        replace(teach, logprob=None, tokens=np.full_like(teach.tokens, 7))
    )
    assert set(alike.signals_in_use) == {"votes"}


def test_the_count_that_votes_best_decides(real):
    policy = PricedStopping(("votes", "certainty", "entropy")).fit(real[0])
    assert (
        policy.signals_in_use["certainty"].gain
        > policy.signals_in_use["entropy"].gain
        > policy.signals_in_use["votes"].gain
        == 0
    )
    assert policy.deciding_count is policy.signals_in_use["certainty"]
    assert policy.reads == {"logprob": "certainty", "entropy": "entropy"}


def test_a_session_decides_as_the_replay(real, fitted):
    _, score, _, unknown = real
    streams = fitted.streams(score, 1, 2)
    fields = {field: streams.read(field) for field in fitted.reads}
    stops, _ = fitted.play(fitted.members, streams, unknown)
    rng = np.random.default_rng(0)
    for row in rng.choice(len(streams.question), 25, replace=False):
        for number in rng.choice(len(fitted.members), 3, replace=False):
            session = fitted.start(fitted.costs[number], unknown[streams.question[row]])
            for step, answer in enumerate(streams.classes[row].tolist()):
                reply = {field: values[row, step] for field, values in fields.items()}
                if not session.add("" if answer < 0 else answer, **reply):
                    break
            assert step + 1 == fitted.schedule[stops[row, number]]
            assert not session.goes_on
            if fitted.deciding_count.sharpness:
                assert len(session.leaders) <= 1  # weights do not tie


@pytest.mark.parametrize("policy", [PricedStopping(), PricedRace(), CheckedStopping()])
@pytest.mark.parametrize(("method", "given"), [("start", [2]), ("price", [2]), ("to_dict", [])])
def test_a_policy_that_has_not_learned_says_so(policy, method, given):
    with pytest.raises(ValueError, match="learned nothing yet"):
        getattr(policy, method)(*given)


@pytest.mark.parametrize("kind", [PricedStopping, PricedRace])
def test_a_second_fit_forgets_the_first(kind):
    """After few answers a policy fits many as a new one does."""
    many = beta_population(40, 1.5, 1.5).sample(12)
    many = replace(many, tokens=np.random.default_rng(0).exponential(100, (40, 12)))
    few, _ = many.split_samples(0)
    new = kind(("votes",), repeats=2).fit(many)
    assert kind(("votes",), repeats=2).fit(few).fit(many).to_dict() == new.to_dict()


@pytest.mark.parametrize("kind", [PricedStopping, partial(PricedRace, most=4)])
def test_accuracies_in_training_are_by_fits_that_did_not_see_the_question(kind, monkeypatch):
    """Two answers that are right in half of the cases: no rule can do better."""
    monkeypatch.setitem(SIGNALS, Chance.name, Chance)
    rng = np.random.default_rng(1)
    names = [str(number) for number in range(400)]
    given = np.array(["wrong", "right"])[(rng.random((400, 4)) < 0.5).astype(int)]
    tokens = rng.integers(50, 150, given.shape)
    answers = Responses(names, names, ["right"] * 400, given.tolist(), tokens=tokens)
    policy = kind(("votes", "chance"), repeats=1).fit(answers)
    assert policy.accuracies.max() < 0.5 + 2 * 0.5 / np.sqrt(400)


@pytest.mark.parametrize("kind", [PricedStopping, partial(PricedRace, most=6, repeats=3)])
def test_at_its_first_price_a_budget_is_spent(kind):
    """A little above that price the policy spends less than the budget, a little below it more."""
    answers = beta_population(150, 1.5, 1.2, seed=3).sample(16)
    tokens = np.random.default_rng(4).integers(50, 150, (150, 16))
    policy = kind().fit(replace(answers, tokens=tokens))
    for budget in np.linspace(1.3, 2.5, 7) * policy.unit:
        price = policy.price(budget)
        spent = [policy.costs[policy.at_price(price * times)] for times in (1.001, 0.999)]
        assert spent[0] <= budget <= spent[1]
        assert spent[0] < spent[1]


def test_what_a_session_needs(real, fitted):
    with pytest.raises(ValueError, match="no signal"):
        PricedStopping(("votes", "mood"))
    with pytest.raises(ValueError, match=r"certainty \(reads logprob\)"):
        PricedStopping("logprob")
    assert PricedStopping("certainty").signals == PricedStopping(("certainty",)).signals
    with pytest.raises(ValueError, match="schedule"):
        PricedStopping(schedule=[4, 2])
    if fitted.takes:
        with pytest.raises(ValueError, match="features"):
            fitted.start(2.0)
    if fitted.reads:
        with pytest.raises(ValueError, match=f"give {next(iter(fitted.reads))} with every answer"):
            fitted.start(2.0, real[3][0]).add("7")


def test_texts_vote_as_their_classes_do(real):
    """Playing texts to a session is playing the classes that `answer_classes` gives them."""
    teach = real[0]
    policy = PricedStopping(("votes",), repeats=1).fit(teach)
    halves = ["0.5", "3", "1/2", r"\frac12", "", "three", "3.0", "50%", "0.50"] * 2
    by_text, by_class = (policy.start(policy.costs[-1]) for _ in range(2))
    for text, number in zip(halves, answer_classes(halves).tolist(), strict=True):
        assert by_text.add(text) == by_class.add(None if number < 0 else number)
        leaders = [halves[answer_classes(halves).tolist().index(one)] for one in by_class.leaders]
        assert by_text.leaders == leaders
    assert by_text.leaders == ["0.5"]


def test_a_gain_that_is_not_finite_raises(real, monkeypatch):
    # NaN <= 0 is false: such a session would go on for ever.
    for signal in MADE_HERE:
        monkeypatch.setitem(SIGNALS, signal.name, signal)
    with pytest.raises(ValueError, match="'hindsight'"):
        PricedStopping(("votes", "hindsight"), repeats=2).fit(real[0])
    policy = PricedStopping(("votes", "faulty"), repeats=2).fit(real[0])
    priced = next(j for j, member in enumerate(policy.members) if member.rule is None)
    with pytest.raises(ValueError, match="'faulty'"):
        policy.begin(priced).add("7")
    sound = PricedStopping(("votes",), repeats=2).fit(real[0])
    sound.coefficients = [np.full_like(fitted, np.nan) for fitted in sound.coefficients]
    priced = next(j for j, member in enumerate(sound.members) if member.rule is None)
    with pytest.raises(ValueError, match="gain"):
        sound.begin(priced).add("7")


@pytest.mark.parametrize(
    "change",
    [
        {"kind": "race"},
        {"version": 99},
        {"signals": {"mood": {}}},
        {"signals": {"votes": {"sharpness": 1}}},
        {"deciding_count": "text"},
        {"cost": "hours"},
        {"unit": float("nan")},
        {"schedule": [2, 1]},
        {"prices": [[0.1]]},
        {"coefficients": []},
        {"members": []},
        {"members": [{"price": 99}]},
        {"members": [{"rule": "os.system", "by": "votes"}]},
        {"members": [{"rule": "Fixed", "by": "votes", "answers": 10**9}]},
        {"costs": [1.0]},
    ],
    ids=str,
)
def test_damaged_data_are_refused_in_one_sentence(votes, change):
    with pytest.raises(DataError) as caught:
        PricedStopping.from_dict(votes.to_dict() | change)
    assert "\n" not in str(caught.value)


def test_data_with_a_field_missing_or_odd_are_refused_or_decide(votes):
    """Whatever a field becomes, reading it ends in a policy that decides or in a DataError."""
    data = json.loads(json.dumps(votes.to_dict()))
    for field in data:
        for odd in (None, True, -1, 10**30, "", "nan", [], {}, [[]], [None], {"votes": None}):
            try:
                again = PricedStopping.from_dict(data | {field: odd})
            except DataError:
                continue
            assert again.begin(0).add("7") in (True, False)


def test_noise_for_a_text_is_ignored(real, votes):
    teach, score, _, _ = real
    noise = noise_features(teach.n + score.n, seed=3).to_numpy()
    blind = PricedStopping(("votes", "text")).fit(teach, noise[: teach.n])
    assert set(blind.signals_in_use) == {"votes"}
    played = blind.replay(score, [2.0, 4.0], noise[teach.n :])
    plain = PricedStopping(("votes",)).fit(teach).replay(score, [2.0, 4.0])
    assert np.array_equal(played.cost, plain.cost)
    usual = PricedStopping(repeats=4).fit(teach, real[2])  # a text is heard without being named
    assert usual.signals_in_use["text"].explained > 0.15
    lacking = PricedStopping((*THREE, "entropy", "length"))
    lacking.fit(replace(teach, logprob=None, entropy=None, tokens=None))
    assert set(lacking.signals_in_use) == {"votes"}
    assert np.array_equal(lacking.costs, votes.costs)


def test_at_least_as_good_as_thresholds():
    teach, score = beta_population(400, 1.5, 1.5, seed=1).sample(96).split_samples(0)
    budgets = [1.5, 3.0, 6.0]
    ours = PricedStopping().fit(teach).replay(score, budgets).accuracy.mean(axis=0)
    for name in ("margin", "adaptive_consistency", "esc"):
        theirs = TunedRules(PEERS[name]).fit(teach).replay(score, budgets).accuracy.mean(axis=0)
        assert (ours > theirs - 0.006).all(), name


def test_a_budget_of_tokens_is_met(real):
    teach, score, features, unknown = real
    mean = teach.tokens.mean()
    played = PricedStopping(cost="tokens").fit(teach, features).replay(score, [2 * mean], unknown)
    assert played.cost.mean() == pytest.approx(2 * mean, rel=0.2)


# How often the right one of two answers comes, in equal thirds.
PEOPLE, LAST = np.array([0.9, 0.6, 0.35]), 7


def best_rule(price):
    """The best rule's accuracy less price times cost, by dynamic programming over the counts."""

    def mass(a, b):
        """The chance of one order of these counts if the first answer is right, or the second."""
        return np.mean(PEOPLE**a * (1 - PEOPLE) ** b), np.mean(PEOPLE**b * (1 - PEOPLE) ** a)

    @cache
    def best(a, b):
        first, second = mass(a, b)
        here = 0.5 if a == b else max((a > b) * first, (a < b) * second) / (first + second)
        if a + b == LAST:
            return here
        up = sum(mass(a + 1, b)) / (first + second)
        return max(here, up * best(a + 1, b) + (1 - up) * best(a, b + 1) - price)

    return best(1, 0) - price


@pytest.mark.parametrize("price", [0.0, 0.002, 0.01, 0.03, 1.0])
def test_induction_against_dynamic_programming(price):
    rng, m = np.random.default_rng(0), 60_000
    right = rng.random((m, LAST)) < PEOPLE[rng.integers(0, 3, m)][:, None]
    votes = count_votes(np.where(right, 0, 1), right.astype(float))
    # One indicator a state: then the regression is a table.
    features = [
        np.array([votes.leader[:, n] == k for k in range(1, LAST)], dtype=float)
        for n in range(LAST - 1)
    ]
    fold = rng.integers(0, 5, m)
    _, stop = backward_induction(
        features, votes.value, votes.n, np.array([price]), fold, ridge=1e-9
    )
    accuracy = np.take_along_axis(votes.value, stop, axis=1).mean()
    assert accuracy - price * (stop.mean() + 1) == pytest.approx(best_rule(price), abs=0.004)


def test_induction_is_the_recursion_of_the_chapter_on_stopping():
    """Least squares at every step back, written out; all streams are in one fold."""
    rng = np.random.default_rng(1)
    right = rng.random((400, 6)) < PEOPLE[rng.integers(0, 3, 400)][:, None]
    classes = np.where(right, 0, rng.integers(1, 4, right.shape))
    votes = count_votes(classes, right.astype(float))
    features = [np.array([votes.leader[:, n], votes.distinct[:, n]]) for n in range(5)]
    features = [np.vstack([one, rng.normal(size=400)]) for one in features]
    reward, stops = votes.value[:, -1].copy(), np.full(400, 5)
    for n in reversed(range(5)):
        reward -= 0.01
        state = np.column_stack([np.ones(400), features[n].T])
        gain = state @ np.linalg.lstsq(state, reward - votes.value[:, n], rcond=None)[0]
        stops[gain <= 0] = n
        reward[gain <= 0] = votes.value[gain <= 0, n]
    one_fold = np.zeros(400, dtype=int)
    _, found = backward_induction(
        features, votes.value, votes.n, np.array([0.01]), one_fold, ridge=1e-12
    )
    assert len(set(stops)) >= 3  # early and late
    assert np.array_equal(found[:, 0], stops)


@pytest.mark.parametrize(("x", "y"), [(np.nan, 1.0), (1.0, np.nan)])
def test_a_number_that_is_not_finite_is_not_learned_from(x, y):
    features, gains = np.ones((1, 6)), np.ones((6, 1))
    features[0, 3], gains[3, 0] = x, y
    with pytest.raises(ValueError, match="not finite"):
        cross_fitted(features, gains, np.arange(6) % 2, 1e-3)


def test_a_menu_of_two_is_enough_to_stop_early():
    """After three of nine answers, some questions are decided and others are not."""
    sampled = beta_population(200, 1.5, 1.5).sample(32)
    policy = PricedStopping(("votes",), schedule=(3, 9)).fit(sampled)
    priced = [member for member in policy.members if member.rule is None]
    stops, _ = policy.play(priced, policy.streams(sampled, 1, 2))
    assert any(set(column) == {0, 1} for column in stops.T)


def test_counts_describe_a_vote_by_its_two_leaders():
    """Two and a half against a half, of four answers: what a regression sees, by hand."""
    state = SimpleNamespace(n=4.0, leader=2.5, runner=0.5, distinct=2, empty=1)
    plain = SIGNALS["votes"]().features(state, [])
    shares, steps = [0.625, 0.125, 0.5, 0.25], [1, 1, 0, 0, 0, 1, 0]
    assert plain == pytest.approx([*shares, np.exp(-1), *steps])
    weighted = SIGNALS["certainty"]()
    seen = [2.5, 0.5, 2, 5 / 6, np.exp(-4), np.exp(-12), np.log(2.5), 0.625, np.exp(-5)]
    found = weighted.features(state, [])
    assert found == pytest.approx([*seen, 6.25, 1.25, 0.25], abs=1e-3)
    assert weighted.lead(state) == pytest.approx([np.exp(-4), 2.5, 0.5])
    assert vote_weight(6.0, -1000.0) > 0  # however unsure, it counts
    for n, leader, runner, steps in (
        (5.0, 4.5, 0.5, [1, 1, 1, 1, 0, 1, 0]),
        (2.0, 1.0, 1.0, [0, 0, 0, 0, 0, 0, 1]),
    ):
        state = SimpleNamespace(n=n, leader=leader, runner=runner, distinct=2, empty=0)
        assert SIGNALS["votes"]().features(state, [])[5:] == steps


def test_the_text_left_out_is_a_fit_without():
    x = np.random.default_rng(0).normal(size=(40, 3))
    y = np.array(x[:, :2] > 0, dtype=float)
    fold = np.arange(40) % 4
    text = Text()
    answers = SimpleNamespace(samples=16, table=lambda budgets: SimpleNamespace(acc=y))
    assert text.fit(Lesson(answers, None, None, fold, x))
    z = (x - x.mean(axis=0)) / x.std(axis=0)
    errors = []
    for ridge in (0.1, 0.3, 1.0, 3.0, 10.0, 30.0):
        model = KernelRidge(alpha=ridge, kernel="rbf", gamma=1 / (2 * text.width**2 * 3))
        residual = cross_val_predict(model, z, y - y.mean(axis=0), cv=PredefinedSplit(fold))
        errors.append(np.abs((y.mean(axis=0) + residual).clip(0, 1) - text.left_out).max())
    assert min(errors) < 1e-9
    with pytest.raises(ValueError, match="finite"):
        text.fit(Lesson(answers, None, None, fold, np.full((40, 1), np.nan)))
