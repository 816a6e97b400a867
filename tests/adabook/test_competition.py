"""A class competes: what the secret draws, what confines an entry, the controls and the places."""

from __future__ import annotations

import csv
import inspect
import json
import os
import re
import sys
from collections import Counter
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from confining import find_bubblewrap
from scipy import stats
from sklearn.ensemble import RandomForestRegressor

import adalib
from adabook import competition
from adabook.competition import RANDOM, SHUFFLED, Entry, Row, as_frame, placed, played, score
from adalib.datasets.loading import data_folder
from adalib.datasets.populations import beta_population
from adalib.evaluate.intervals import mean_interval
from adalib.sequential.watching import watch
from editions.__main__ import main as editions
from editions.competition import draw, own_answers, starter, world, write_competition

SECRET = "a sentence that only the teacher knows"
TWO = 2.0


class Lead:
    """Ask until one answer leads by two."""

    kind, closes = "watches", False

    def fit(self, answers):
        pass

    def more(self, seen):
        votes = Counter(one.answer for one in seen if one.answer).most_common(2)
        counts = [count for _, count in votes]
        return len(seen) < 6 and sum(counts[:1]) - sum(counts[1:]) < 2


class Shortest:
    """Ask twice, and return the shortest answer."""

    kind, closes = "watches", True

    def fit(self, answers):
        self.most = np.mean(answers.tokens)

    def more(self, seen):
        return len(seen) < 2 or (len(seen) < 3 and seen[-1].tokens > self.most)

    def answer(self, seen):
        return min(seen, key=lambda one: one.tokens).answer


class Line:
    """Fit a line by the first feature; four answers where it is high."""

    kind = "plans"

    def __init__(self, budget=TWO):
        self.budget = budget

    def fit(self, features, table):
        rise = table.acc[:, 2] - table.acc[:, 0]
        self.slope = np.polyfit(features.iloc[:, 0], rise, 1)[0]
        share = (self.budget - 1) / 3
        self.limit = np.quantile(self.slope * features.iloc[:, 0], 1 - share)

    def predict(self, features):
        return np.where(self.slope * features.iloc[:, 0] > self.limit, 2, 0)


def source(policy):
    """The file that somebody would hand in."""
    head = "import numpy as np\nfrom collections import Counter\nTWO = 2.0\n\n\n"
    return head + inspect.getsource(policy)


@pytest.fixture(scope="module", autouse=True)
def confined():
    """Without bubblewrap these tests fail, and say how to get it."""
    find_bubblewrap()


@pytest.fixture(scope="module")
def answers():
    """Answers to questions whose length tells how much they gain, with some tokens."""
    rng = np.random.default_rng(5)
    sampled = beta_population(240, 1.5, 1.5, seed=3).sample(32, seed=4)
    chance = sampled.values.mean(axis=1)
    texts = ["x" * int(100 * p * (1 - p)) + f" {i**3}" for i, p in enumerate(chance)]
    tokens = rng.integers(5, 300, sampled.values.shape).astype(float)
    return adalib.Responses(
        sampled.ids, texts, sampled.golds, sampled.answers, tokens=tokens, correct=sampled.values
    )


@pytest.fixture(scope="module")
def kept(answers, tmp_path_factory):
    """A folder as `make competition` leaves it."""
    folder = tmp_path_factory.mktemp("competition")
    write_competition(answers, SECRET, TWO, folder)
    return folder / "keep"


@pytest.fixture(scope="module")
def part(kept):
    return competition.read_part(kept)


def test_the_secret_draws_questions_and_orders(answers):
    first, again, other = (draw(answers, secret) for secret in (SECRET, SECRET, SECRET + "!"))
    for one, same in zip(first, again, strict=True):
        assert one.questions == same.questions
        assert one.answers == same.answers
    open_part, hidden = first
    assert sorted([*open_part.questions, *hidden.questions]) == sorted(answers.questions)
    assert abs(open_part.n - hidden.n) <= 1
    assert set(other[0].questions) != set(open_part.questions)
    row = {text: i for i, text in enumerate(answers.questions)}
    moved = 0
    for one in first:
        for i, text in enumerate(one.questions):
            old = row[text]
            # Every answer keeps its mark and its tokens, and only the order and the name are new.
            new_pairs = sorted(zip(one.tokens[i], one.values[i], strict=True))
            assert new_pairs == sorted(zip(answers.tokens[old], answers.values[old], strict=True))
            moved += list(one.tokens[i]) != list(answers.tokens[old])
            assert len(set(one.answers[i])) == len(set(answers.answers[old]))
    assert moved > 0.9 * answers.n


def test_a_name_does_not_tell_who_is_right_or_who_came_first(answers):
    names = [(row, gold) for one in draw(answers, SECRET) for row, gold in _rows(one)]
    shares = np.array([1 / len(set(row)) for row, _ in names])
    spread = np.sqrt((shares * (1 - shares)).sum())
    for called_a in ([gold == "A" for _, gold in names], [row[0] == "A" for row, _ in names]):
        assert abs(np.sum(called_a) - shares.sum()) < 4 * spread


def _rows(part):
    """The answers of every question that has a right one and a wrong one, with its gold."""
    for row, gold in zip(part.answers, part.golds, strict=True):
        if gold in row and len(set(row)) > 1:
            yield row, gold


def test_copies_of_a_question_stay_together(answers):
    texts = [text for text in answers.questions[:120] for _ in range(2)]
    twice = adalib.Responses(answers.ids, texts, answers.golds, answers.answers)
    open_part, hidden = draw(twice, SECRET)
    assert not set(open_part.questions) & set(hidden.questions)


@pytest.mark.parametrize("policy", [Lead, Shortest, Line])
def test_a_policy_does_the_same_inside_and_outside(policy, part):
    with Entry(source(policy), TWO) as entry:
        assert entry.kind == policy.kind
        confined = played(entry, part)
    at_home = played(policy(), part)
    np.testing.assert_array_equal(confined.cost, at_home.cost)
    np.testing.assert_array_equal(confined.accuracy, at_home.accuracy)
    assert confined.cost.std() > 0


def test_the_policies_of_this_file_gain_what_they_should(part, worlds):
    assert score(Lead(), worlds[0])[1].mean() > 0.01
    assert score(Line(), part)[1].mean() > 0.005


class Again(Lead):
    """Ask again until an answer can be read."""

    def more(self, seen):
        return len(seen) < 4 and not any(one.answer for one in seen)


def with_unreadable(answers):
    """Let one answer in ten be unreadable: whoever asks again after it gains, and honestly so."""
    lost = np.random.default_rng(0).random(answers.values.shape) < 0.1
    texts = np.where(lost, "", np.array(answers.answers)).tolist()
    return replace(answers, answers=texts, correct=np.where(lost, 0.0, answers.values))


def test_controls_gain_nothing_in_a_hundred_worlds():
    """Means of a hundred worlds, each with its own questions, answers and shuffles."""
    gains: dict[str, list[float]] = {"features": [], "labels": [], "golds": [], "readable": []}
    for seed in range(100):
        sampled = with_unreadable(beta_population(80, 1.5, 1.5, seed=seed).sample(16, seed=seed))
        chance = sampled.values.mean(axis=1)
        lengths = (100 * chance * (1 - chance)).astype(int)
        halves = []
        for rows in (np.arange(40), np.arange(40, 80)):
            some = sampled.take(rows)
            features = competition.pd.DataFrame({"length": lengths[rows]})
            table = some.table(competition.BUDGETS)
            halves.append(competition.Questions(features, some, table, np.arange(40)))
        world = competition.Part(*halves, TWO, seed)
        random, labels, golds = (
            world.with_random_features(),
            world.with_others_labels(),
            world.with_others_golds(),
        )
        # At a fixed share of questions, so that the mix has the same cost everywhere.
        gains["features"].append(score(Line(), random)[1].mean())
        gains["labels"].append(score(Line(), labels)[1].mean())
        gains["golds"].append(score(Lead(), golds)[1].mean())
        gains["readable"].append(score(Again(), golds)[1].mean())
    for name, found in gains.items():
        # The mix is chosen on the table that scores, so that nothing gains a little less.
        assert np.mean(found) <= 3 * stats.sem(found), name
        assert np.mean(found) > -0.02, name


MEMORY = '''
MEMORY = {memory!r}


class Memory:
    """Knows from elsewhere which questions gain."""

    def fit(self, features, table):
        pass

    def predict(self, features):
        return [MEMORY.get(str(row[:15].tolist()), 0) for row in features.to_numpy()]
'''
FILES = """
import os

FOUND = [
    os.path.join(root, name)
    for top in ("/work", "/tmp", "/home", "/root", {root!r}, {kept!r})
    for root, _, names in os.walk(top)
    for name in names
    if name in ("open.jsonl", "hidden.jsonl", "settings.json") or name.endswith(".jsonl.gz")
    or "adabook" in root and name.endswith(".py")
]


class Files:
    def fit(self, answers):
        if FOUND:
            raise ValueError(f"found {{FOUND[:3]}}")

    def more(self, seen):
        return len(seen) < 2
"""
PATCHES = """
import adalib.evaluate.intervals
import adalib.evaluate.scores
import __main__

adalib.sequential.alike.Alike.at = lambda *_: 0.0
adalib.evaluate.intervals.mean_interval = lambda *_: 1.0


class Patches:
    def fit(self, answers):
        __main__.Entrant.answer = lambda *_, **__: {"accuracy": 1.0}

    def more(self, seen):
        return len(seen) < 2
"""
FORKS = """
import os
import time

if os.fork() == 0:
    time.sleep(12345)


class Forks:
    def fit(self, answers):
        pass

    def more(self, seen):
        return len(seen) < 2
"""
AHEAD = '''
import gc

TRIES = iter(range(50))


class Ahead:
    """Search everything in memory for what comes next."""

    def fit(self, answers):
        pass

    def more(self, seen):
        if next(TRIES, None) is None:
            return len(seen) < 2
        paid = list(seen)
        longer = [
            one
            for one in gc.get_objects()
            if isinstance(one, (list, tuple)) and len(one) > len(paid)
            if all(isinstance(part, (list, tuple)) and len(part) == 3 for part in one)
            if all(isinstance(part[0], str) for part in one)
            if list(map(list, one[: len(paid)])) == list(map(list, paid))
        ]
        if longer and len(paid) == 1:
            raise ValueError(f"found {longer[0]}")
        return len(seen) < 2
'''
TWICE = """
class Twice:
    def fit(self, answers):
        pass

    def more(self, seen):
        return len(seen) < 2
"""


@pytest.fixture(scope="module")
def ranked(part, kept, answers, tmp_path_factory):
    """A class of honest entries, mistakes and five cheats, ranked."""
    entries = tmp_path_factory.mktemp("entries")
    best = adalib.frontier(answers.table(competition.BUDGETS)).at(TWO).labels
    features = competition.describe(None, answers.questions)
    memory = {str(row[:15].tolist()): int(c) for row, c in zip(features, best, strict=True)}
    files = {
        "twice": TWICE,
        "memory": MEMORY.format(memory=memory),
        "files": FILES.format(root=str(Path(competition.__file__).parents[2]), kept=str(kept)),
        "patches": PATCHES,
        "forks": FORKS,
        "ahead": AHEAD,
        "=cmd()<b>": TWICE,
        "long": TWICE + "#" * competition.LONGEST,
        "nothing": "print('hello')",
        "wrong": TWICE.replace("len(seen) < 2", "None"),
    }
    for name, text in files.items():
        (entries / f"{name}.py").write_text(text, encoding="utf-8")
    (entries / "link.py").symlink_to(kept / "hidden.jsonl")
    frame = competition.rank(entries, kept)
    return frame.set_index("entry")


def test_cheats_reach_nothing_and_get_the_row_of_what_they_do(ranked):
    numbers = ["gain", "low", "high", "answers", "right"]
    for name in ("files", "patches", "forks", "ahead"):
        assert ranked.loc[name, "notes"] == "", name
        assert list(ranked.loc[name, numbers]) == list(ranked.loc["twice", numbers]), name
    assert "link" not in ranked.index


def test_what_a_cheat_has_started_ends_with_it(ranked):
    started = [
        path
        for path in Path("/proc").glob("[0-9]*/cmdline")
        if b"getattr(entrant, method)" in _read(path)
    ]
    assert started == []


def _read(path):
    try:
        return path.read_bytes()
    except OSError:
        return b""


def test_mistakes_are_named_and_stop_nobody(ranked):
    notes = ranked.notes
    assert "has no policy" in notes["nothing"]
    assert "letters" in notes["long"]
    assert "True or False" in notes["wrong"]
    for name in ("nothing", "long", "wrong"):
        assert ranked.loc[name, "place"] == ""


def test_the_books_rows_stand_in_it(ranked):
    assert set(competition.BOOK.values()) <= set(ranked.index)


def test_what_is_written_is_escaped(ranked, kept):
    page = (kept.parent / "scoreboard.html").read_text(encoding="utf-8")
    assert "=cmd()&lt;b&gt;" in page
    assert "<b>" not in page
    with (kept.parent / "scoreboard.csv").open(encoding="utf-8") as table:
        entries = [row["entry"] for row in csv.DictReader(table)]
    assert "'=cmd()<b>" in entries
    assert len(entries) == len(ranked)


def test_a_memory_is_found_by_the_control_where_nothing_was_learned(part, answers):
    best = adalib.frontier(part.score.table).at(TWO).labels
    features = part.score.features.to_numpy()
    memory = {str(row[:15].tolist()): int(c) for row, c in zip(features, best, strict=True)}
    (found,) = competition.scored("memory", MEMORY.format(memory=memory), part)
    assert found.gains.mean() > 0.02
    assert [note for note in found.notes(TWO) if SHUFFLED in note]
    (honest,) = competition.scored("line", source(Line), part)
    assert honest.notes(TWO) == []
    assert set(honest.controls) == {RANDOM, SHUFFLED}


def test_a_policy_that_reads_the_golds_is_found_by_shuffled_golds():
    row = Row(
        entry="reads",
        kind="watches",
        cost=np.ones(50),
        gains=np.full(50, 0.1),
        controls={SHUFFLED: np.linspace(0.05, 0.15, 50)},
    )
    chance = Row(entry="luck", cost=np.ones(50), controls={RANDOM: np.linspace(-0.1, 0.13, 50)})
    assert "shuffled golds" in row.notes(TWO)[0]
    assert chance.notes(TWO) == []


REMEMBERS = """
MET = set()

class Remembers:
    def fit(self, answers):
        pass

    def more(self, seen):
        met_before = seen[0].tokens in MET
        MET.add(seen[0].tokens)
        return met_before and len(seen) < 2
"""


def test_nothing_is_remembered_from_another_order(part):
    """Who has met a question in another order asks twice; nobody has."""
    few = part.score.answers.take(range(20))
    few = replace(few, tokens=np.repeat(np.arange(20.0)[:, None] + 1, few.samples, axis=1))
    with Entry(REMEMBERS, TWO) as entry:
        entry.fit(few)
        assert watch(competition._Voting(entry), few, 8, orders=3).cost.mean() == 1


def test_a_file_with_two_policies_has_a_row_for_each(part):
    rows = competition.scored("both", TWICE + TWICE.replace("Twice", "Again"), part)
    assert [row.entry for row in rows] == ["both: Twice", "both: Again"]
    assert not any(row.fault for row in rows)
    (out,) = competition.scored("out", "raise SystemExit(0)", part)
    assert "SystemExit" in out.fault


def test_an_entry_that_never_answers_is_stopped(part, monkeypatch):
    """By the processor's time, or, if it sleeps, by the clock."""
    works = TWICE.replace("        pass", "        while True: pass")
    with pytest.raises(RuntimeError, match="7 seconds"), Entry(works, TWO, seconds=7) as entry:
        played(entry, part)
    monkeypatch.setattr(competition, "_PATIENCE", 1)
    sleeps = TWICE.replace("        pass", "        import time; time.sleep(1000)")
    with pytest.raises(RuntimeError, match="7 seconds"), Entry(sleeps, TWO, seconds=7) as entry:
        played(entry, part)


def test_a_busy_machine_does_not_shorten_an_entrys_time(part):
    """It waits longer than it may work, as it would beside others, and is scored all the same."""
    waits = TWICE.replace("        pass", "        import time; time.sleep(9)")
    with Entry(waits, TWO, seconds=8) as entry:
        assert played(entry, part).cost.mean() == 2


def rows_with(*gains, cost=1.0):
    """Rows whose mean gains are given, with one noise that they share."""
    noise = np.random.default_rng(1).normal(0, 0.3, 200)
    noise -= noise.mean()
    own = np.random.default_rng(2).normal(0, 0.02, (len(gains), 200))
    own -= own.mean(axis=1, keepdims=True)
    return [
        Row(entry=f"{gain:g}", cost=np.full(200, cost), gains=gain + noise + one)
        for gain, one in zip(gains, own, strict=True)
    ]


def test_rows_share_a_place_that_cannot_be_told_apart():
    """Differences of 0.001 drown in their noise of 0.028 / sqrt(200), those of 0.02 do not."""
    rows = rows_with(0.02, 0.05, 0.049, 0.0, 0.0505)
    found = {row.entry: place for place, row in placed(rows, TWO)}
    assert found == {"0.0505": "1", "0.05": "1", "0.049": "1", "0.02": "4", "0": "5"}
    assert [row.entry for _, row in placed(rows, TWO)] == ["0.0505", "0.05", "0.049", "0.02", "0"]


def test_a_tie_is_with_the_best_of_the_place_and_not_with_the_next():
    rows = rows_with(*(0.05 - 0.002 * i for i in range(8)))
    found = [(place, row) for place, row in placed(rows, TWO)]
    best = None
    for number, (place, row) in enumerate(found, 1):
        lead = None if best is None else best[1].gains - row.gains
        if lead is None or stats.ttest_1samp(lead, 0).pvalue < 0.05:
            best = (str(number), row)
        assert place == best[0]
    assert len({place for place, _ in found}) > 1


def test_who_spends_too_much_or_failed_has_no_place():
    (dear,) = rows_with(0.2, cost=2.5)
    # On these questions it spends a little more than the budget by chance.
    uneven = np.tile([1.0, 3.1], 100)
    (unlucky,) = rows_with(0.1)
    unlucky = Row(entry="unlucky", cost=uneven, gains=unlucky.gains)
    broken = Row(entry="broken", fault="raised KeyError")
    frame = as_frame([dear, broken, unlucky], TWO).set_index("entry")
    assert frame.place.to_dict() == {"unlucky": "1", "0.2": "", "broken": ""}
    assert frame.notes.to_dict() == {
        "unlucky": "",
        "0.2": "spends more than 2",
        "broken": "raised KeyError",
    }


class Same(Lead):
    """Ask everybody as often, whichever way one decides."""

    def __init__(self, kind, column):
        self.kind, self.column = kind, column

    def fit(self, *_):
        pass

    def predict(self, features):
        return np.full(len(features), self.column)

    def more(self, seen):
        return len(seen) < competition.BUDGETS[self.column]


@pytest.mark.parametrize("kind", ["plans", "watches"])
def test_the_gain_is_over_the_mix_of_the_same_cost(part, kind):
    """Asking everybody as often is a mix: it gains nothing, and asking once loses nothing."""
    for column in range(len(competition.BUDGETS)):
        gains = score(Same(kind, column), part)[1]
        assert gains.mean() <= 1e-9
        assert column or np.allclose(gains, 0)


def test_a_secret_of_ones_own_words_is_refused(tmp_path, monkeypatch, capsys):
    monkeypatch.setenv("OUT", str(tmp_path))
    monkeypatch.setenv("SECRET", "a sentence that you keep")
    assert editions(["competition"], tmp_path) == 2
    assert "guessed" in capsys.readouterr().err
    assert not (tmp_path / "hand-out").exists()


def test_the_kept_part_is_its_owners_alone(answers, tmp_path):
    (tmp_path / "keep").mkdir(mode=0o755)
    write_competition(answers, SECRET, TWO, tmp_path)
    assert (tmp_path / "keep").stat().st_mode & 0o077 == 0


class TestNothingToLookUp:
    def test_public_answers_are_refused(self, tmp_path):
        for public in (
            "gsm8k-gpt4omini",
            "gsm8k",
            data_folder() / "answers" / "gsm8k-gpt4omini.jsonl.gz",
        ):
            with pytest.raises(ValueError, match="public sets"):
                own_answers(str(public))
        few = adalib.load("word-fewshot").take(np.arange(5))
        few.save(tmp_path / "mine.jsonl")
        with pytest.raises(ValueError, match="5 of its questions"):
            own_answers(str(tmp_path / "mine.jsonl"))
        replace(few, questions=[f"Question {i} of mine?" for i in range(5)]).save(
            tmp_path / "own.jsonl"
        )
        assert own_answers(str(tmp_path / "own.jsonl")).n == 5

    def test_another_secret_draws_another_world(self):
        one, again, other = world("one"), world("one"), world("other")
        assert one.answers == again.answers
        assert one.questions[0].features == again.questions[0].features
        assert one.answers != other.answers
        assert not set(one.questions[0].features) & set(other.questions[0].features)

    def test_what_was_learned_in_another_world_is_worth_little_in_this_one(self, worlds):
        here, elsewhere = worlds
        own, brought = (
            mean_interval(score(Known(told.learn), here)[1]) for told in (here, elsewhere)
        )
        assert own.low > 0.005
        assert brought.mean < own.mean / 2
        watching = competition.book_row("margin", here).gains.mean()
        assert brought.high < watching

    def test_there_is_something_to_gain_by_reading_and_by_watching(self, worlds):
        part, _ = worlds
        rows = {
            name: competition.book_row(name, part) for name in ("curve", "margin", "priced_votes")
        }
        lows = {name: mean_interval(row.gains).low for name, row in rows.items()}
        assert min(lows.values()) > 0.005
        assert rows["priced_votes"].gains.mean() > rows["curve"].gains.mean()

    def test_the_starter_has_no_lead(self, worlds, tmp_path):
        part, _ = worlds
        for name, cls in starter_classes(part.budget, tmp_path).items():
            assert mean_interval(score(cls(budget=part.budget), part)[1]).low <= 0, name


class Known:
    """A table of what the questions of some world gain, brought along; it learns nothing here."""

    kind = "plans"

    def __init__(self, told):
        gain = told.table.acc[:, 2] - told.table.acc[:, 0]
        forest = RandomForestRegressor(200, min_samples_leaf=10, random_state=0)
        self.forest = forest.fit(told.features.to_numpy(), gain)

    def fit(self, features, table):
        pass

    def predict(self, features):
        gain = self.forest.predict(features.to_numpy())
        return np.where(gain > np.quantile(gain, 1 / 3), 2, 0)


@pytest.fixture(scope="module")
def worlds(tmp_path_factory):
    """The parts of two classes, each drawn from its own secret."""
    parts = []
    for secret in ("one", "other"):
        folder = tmp_path_factory.mktemp(secret)
        write_competition(world(secret), secret, 3.0, folder)
        parts.append(competition.read_part(folder / "keep"))
    return parts


def starter_classes(budget, folder):
    """The classes that the starter notebook writes, ready to be scored."""
    open_part = adalib.beta_population(4, 1, 1).sample(4)
    found = {}
    for cell in starter(open_part, budget).cells:
        magic = re.match(r"%%writefile \w+\.py\n", cell.source)
        space: dict = {}
        if magic:
            exec(cell.source[magic.end() :], space)
        found |= {name: one for name, one in space.items() if isinstance(one, type)}
    for one in found.values():
        one.kind = "plans" if hasattr(one, "predict") else "watches"
        one.closes = False
    assert {one.kind for one in found.values()} == {"plans", "watches"}
    return found


def test_too_few_questions_are_refused(answers):
    with pytest.raises(ValueError, match="200 or more"):
        draw(answers.take(np.arange(150)), SECRET)


def test_what_is_handed_out_holds_nothing_that_is_scored(kept):
    out = kept.parent / "hand-out"
    hidden = [json.loads(line) for line in (kept / "hidden.jsonl").read_text().splitlines()]
    handed = "".join(path.read_text(encoding="utf-8") for path in out.iterdir())
    assert {path.name for path in out.iterdir()} == {"open.jsonl", "starter.ipynb"}
    assert not [line for line in hidden if json.dumps(line["question"]) in handed]
    assert SECRET not in handed


def test_the_starter_runs(kept, tmp_path, monkeypatch, capsys):
    open_part = adalib.load(kept.parent / "hand-out" / "open.jsonl")
    monkeypatch.chdir(tmp_path)
    monkeypatch.syspath_prepend(str(tmp_path))
    os.symlink(kept.parent / "hand-out" / "open.jsonl", "open.jsonl")
    space: dict = {}
    for cell in starter(open_part, TWO).cells:
        if cell.cell_type != "code":
            continue
        magic = re.match(r"%%writefile (\w+\.py)\n", cell.source)
        if magic:
            (tmp_path / magic[1]).write_text(cell.source[magic.end() :], encoding="utf-8")
        else:
            exec(cell.source, space)
    printed = capsys.readouterr().out
    assert {"FirstFeature", "AsManyForAll", "noise"} <= {
        line.split()[0] for line in printed.splitlines()
    }
    for name in ("my_plan", "my_watch"):
        sys.modules.pop(name, None)
