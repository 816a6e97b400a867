"""The numbers of the paper next to ours, and the verdicts: every check is tried on the record that
it came from, and on sources that were changed so that the verdict must fall."""

from __future__ import annotations

import copy
import json
import re
from dataclasses import replace
from itertools import combinations

import numpy as np
import pytest
import record_referee
from conftest import ROOT
from referee import claims, rows
from referee.sources import COUNTED, MATH, ON_MATH, Sources

import adabook.paper
import adalib
from adabook.paper import referee, theorems
from adabook.paper.referee import CLAIMS, ITEMS, VERDICTS, Cell
from adalib.datasets.populations import Population, flat_null

# Items with numbers outside their tolerance, which the page names and explains.
PARTLY = {"Table of classifiers", "Figure of budgets by level", "Figure of archetypes"}


# What would have to be otherwise for a verdict to fall: a function that changes its sources.


def printed(change):
    """The printed tables, changed in place in a copy."""

    def changed(s: Sources) -> Sources:
        copied = {
            name: copy.deepcopy(dict(getattr(s, name)))
            for name in ("tables", "ablations", "sentences")
        }
        change(Sources(**copied))
        return replace(s, **copied)

    return changed


def in_every_setting(change):
    """A change of every setting's printed tables."""
    return printed(lambda s: [change(table) for table in s.tables.values()])


def drawn_from(population):
    """Answers to as many questions as before, with their texts, drawn from another population."""

    def changed(s: Sources) -> Sources:
        def answers(name):
            real = s.answers(name)
            drawn = population(real).sample(real.samples, 0)
            return replace(drawn, questions=real.questions, ids=real.ids)

        return replace(s, answers=answers)

    return changed


def all_alike(real):
    return flat_null(real.n)


def certain(real):
    """Every question is always or never right, so that luck has no part."""
    chance = (np.arange(real.n) % 2).astype(float)
    return Population(np.column_stack([chance, 1 - chance]), np.zeros(real.n, dtype=int))


def with_shuffled_texts(s: Sources) -> Sources:
    def answers(name):
        real = s.answers(name)
        order = np.random.default_rng(0).permutation(real.n)
        return replace(real, questions=tuple(real.questions[i] for i in order), extras={})

    return replace(s, answers=answers)


def with_texts_that_tell(s: Sources) -> Sources:
    """The longer a text, the more do four answers add."""

    def answers(name):
        real = s.answers(name)
        acc = real.table((1, 4)).acc
        place = np.argsort(np.argsort(acc[:, 1] - acc[:, 0])).tolist()
        texts = tuple("word " * (1 + number // 4) for number in place)
        return replace(real, questions=texts, extras={})

    return replace(s, answers=answers)


def recorded(change):
    """A recorded table, changed in place in a copy."""

    def changed(s: Sources) -> Sources:
        def record(part):
            found = s.record(part).copy()
            change(found)
            return found

        return replace(s, record=record)

    return changed


def gains(change):
    """What the policies gain, by set and policy, changed in place in a copy."""

    def changed(s: Sources) -> Sources:
        worth = s.worth.copy()
        change(worth)
        other = replace(s)
        other.__dict__["worth"] = worth
        return other

    return changed


def add(policy, points):
    def change(worth):
        here = worth.index.get_level_values("policy") == policy
        worth.loc[here, ["gain", "low", "high"]] += points / 100

    return change


def other_statement(name):
    """A theorem that says the opposite of what it measures."""

    def changed(s: Sources) -> Sources:
        def opposite(case):
            real = s.statements[name](case)
            turned = [
                theorems.at_most(line.text, line.right + 1e-3, line.left)
                for line in (*real.printed, *real.corrected)
            ]
            return real._replace(printed=tuple(turned), corrected=())

        return replace(s, statements={**s.statements, name: opposite})

    return changed


def nothing_left_over(name):
    """Budgets that the oracle spends to the last cent, where the clause is not needed."""

    def changed(s: Sources) -> Sources:
        def without_slack(case):
            oracle = adalib.oracle_labels(case.acc, case.cost, case.lam)
            wide = np.broadcast_to(case.cost, case.acc.shape)
            spent = wide[np.arange(len(wide)), oracle].mean()
            labels = oracle if name == "Theorem 3" else case.labels
            return s.statements[name](replace(case, budget=spent, labels=labels))

        return replace(s, statements={**s.statements, name: without_slack})

    return changed


def set_to(*path, value):
    """An entry of a setting's tables, by its path."""

    def change(table):
        *way, last = path
        for key in way:
            table = table[key]
        table[last] = value(table[last]) if callable(value) else value

    return change


def all_rows_of(method, value):
    return set_to("main", method, "accuracy", value=value)


def levels_that_mix(s):
    for name in ON_MATH:
        levels = [row["acc1"] for row in s.tables[name]["per_level"].values()]
        s.tables[name]["main"]["Fixed"]["accuracy"][0] = np.dot(levels, [0.5, 0.25, 0.25])


def as_counted(s):
    answers = s.answers(COUNTED)
    levels = np.array(answers.levels)
    for level, row in s.tables["qwen2.5-7b-math"]["per_level"].items():
        row["acc1"] = answers.values[levels == type(answers.levels[0])(level)].mean()


#: Other answers, texts or statements: where the claim is otherwise, the verdict must be, too.
WORLDS = {
    "formulation": drawn_from(all_alike),
    "one price": other_statement("Everett"),
    "Theorem 1": other_statement("Theorem 1"),
    "weak duality": other_statement("Weak duality"),
    "Proposition 1": nothing_left_over("Proposition 1"),
    "Theorem 2": other_statement("Theorem 2"),
    "Theorem 3 (1)": other_statement("Theorem 3"),
    "Theorem 3 (2)": nothing_left_over("Theorem 3"),
    "oracle as bound": drawn_from(certain),
    "8 to 16 trials": drawn_from(certain),
    "predictable": with_shuffled_texts,
    "inverted U": lambda s: replace(s, nobody_gains=lambda: certain(flat_null(1000)).sample(48)),
    "a few dozen questions": with_texts_that_tell,
}
#: Wiring. A printed or recorded number is changed until an inequality turns: this shows that the
#: check reads the number, and says nothing about the claim.
WIRING = {
    "free compute": in_every_setting(set_to("lambda_sweep", "cost", -1, value=16.0)),
    "budget targeting": in_every_setting(set_to("lambda_sweep", "cost", value=[1.5, 2.0, 3.0])),
    "nine of nine": in_every_setting(set_to("lambda_sweep", "cost", value=[1.5, 2.0, 2.96])),
    "pipeline": gains(add("label", 2)),
    "base accuracy": printed(as_counted),
    "stratified": printed(levels_that_mix),
    "sixteen features": printed(
        lambda s: s.sentences.update(figure_features=s.sentences["listed_features"])
    ),
    "beats everyone": in_every_setting(all_rows_of("Ours", lambda row: [x + 0.01 for x in row])),
    "table as evidence": recorded(lambda found: found.__setitem__("accuracy", 0.5)),
    "relative gain": in_every_setting(set_to("main", "Ours", "cost", -1, value=2.0)),
    "points over Fixed": in_every_setting(set_to("claimed_gain", value=lambda x: x + 0.01)),
    "imitation": recorded(lambda found: found.__setitem__("imitation", 0.8)),
    "plateau at 3": in_every_setting(set_to("level_gain", value=[0.0, 0.0, 0.0])),
    "b = 2 is frequent": in_every_setting(
        set_to("label_shares", value=[[0.5, 0.3, 0.1, 0.1, 0.0]] * 3)
    ),
    "trees beat linear": gains(add("ranked", 2)),
    "8 to 25%": printed(lambda s: s.ablations["classifiers"]["gbm"].update(imitation=0.92)),
    "features are the bottleneck": gains(add("all text", -1)),
    "even importances": recorded(lambda found: found.__setitem__("noise_high", 0.2)),
}
FLIPS = WORLDS | WIRING


@pytest.mark.parametrize("claim", CLAIMS, ids=lambda claim: claim.name)
def test_a_verdict_falls_with_what_it_rests_on(claim):
    check = getattr(claims, claim.by)
    few = replace(Sources(), cases=70)
    found = check(few)
    assert found.holds, found.number
    assert re.search(r"\d", found.number)
    assert not check(FLIPS[claim.name](few)).holds
    assert claim.evidence.holds
    if "random cases" not in found.number:
        assert found.value == pytest.approx(claim.evidence.value, rel=1e-6)
        assert found.number == claim.evidence.number


def test_every_item_and_claim_has_a_function_of_its_own():
    for items in (ITEMS, CLAIMS):
        assert len({item.by for item in items}) == len(items)
    assert {claim.verdict for claim in CLAIMS} <= set(VERDICTS)


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.id)
def test_the_numbers_of_an_item_come_out_again(item):
    now = list(getattr(rows, item.by)())
    assert [cell.name for cell in now] == [cell.name for cell in item.cells]
    both = zip(now, item.cells, strict=True)
    assert all(new.ours == pytest.approx(old.ours, abs=1e-9) for new, old in both)
    assert all(cell.agrees for cell in now) == (item.id not in PARTLY)


def test_a_cell_agrees_within_its_tolerance():
    """At most 0.02 from 0.5, on the side that counts."""
    for relation, inside, outside in (("=", 0.52, 0.521), ("<=", 0.3, 0.53), (">=", 0.7, 0.4)):
        assert Cell("x", 0.5, inside, 0.02, relation).agrees
        assert not Cell("x", 0.5, outside, 0.02, relation).agrees


def test_the_printed_side_is_print():
    path = ROOT / "data" / "simulated" / "paper_tables.json"
    tables = json.loads(path.read_text(encoding="utf-8"))["settings"]
    cells = referee.cell_table().query("item == 'Table 1' and not name.str.contains('spread')")
    for cell in cells.itertuples():
        setting, method, target, part = re.fullmatch(
            r"(.+), (\w+), B = (.+): (\w+)", cell.name
        ).groups()
        place = ("1.5", "2", "3").index(target)
        assert cell.paper == tables[setting]["main"][method][part][place]


def test_levels_by_plain_counting():
    responses = adabook.paper.paper_setting("gpt-4o-mini-math")
    acc = responses.table(estimator="windows", ties="first").acc
    cells = referee.cell_table().set_index("name").ours
    for level in (2, 3, 4):
        values = [acc[i, 4] for i, found in enumerate(responses.levels) if found == level]
        ours = cells[f"gpt-4o-mini-math, level {level}: accuracy at b = 16"]
        assert ours == pytest.approx(sum(values) / len(values))


def test_labels_from_sixteen_trials_by_counting_pairs():
    """Another seed, and every pair of runs by itself."""
    table = Population.from_responses(adalib.load(MATH)).table()
    rng = np.random.default_rng(7)
    runs = [
        adalib.frontier(rng.binomial(16, table.acc) / 16, table.cost).at(3).labels
        for _ in range(12)
    ]
    agree = np.mean([np.mean(a == b) for a, b in combinations(runs, 2)])
    assert claims.trials(Sources()).value == pytest.approx(agree, abs=0.02)


def test_a_record_is_plain():
    assert record_referee.plain(Cell("x", np.float64(0.5), 0.4))["paper"] == 0.5
