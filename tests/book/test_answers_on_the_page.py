"""Exercises and quizzes on the page: the browser calls right what the notebook calls right."""

from __future__ import annotations

import json
from dataclasses import asdict

import pytest

from adabook.exercises import checks
from adabook.exercises.values import Value

CASES = [
    (
        Value("0", 0.5, "a coin", tolerance=1e-3),
        ["0.5", "1/2", "50%", " 0.5004 ", "0.4991", "0,5", "50,0%"],
        ["0.52", "half", "0.45", "50", "-0.5", "0.6", "0,503"],
    ),
    (
        Value("9", 0.6764, "two of three", tolerance=5e-4),
        ["0.6764", "0,676"],
        ["0.68", "0.7", "67.64", "68%", "0.9"],
    ),
    (Value("1", 1024, "two to the ten"), ["1024", "1,024", "1024."], ["1023", "1025", "-1024"]),
    (
        Value("2", -0.25, "below zero", tolerance=1e-2),
        ["-0.25", "−0.25", "-1/4", "-25%"],
        ["0.25", "-0.3"],
    ),
    (
        Value("4", 3.35, "free?", tolerance=0.02, wrong={"one": 3.33}),
        ["3.35", "67./20"],
        ["3,350", "3.3", "335", "9"],
    ),
    (Value("5", 0.0069, "small", tolerance=2e-4), ["0.69%"], ["0.69", "0.01"]),
    (
        Value("3", "word-trees", "the family"),
        ["word-trees", " Word-Trees "],
        ["word trees", "trees"],
    ),
]
NAMED = Value("named", 8, "count", more="on your fingers", wrong={"that is half of it": 4})


@pytest.fixture
def page(play):
    """One exercise a case, and one that wants code, on a page with the book's own scripts and a
    record."""
    exercises = [*(exercise for exercise, _, _ in CASES), NAMED]
    boxes = "".join(
        checks("data")(name, None)._repr_html_()
        for name in [*(one.name for one in exercises), "code"]
    )
    record = json.dumps({"data": {one.name: asdict(one) for one in exercises}})
    return play(
        f"{boxes}<script>window.adalibExercises = {record}</script>", "exercises.js", "progress.js"
    )


def test_the_page_agrees_with_the_notebook(page):
    for number, (exercise, right, wrong) in enumerate(CASES):
        form = page.locator(".adalib-answer-form").nth(number)
        for answer in right + wrong:
            assert (exercise.fault(answer) is None) == (answer in right)
            form.locator("input").fill(answer)
            form.locator("input").press("Enter")
            reply = form.locator("output").inner_text()
            hint = f"{exercise.fault(answer)}.".replace("?.", "?")
            assert reply == ("Right." if answer in right else f"Not yet. Hint: {hint}"), answer


def test_a_known_mistake_is_named(page):
    form = page.locator(".adalib-answer-form").nth(len(CASES))
    for answer, verdict in (
        ("4", "Not yet. Hint: that is half of it."),
        ("5", "Not yet. Hint: count. on your fingers."),
        (
            "'8'",
            "Not yet. Hint: that is not a number; give one, such as 0.875 or 7/8. on your fingers.",
        ),
        ("8", "Right."),
    ):
        form.locator("input").fill(answer)
        form.locator("input").press("Enter")
        assert form.locator("output").inner_text() == verdict


def test_progress_can_be_forgotten(page):
    assert "run it in the notebook" in page.locator(".bd-article > p").first.inner_text()
    form = page.locator(".adalib-answer-form").first
    form.locator("input").fill("0.5")
    form.get_by_role("button", name="Check").click()
    assert "1 of 8" in page.locator(".adalib-progress").inner_text()
    page.get_by_role("button", name="forget all progress").click()
    assert "0 of 8" in page.locator(".adalib-progress").inner_text()
