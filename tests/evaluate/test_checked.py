"""Holding out policies for checked answers: knowing, noise, the bar, and the command."""

import json

import numpy as np
import pytest

from adalib import Passes, load_passes
from adalib.cli import main
from adalib.evaluate.checked import _Trial, checked_rows, checked_verdict


@pytest.fixture(scope="module")
def drawn():
    rng = np.random.default_rng(0)
    p = rng.beta(0.4, 0.8, size=400)
    return p, Passes(rng.binomial(40, p), 40)


@pytest.fixture(scope="module")
def found(drawn):
    p, passes = drawn
    return {
        name: {row.policy: row for row in checked_rows(passes, [1.5], features=features)}
        for name, features in (
            ("knows", p[:, None]),
            ("noise", np.random.default_rng(1).normal(size=(400, 2))),
        )
    }


def test_a_feature_that_knows_the_chance_reaches_the_oracle_and_noise_does_not(found):
    knows, noise = found["knows"], found["noise"]
    assert list(knows) == ["oracle", "mix", "fixed", "first_pass", "text", "priced", "noise"]
    assert knows["oracle"].gain_low > 0.03
    for policy in ("text", "priced"):
        assert knows[policy].gain > 0.8 * knows["oracle"].gain
        assert noise[policy].gain < 0.1 * knows["oracle"].gain
    assert checked_verdict(list(knows.values()))[0] == "pays"
    assert checked_verdict(list(noise.values()))[0] != "pays"


def test_what_knowing_is_worth_does_not_hang_on_a_deal():
    passes = load_passes("game24-cot").take(np.arange(50))
    worth = []
    for seed in range(6):
        trial = _Trial(passes, 50, [10.0], np.arange(50), seed)
        worth.append(trial.oracle()[0][1].mean())
    assert np.std(worth) < 0.005


def test_attempts_that_cost_nothing_are_refused():
    with pytest.raises(ValueError, match="all its tokens are 0"):
        checked_rows(Passes([1, 2] * 10, 4, paid=np.zeros((20, 2))))


def test_what_looks_at_nothing_gains_nothing_over_the_bar(found):
    for rows in found.values():
        for policy in ("fixed", "mix", "first_pass"):
            assert rows[policy].gain < 1e-9
        assert rows["noise"].gain < 0.01
        assert rows["mix"].gain < -0.02  # so against it, stopping alone would seem to pay


def test_the_bar_is_the_best_common_cap_at_the_cost(drawn, found):
    _, passes = drawn
    caps = np.arange(41)
    cost, solved = passes.cost(caps).mean(axis=0), passes.solved(caps).mean(axis=0)
    for row in found["noise"].values():
        assert row.mix_accuracy == pytest.approx(np.interp(row.cost, cost, solved), abs=1e-9)
        assert row.gain == pytest.approx(row.accuracy - row.mix_accuracy)
        assert row.cost == pytest.approx(1.5, abs=0.2) or row.policy == "fixed"


def written(path, passed, attempts, **fields):
    path.write_text(
        "\n".join(
            json.dumps({"id": i, "passes": int(c), "attempts": attempts, **fields})
            for i, c in enumerate(passed)
        )
    )
    return str(path)


@pytest.mark.parametrize("flag", [["--checked"], []])
def test_the_command_prints_one_object(tmp_path, capsys, flag):
    file = written(tmp_path / "own.jsonl", [0, 3, 10, 8] * 5, 10, checked=True)
    assert main(["evaluate", file, "--targets", "1.5,2", "--json", *flag]) == 0
    found = json.loads(capsys.readouterr().out)
    assert [row["policy"] for row in found["rows"]].count("priced") == 2
    assert found["word"] in ("pays", "does not pay", "cannot tell")
    assert {"policy", "target", "cost", "accuracy", "low", "high", "mix_accuracy", "gain"} <= set(
        found["rows"][0]
    )


@pytest.mark.parametrize(
    ("passed", "options", "words"),
    [
        ([1] * 5, [], "10 questions"),
        ([1] * 20, ["--targets", "-1"], "target -1"),
        ([1] * 20, ["--report", "x.html"], "--report"),
        ([1] * 20, ["--groups", "kind"], "kind"),
        ([11] * 20, [], "line 1"),
    ],
)
def test_what_cannot_be_evaluated_is_said_in_a_line(tmp_path, capsys, passed, options, words):
    file = written(tmp_path / "own.jsonl", passed, 10)
    assert main(["evaluate", file, "--checked", *options]) == 2
    said = capsys.readouterr()
    assert not said.out
    assert words in said.err
    assert said.err.count("\n") == 1


def test_a_check_that_says_yes_to_everything_leaves_nothing_to_gain(tmp_path, capsys):
    file = written(tmp_path / "own.jsonl", [10] * 20, 10)
    assert main(["evaluate", file, "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rows"]
    assert all(abs(row["gain"]) < 1e-9 for row in rows)
