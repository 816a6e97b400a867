"""A menu of models: the table of arms, the file that holds it, and what the solvers and the
evaluation make of it."""

import json
import tempfile
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

import adalib
from adabook.highs import lp_solution
from adalib.cli import main
from adalib.datasets.menu import Menu
from adalib.evaluate.heldout import PaidFeatures, Protocol, held_out


def answers(chances, samples, seed, tokens=None):
    """Right answers with the chances given, and two wrong ones that share the rest."""
    rng = np.random.default_rng(seed)
    drawn = [["7" if u < p else str(rng.integers(2)) for u in rng.random(samples)] for p in chances]
    n = len(chances)
    counted = None if tokens is None else np.full((n, samples), float(tokens))
    texts = [
        f"A {'hard' if p < 0.5 else 'plain'} question, number {i}" for i, p in enumerate(chances)
    ]
    return adalib.Responses([f"q{i}" for i in range(n)], texts, ["7"] * n, drawn, tokens=counted)


def two_models(n=40, samples=32):
    weak = [0.9 if i % 2 else 0.1 for i in range(n)]
    small, large = answers(weak, samples, 1, tokens=10), answers([0.9] * n, samples, 2, tokens=20)
    return Menu(
        {"small": small, "large": replace(large, questions=small.questions)},
        prices={"small": 1, "large": 2},
    )


def lines(menu):
    """The lines of the models' own files, each with its model and price."""
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder, "one.jsonl")
        found = []
        for name, answers in menu.models.items():
            answers.save(file)
            records = map(json.loads, file.read_text(encoding="utf-8").splitlines())
            found += [{**record, "model": name, "price": menu.prices[name]} for record in records]
    return found


def write(path, records):
    path.write_text("".join(json.dumps(record) + "\n" for record in records), encoding="utf-8")
    return path


def test_an_arm_is_a_column_of_its_model_at_its_price():
    menu, budgets = two_models().priced({"small": 1, "large": 1.5}), (1, 2, 4)
    table = menu.table(budgets)
    assert table.cost.tolist() == [10, 20, 30, 40, 60, 120]
    assert table.budgets == ("small x1", "small x2", "large x1", "small x4", "large x2", "large x4")
    for column, (name, b) in enumerate(menu.arms(budgets)):
        own = menu.models[name].table(budgets)
        assert np.array_equal(table.acc[:, column], own.acc[:, budgets.index(b)])
    for budget in (12, 25, 70):
        expected = lp_solution(table.acc, table.cost, budget).value
        assert adalib.frontier(table).at(budget).bound == pytest.approx(expected, abs=1e-8)


def test_a_file_of_several_models_is_the_files_one_after_the_other(tmp_path):
    menu = two_models(n=6, samples=4)
    records = lines(menu)
    records[6:] = records[:5:-1]  # the second model's questions in another order
    found = adalib.load(write(tmp_path / "menu.jsonl", records))
    assert isinstance(found, Menu)
    assert list(found.models) == ["small", "large"]
    assert found.unit == {"small": 10, "large": 40}
    assert np.array_equal(found.table((1, 2)).acc, menu.table((1, 2)).acc)


def efforts(n=6, samples=4):
    """Lines of one model at two efforts: later questions are longer, most of all at the high
    effort."""
    records = lines(two_models(n, samples))
    for at, record in enumerate(records):
        high = at >= n
        length = 100 * (1 + at % n) * (5 if high else 1)
        record |= {"model": "m", "effort": "high" if high else "low", "price": 2 if high else 1}
        record["tokens"] = [length + extra for extra in range(samples)]
    return records


def test_every_question_pays_for_its_own_tokens_at_every_effort(tmp_path):
    records = efforts()
    menu = adalib.load(write(tmp_path / "efforts.jsonl", records))
    assert list(menu.models) == ["m low", "m high"]
    assert menu.per_question
    table = menu.table((1, 2))
    assert table.budgets == ("m low x1", "m low x2", "m high x1", "m high x2")
    own = [[b * record["price"] * np.mean(record["tokens"]) for b in (1, 2)] for record in records]
    assert np.array_equal(table.cost, np.hstack([own[:6], own[6:]]))
    halves = [half.table((1,)).cost for half in menu.split_samples(1)]
    assert np.allclose(np.mean(halves, axis=0), table.cost[:, ::2])
    assert not menu.priced({"m low": 1, "m high": 3}, per="samples").per_question
    assert menu.priced({"m low": 1, "m high": 3}).per_question


@given(st.lists(st.integers(1, 1000), min_size=12, max_size=12))
def test_own_costs_never_fall(tokens):
    plain = answers([0.5] * 4, 4, 0)
    drawn = np.array(tokens, dtype=float).reshape(3, 4)
    models = {
        name: replace(plain, tokens=np.repeat(row[:, None], 4, axis=1))
        for name, row in zip("abc", drawn, strict=True)
    }
    menu = Menu(models, per_question=True)
    columns = np.array([drawn["abc".index(name)] for name, _ in menu.arms((1,))]).T
    cost = menu.table((1,)).cost
    for paid, own in zip(cost, columns, strict=True):
        assert paid.tolist() == [max(own[: j + 1]) for j in range(3)]


def test_default_prices(tmp_path):
    records = lines(two_models(n=6, samples=4))
    plain = [{**record, "tokens": None, "price": 1} for record in records]
    assert adalib.load(write(tmp_path / "menu.jsonl", plain)).unit == {"small": 1, "large": 1}
    # A file that only notes its model is as it always was.
    one = adalib.load(write(tmp_path / "one.jsonl", records[:6]))
    # Other questions, other model.
    parts = adalib.load(write(tmp_path / "parts.jsonl", records[:3] + records[9:]))
    assert (type(one), type(parts)) == (adalib.Responses, adalib.Responses)
    assert parts.extras["model"] == ["small"] * 3 + ["large"] * 3


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda r: r[7].pop("model"), 'line 8: has no "model"'),
        (lambda r: r[7].update(price=3), "line 8: \"price\" is 3, and was 2 for 'large'"),
        (lambda r: r[7].update(price=-1), 'line 8: "price" is -1'),
        (lambda r: r[7].update(price=0), 'line 8: "price" is 0'),
        (lambda r: r.pop(), "question 'q5' is not answered by both 'small' and 'large'"),
        (lambda r: r[7].update(question="Another?"), "has other questions than the first model"),
        (lambda r: r.append(dict(r[7])), "id 'q1' is already on line 8"),
    ],
)
def test_a_bad_menu_is_one_sentence(change, message, tmp_path):
    records = lines(two_models(n=6, samples=4))
    change(records)
    with pytest.raises(adalib.DataError) as error:
        adalib.load(write(tmp_path / "menu.jsonl", records))
    assert message in str(error.value)
    assert "\n" not in str(error.value)


def test_prices_must_fit_the_models():
    menu = two_models(n=4, samples=4)
    for prices in ({"small": 1}, {"small": 1, "large": 0}, {"small": 1, "large": float("nan")}):
        with pytest.raises(adalib.DataError):
            menu.priced(prices)
    without = Menu({"a": answers([0.5] * 3, 4, 0)})
    with pytest.raises(adalib.DataError, match="no tokens"):
        without.priced({"a": 1}, per="tokens")
    with pytest.raises(adalib.DataError, match="a has no tokens"):
        replace(without, per_question=True)
    with pytest.raises(adalib.DataError, match="at least one model"):
        Menu({})


def test_halves_cost_what_the_whole_costs():
    menu = two_models(n=10, samples=8)
    menu.models["small"].tokens[:, :4] = 1  # the mean is fixed when the menu is made
    first, second = menu.split_samples(3)
    assert (
        first.table((1, 2)).cost.tolist()
        == second.table((1, 2)).cost.tolist()
        == menu.table((1, 2)).cost.tolist()
    )
    assert menu.take([2, 5]).ids == ["q2", "q5"]
    assert menu.take([2, 5]).unit == menu.unit


def test_a_menu_of_one_model_is_evaluated_like_the_model():
    alone = answers([0.2, 0.5, 0.8] * 4, 8, 5)
    one, plain = (
        held_out(of, [1.5, 3], (1, 2, 4), noises=0, protocol=Protocol(folds=2))
        for of in (Menu({"it": alone}), alone)
    )
    found, expected = (
        [(r.policy, r.cost, r.accuracy, r.gain) for r in rows] for rows in (one, plain)
    )
    assert found == expected


def test_held_out_learns_whom_to_ask():
    """The text tells which questions the small model cannot answer: a policy that reads it asks the
    large one there."""
    rows = held_out(two_models(), [25], budgets=(1, 2, 4), noises=1)
    found = {row.policy: row for row in rows}
    assert found["oracle"].gain_low > 0.05
    assert found["curve"].gain_low > 0.05
    assert abs(found["noise"].gain) < 0.05
    with pytest.raises(ValueError, match="menu"):
        held_out(
            two_models(),
            [40],
            budgets=(1, 2),
            features=PaidFeatures(first=answers([0.5] * 40, 1, 0)),
        )


def test_commands_take_a_menu(tmp_path, capsys, monkeypatch):
    file = str(write(tmp_path / "menu.jsonl", lines(two_models(n=12, samples=8))))
    assert main(["solve", file, "--budget", "25", "--budgets", "1,2,4", "--json"]) == 0
    found = json.loads(capsys.readouterr().out)
    assert set(found["labels"].values()) <= {
        f"{m} x{b}" for m in ("small", "large") for b in (1, 2, 4)
    }
    assert found["cost"] <= 25
    assert "large x1" in found["labels"].values()
    few = {"label": adalib.LabelPolicy()}  # which learns in a moment
    monkeypatch.setattr("adalib.evaluate.compare.planning_policies", lambda: few)
    assert main(["evaluate", file, "--targets", "25,999", "--budgets", "1,2", "--json"]) == 0
    out, err = capsys.readouterr()
    assert {row["target"] for row in json.loads(out)["rows"]} == {25, 999}
    assert "target 999" in err
    assert "target 25" not in err


def test_every_model_may_have_a_cost_of_its_own():
    """An array, a function of the budgets, and one per question; cheapest first on average."""
    menu = two_models(n=4)
    own = np.array([[1.0, 9.0], [1.0, 9.0], [2.0, 9.0], [2.0, 9.0]])
    table = menu.table([1, 2], cost={"small": lambda b: 1 + b, "large": own})
    assert table.budgets == ("large x1", "small x1", "small x2", "large x2")
    assert table.cost.tolist() == [[1, 2, 3, 9], [1, 2, 3, 9], [2, 2, 3, 9], [2, 2, 3, 9]]
    plain = menu.table([1, 2], cost={"small": [1, 2], "large": [4, 5]})
    assert plain.cost.tolist() == [1, 2, 4, 5]
    with pytest.raises(adalib.DataError, match="no cost for large"):
        menu.table([1, 2], cost={"small": [1, 2]})
