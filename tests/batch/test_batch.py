"""Rounds in batches: nothing is lost or paid twice, and the votes are those of a replay."""

import json
import random
from dataclasses import replace
from itertools import count
from pathlib import Path

import numpy as np
import pytest
from batch_server import PLACE, BatchServer, Worker, chaotic

from adalib import PricedRace, PricedStopping, Router, beta_population, same_answer
from adalib.ask.collect import EndpointError
from adalib.batch.job import Votes, batch
from adalib.batch.ledger import TRIES
from adalib.batch.lines import in_parts, read_result
from adalib.datasets.files import DataError, held
from adalib.sequential.replay import REPLAYS

SCHEDULE = (2, 5, 16)
PRICES = (1000.0, 2000.0)  # dollars for a million tokens, so that small jobs cost something


@pytest.fixture(scope="module")
def policy():
    teach = beta_population(200, 1.5, 1.2, seed=3).sample(16, seed=4)
    return PricedStopping(("votes",), schedule=SCHEDULE, repeats=4).fit(teach)


@pytest.fixture(scope="module")
def answers():
    return beta_population(12, 1.5, 1.2, seed=5).sample(16, seed=6)


@pytest.fixture
def router(policy, tmp_path):
    folder = tmp_path / "router"
    Router(policy, None, 3.5, {"tokens": 9.0}).save(folder)
    return folder


@pytest.fixture
def questions(answers, tmp_path):
    path = tmp_path / "questions.jsonl"
    rows = [
        {"id": name, "question": f"How many {name}? ü", "gold": gold}
        for name, gold in zip(answers.ids, answers.golds, strict=True)
    ]
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return path


def worker(answers, order=None, **options):
    """A model that gives the answers of a file, in its order or in another."""

    def text(question, copy):
        given = answers.answers[question]
        return f"I think so.\nAnswer: {given[copy if order is None else order[question][copy]]}"

    return Worker(text, **options)


def step(router, questions, out, **options):
    return batch(router, questions, out, **({"model": "m"} | options))


def files_to_send(out):
    return sorted(Path(out).glob("round-*/part-*.jsonl"))


def returned(out, model, rng=None, done=None):
    """Let a model work on every file that it has not seen, and put its files into the folder."""
    done = set() if done is None else done
    for part in files_to_send(out):
        if part in done:
            continue
        done.add(part)
        for name, found in zip(("out", "err"), model.work(part.read_bytes()), strict=True):
            if rng is not None:
                rng.shuffle(found)
            if found:
                file = out / "received" / f"{part.parent.name}-{part.stem}-{name}.jsonl"
                file.write_text("\n".join(found), encoding="utf-8")
    return done


def finished(router, questions, out, model, rng=None, **options):
    """Run a job to its end; what never comes back is asked again."""
    done = set()
    for turn in range(100):
        path = step(router, questions, out, again=turn > 0, **options)
        if path is not None:
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
        done = returned(out, model, rng, done)
    raise AssertionError("the job does not end")


def test_votes_are_those_of_a_replay_of_the_same_answers(policy, answers, questions, tmp_path):
    """Every order of the replay is a job of its own; the replay shares ties, so this does too."""
    budget = float(policy.costs[len(policy.costs) // 2])  # of one member, so nothing is drawn
    folder = tmp_path / "router"
    Router(policy, None, budget, {}).save(folder)
    wanted = policy.replay(answers, [budget])
    shuffled = np.random.default_rng(1).permuted(np.tile(np.arange(16), (answers.n, 1)), axis=1)
    assert min(REPLAYS, answers.samples) == 16
    asked, right = np.zeros((2, 16, answers.n))
    for first in range(16):
        order = np.roll(shuffled, -first, axis=1)
        found = finished(folder, questions, tmp_path / f"job{first}", worker(answers, order))
        for number, row in enumerate(found):
            asked[first, number] = len(row["answers"])
            most = max(row["votes"].values(), default=0)
            leaders = [answer for answer, votes in row["votes"].items() if votes == most]
            right[first, number] = np.mean(
                [same_answer(answer, answers.golds[number]) for answer in leaders] or [0]
            )
            assert row["answer"] == (leaders[0] if leaders else "")
    np.testing.assert_allclose(asked.mean(axis=0), wanted.answers[:, 0])
    np.testing.assert_allclose(right.mean(axis=0), wanted.accuracy[:, 0])


def test_the_two_rules_of_a_budget_decide_in_their_shares(router, questions, policy, answers):
    found = finished(router, questions, router.parent / "job", worker(answers))
    mix = policy.mix(3.5)
    assert 0 < mix.share < 1
    members = Votes(Router.load(router), policy, [row["question"] for row in found]).members
    assert (members == mix.high).sum() == round(mix.share * answers.n)


@pytest.mark.parametrize("seed", range(6))
def test_whatever_comes_back_nothing_is_lost_and_nothing_asked_twice(
    router, questions, answers, tmp_path, seed
):
    rng = random.Random(seed)
    model = worker(answers, fault=chaotic(rng), vllm=seed % 2 == 1)
    found = finished(router, questions, tmp_path / "job", model, rng)
    assert [row["id"] for row in found] == list(answers.ids)
    assert max(model.billed.values()) == 1
    sent = [
        json.loads(line)["custom_id"]
        for part in files_to_send(tmp_path / "job")
        for line in part.read_text(encoding="utf-8").splitlines()
    ]
    assert len(sent) == len(set(sent))
    assert max(int(PLACE.search(name)[3]) for name in sent) <= TRIES
    for row in found:  # the answers that count are the model's own, each place once
        given = answers.answers[list(answers.ids).index(row["id"])]
        assert len(row["answers"]) <= 16
        assert set(row["answers"]) <= set(given)
        assert row["why"]


def test_a_faultless_job_has_the_same_votes_however_its_files_come(
    router, questions, answers, tmp_path
):
    plain = finished(router, questions, tmp_path / "plain", worker(answers))
    out = tmp_path / "parts"
    model = worker(answers)
    step(router, questions, out)
    done = set()
    for turn in range(200):
        for part in files_to_send(out):
            if part not in done:
                done.add(part)
                lines = model.work(part.read_bytes())[0]
                random.Random(turn).shuffle(lines)
                half = len(lines) // 2
                for name, some in (("b", lines[half:]), ("a", lines[: half + 1])):
                    file = out / "received" / f"{turn}{name}.jsonl"
                    file.write_text("\n".join(some))
                    path = step(router, questions, out)  # after every file, and once more
                path = step(router, questions, out)
        if path:
            break
    assert [json.loads(line) for line in path.read_text().splitlines()] == plain
    assert set(model.billed.values()) == {1}


def test_a_file_that_goes_again_takes_nothing_with_it(router, questions, answers, tmp_path):
    out = tmp_path / "job"
    step(router, questions, out)
    returned(out, worker(answers))
    step(router, questions, out)
    for file in (out / "received").iterdir():
        file.unlink()
    assert len(files_to_send(out)) == 2
    step(router, questions, out, again=True)
    assert all("-t1" in line for line in files_to_send(out)[0].read_text().splitlines())


class KilledError(BaseException):
    """The program ends here."""


def killed_at(monkeypatch, turn):
    """Let the program end before or after the ``turn``th file or folder takes its name."""
    steps = count()
    for module, name in (("pathlib.Path", "replace"), ("os", "replace")):
        real = getattr(Path if module == "pathlib.Path" else __import__("os"), name)

        def killing(*args, real=real):
            number = next(steps)
            if number == turn // 2 and turn % 2 == 0:
                raise KilledError
            result = real(*args)
            if number == turn // 2:
                raise KilledError
            return result

        monkeypatch.setattr(f"{module}.{name}", killing)


def test_a_job_that_is_killed_at_any_step_ends_with_the_same_answers(
    router, questions, answers, tmp_path, monkeypatch
):
    wanted = finished(router, questions, tmp_path / "plain", worker(answers))
    for turn in count():
        out = tmp_path / f"job{turn}"
        model = worker(answers)
        done, path, was_killed = set(), None, False
        with monkeypatch.context() as patch:
            killed_at(patch, turn)
            while path is None and not was_killed:
                try:
                    path = step(router, questions, out)
                    done = returned(out, model, done=done)
                except KilledError:
                    was_killed = True
        while path is None:
            path = step(router, questions, out)
            done = returned(out, model, done=done)
        assert [json.loads(line) for line in path.read_text().splitlines()] == wanted
        assert set(model.billed.values()) == {1}
        if not was_killed:
            break
    assert turn > 10


def submitted(router, questions, out, server, **options):
    """Run a job to its end against a Batch API."""
    for _ in range(100):
        path = step(router, questions, out, submit=True, base_url=server.url, **options)
        if path is not None:
            return [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    raise AssertionError("the job does not end")


@pytest.mark.parametrize("ends", ["completed", "expired", "cancelled"])
def test_a_batch_api_brings_the_same_votes(router, questions, answers, tmp_path, ends):
    wanted = finished(router, questions, tmp_path / "plain", worker(answers))
    with BatchServer(worker(answers)) as server:
        server.ends = ends
        server.cut = 40  # the first download of each output file
        assert submitted(router, questions, tmp_path / "job", server) == wanted
        assert set(server.worker.billed.values()) == {1}


@pytest.mark.parametrize("seed", range(3))
def test_a_batch_api_whose_connections_break_bills_no_line_twice(
    router, questions, answers, tmp_path, seed
):
    """Its work is done when the connection breaks, so asking again without looking would pay."""
    rng = random.Random(seed)
    with BatchServer(worker(answers, fault=chaotic(rng, 0.2))) as server:
        server.breaks = lambda path: rng.random() < 0.15
        for _ in range(300):
            try:
                path = step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
            except EndpointError:
                continue
            if path:
                break
            if not server.batches:
                continue
            ended = all(one["status"] == "completed" for one in server.batches.values())
            if ended and rng.random() < 0.2:  # what was cut out of its lines will not come
                step(router, questions, tmp_path / "job", again=True)
        assert path
        assert max(server.worker.billed.values()) == 1
        parts = [one["metadata"]["part"] for one in server.batches.values()]
        assert len(parts) == len(set(parts))


@pytest.mark.nightly
def test_a_submitting_program_that_is_killed_pays_for_nothing_twice(
    router, questions, answers, tmp_path, monkeypatch
):
    few = tmp_path / "few.jsonl"
    few.write_text("".join(questions.read_text(encoding="utf-8").splitlines(keepends=True)[:2]))
    wanted = finished(router, few, tmp_path / "plain", worker(answers))
    for turn in count():
        with BatchServer(worker(answers)) as server:
            was_killed = False
            with monkeypatch.context() as patch:
                killed_at(patch, turn)
                try:
                    found = submitted(router, few, tmp_path / f"job{turn}", server)
                except KilledError:
                    was_killed = True
            if was_killed:
                found = submitted(router, few, tmp_path / f"job{turn}", server)
            assert found == wanted
            assert set(server.worker.billed.values()) == {1}
        if not was_killed:
            break
    assert turn > 10


def test_what_is_still_worked_on_is_not_asked_again(router, questions, answers, tmp_path):
    with BatchServer(worker(answers)) as server:
        for _ in range(2):
            step(router, questions, tmp_path / "job", submit=True, again=True, base_url=server.url)
        assert len(server.batches) == 1
        assert len(files_to_send(tmp_path / "job")) == 1


def test_a_file_that_stays_cut_is_told_and_asked_again_on_demand(
    router, questions, answers, tmp_path
):
    with BatchServer(worker(answers)) as server:
        step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
        step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
        server.cut = 40
        with pytest.warns(UserWarning, match="--again"):
            step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
        server.fetched.clear()  # it is cut once more
        assert len(files_to_send(tmp_path / "job")) == 1
        step(router, questions, tmp_path / "job", submit=True, again=True, base_url=server.url)
        assert "-t2" in files_to_send(tmp_path / "job")[1].read_text()


def test_a_batch_that_was_refused_is_sent_again(router, questions, answers, tmp_path):
    with BatchServer(worker(answers)) as server:
        server.ends = "failed"
        step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
        step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
        with pytest.warns(UserWarning, match="the limit is used up"):
            step(router, questions, tmp_path / "job", submit=True, base_url=server.url)
        server.ends = "completed"
        assert submitted(router, questions, tmp_path / "job", server)
        assert set(server.worker.billed.values()) == {1}


def test_a_ceiling_holds_in_random_jobs(policy, tmp_path, capsys):
    """A hundred jobs here, a thousand at night; the server counts what it bills."""
    hold_ceilings(policy, tmp_path, range(100))


@pytest.mark.nightly
def test_a_ceiling_holds_in_a_thousand_random_jobs(policy, tmp_path, capsys):
    hold_ceilings(policy, tmp_path, range(100, 1100))


def hold_ceilings(policy, tmp_path, seeds):
    reached = refused = 0
    for seed in seeds:
        rng = random.Random(seed)
        sampled = beta_population(rng.randrange(1, 9), 1.2, 1.2, seed=seed).sample(16, seed=seed)
        file = tmp_path / f"{seed}.jsonl"
        rows = [{"id": name, "question": "word " * rng.randrange(1, 40)} for name in sampled.ids]
        file.write_text("".join(json.dumps(row) + "\n" for row in rows))
        router = tmp_path / "routers" / str(seed)
        Router(policy, None, rng.choice([2.5, 3.0, 4.0]), {}).save(router)
        most_tokens = rng.choice([1, 20, 200])
        model = worker(
            sampled,
            fault=chaotic(rng, rng.choice([0.0, 0.3, 0.9])),
            tokens=lambda _, rng=rng, most=most_tokens: rng.randrange(most // 2, 2 * most),
        )
        ceiling = rng.choice([0.5, 2.0, 5.0, 20.0, 80.0])
        options = {"prices": PRICES, "most_dollars": ceiling, "max_tokens": most_tokens}
        try:
            found = finished(router, file, tmp_path / f"job{seed}", model, rng, **options)
        except ValueError:  # the first round alone could pass it
            assert not model.billed
            refused += 1
            continue
        reached += any(row["why"] == "the ceiling is reached" for row in found)
        dollars = (model.read * PRICES[0] + model.written * PRICES[1]) / 1e6
        assert dollars <= ceiling + 1e-9
    assert reached > 0
    assert refused < len(seeds) / 2


def test_a_dry_run_writes_nothing_and_bounds_the_job(router, questions, answers, tmp_path, capsys):
    assert step(router, questions, tmp_path / "job", prices=PRICES, dry_run=True) is None
    assert not (tmp_path / "job").exists()
    rows = {}
    for line in capsys.readouterr().out.splitlines():
        words = line.replace("at most ", "at_most ").split()
        if len(words) == 5 and words[0] in ("expected", "from", "to", "at_most"):
            rows[words[0]] = [float(word.replace(",", "")) for word in words[1:]]
    assert rows["at_most"][0] == answers.n * 16 * TRIES
    # By the policy's own training, and within what the schedule allows.
    assert rows["expected"][0] == pytest.approx(3.5 * answers.n, abs=0.5)
    assert 2 * answers.n <= rows["from"][0] <= rows["expected"][0] <= rows["to"][0]
    assert rows["to"][0] <= 16 * answers.n
    model = worker(answers, fault=chaotic(random.Random(0), 0.5))
    finished(router, questions, tmp_path / "job", model, random.Random(0))
    assert model.read <= rows["at_most"][1]
    assert model.written <= rows["at_most"][2]


def test_what_was_paid_is_what_the_endpoint_counts(router, questions, answers, tmp_path, capsys):
    """A line that comes back twice, in two files at that, is paid once."""
    rng = random.Random(1)
    model = worker(answers, fault=lambda _: rng.choice(["", "twice", "expired", "broken"]))
    finished(router, questions, tmp_path / "job", model, rng)
    for file in list((tmp_path / "job" / "received").iterdir()):
        file.with_name(f"again-{file.name}").write_bytes(file.read_bytes())
    capsys.readouterr()
    assert step(router, questions, tmp_path / "job") is not None
    (paid,) = [line for line in capsys.readouterr().out.splitlines() if line.startswith("paid")]
    numbers = [float(word.replace(",", "")) for word in paid.split()[1:4]]
    assert numbers == [sum(model.billed.values()), model.read, model.written]


@pytest.mark.parametrize(("most_lines", "most_bytes"), [(7, 10**9), (50, 1200)])
def test_files_are_no_larger_than_an_endpoint_takes(
    router, questions, answers, tmp_path, monkeypatch, most_lines, most_bytes
):
    monkeypatch.setattr(
        "adalib.batch.ledger.in_parts", lambda lines: in_parts(lines, most_lines, most_bytes)
    )
    wanted = finished(router, questions, tmp_path / "job", worker(answers))
    parts = files_to_send(tmp_path / "job")
    assert max(len(part.read_text().splitlines()) for part in parts) <= most_lines
    assert max(part.stat().st_size for part in parts) <= most_bytes
    monkeypatch.undo()
    assert finished(router, questions, tmp_path / "whole", worker(answers)) == wanted


RESULTS = [
    ({"response": {"status_code": 200, "body": None}, "error": None}, ("no answer", True)),
    ({"response": None, "error": {"code": "batch_expired"}}, ("batch_expired", True)),
    ({"response": {"status_code": 400, "body": None}, "error": "too long"}, ("too long", False)),
    ({"response": {"status_code": 404, "body": {"error": {"message": "x"}}}}, ("404", False)),
    ({"response": {"status_code": 429, "body": {"error": "slow"}}}, ("429", True)),
    (
        {"response": {"status_code": 400}, "error": {"error": {"message": "long", "code": 400}}},
        ("400", False),
    ),
    ({"response": {"status_code": 200, "body": {"choices": []}}}, ("no chat completion", True)),
    ({}, ("no answer", True)),
    ({"response": 7, "error": 7}, ("7", True)),
]


@pytest.mark.parametrize(("line", "wanted"), RESULTS)
def test_a_line_without_an_answer_says_why(line, wanted):
    found = read_result(line, "number")
    assert wanted[0] in found["fault"]
    assert found["again"] is wanted[1]


def test_what_a_ceiling_refused_may_begin_with_other_settings(router, questions, tmp_path, capsys):
    out = tmp_path / "job"
    dear = {"prices": PRICES, "most_dollars": 20.0, "max_tokens": 9000}
    step(router, questions, out, dry_run=True, **dear)
    assert "too low" in capsys.readouterr().out
    with pytest.raises(ValueError, match="the first round can cost"):
        step(router, questions, out, **dear)
    step(router, questions, out, **(dear | {"max_tokens": 20}))
    assert len(files_to_send(out)) == 1


def test_answers_count_under_any_name_and_other_files_do_not(router, questions, answers, tmp_path):
    """What came back may have any name. Requests are no answers, and outputs no requests."""
    out = tmp_path / "job"
    step(router, questions, out)
    (part,) = files_to_send(out)
    found = "\n".join(worker(answers).work(part.read_bytes())[0])
    part.with_name("part-1-out.jsonl").write_text(found, encoding="utf-8")
    (out / "round-1 copy").mkdir()
    (out / "round-1 copy" / "part-1.jsonl").write_bytes(part.read_bytes())
    received = out / "received"
    (received / "folder.jsonl").mkdir()
    (received / "part-1.jsonl").write_bytes(part.read_bytes())
    with pytest.warns(UserWarning, match="no answers of this job") as warned:
        step(router, questions, out)
    assert len(warned) == 1
    assert not (out / "round-2").exists()
    tag = json.loads((out / "job.json").read_text())["tag"]
    (received / "part-1.jsonl").write_text(
        json.dumps({"custom_id": f"{tag}-q{'1' * 5000}-a0-t1", "error": "x"})
    )
    (received / "batch_7_output").write_text(found, encoding="utf-8")
    with pytest.warns(UserWarning, match="no answers of this job"):
        step(router, questions, out)
    assert (out / "round-2").exists()


def test_an_endpoint_may_name_its_files_as_it_likes(router, questions, answers, tmp_path):
    with BatchServer(worker(answers)) as server:
        server.prefix = "x" * 300  # longer than the name of a file may be
        assert submitted(router, questions, tmp_path / "job", server)


def test_other_questions_or_another_router_are_refused(router, questions, policy, tmp_path):
    out = tmp_path / "job"
    step(router, questions, out)
    text = questions.read_text(encoding="utf-8")
    questions.write_text(text.replace("How many", "How few"), encoding="utf-8")
    with pytest.raises(DataError, match="other questions"):
        step(router, questions, out)
    questions.write_text(text, encoding="utf-8")
    Router(policy, None, 4.0, {}).save(router)
    with pytest.raises(DataError, match="other router"):
        step(router, questions, out)


def test_two_programs_do_not_work_on_one_job(router, questions, tmp_path):
    out = tmp_path / "job"
    step(router, questions, out)
    with (
        held(out / "job.json", "taken"),
        pytest.raises(DataError, match="another program works on this job"),
    ):
        step(router, questions, out)
    step(router, questions, out)


def test_a_race_is_refused(questions, tmp_path):
    teach = beta_population(60, 1.5, 1.2, seed=3).sample(8, seed=4)
    tokens = np.random.default_rng(0).integers(5, 50, (60, 8))
    race = PricedRace(("votes",)).fit(replace(teach, tokens=tokens))
    Router(race, None, 60.0, {}).save(tmp_path / "router")
    with pytest.raises(ValueError, match="race"):
        step(tmp_path / "router", questions, tmp_path / "job")


def test_weighted_votes_read_the_log_probabilities(answers, questions, tmp_path):
    rng = np.random.default_rng(0)
    teach = beta_population(120, 1.5, 1.2, seed=3).sample(16, seed=4)
    certainty = np.where(teach.values > 0, -0.2, -0.9) - rng.random(teach.values.shape) / 10
    sure = replace(teach, logprob=certainty)
    policy = PricedStopping(("votes", "certainty"), schedule=SCHEDULE, repeats=4).fit(sure)
    assert "logprob" in policy.reads
    Router(policy, None, 3.0, {"logprob": -0.4}).save(tmp_path / "router")
    model = worker(answers)
    found = finished(tmp_path / "router", questions, tmp_path / "job", model)
    (first, *_) = files_to_send(tmp_path / "job")[0].read_text().splitlines()
    assert json.loads(first)["body"]["logprobs"] is True
    assert found[0]["logprob"][0] == -0.5
