"""What chapters say of their data and of recorded rows, where the page shows the numbers and no
line of it compares them."""

from __future__ import annotations

from itertools import combinations, pairwise

import numpy as np
import pytest

import adalib
from adabook import board
from adabook.paper import models
from adabook.recorded import recorded, recorded_cells


@pytest.mark.parametrize("name", ["gsm8k-qwen15", "math-qwen15"])
def test_motivation_every_kind_occurs_and_the_oracle_is_ahead(name):
    answers = adalib.load(name)
    table = answers.table()
    kinds, counts = np.unique(adalib.archetypes(table), return_counts=True)
    assert set(kinds) == {"easy", "responsive", "diminishing", "hard"}
    assert kinds[counts.argmax()] == "hard"
    found = adalib.cross_fitted_oracle(answers, targets=[2, 4, 8])
    for target, accuracy in zip(found.targets, found.accuracy.T, strict=True):
        mix = adalib.best_mix(table.acc, table.cost, target).expected(table.acc)
        assert adalib.mean_interval(accuracy - mix).low > 0


def test_race_quicker_than_one_answer_and_between_parallel_and_one_by_one():
    record = {
        part: {(row["policy"], row["budget"]): row for row in rows}
        for part, rows in recorded("race").items()
    }

    def races(benchmark):
        return [
            cells["race", 2]
            for part, cells in record.items()
            if part.startswith(benchmark) and ("race", 2) in cells
        ]

    def lead(benchmark, rival):
        return np.mean([race["over"][rival] for race in races(benchmark)], axis=0)

    for benchmark in ("aime-", "gpqa-", "math500-"):
        assert np.mean([race["waiting"][0] for race in races(benchmark)]) < 1
        assert lead(benchmark, "parallel")[0] > 0 > lead(benchmark, "one by one, with lengths")[0]
    assert lead("aime-", "parallel")[1] > 0
    assert lead("aime-", "one by one, with lengths")[2] > 0  # an interval that includes zero
    # Short answers are the worse ones on GSM8K: there a race that must be quick loses, and the
    # other shows no gain.
    assert record["gsm8k"]["race, waiting at most 0.9", 2]["over"]["parallel"][2] < 0
    assert record["gsm8k"]["race", 2]["over"]["parallel"][1] <= 0


def test_stopping_a_watcher_passes_the_cross_fitted_oracle_of_gpt_4o_mini():
    found = models.frame()
    found = found[(found.paid == "answers") & (found.taught == 1000)]
    by_policy = found.set_index(["set", "policy", "target"]).sort_index()
    for target in (1.5, 2, 3):
        every = by_policy.loc["gsm8k-gpt4omini", "all signals", target]
        in_sample = by_policy.loc["gsm8k-gpt4omini", "oracle_in_sample", target]
        assert every.lead > -0.001  # about as much as the oracle, or more
        assert every.gain < in_sample.gain + 0.001  # it hardly leaves the band
        for name in ("gsm8k-1.5b", "math-1.5b"):
            assert by_policy.loc[name, "votes", target].lead_high < 0


def test_menus_what_stopping_gains_with_every_model():
    record = recorded_cells("menus")
    by_answer = {part: cells for part, cells in record.items() if part.endswith("answers")}
    few = by_answer.pop("otis-deepseek-v3, answers")["votes", 2]
    assert few["gain_low"] < 0 < few["gain_high"]  # 45 questions show nothing
    for part, cells in by_answer.items():
        votes, by_token = cells["votes", 2], record[part.replace("answers", "tokens")]
        assert by_token["votes", 2]["gain"] < votes["gain"] < 0.031
        if part.startswith("math500"):
            assert votes["gain"] < 0.01
            assert 3.5 < votes["mix_cost"] < 4.7
    mini = by_answer["gsm8k-gpt4omini, answers"]
    assert mini["votes", 2]["gain"] > 0.9 * mini["oracle", 2]["gain"]
    gpqa = [cells for part, cells in by_answer.items() if part.startswith("gpqa")]
    none, *half = sorted(cells["votes", 2]["gain"] / cells["oracle", 2]["gain"] for cells in gpqa)
    assert none < 0.15
    assert all(0.4 < share < 0.6 for share in half)


def test_menus_a_moved_policy_keeps_its_gain_and_misses_its_budget():
    moves = [
        {row["way"]: row for row in rows if (row["policy"], row["target"]) == ("priced", 4)}
        for rows in recorded("transfer").values()
    ]
    assert len(moves) == 8
    assert all(move["as it is"]["gain"] > 0 for move in moves)
    assert max(abs(move["as it is"]["cost"] / 4 - 1) for move in moves) > 0.5
    assert max(abs(move["refit"]["cost"] / 4 - 1) for move in moves) < 0.05


def test_menus_nobody_who_must_guess_gains_by_effort():
    whole = [found for part, found in recorded_cells("effort").items() if part.count(", ") > 1]
    middle = [(found, sorted({target for _, target in found})[1]) for found in whole]
    clear = [found["oracle", target]["gain_low"] > 0 for found, target in middle]
    assert (len(clear), sum(clear)) == (5, 3)
    assert all(found["agreement", target]["gain_low"] <= 0 for found, target in middle)


def test_models_at_equal_tokens_thinking_longer_is_ahead_or_level():
    """Every plan at the lower effort, of any two numbers of answers by lot, tried by hand."""
    ahead = 0
    for name in ("gpqa-gpt-5.2", "gpqa-claude-opus-4.5", "aime-gpt-5.2", "aime-claude-opus-4.5"):
        efforts = list(adalib.load(f"effort-{name}").models.values())
        for lower, higher in pairwise(efforts):
            answers = min(higher.tokens.mean() / lower.tokens.mean(), 8)
            acc = lower.table(range(1, 9)).acc
            plans = [
                acc[:, few - 1]
                + (answers - few) / (many - few) * (acc[:, many - 1] - acc[:, few - 1])
                for few, many in combinations(range(1, 9), 2)
                if few <= answers <= many
            ]
            best = max(plans, key=np.mean)
            lead = adalib.mean_interval(higher.values.mean(axis=1) - best)
            assert lead.high > 0, name
            ahead += lead.low > 0
    assert ahead == 5


def test_verdict_two_agree_is_level_with_the_price_where_the_model_is_strong():
    for name in ("gsm8k-gpt4omini", "math500-gpt-oss-20b"):
        two = next(row for row in board.rows(name) if row.policy == "TwoAgree")
        assert two.over["votes"][1] < 0 < two.over["votes"][2]


def test_checked_knowing_is_worth_more_than_reading_and_random_numbers_are_worth_nothing():
    for part, rows in recorded("checked").items():
        if part in ("recipe", "second model"):
            continue
        low = min(row["target"] for row in rows)
        row = {one["policy"]: one for one in rows if one["target"] == low}
        assert row["oracle"]["gain_low"] > 0.01, part
        assert row["noise"]["gain"] < 0.003, part
        if "text" in row:
            assert row["text"]["gain"] < 0.2 * row["oracle"]["gain"], part
        if part.endswith("-qwen15"):
            assert row["text"]["gain_low"] > 0, part
        else:
            assert row["priced"]["gain"] < 0.003, part


def test_checked_the_recorded_bars_are_those_of_the_counts():
    for part in ("codecontests", "game24-cot", "math-qwen7b", "gsm8k-gpt4omini"):
        passes = adalib.load_passes(part)
        caps = np.arange(passes.samples + 1)
        cost, solved = passes.cost(caps).mean(axis=0), passes.solved(caps).mean(axis=0)
        for row in recorded("checked")[part]:
            bar = np.interp(row["cost"], cost, solved)
            assert row["mix_accuracy"] == pytest.approx(bar, abs=2e-4)


def test_checked_the_recipe_gains_little_and_random_numbers_nothing():
    rows = {row["policy"]: row for row in recorded("checked")["recipe"]}
    assert rows["features"]["gain_low"] > 0
    assert rows["features"]["gain"] < 0.25 * rows["oracle"]["gain"]
    assert abs(rows["random numbers"]["gain"]) < 0.001
    assert rows["features and level"]["gain"] > rows["features"]["gain"]
