"""Where a page asks its reader: answers, kinds and prices to set, a curve, edges, noise, cards to
filter, prompts."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pandas as pd
import pytest
from browser import DRAWN
from bs4 import BeautifulSoup
from conftest import soup, toc_pages

from adabook.figures import cards, show, table
from adabook.figures.votes import accuracy_curves
from adabook.games import guess, kinds, lineup, sentence, tangent, votes
from contents import chapters

PROMPT = """<div class="prompt admonition"><p>How many?</p><ul
class="contains-task-list"><li><p><input type="checkbox" checked> 12 <em>Or so.</em></p></li></ul>
</div><div class="prompt admonition"><p>Which?</p><ul
class="contains-task-list"><li><p><input type="checkbox"> this <em>No.</em></p></li><li><p><input
type="checkbox" checked> that <em>Yes.</em></p></li></ul></div>"""

CHOICE = PROMPT[PROMPT.index("<div", 1) :]


def status_line(page) -> str:
    """What the page says last."""
    return page.locator("p[role=status]").inner_text()


def test_a_curve_is_guessed_by_hand_and_by_key(play):
    page = play(guess([1, 4, 16], [0.4, 0.6, 0.9]).html, "guess.js")
    handle = page.get_by_role("slider", name="accuracy of the vote with 16 answers")
    box = handle.bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y - 30)
    page.mouse.up()
    dragged = float(handle.get_attribute("aria-valuenow"))
    assert 0.5 < dragged < 0.9
    handle.press("ArrowDown")
    assert float(handle.get_attribute("aria-valuenow")) == pytest.approx(dragged - 0.02)
    page.get_by_role("button", name="That is my guess").tap()
    status = status_line(page)
    assert f"{dragged - 0.02:.2f}" in status
    assert "0.90" in status
    assert page.locator(".guess-truth").get_attribute("points")
    words = {"axis": "cost", "unit": "answers per question", "who": "the oracle"}
    page = play(
        guess([1, 2], [0.3, 0.4], start=[0.3, 0.35], ends=(0.25, 0.5), words=words).html, "guess.js"
    )
    handle = page.get_by_role("slider", name="accuracy of the oracle with 2 answers per question")
    assert handle.get_attribute("aria-valuenow") == "0.350"
    handle.press("PageDown")
    assert handle.get_attribute("aria-valuenow") == "0.325"


def test_answers_vote_as_they_come(play, word):
    row = word.ids.index("word-trees-05")
    page = play(votes(word, row).html, "votes.js")
    page.get_by_role("button", name="Ask 16 times").tap()
    leader, count = Counter(text for text in word.answers[row][:16] if text).most_common(1)[0]
    assert f"After 16 answers, {leader} leads with {count} votes" in status_line(page)
    page.get_by_role("slider").press("ArrowRight")
    page.wait_for_function("location.hash === '#asked=17%2C0'")
    page.get_by_role("button", name="Start over").tap()
    assert "After 1 answer, " in status_line(page)
    page.evaluate("location.hash = '#asked=96,5'")
    page.wait_for_function(
        "document.querySelector('[role=status]')"
        ".textContent.startsWith('After 96 answers, 40 leads')"
    )


def test_a_budget_for_each_kind_is_spent(play, word):
    game = kinds(word)
    page = play(game.html, "kinds.js")
    page.get_by_role("button", name="all 4").tap()
    assert "4.00" in status_line(page)
    page.get_by_role("radiogroup", name="hard").get_by_text("1", exact=True).tap()
    counts = {kind["name"]: kind["count"] for kind in game.data["kinds"]}
    assert f"You buy {4 - 3 * counts['hard'] / word.n:.2f} answers per question" in status_line(
        page
    )
    page.wait_for_function("location.hash === '#kinds=4%2C4%2C4%2C1'")


def test_a_figure_is_saved(play):
    figure = show(accuracy_curves([1, 2], {"hard": [0.1, 0.2]}), alt="One line.")
    page = play(figure._repr_html_(), "near.js", "figures.js")
    page.evaluate(DRAWN)
    for form, start in (("SVG", b"<svg"), ("PNG", b"\x89PNG")):
        with page.expect_download() as download:
            page.get_by_role("button", name=f"Save this figure as {form}").press("Enter")
        assert Path(download.value.path()).read_bytes().startswith(start)


def test_a_sentence_follows_its_price(play, word):
    game, curve = sentence(word, "ours", start=0.04), [0.4, 0.43, 0.61, 0.85, 0.98]
    page = play(tangent([1, 2, 4, 8, 16], curve, start=0.04).html + game.html, "price.js")
    one, all_ = page.locator(".price-sentence").all()
    for figure in ("8 answers", "0.85", "8 × 0.040 = 0.32", "0.53"):
        assert figure in one.inner_text()
    for at, key in ((41, "ArrowRight"), (51, "PageUp"), (100, "End"), (0, "Home")):
        page.get_by_role("slider").nth(1).press(key)
        assert f"{game.data['cost'][at]:.2f} answers on average" in all_.inner_text()
        assert f"{100 * game.data['accuracy'][at]:.1f}% of the votes are right" in all_.inner_text()
    # The dot where the line starts: pulled down, the price rises, until one answer is the best buy.
    box = page.locator(".price-handle").bounding_box()
    x, y = box["x"] + box["width"] / 2, box["y"] + box["height"] / 2
    page.mouse.move(x, y)
    page.mouse.down()
    page.mouse.move(x, y + 60)
    page.mouse.up()
    assert "buys 1 answer." in one.inner_text()
    page.wait_for_function(
        "location.hash.includes('price=0.000') && location.hash.includes('slope=0.')"
    )


def test_edges_fill_to_the_budget(play):
    # Two questions: one edge of slope 0.2 a step long, one of slope 0.1 three steps long. B = 2
    # buys 1 + 1 answers.
    page = play(lineup([[0.2, 0.4, 0.4], [0.1, 0.2, 0.4]], [1, 2, 4], ["a", "b"]).html, "lineup.js")
    assert "2 edges" in status_line(page)
    page.get_by_role("button", name="Line them up").tap()
    status = status_line(page)
    assert "The price is 0.1000" in status
    assert "0.150 + 0.150 = 0.300" in status
    tops = [float(line.get_attribute("y1")) for line in page.locator(".lineup-edge").all()]
    assert tops == sorted(tops)  # the steepest first, so that the stairs fall
    page.get_by_role("slider").press("End")
    assert "= 0.400" in status_line(page)
    page.get_by_role("button", name="Back to their questions").tap()
    assert "Line them up" in status_line(page)


def claims() -> pd.DataFrame:
    names = ["says", "place", "reason", "number"]
    rows = [("stands", False, "a"), ("falls", True, "b"), ("falls", False, "<b>c</b>")]
    made = pd.DataFrame(rows, columns=["verdict", "inferred", "name"]).assign(
        see="learning-held-out"
    )
    return made.assign(changed="", **{name: f"its {name}" for name in names})


def test_a_cell_opens_its_card(play):
    page = play(cards(claims().iloc[::-1]).html, "cards.js")
    assert page.locator(".card-short:visible").all_inner_texts() == ["its number"] * 3
    verdicts = "(all) => all.map((each) => each.dataset.verdict)"
    assert (
        page.locator(".adalib-mosaic button").evaluate_all(verdicts)
        == page.locator(".adalib-card").evaluate_all(verdicts)
        == ["stands", "falls", "falls"]
    )
    page.get_by_role("button", name="falls <b>c</b>").tap()
    assert page.locator(".adalib-card[open]").count() == 1
    assert page.locator(".adalib-card").nth(1).get_attribute("open") is not None
    page.locator("label", has_text="stands (1)").tap()
    assert page.locator(".adalib-mosaic button:enabled").count() == 1


def test_cards_show_text_as_text():
    page = BeautifulSoup(cards(claims()).html, "html.parser")
    assert page.find("b") is None
    assert "<b>c</b>" in page.find_all("summary")[2].text


def test_prompts_take_a_number_or_a_choice(play):
    page = play(f"<section>{PROMPT}<p>The answer.</p></section>", "quiz.js")
    assert page.locator(".adalib-veiled", has_text="The answer.").count() == 1
    page.get_by_role("textbox").fill("7")
    page.get_by_role("textbox").press("Enter")
    assert page.locator("output").inner_text() == "You said 7. It is 12. Or so."
    page.get_by_role("button", name="this").tap()
    assert status_line(page) == "Not quite. No."
    page.get_by_role("button", name="that").tap()
    assert status_line(page) == "Right. Yes."
    assert page.locator(".adalib-veiled").count() == 0


def test_a_veil_can_be_lifted_where_it_lies(play):
    page = play(f"<section>{CHOICE}<p>The answer.</p></section>" * 2, "quiz.js")
    veil = page.locator(".adalib-veiled").first.bounding_box()
    show = page.get_by_role("button", name="Show it")
    assert abs(show.first.bounding_box()["y"] - veil["y"]) < 50  # pixels
    show.first.tap()
    assert page.locator(".adalib-veiled").count() == show.count() == 1


def test_a_link_into_what_is_veiled_lifts_the_veil(play):
    markup = f'<a href="#it">look</a><section>{CHOICE}<p>The <i id="it">answer</i>.</p></section>'
    page = play(markup, "quiz.js")
    assert page.locator(".adalib-veiled").count() == 1
    page.get_by_role("link", name="look").tap()
    page.locator("p:not(.adalib-veiled) #it").wait_for()


def test_who_skips_one_prompt_skips_all(play):
    two = f"<section>{PROMPT}<p>The answer.</p></section>" * 2
    page = play(two, "quiz.js")
    assert page.locator(".adalib-veiled", has_text="The answer.").count() == 2
    page.get_by_role("button", name="Skip").first.tap()
    assert page.locator(".adalib-veiled").count() == 0
    page.reload()
    assert page.locator(".adalib-veiled").count() == 0
    page.get_by_role("button", name="Cover answers").first.tap()
    page.locator(".adalib-veiled").first.wait_for()


@pytest.mark.parametrize("name", [page.name for page in chapters(appendices=False)])
def test_a_prompt_has_one_right_option_and_explains_each(html, name):
    page = soup(name)
    prompts = page.select(".admonition.prompt")
    for prompt in prompts:
        options = [box.has_attr("checked") for box in prompt.select("input[type=checkbox]")]
        assert page.select(".adalib-guess") or sum(options) == 1
        assert len(prompt.select("li em")) == len(options)


@pytest.mark.parametrize("name", toc_pages())
def test_every_table_says_what_to_see(html, name):
    """A plain frame is read with the words around it; what the book lays out has a caption."""
    bare = [table for table in soup(name).select("table.adalib-table") if not table.caption]
    assert [table.get_text(" ", strip=True)[:100] for table in bare] == []


def test_a_table_that_does_not_fit_scrolls_beside_its_first_column(play):
    frame = pd.DataFrame(
        {
            "setting": ["word-fewshot", ""],
            **{f"a long heading {i}": [0.5, 22.853] for i in range(16)},
        }
    )
    page = play(
        table(frame, caption="wide").html + table(frame.iloc[:, :2], caption="narrow").html,
        "tables.js",
        "reachable.js",
        width=800,
    )
    page.locator(".adalib-fades .adalib-sideways").wait_for()
    wide, narrow = page.locator("table").all()
    assert "adalib-sideways" not in narrow.get_attribute("class")
    assert page.evaluate("document.documentElement.scrollWidth") <= 800
    assert wide.get_by_role("cell").count() == 34
    name, last = wide.locator("td").first, wide.locator("td").nth(16)
    before, far = name.bounding_box(), last.bounding_box()
    page.locator(".adalib-fades").evaluate("(box) => (box.scrollLeft = 10000)")
    assert name.bounding_box()["x"] == pytest.approx(before["x"], abs=4)  # its frame may give way
    assert last.bounding_box()["x"] < far["x"]
    page.set_viewport_size({"width": 3000, "height": 900})
    page.locator("table:not(.adalib-sideways)").nth(1).wait_for()


def test_numbers_are_flush_right_and_compared_on_a_phone(play):
    name = "a policy with a name that is longer than any column of a phone"
    numbers = {head: ["+1.5 (0.2 to 2.8)", "94.1%"] for head in "abcdef"}
    page = play(
        table(pd.DataFrame({"policy": [name, "b"]} | numbers), caption="n").html, "tables.js"
    )
    page.locator("table.adalib-sideways").wait_for()
    aligned = page.locator("tr > *").evaluate_all(
        "(cells) => cells.map((cell) => [cell.cellIndex > 0, getComputedStyle(cell).textAlign])"
    )
    assert {(is_number, align == "right") for is_number, align in aligned} == {
        (True, True),
        (False, False),
    }
    assert page.locator("tbody tr > *").first.bounding_box()["width"] >= 100


def test_a_table_of_sentences_is_a_card_per_row_on_a_phone(play):
    sentence = "a sentence that is much too long for a column of a phone"
    frame = pd.DataFrame({"name": ["one", "two"], **{head: [sentence] * 2 for head in "abcde"}})
    page = play(table(frame, caption="cards").html, "tables.js")
    page.locator("table.adalib-cards").wait_for()
    assert page.evaluate("document.documentElement.scrollWidth") <= 390
    lefts = {cell.bounding_box()["x"] for cell in page.locator("tbody tr > *").all()}
    assert len(lefts) == 1
    heads = (
        page.locator("tbody tr")
        .first.locator("> *")
        .evaluate_all("(cells) => cells.map((cell) => cell.dataset.column)")
    )
    assert heads == ["name", *"abcde"]
    page.set_viewport_size({"width": 1280, "height": 900})
    page.locator("table:not(.adalib-cards)").wait_for()
