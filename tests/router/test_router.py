"""The router: decisions that survive a file, budgets and caps that hold, faults that end in the
best vote so far."""

import inspect
import json
import shutil
import subprocess
import sys
from dataclasses import replace
from unittest.mock import Mock

import numpy as np
import pytest
from playback import Playback

from adalib import CurvePolicy, DataError, PricedStopping, Router, TextEmbedding, held_out, load
from adalib.datasets.populations import Population
from adalib.datasets.sealed import digest, seal
from adalib.llm.client import EndpointError
from adalib.llm.reply import Answer
from adalib.router import attempt, ballots, routed
from adalib.router import router as routers
from adalib.router.asking import NotShortError
from adalib.router.purse import Ledger, Prices, Purse
from adalib.router.router import recommended
from adalib.vote import judge
from adalib.vote.answers import answer_classes
from adalib.vote.formulas import work


@pytest.fixture(scope="module")
def answers():
    return load("word-fewshot").take(range(0, 372, 4))


@pytest.fixture(scope="module")
def folder(answers, tmp_path_factory):
    path = tmp_path_factory.mktemp("router")
    Router.fit(answers, budget=4).save(path)
    return path


@pytest.fixture
def router(folder):
    """Loaded anew for every test: a budget remembers."""
    return Router.load(folder)


SPLIT = ["Answer: 7", "Answer: 8", "Answer: 9", "Answer: 8", "Answer: 7"]


def test_the_vote_is_on_classes(router):
    texts = ["so it is \\boxed{1/2}", "I say\nAnswer: 0.5", "Answer: 3"]
    found = router.answer("How much?", Playback(texts), price=1e-9)
    assert found.answer == "1/2"
    assert found.text == texts[0]
    assert found.votes["1/2"] == 2 * found.votes["3"] or found.samples % 3
    assert sum(found.votes.values()) == found.samples == found.cost
    assert found.agreement == found.votes["1/2"] / found.samples
    assert 0.5 < found.confidence < 1
    assert found.tokens == 9 * found.samples
    assert found.prompt_tokens == 20 * found.samples


def test_a_question_has_its_own_price(router):
    dear, cheap = (
        router.answer("How much is it?", Playback(SPLIT), price=price) for price in (10.0, 1e-9)
    )
    assert (dear.samples, dear.rounds, dear.reason) == (1, 1, routed.WORTH)
    assert (cheap.samples, cheap.reason) == (40, routed.FULL)
    assert (
        cheap.rounds == 21
    )  # the checkpoints of the schedule: from 16 on, several answers a round
    for cap in (5, 18):  # the second in the middle of a round of four
        capped = router.answer("How much is it?", Playback(SPLIT), price=1e-9, cap=cap)
        assert (capped.samples, capped.reason) == (cap, routed.CAP)


def test_played_back_the_budget_is_held(router, answers):
    rng = np.random.default_rng(0)
    rows = dict(zip(answers.questions, answers.answers, strict=True))
    stream = [answers.questions[i] for i in rng.integers(answers.n, size=400)]
    client = played_back(answers.questions, answers.answers)
    found = router.answer_many(stream, client, concurrency=8, progress=False)
    assert client.most >= 8
    assert sum(client.asked.values()) == sum(one.samples for one in found)
    assert np.mean([one.cost for one in found]) == pytest.approx(4, rel=0.03)  # 400 questions
    assert router.controller.average == pytest.approx(
        np.mean([one.cost for one in found if one.counted])
    )
    assert all(
        set(one.votes) <= set(rows[question]) for question, one in zip(stream, found, strict=True)
    )


def decisions(router, questions):
    found = []
    for question in questions:
        for price in (0.001, 0.01, 0.05):
            plan, n = router.plan(question, price), 1
            while plan.session.add(n % 3):
                n += 1
            found.append([plan.expected, plan.session.asks, n])
    return [router.controller.price, found]


PROGRAM = f"""
import json, sys
from adalib import Router
{inspect.getsource(decisions)}
print(json.dumps(decisions(Router.load(sys.argv[1]), json.load(sys.stdin))))
"""


@pytest.mark.parametrize(
    "policy_kind",
    [{}, {"policy": "curve"}],
    ids=["priced", "curve"],
)
def test_another_process_decides_the_same(answers, tmp_path, policy_kind):
    router = Router.fit(answers, budget=3, **policy_kind)
    router.save(tmp_path)
    questions = [*load("word-fewshot").questions[1:40:4], "", "Ünïcödé 7?"]
    run = subprocess.run(
        [sys.executable, "-c", PROGRAM, str(tmp_path)],
        input=json.dumps(questions),
        capture_output=True,
        text=True,
    )
    assert run.returncode == 0, run.stderr
    assert json.loads(run.stdout) == decisions(router, questions)


def test_the_embedding_in_json_is_the_same_embedding():
    texts = ["3 red hens", "4 red hens and a half", "two trains meet"]
    embedding = TextEmbedding(4).fit(texts)
    again = TextEmbedding.from_dict(json.loads(json.dumps(embedding.to_dict())))
    for text in [*texts, "new", "", "5 red hens"]:
        assert again.embed(text) == pytest.approx(
            embedding.transform([text]).to_numpy()[0], abs=1e-12
        )
    with pytest.raises(ValueError, match="n-grams"):
        TextEmbedding.from_dict(embedding.to_dict() | {"idf": [1.0]})


def changed(**fields):
    return lambda text: json.dumps(json.loads(text) | fields) + "\n"


@pytest.mark.parametrize(
    ("part", "spoil", "message"),
    [
        ("router", changed(budget=99), "checksum"),
        ("router", changed(format="adalib router, version 3"), "version 2"),
        ("router", lambda text: "{}\n", "not what adalib saves"),
        ("router", lambda text: text[:50], "line 1"),
        ("policy", None, "no such file"),
        ("reader", lambda text: text[:1000], "checksum"),
        ("policy", lambda text: text.replace("0.", "1.", 1), "checksum"),
    ],
)
def test_a_spoiled_folder_is_refused_in_one_line(folder, tmp_path, part, spoil, message):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    file = tmp_path / f"{part}.json"
    file.write_text(spoil(file.read_text())) if spoil else file.unlink()
    with pytest.raises(DataError, match=message) as error:
        Router.load(tmp_path)
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("part", "fields", "message"),
    [
        ("router", {"budgets": [1, 10**9]}, "a budget is 1000000000"),
        ("router", {"kind": "magic"}, "kind of answers"),
        ("policy", {"schedule": [*range(1, 25), 10**8]}, "damaged|sound|times"),
        ("reader", {"ngrams": [1, 1000]}, "ngrams"),
    ],
)
def test_a_tampered_folder_is_refused(folder, tmp_path, part, fields, message):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    tamper(tmp_path, part, fields)
    with pytest.raises(DataError, match=message):
        Router.load(tmp_path)


def tamper(tmp_path, part, fields):
    kept = json.loads((tmp_path / f"{part}.json").read_text())
    (kept["embedding"] if part == "reader" else kept).update(fields)
    (tmp_path / f"{part}.json").write_text(
        json.dumps(seal([kept])[0] if part != "reader" else kept) + "\n"
    )
    about = json.loads((tmp_path / "router.json").read_text())
    about["files"] = {name: digest(tmp_path / name) for name in about["files"]}
    (tmp_path / "router.json").write_text(json.dumps(seal([about])[0]) + "\n")


def played_back(questions, answers):
    """A client that gives each question's answers in their order."""
    rows = zip(questions, answers, strict=True)
    return Playback(
        {question: [f"Answer: {a}" if a != "" else "I" for a in row] for question, row in rows}
    )


def test_a_budget_is_what_is_spent_at_most():
    """Half is settled after three answers and half is a coin's toss: long votes bring less than
    they must."""
    easy = Population(
        np.repeat([[0.95, 0.05], [0.512, 0.488]], 100, axis=0), np.zeros(200, dtype=int)
    ).sample(64)
    router, costs = Router.fit(easy, budget=10, signals=("votes",)), []
    for low in (router.least, 0.0):
        router.controller = router.at_budget(10).controller
        assert router.controller.low == router.least > 0
        router.controller.low = low
        client = played_back(easy.questions, easy.answers)
        router.answer_many(easy.questions, client, concurrency=1, progress=False)
        costs.append(router.controller.average)
    assert costs[0] < 1.05 * router.policy.spends(10) < 0.8 * costs[1]


def test_a_folder_that_is_nested_too_deep_is_one_line(folder, tmp_path):
    shutil.copytree(folder, tmp_path, dirs_exist_ok=True)
    for depth in (500, 900, 985, 995):
        about = (
            (tmp_path / "router.json").read_text().rstrip()[:-1]
            + ', "x": '
            + "[" * depth
            + "]" * depth
            + "}\n"
        )
        (tmp_path / "router.json").write_text(about)
        with pytest.raises(DataError) as error:
            Router.load(tmp_path)
        assert "\n" not in str(error.value)


def test_the_total_in_money_is_never_passed(router):
    router.purse = Purse(0.1)
    client, rich = Playback([*SPLIT, "cut"]), {"prices": Prices(10.0, 40.0)}
    many = ["How much is it?"] * 400
    with pytest.raises(EndpointError, match="total in money"):
        router.answer_many(many, client, concurrency=4, price=1e-9, progress=False, **rich)
    assert 0.05 < router.purse.spent <= 0.1
    assert router.purse.reserved == pytest.approx(0, abs=1e-12)
    router.purse = Purse(
        1.0
    )  # what an endpoint wrote beyond its limit is on the bill, and not in the average
    found = router.answer(
        "How much?",
        Playback(["Answer: 7"], tokens=70),
        max_tokens=50,
        price=10.0,
        prices=Prices(written=1.0),
    )
    assert (found.tokens, found.samples, found.cost) == (70, 1, 1)
    assert found.money == found.bill[0] == router.purse.spent == pytest.approx(70e-6)


def test_faults_end_in_the_best_vote_so_far(router):
    found = router.answer(
        "How much is it?", Playback(["Answer: 7", "Answer: 8", "Answer: 7", "!"]), price=1e-9
    )
    assert (found.answer, found.samples) == ("7", 3)
    assert found.reason.startswith("the endpoint failed")
    with pytest.raises(EndpointError, match="in a row"):
        router.answer("How much is it?", Playback(["!"]), price=1e-9)
    late = router.answer(
        "How much is it?", Playback(["Answer: 7", "Answer: 8", "hang"]), price=1e-9, deadline=2
    )
    assert (late.samples, late.reason, late.cost) == (
        2,
        routed.LATE,
        3,
    )  # what hangs is on the bill
    before, price = router.controller.apart_spent, router.controller.price
    with pytest.raises(EndpointError, match="time for a question"):
        router.answer("How much is it?", Playback(["hang"]), deadline=0.1)
    assert router.controller.apart_spent == before + 1  # nobody was asked less for it
    assert router.controller.price == price


def test_what_was_spent_outlives_the_server(tmp_path):
    """Kept over a restart, with what was put aside, and by one server at a time."""
    path = tmp_path / "purse.json"
    ledger = Ledger(path)
    first = Purse(1.0, ledger)
    assert first.reserve(0.4)
    first.settle(0.4, 0.25)
    assert first.reserve(0.5)  # and then it is killed
    with pytest.raises(ValueError, match="another server writes here"):
        Ledger(path)
    ledger.close()
    ledger = Ledger(path)
    again = Purse(1.0, ledger)
    assert again.spent == 0.75
    assert not again.reserve(0.26)
    assert again.reserve(0.25)
    ledger.close()
    for text in ("x", '{"spent": -1}', '{"spent": NaN}', "[]"):
        path.write_text(text)
        with pytest.raises(ValueError, match="is not what adalib writes"):
            Ledger(path)


@pytest.mark.parametrize("price", [-1.0, float("nan"), float("inf")])
def test_a_price_is_dollars(price):
    for name in ("read", "written", "cached"):
        with pytest.raises(ValueError, match="give dollars"):
            Prices(**{name: price})
    with pytest.raises(ValueError, match="total"):
        Purse(-1.0)


def test_what_an_answer_costs():
    """As reported; else by its tokens, those of the cache at their price; else the most."""
    prices = Prices(read=2.0, written=10.0, cached=0.5)
    cached = {"prompt_tokens_details": {"cached_tokens": 60}}
    assert prices.of(Answer("", "stop", 10, 100, details=cached), 0, 0) == pytest.approx(210e-6)
    assert prices.of(Answer("", "stop", 10, 100, details=cached, cost=0.5), 0, 0) == 0.5
    assert prices.of(Answer("", "stop"), 1000, 50) == prices.most(1000, 50) == 2500e-6


def test_what_is_under_way_at_the_deadline_costs_the_most(router):
    rich = {"prices": Prices(written=1e6), "max_tokens": 2, "deadline": 0.2}
    with pytest.raises(EndpointError, match="time for a question"):
        router.answer("How much?", Playback(["hang"]), price=10.0, **rich)
    assert router.purse.spent == router.tally.money == 2.0
    assert router.purse.reserved == 0


def test_each_try_that_may_be_billed_is_booked(router, monkeypatch):
    monkeypatch.setattr(attempt, "FIRST_WAIT", 0.001)
    client = Playback(["cut", "cut", "Answer: 7"])
    rich = {"prices": Prices(written=1e6), "max_tokens": 2}
    found = router.answer("How much?", client, price=10.0, **rich)
    assert found.money == router.purse.spent == 2 + 2 + 9  # the third wrote nine tokens
    assert router.purse.reserved == 0


def test_other_questions_get_one_answer_or_none(router):
    essay = Playback(["In 1984 we read.\nThen we slept."])
    found = router.answer("Tell me a story", essay, price=1e-9)
    assert (found.samples, found.reason, found.answer) == (
        2,
        routed.OTHER,
        "",
    )  # one may be a slip, two are none
    long = router.answer("Tell me a story", Playback(["So it came, and went. " * 20]), price=1e-9)
    assert (long.samples, long.reason) == (1, routed.OTHER)
    slip = router.answer(
        "How much?", Playback(["I do not know", "Answer: 7", "Answer: 7"]), price=1e-9, cap=3
    )
    assert (slip.answer, slip.votes) == ("7", {"7": 2})
    assert found.text.startswith("In 1984")
    with pytest.raises(NotShortError):
        router.answer("Tell me a story", essay, price=1e-9, other="refuse")


def test_all_formulas_of_a_question_share_one_count_of_work(router, monkeypatch):
    """Past it they are told apart by their letters, as one by one as all at once; at the deadline
    they have no vote."""
    texts = [text for k in range(20) for text in (f"x+{k}y", f"{k}y+x")]
    monkeypatch.setattr(judge, "WORK", 10 * work("x+2y"))
    client = Playback([rf"It is \boxed{{{text}}}" for text in texts])
    found = router.answer("How much?", client, price=1e-9)
    assert (
        list(found.votes.values())
        == np.bincount(answer_classes(texts)).tolist()
        == [2] * 5 + [1] * 30
    )
    monkeypatch.setattr(ballots, "answer_classes", Mock(side_effect=TimeoutError))
    late = router.answer("How much?", client, price=1e-9)
    assert (late.samples, late.votes, late.reason) == (1, {}, routed.LATE)


def test_what_cannot_be_asked_or_fitted(router, answers):
    for name, value in {"cap": 0, "price": -1, "other": "x", "max_tokens": 0}.items():
        with pytest.raises(ValueError, match=name):
            router.answer("How much?", Playback(SPLIT), **{name: value})
    with pytest.raises(ValueError, match="cheapest"):
        Router.fit(answers, budget=0.5, signals=("votes",))
    with pytest.raises(ValueError, match="policy"):
        Router.fit(answers, budget=2, policy="magic")


def test_the_verdict_names_the_policy(monkeypatch):
    answers, rows = load("word-fewshot").take(range(0, 372, 12)), []

    def spy(responses, targets, budgets, **options):
        assert (responses, targets, budgets) == (answers, [3.0], [1, 2, 4, 8, 16])
        assert {name: type(one) for name, one in options["learners"].items()} == policies
        assert options["learners"]["priced"].signals == ("votes",)
        rows.extend(held_out(responses, targets, budgets, **options))
        return rows

    policies = {"curve": CurvePolicy, "priced": PricedStopping}
    monkeypatch.setattr("adalib.evaluate.heldout.held_out", spy)
    name = recommended(answers, 3.0, ("votes",), "samples", None, 0)
    gains = {row.policy: row.gain for row in rows if row.policy in policies}
    assert name == max(policies, key=gains.get)
    monkeypatch.setattr(routers, "recommended", lambda *_: "curve")
    assert isinstance(Router.fit(answers, budget=3, policy="verdict").policy, CurvePolicy)


class Sure(Playback):
    """The same, with what a model says of itself: of the answer 8 it is sure."""

    async def sample(self, messages, **options):
        answer = await super().sample(messages, **options)
        doubt = 0.01 if "8" in answer.text else 3.0
        return replace(answer, logprob=-doubt, entropy=doubt)


def test_what_a_reply_says_of_itself_reaches_the_vote(answers, tmp_path):
    Router.fit(answers, budget=4, signals=("votes", "certainty", "entropy")).save(tmp_path)
    router, client = Router.load(tmp_path), Sure(["Answer: 7", "Answer: 7", "Answer: 8"])
    routed = router.answer("How much?", client, price=1e-9)
    assert routed.answer == "8"  # a third of the votes, and nearly all of their weight
    assert routed.votes["7"] > routed.votes["8"]
    assert all(options["logprobs"] for options in client.options)
    plain = router.answer("How much?", Playback(SPLIT))
    assert router.votes_alone  # as many answers as the budget pays for, weighed alike
    assert (plain.samples, plain.answer) == (4, "8")
    assert router.answer("How much?", Playback(SPLIT)).samples == 4
