"""'Does it pay here?' on the page: the numbers of adalib's held-out protocol, on the same
halves."""

import json
import re

import numpy as np
import pytest
from explorer_page import drop, until

from adalib.datasets.folds import members
from adalib.datasets.populations import flat_null
from adalib.datasets.responses import Responses
from adalib.evaluate.baselines import from_labels
from adalib.evaluate.scores import Outcome, Scores
from adalib.explorer import setting
from adalib.sequential.alike import Alike
from adalib.solve.frontier import frontier

pytest_plugins = ["explorer_page"]

TARGETS = (1.0, 1.5, 2.0, 3.0, 7.3, 40.0)
FOUND = """async ([one, targets]) => {
  const { Slices, buildHalves, crossFit, meanInterval, unitsOf } = ax;
  const halves = await buildHalves(one, new Slices());
  if (!halves) return null;
  const rows = [];
  for (const target of targets) {
    const { cost, accuracy, mix, gains } = crossFit(halves, target);
    const units = unitsOf(gains, halves.member);
    rows.push([cost, accuracy, mix, [...units], ...meanInterval(units)]);
  }
  return rows;
}"""


def held_out_rows(responses: Responses, budgets) -> list:
    """The package's own tally of the oracle, on the even and the odd answers."""
    asked = responses.ids, responses.questions, responses.golds
    dealt = [[row[half::2] for row in responses.answers] for half in (0, 1)]
    parts = [Responses(*asked, answers) for answers in dealt]
    numbers = range(1, min(16, *(part.samples for part in parts)) + 1)
    halves = [(part.table(budgets), Alike.of_tables([part.table(numbers)])) for part in parts]
    scores = Scores(["oracle"])
    for (choose, _), (score, alike) in (halves, halves[::-1]):
        path = frontier(choose.acc, choose.cost)
        for target in TARGETS:
            plan = from_labels(path.at(target).labels, choose.k)
            scores.add("oracle", target, Outcome(*plan.outcome(score)), alike)
    return scores.rows(members(responses, None))


def answers_of(seed: int, n: int, samples: int, copies: int = 1) -> Responses:
    rng = np.random.default_rng(seed)
    right = rng.beta(0.7, 0.7, n)
    answers = [
        [str(a) for a in np.where(rng.random(samples) < p, 7, rng.integers(0, 6, samples))]
        for p in right
    ]
    for row in answers:
        row[rng.integers(samples)] = ""
    texts = [f"question {i // copies}" for i in range(n)]
    return Responses([f"q{i}" for i in range(n)], texts, ["7"] * n, answers)


@pytest.mark.parametrize(
    ("responses", "budgets"),
    [
        (answers_of(1, 120, 32), (1, 2, 4, 8, 16)),
        (answers_of(2, 60, 9), (1, 2, 4)),
        (answers_of(3, 90, 16, copies=3), (1, 2, 4, 8)),
    ],
    ids=["simulated", "odd", "copies"],
)
def test_the_numbers_are_the_packages(functions, responses, budgets):
    found = functions.evaluate(FOUND, [setting(responses), TARGETS])
    rows = held_out_rows(responses, budgets)
    for (cost, accuracy, mix, units, low, high), row in zip(found, rows, strict=True):
        assert cost == pytest.approx(row.cost, abs=1e-9)
        assert accuracy == pytest.approx(row.accuracy, abs=1e-9)
        assert mix == pytest.approx(row.mix_accuracy, abs=1e-9)
        assert units == pytest.approx(row.gains.tolist(), abs=1e-9)
        assert [low, high] == pytest.approx([row.gain_low, row.gain_high], abs=1e-4)


def test_a_dropped_file_gives_the_same_halves(functions, tmp_path):
    responses = answers_of(4, 40, 13)
    responses.save(tmp_path / "mine.jsonl")
    text = (tmp_path / "mine.jsonl").read_text(encoding="utf-8")
    read = functions.evaluate(
        "async (text) => (await ax.readFile(new File([text], 'm.jsonl'))).halves", text
    )

    def alike(halves):
        return [
            [[row[0], *sorted(zip(row[1::2], row[2::2], strict=True))] for row in half]
            for half in halves
        ]

    assert alike(read) == alike(setting(responses)["halves"])
    assert functions.evaluate(FOUND, [setting(answers_of(5, 9, 16)), TARGETS]) is None
    assert functions.evaluate(FOUND, [setting(answers_of(6, 30, 3)), TARGETS]) is None


def test_a_dropped_file_with_uneven_questions_is_cut_alike(functions):
    def read(lengths):
        answers = [["4", "5", "4", "", "5"][:length] for length in lengths]
        lines = [
            json.dumps({"id": i, "question": "2 + 2?", "gold": "4", "answers": row})
            for i, row in enumerate(answers)
        ]
        return functions.evaluate(
            "async (text) => ax.readFile(new File([text], 'm.jsonl'))", "\n".join(lines)
        )

    cut, even = read([5, 3, 4]), read([3, 3, 3])
    assert "3 to 5 answers" in cut.pop("about")
    assert "to 3 answers" not in even.pop("about")
    assert cut == even


def test_the_page_says_it_in_one_sentence(show):
    pays, null = answers_of(7, 300, 32), flat_null(300).sample(32)
    shelf = [
        setting(pays, name="pays", title="pays"),
        setting(null, name="null", title="null", kind="simulated"),
    ]
    page = show(shelf)
    sentence = "document.querySelector('.ax-pays:not([aria-busy]) p')?.textContent ?? ''"
    budget = page.locator("[data-exact=budget]")
    budget.fill("3")
    budget.press("Enter")
    until(page, f"() => ({sentence}).startsWith('It can: at ')")
    row = held_out_rows(pays, (1, 2, 4, 8, 16))[TARGETS.index(3.0)]
    text = page.evaluate(sentence)
    assert f"at {row.cost:.2f} answers per question" in text
    best, mixed = (f"{100 * share:.2f}%" for share in (row.accuracy, row.mix_accuracy))
    assert (
        f"reaches {best} on the other half, the same number of answers for everyone {mixed}" in text
    )
    assert re.search(
        rf"\+{100 * row.gain:.2f} points \(95% interval \[\+\d\.\d\d,\s\+\d+\.\d\d\]\)", text
    )
    for at, words in (("1", "There is nothing to choose at 1.00 answers"), ("3", "It can: at ")):
        budget.fill(at)
        budget.press("Enter")
        until(page, f"() => ({sentence}).startsWith('{words}')")
    page.get_by_label("Setting").select_option("null (simulated)")
    until(page, f"() => ({sentence}).startsWith('Not clearly: at ')")
    drop(page, "table.csv", "1,2\n0.5,1\n")  # accuracies without answers: nothing to cross-fit
    until(page, "document.querySelector('.ax-pays').hidden")
