"""The game and the state picture of chapter 10: their numbers are the package's, and they play by touch and by key."""

from __future__ import annotations

import json

import numpy as np
import pytest
from bs4 import BeautifulSoup

import adalib
from adalib.sequential.priced import PricedStopping
from adalib.sequential.streams import make_streams
from adalib.teach.games.states import limit_prices, states
from adalib.teach.games.stop import stop, stop_data


@pytest.fixture(scope="module")
def fitted():
    answers = adalib.load("word-fewshot").take(range(0, 372, 3))
    texts = adalib.text_features(answers.questions).to_numpy(dtype=float)
    teach, score = answers.split_samples(0)
    rungs = {
        (text, sure): PricedStopping(("votes", *["text"] * text, *["certainty"] * sure), repeats=8).fit(
            teach.take(range(100)), texts[:100]
        )
        for text in (False, True)
        for sure in (False, True)
    }
    return rungs, teach.take(range(100)), score.take(range(100, 110)), texts[100:110]


def test_the_game_is_the_package(fitted):
    rungs, _, asked, texts = fitted
    data = stop_data(rungs[True, True], asked, texts, 0.03)
    assert len(data["questions"]) == 10
    nearest = rungs[True, True].prices[np.abs(rungs[True, True].prices - 0.03).argmin()]
    assert data["price"] == pytest.approx(100 * nearest, abs=0.05)
    for row, question in enumerate(data["questions"]):
        assert 1 <= question["stop"] <= 40
        assert len(question["answers"]) == len(question["sure"]) == len(question["worth"]) == 40
        assert question["text"] == asked.questions[row]
        first = question["answers"][0]
        assert question["worth"][0] == float(adalib.same_answer(first, asked.golds[row]) if first else 0)


def test_questions_are_data_on_the_page(fitted):
    rungs, _, asked, texts = fitted
    hostile = adalib.Responses(
        asked.ids, ["</script><script>alert(1)</script>"] * 10, asked.golds, asked.answers, logprob=asked.logprob
    )
    (script,) = BeautifulSoup(stop(rungs[True, True], hostile, texts, 0.03).html, "html.parser").find_all("script")
    assert json.loads(script.string)["questions"][0]["text"].startswith("</script>")


def test_a_longer_lead_goes_on_at_lower_prices_only(fitted):
    rungs, teach, _, _ = fitted
    streams = make_streams(teach, 40, repeats=8)
    limits = limit_prices(rungs[False, False], streams)
    votes = streams.votes()
    lead = (votes.leader - votes.runner)[:, 5]  # after six answers
    near, far = limits[:, 5][lead <= 1], limits[:, 5][lead >= 4]
    assert np.median(near) > np.median(far)


def test_both_play(fitted, play):
    rungs, teach, asked, texts = fitted
    parts = stop(rungs[True, True], asked, texts, 0.03).html, states(rungs, make_streams(teach, 40, repeats=8)).html
    page = play("".join(parts), "stop.js")
    for number in range(10):
        page.get_by_text("One more answer").click()
        page.get_by_text("Stop here").click()
        assert "You stopped at 2: " in page.locator(".stop-said").inner_text()
        if number < 9:
            page.get_by_text("Next question").click()
    assert page.locator(".adalib-stop .stop-board").inner_text().startswith("After ten questions: you ")
    slider, said = page.locator(".adalib-states input[type=range]"), page.locator(".adalib-states .stop-board")
    slider.focus()
    before = said.inner_text()
    for _ in range(15):
        page.keyboard.press("ArrowLeft")
    assert said.inner_text() != before
    going = page.locator(".states-go").count()
    for _ in range(40):
        page.keyboard.press("ArrowRight")
    assert page.locator(".states-go").count() < going
