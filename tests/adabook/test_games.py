"""The games: their numbers are the package's, text is data, and the page computes what the package
computes."""

from __future__ import annotations

import json
import re
import sys

import numpy as np
import pytest
from bs4 import BeautifulSoup
from playwright.sync_api import expect

import adalib
from adabook import games
from adalib.sequential.priced_stopping import PricedStopping
from adalib.sequential.streams import make_streams

BUDGETS = np.array([1, 2, 4, 8, 16])
NASTY = "</script><script>alert(1)</script>"


def held(game) -> dict:
    """The data of a game, read off the page as a browser reads it."""
    (script,) = BeautifulSoup(game.html, "html.parser").find_all("script")
    return json.loads(script.string)


def test_a_game_is_a_widget_where_there_is_jupyter(monkeypatch):
    game = games.Game("guess", {"truth": [1]}, "Guess.", "It is 1.")
    view = "application/vnd.jupyter.widget-view+json"
    bundle = game._repr_mimebundle_()
    assert set(bundle) == {view, "text/html", "text/plain"}
    assert bundle["text/html"] == game.html
    monkeypatch.setitem(sys.modules, "adabook.games.widget", None)  # as in a page's own Python
    assert set(game._repr_mimebundle_()) == {"text/html", "text/plain"}


def test_every_answer_votes_as_what_it_is(word):
    row = word.ids.index("word-trees-05")
    data = held(games.votes(word, row))
    texts = {
        kind: {
            text for text, one in zip(data["answers"], data["kinds"], strict=True) if one == kind
        }
        for kind in range(4)
    }
    assert data["kinds"].count(0) == word.values[row].sum()
    assert texts[0] == {data["right"]}
    assert texts[3] == {""}
    wrong = [text for text in data["answers"] if text in texts[1] | texts[2]]
    assert texts[1] <= set(adalib.majority(wrong))


class TestHalves:
    """What is chosen on one half of the answers is scored on the other."""

    def test_a_budget_for_each_kind_adds_up(self, word):
        seen, scored = (half.table() for half in word.split_samples(0))
        data = games.kinds(word).data
        for column in range(5):
            alike = sum(kind["count"] * kind["acc"][column] for kind in data["kinds"]) / word.n
            assert alike == pytest.approx(scored.acc[:, column].mean(), abs=1e-4)
        two = data["costs"].index(2.0)
        assert data["oracle"][two] == pytest.approx(
            adalib.score_oracle(seen, scored, [2.0]).accuracy.mean(), abs=1e-4
        )
        mix = adalib.best_mix(seen.acc, seen.cost, 2.0).expected(scored.acc).mean()
        assert data["mix"][two] == pytest.approx(mix, abs=1e-4)

    def test_the_sentence_says_what_is_bought(self, word):
        seen, scored = (half.table() for half in word.split_samples(0))
        data = games.sentence(word, "ours", start=0.02).data
        for at in (0, 20, 77, 100):
            labels = adalib.oracle_labels(seen.acc, seen.cost, at / 1000)
            assert data["bought"][at] == np.bincount(labels, minlength=5).tolist()
            assert data["cost"][at] == pytest.approx(
                adalib.average_cost(seen.acc, seen.cost, at / 1000), abs=1e-4
            )
            assert data["accuracy"][at] == pytest.approx(
                scored.acc[np.arange(word.n), labels].mean(), abs=1e-4
            )


class TestSpend:
    def test_the_page_scores_as_the_package_does(self, word):
        hand = games.spend(word).data
        rows = [word.questions.index(question) for question in hand["questions"]]
        assert len(set(rows)) == 60
        seen, scored = (
            adalib.UtilityTable(half.table().acc[rows], BUDGETS) for half in word.split_samples(0)
        )
        plan = np.array(hand["oracle"])
        oracle = adalib.score_oracle(seen, scored, [2.0]).accuracy.mean()
        everyone = np.arange(60)
        assert np.mean(np.array(hand["scored"])[everyone, plan]) / 1e4 == pytest.approx(
            oracle, abs=1e-4
        )
        assert hand["oracle_accuracy"] == pytest.approx(oracle)
        assert hand["total"] == 120 >= BUDGETS[plan].sum()
        mix = adalib.best_mix(seen.acc, seen.cost, 2.0)
        assert hand["mix_accuracy"] == pytest.approx(mix.expected(scored.acc).mean())
        assert [word.levels[row] for row in rows] == sorted(word.levels[row] for row in rows)


@pytest.fixture(scope="module")
def fitted():
    answers = adalib.load("word-fewshot").take(range(0, 372, 3))
    texts = adalib.text_features(answers.questions).to_numpy(dtype=float)
    teach, score = answers.split_samples(0)
    rungs = {
        (text, sure): PricedStopping(
            ("votes", *["text"] * text, *["certainty"] * sure), repeats=8
        ).fit(teach.take(range(100)), texts[:100])
        for text in (False, True)
        for sure in (False, True)
    }
    return (
        rungs,
        make_streams(teach.take(range(100)), 40, repeats=8),
        score.take(range(100, 110)),
        texts[100:110],
    )


class TestStop:
    def test_the_game_is_the_package(self, fitted):
        rungs, _, asked, texts = fitted
        data = games.stop(rungs[True, True], asked, texts, 0.03).data
        assert len(data["questions"]) == 10
        nearest = rungs[True, True].prices[np.abs(rungs[True, True].prices - 0.03).argmin()]
        assert data["price"] == pytest.approx(100 * nearest, abs=0.05)
        for row, question in enumerate(data["questions"]):
            assert 1 <= question["stop"] <= 40
            assert question["text"] == asked.questions[row]
            first = question["answers"][0]
            assert question["worth"][0] == float(
                adalib.same_answer(first, asked.golds[row]) if first else 0
            )

    def test_a_longer_lead_goes_on_at_lower_prices_only(self, fitted):
        rungs, streams, _, _ = fitted
        limits, votes = games.limit_prices(rungs[False, False], streams), streams.votes()
        lead = (votes.leader - votes.runner)[:, 5]  # after six answers
        near, far = limits[:, 5][lead <= 1], limits[:, 5][lead >= 4]
        assert np.median(near) > np.median(far)

    def test_it_plays(self, fitted, play):
        rungs, _, asked, texts = fitted
        page = play(games.stop(rungs[True, True], asked, texts, 0.03).html, "stop.js")
        for number in range(10):
            if number:
                page.get_by_text("Next question").click()
            page.get_by_text("One more answer").click()
            page.get_by_text("Stop here").click()
            assert "You stopped at 2: " in page.locator(".stop-said").inner_text()
        assert "After ten questions: you " in page.locator(".stop-board").inner_text()

    def test_the_picture_follows_the_price(self, fitted, play):
        rungs, streams, _, _ = fitted
        page = play(games.states(rungs, streams).html, "states.js")
        board = page.locator(".stop-board")
        page.locator("input[type=range]").focus()
        before = board.inner_text()
        for _ in range(15):
            page.keyboard.press("ArrowLeft")
        expect(board).not_to_have_text(before)
        going = page.locator(".states-go").count()
        for _ in range(40):
            page.keyboard.press("ArrowRight")
        page.wait_for_function(
            "(going) => document.querySelectorAll('.states-go').length < going", arg=going
        )


@pytest.fixture(scope="module")
def started():
    answers = adalib.load("aime-gpt-oss-20b")
    teach, score = answers.split_samples(0)
    policy = adalib.PricedRace(("votes",), most=8, repeats=4).fit(teach.take(range(40)))
    member = policy.fit_member(teach.take(range(40)), 8, token_price=0.02, waiting_price=0.05)
    return policy, member, score.take(range(40, 60))


class TestRace:
    BUTTON = ".adalib-race .spend-button"

    def test_the_game_is_the_package(self, started):
        policy, member, asked = started
        outcome = policy.play([member], policy.streams(asked, 0, 1))
        data = games.race(policy, member, asked).data
        assert (data["token_price"], data["waiting_price"]) == (2, 5)
        for row, question in enumerate(data["questions"]):
            lengths = np.array(question["lengths"])
            close = question["close"]
            time = np.sort(lengths)[close - 1]
            tokens = np.minimum(lengths, time).sum() * policy.unit
            assert tokens == pytest.approx(outcome.tokens[row, 0], rel=0.01)
            assert time * policy.unit == pytest.approx(outcome.clock[row, 0], rel=0.01)
            assert question["worth"][close - 1] == pytest.approx(outcome.accuracy[row, 0], abs=1e-3)
            voted = np.array(question["answers"])[np.argsort(lengths, kind="stable")[:close]]
            shares = adalib.majority(["" if vote < 0 else str(vote) for vote in voted])
            worth = shares.get(str(question["right"]), 0.0)
            assert question["worth"][close - 1] == pytest.approx(worth, abs=1e-3)

    def test_it_is_played_by_touch(self, started, play):
        policy, member, asked = started
        data = games.race(policy, member, asked.take(range(3)))
        page = play(data.html, "race.js")
        main, skip = page.locator(self.BUTTON).all()
        for number in range(3):
            main.tap()  # without motion the race stands at its first finish
            skip.tap()
            assert page.locator(".race-votes").inner_text().startswith("2 of 8 finished")
            main.tap()
            assert "finish 2" in page.locator(".race-said").inner_text()
            assert main.inner_text() == ("Next question" if number < 2 else "Play again")
            if number < 2:
                main.tap()
        means = page.locator(".race-row-price td").all_inner_texts()
        clocks = [sorted(one["lengths"])[one["close"] - 1] for one in data.data["questions"]]
        assert float(means[2]) == pytest.approx(np.mean(clocks), abs=0.006)
        assert page.evaluate("document.documentElement.scrollWidth") <= 390

    def test_it_is_played_by_key_while_the_bars_grow(self, started, play):
        page = play(games.race(*started).html, "race.js")
        page.emulate_media(reduced_motion="no-preference")
        main = page.locator(self.BUTTON).first
        main.focus()
        page.keyboard.press("Enter")
        page.locator(".race-done").first.wait_for()
        page.keyboard.press("Space")
        expect(page.locator(".race-said")).to_contain_text("You closed at finish ")
        expect(main).to_have_text("Next question")
        page.wait_for_timeout(600)  # a race that ended by itself takes no press for a moment
        page.keyboard.press("Enter")
        expect(main).to_have_text("Start the race")


@pytest.fixture(scope="module")
def stream():
    answers = adalib.load("word-fewshot").take(range(0, 372, 4))
    policy = PricedStopping(("votes",), repeats=8).fit(answers.take(range(60)))
    return games.hold(policy, answers.take(range(60, 93)), None, 3.0)


class TestHold:
    @pytest.mark.parametrize(("shift", "share"), [(500, 1.0), (1000, 0.0)])
    def test_the_budget_is_held(self, stream, shift, share):
        controller = games.hold_run(stream.data, shift, share, 0.2)
        moved = np.log(controller.price / controller.first_price) / (0.2 * 1000)
        assert controller.average / 3.0 - 1 == pytest.approx(moved, abs=1e-9)
        assert controller.average == pytest.approx(3.0, rel=0.02)

    def test_the_page_holds_as_the_package_does(self, stream, play):
        page = play(stream.html, "hold.js")

        def agrees(shift, share, step):
            run, still = (
                games.hold_run(stream.data, shift, share, step),
                games.still_run(stream.data, shift, share),
            )
            text = page.locator(".stop-board").inner_text().replace("−", "-")
            average, off, factor, frozen = re.search(
                r"average ([\d.]+) .*?by ([-+][\d.]+)%; .*factor of ([\d.]+)\. "
                r"At a fixed price: ([-+][\d.]+)%",
                text,
            ).groups()
            assert float(average) == pytest.approx(run.average, abs=0.006)
            assert float(off) == pytest.approx(100 * (run.average / 3 - 1), abs=0.06)
            assert float(factor) == pytest.approx(run.price / stream.data["price"], abs=0.006)
            assert float(frozen) == pytest.approx(100 * (still / 3 - 1), abs=0.06)

        agrees(500, 1.0, 0.2)
        shift, share, step = (page.locator(".hold-controls input").nth(k) for k in range(3))
        shift.focus()
        for _ in range(5):
            page.keyboard.press("ArrowLeft")
        agrees(450, 1.0, 0.2)
        share.fill("50")
        agrees(450, 0.5, 0.2)
        step.fill("6")
        agrees(450, 0.5, 2.0)


def test_the_bill_adds_up(play):
    rows = [(3.0, 0.54, 6.5), (1.5, 0.47, 2.9), (8.0, 0.6, None)]
    page = play(games.bill(rows, 16).html, "bill.js")

    def agrees(prices):
        for number, (answers, _, mix) in enumerate(rows):
            texts = (
                page.locator(".adalib-bill tbody tr").nth(number).locator("td").all_inner_texts()
            )
            shown = [text.removeprefix("over ").replace(",", "") for text in texts]
            day, other = (prices.questions * prices.dollars(n) for n in (answers, mix or 16))
            assert [float(shown[k]) for k in (2, 4, 5)] == pytest.approx(
                [day, other, other - day], abs=0.51
            )

    agrees(games.PriceList())
    for number, value in enumerate(("2", "0.5", "8", "1000", "400", "250")):
        page.locator(".bill-fields input").nth(number).fill(value)
    agrees(games.PriceList(2, 0.5, 8, 1000, 400, 250))


def buys(points, price: float) -> np.ndarray:
    """The budgets that the package buys on whole points, at a price in points."""
    return BUDGETS[adalib.oracle_labels(np.atleast_2d(points) / 100, BUDGETS, price / 100)]


@pytest.fixture(scope="module")
def classroom(word):
    return games.market(word)


class TestMarket:
    def test_cards_are_the_real_curves(self, word, classroom):
        acc, cards = word.table().acc, classroom.data["cards"]
        assert len(cards) == len({tuple(card["points"]) for card in cards}) == 40
        for card in [*cards, classroom.data["twin"]]:
            row = word.ids.index(card["id"])
            assert card["question"] == word.questions[row]
            assert np.abs(np.array(card["points"]) / 100 - acc[row]).max() <= 0.005 + 1e-12

    def test_a_link_shows_one_card_alone(self, classroom, play):
        page = play(classroom.html, "market.js")
        cards = classroom.data["cards"]
        for number in (17, len(cards) + 17):
            page.evaluate(f"location.hash = 'card={number}'")
            page.locator(".market-card h3", has_text=f"Card {number}").wait_for()
            assert page.locator(".adalib-market .market-card").count() == 1
            points = page.locator(".market-card tr").nth(1).locator("td").all_inner_texts()
            assert points == [str(point) for point in cards[16]["points"]]
        page.evaluate("location.hash = ''")
        page.get_by_role("button", name="Add up the hands").wait_for()

    def test_a_class_of_any_size_is_a_lively_market(self, classroom):
        points = np.array([card["points"] for card in classroom.data["cards"]])
        for students in (5, 10, 20, 30, 40):
            assert buys(points[:students], 0).mean() > 6
            assert buys(points[:students], 9).mean() < 1.5

    def test_the_page_clears_as_the_package_does(self, play, classroom):
        page = play(f"<p>The rest of the page.</p>{classroom.html}", "market.js")
        points = np.array([card["points"] for card in classroom.data["cards"][:20]])
        sentence = page.locator(".market-said").first
        for price in (5, 2.5, 1):
            page.get_by_label("price, points per answer").first.fill(str(price))
            page.get_by_role("button", name="Count for me").click()
            assert (
                f"the class buys {buys(points, price).sum()} of 60 answers" in sentence.inner_text()
            )
        page.get_by_role("button", name="Find the clearing price").click()
        clears = adalib.bisect(points / 100, BUDGETS, 3.0)
        assert f"clears at {100 * clears.lam:.2f}".rstrip("0") in sentence.inner_text()
        assert page.locator(".market-stairs").first.is_visible()
        # Hands are counted, and the twins jump together.
        for budget, hands in ((1, 12), (2, 0), (4, 6), (8, 2), (16, 0)):
            page.get_by_label(f"show {budget}:", exact=True).fill(str(hands))
        page.get_by_role("button", name="Add up the hands").click()
        said = page.locator(".market-said").first.inner_text()
        assert re.search(r"\b52 of 60\b.*\b8\b", said)
        seen = set()
        for price in ("1", "2", "2.3", "2.4", "3"):
            page.get_by_label("price for the twins").fill(price)
            text = page.locator(".market-said").nth(1).inner_text()
            seen.add(text.split("buy ")[1].split(" each")[0])
        assert seen == {"1", "16"}
        # A class of no size that can be played is refused, and what was dealt stays.
        students = page.get_by_label("students")
        for size in ("501", "0", "-3", ""):
            students.fill(size)
            page.get_by_role("button", name="Count for me").click()
            assert "give a number from 4 to 500" in page.locator(".market-said").first.inner_text()
            assert page.locator(".market-pack .market-card").count() == 20
        students.fill("20")
        # Only the cards are printed.
        page.evaluate("window.print = () => {}")
        page.get_by_role("button", name="Print the cards").click()
        page.emulate_media(media="print")
        assert page.locator(".market-sheet .market-card").count() == 20
        assert page.locator(".market-sheet .market-card").first.is_visible()
        assert not page.get_by_text("The rest of the page.").is_visible()


def test_texts_are_data_on_the_page():
    assert held(games.Game("guess", {"text": NASTY}, "Guess.", "It is 1.")) == {"text": NASTY}
