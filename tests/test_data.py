"""The bundled data: the questions come from their seed, the answers from their texts, the cards
from the data."""

import gzip
import json
import re
import subprocess
import sys
from pathlib import Path

import choose_dials
import families
import make_cards
import make_questions
import numpy as np
import pytest
import read_answers
import record_effort
import record_transfer
import story

import adalib
from adabook.recorded import recorded
from adalib.datasets.loading import bundled
from adalib.vote.answers import answer_classes, same_answer

ROOT = Path(__file__).parent.parent
DATA = ROOT / "data"
SETTINGS = ["word-fewshot", "word-hot", "word-zeroshot", "word-qwen05", "word-qwen15"]
SETTINGS += ["story-qwen05", "story-qwen05-hot", "story-qwen15", "story-smollm", "drill-fewshot"]
#: Questions and answers per question of the settings on benchmarks.
BENCHMARKS = {
    "gsm8k-qwen15": (300, 96),
    "gsm8k-more-qwen15": (779, 48),
    "gsm8k-qwen05": (300, 96),
    "math-qwen15": (300, 96),
    "math-more-qwen15": (900, 48),
    "math-qwen05": (300, 96),
}


def questions(name: str) -> list[dict]:
    text = (DATA / "questions" / f"{name}.jsonl").read_text(encoding="utf-8")
    return [json.loads(line) for line in text.splitlines()]


@pytest.mark.parametrize(
    ("name", "kinds", "least"),
    [("word", families.WORD, 320), ("drill", families.DRILL, 150), ("story", story.chosen(), 300)],
)
def test_questions_come_from_their_seed_as_many_as_promised(name, kinds, least):
    drawn = questions(name)
    assert drawn == make_questions.draw_set(name, kinds, make_questions.SEED)
    assert all(len({q[field] for q in drawn}) == len(drawn) for field in ("id", "question"))
    assert len(drawn) >= least


def test_the_dials_of_story_follow_from_the_pilot():
    written = json.loads((DATA / "pilot" / "dials.json").read_text(encoding="utf-8"))
    assert written == json.loads(json.dumps(choose_dials.report()))


def test_the_pilot_and_the_final_draw_are_different_questions():
    pilot = adalib.load(DATA / "pilot" / "story-qwen05.jsonl.gz")
    assert list(pilot.questions) == [
        q["question"]
        for q in make_questions.draw_set("story", story.CANDIDATES, make_questions.PILOT_SEED)
    ]
    shared = set(pilot.questions) & {q["question"] for q in questions("story")}
    # Few numbers fit a small dial, so a text may be drawn twice.
    assert len(shared) <= 0.02 * pilot.n


@pytest.mark.parametrize("family", story.CANDIDATES, ids=lambda family: family.name)
def test_every_family_agrees_with_its_second_computation(family):
    """At all five dials and other seeds; a question on which the two disagree is refused by an
    error."""
    for seed in range(3):
        assert len(make_questions.draw_set("story", (family,), seed)) == 20


@pytest.mark.parametrize("name", SETTINGS)
def test_answers_are_read_from_their_texts(name):
    with gzip.open(DATA / "answers" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    source = {q["id"]: q for q in questions(name.split("-")[0])}
    assert [line["id"] for line in lines] == list(source)  # all that were drawn, and no other
    for line in lines[::5]:
        assert {key: line[key] for key in source[line["id"]]} == source[line["id"]]
        for key in ("answers", "texts", "tokens", "finish", "logprob", "entropy"):
            assert len(line[key]) == 96
        assert read_answers.read(dict(line)) == line  # answers, classes and values
        assert -np.inf < min(line["logprob"]) <= max(line["logprob"]) <= 0
        assert 0 <= min(line["entropy"]) <= max(line["entropy"]) < np.inf
        assert set(line["finish"]) <= {"stop", "length"}
        assert min(line["tokens"]) >= 1


@pytest.mark.parametrize("name", BENCHMARKS)
def test_shipped_classes_are_the_judges(name):
    answers = adalib.load(name)
    assert (answers.n, answers.samples) == BENCHMARKS[name]
    for row in np.random.default_rng(1).choice(answers.n, 6, replace=False):
        short = [
            j
            for j, answer in enumerate(answers.answers[row])
            if not answer.startswith("long answer")
        ]
        texts = [answers.answers[row][j] for j in short]
        shipped, own = answers.classes[row, short], answer_classes(texts)
        # The same classes, by other numbers.
        pairs = set(zip(shipped.tolist(), own.tolist(), strict=True))
        assert len(pairs) == len(set(shipped.tolist())) == len(set(own.tolist()))
        right = [answer != "" and same_answer(answer, answers.golds[row]) for answer in texts]
        assert right == answers.values[row, short].astype(bool).tolist()


def test_no_text_of_a_benchmark_is_here():
    """No shipped line holds a sentence: no text is long, and none has more than three words."""
    shipped = (*BENCHMARKS, *make_cards.published(), *make_cards.efforts())
    for name in (*shipped, *make_cards.PAPER_MODELS):
        with gzip.open(DATA / "answers" / f"{name}.jsonl.gz", "rt", encoding="utf-8") as file:
            strings = {json.loads(text) for text in re.findall(r'"(?:[^"\\]|\\.)*"', file.read())}
        strings = {text for text in strings if not re.fullmatch(r"rec\w{14}", text)}  # ids of GPQA
        assert max(map(len, strings)) <= read_answers.LONG, name
        assert max(len(read_answers.WORD.findall(text)) for text in strings) <= 3, name


def test_the_published_answers_are_as_right_as_their_authors_say():
    # At one answer, and at the vote of 80.
    published = {"math500": (0.94, 0.97), "gpqa": (0.64, 0.73), "aime": (0.69, 0.90)}
    for name in make_cards.published():
        one, many = adalib.load(name).table((1, 80)).acc.mean(axis=0)
        low, high = published[name.partition("-")[0]]
        # Our judge sees some more that are equal.
        assert low - 0.005 <= one <= many <= high + 0.02, name


def test_the_papers_models_are_as_right_as_their_sources_say():
    gpt = adalib.load("gsm8k-gpt4omini")
    assert (gpt.n, gpt.samples) == (1318, 40)
    undecided = (gpt.values.mean(axis=1) > 0) & (gpt.values.mean(axis=1) < 1)
    assert undecided.sum() == 571
    expected = (0.886, 0.889, 0.923, 0.935, 0.941)  # two share ties here, and not there
    np.testing.assert_allclose(gpt.table().acc.mean(axis=0), expected, atol=3e-3)
    qwen = adalib.load("math-qwen7b")
    assert (qwen.n, qwen.samples, qwen.extras["right_hot"][0]) == (7869, 50, 50)
    assert np.mean(qwen.extras["right_math_of_8"]) / 8 == pytest.approx(0.835, abs=6e-4)
    assert np.mean(qwen.extras["vote_math_of_8"]) == pytest.approx(0.875, abs=6e-4)


def test_numbers_of_a_text_are_those_of_other_answers_to_the_same_question():
    """The two projects number GSM8K alike: what was read off a text is equal in both files."""
    gpt = adalib.load("gsm8k-gpt4omini")
    own = adalib.load("gsm8k-qwen15")
    read = dict(zip(gpt.ids, gpt.extras["read"], strict=True))
    shared = [i for i, name in enumerate(own.ids) if name in read]
    assert len(shared) > 290
    for i in shared:
        assert own.extras["read"][i] == read[own.ids[i]]


def test_efforts_are_as_their_source_says():
    expected = {
        "effort-gpqa-gpt-5.2": [(0.827, 1028), (0.879, 1921), (0.882, 3408), (0.914, 12881)],
        "effort-gpqa-claude-opus-4.5": [(0.807, 740), (0.855, 5596), (0.860, 8065)],
        "effort-aime-gpt-5.2": [(0.789, 4538), (0.939, 7995), (0.961, 11017)],
        "effort-aime-claude-opus-4.5": [(0.481, 1194), (0.817, 11179), (0.861, 17523)],
    }
    assert set(expected) < set(make_cards.efforts())
    for name, figures in expected.items():
        menu = adalib.load(name)
        found = [(one.values.mean(), one.tokens.mean()) for one in menu.models.values()]
        np.testing.assert_allclose(found, figures, atol=0.51)
        np.testing.assert_allclose([a for a, _ in found], [a for a, _ in figures], atol=6e-4)


@pytest.mark.parametrize("name", bundled())
def test_every_setting_has_its_card(name):
    assert (DATA / "cards" / f"{name}.md").exists(), "run python data/scripts/make_cards.py"


@pytest.mark.parametrize(
    "name",
    [
        "word-fewshot",
        "drill-fewshot",
        "gsm8k-qwen15",
        *make_cards.published(),
        *make_cards.PAPER_MODELS,
    ],
)
def test_cards_say_what_the_data_says(name):
    """One card of each kind: one script writes them all."""
    written = (DATA / "cards" / f"{name}.md").read_text(encoding="utf-8")
    assert written == make_cards.card(name)


@pytest.mark.parametrize("name", make_cards.CHECKED)
def test_cards_of_checked_answers_say_what_the_data_says(name):
    written = (DATA / "cards" / f"{name}.md").read_text(encoding="utf-8")
    assert written == make_cards.checked_card(name)


def test_checked_answers_are_as_often_right_as_their_sources_say():
    shares = {name: adalib.load_passes(name).rates.mean() for name in make_cards.CHECKED[1:]}
    assert shares == pytest.approx({"game24-cot": 0.040, "game24-standard": 0.073}, abs=6e-4)
    solved = [(adalib.load_passes(name).passed > 0).sum() for name in make_cards.CHECKED[1:]]
    assert solved == [49, 33]


def test_the_recorded_transfer_can_be_computed_again():
    old, new = "word-fewshot", "word-hot"
    (again,) = record_transfer.moved(adalib.load(old), adalib.load(new), ["refit"])
    (kept,) = [row for row in recorded("transfer")[f"{old} to {new}"] if row["way"] == "refit"]
    for name in ("target", "cost", "accuracy", "missed"):
        assert again[name] == pytest.approx(kept[name], abs=2e-3)


def two_efforts(tokens_where_it_gains: int) -> adalib.Menu:
    """A low effort that guesses on every second question and a high one that is always right."""
    hard = np.arange(60)[:, None] % 2
    guesses = hard * np.random.default_rng(0).integers(2, size=(60, 8))

    def answered(answers, tokens):
        ids = [f"q{i}" for i in range(60)]
        lengths = np.broadcast_to(tokens, (60, 8))
        return adalib.Responses(ids, [""] * 60, ["0"] * 60, answers.astype(str), tokens=lengths)

    dear = np.where(hard, tokens_where_it_gains, 1000)
    models = {"m low": answered(guesses, 10), "m high": answered(0 * guesses, dear)}
    return adalib.Menu(models, per_question=True)


@pytest.mark.parametrize(("tokens", "least"), [(1000, 0.03), (100_000, -0.05)])
def test_agreement_gains_where_the_gain_does_not_cost_as_much(tokens, least):
    menu = two_efforts(tokens)
    target = 10 + 0.2 * (menu.unit["m high"] - 10)
    ((cost, accuracy),) = record_effort.held_out_raises(
        menu, record_effort.LOOKS["agreement"], [target]
    )
    found = record_effort.row("agreement", target, menu, cost, accuracy)
    assert found["cost"] == pytest.approx(target, rel=0.35)
    assert found["gain"] > least
    assert (found["gain"] > 0.03) == (tokens == 1000)


def test_no_prompt_gives_a_question_away():
    asked = {q["question"] for name in ("word", "drill", "story") for q in questions(name)}
    for path in (DATA / "prompts").glob("*.json"):
        shown = {
            message["content"]
            for message in json.loads(path.read_text(encoding="utf-8"))["messages"]
        }
        assert not asked & shown


def test_the_data_is_small():
    assert sum(path.stat().st_size for path in DATA.rglob("*") if path.is_file()) <= 40e6


def test_the_scripts_run_from_anywhere(tmp_path):
    script = DATA / "scripts" / "make_questions.py"
    subprocess.run(
        [sys.executable, script, "--pilot", tmp_path], cwd=tmp_path, check=True, capture_output=True
    )
    pilot, final = (folder / "word.jsonl" for folder in (tmp_path, DATA / "questions"))
    assert pilot.read_text(encoding="utf-8") != final.read_text(encoding="utf-8")
