"""Logs of Inspect, written by hand in the documented format, give the answers that went in."""

import json
import zipfile

import numpy as np
import pytest

from adalib.cli import main
from adalib.datasets import inspect_logs
from adalib.datasets.files import DataError
from adalib.datasets.inspect_logs import read_inspect_log
from adalib.datasets.loading import load


def sample(name, epoch, right, answer="7", **changed):
    """One question and epoch as Inspect logs it: a scored answer with its output and usage."""
    written = f"I think so.\nANSWER: {answer}"
    message = {"role": "assistant", "content": [{"type": "text", "text": written}]}
    return {
        "id": name,
        "epoch": epoch,
        "input": [{"role": "system", "content": "Add."}, {"role": "user", "content": f"{name}?"}],
        "target": ["7", "seven"],
        "output": {
            "choices": [{"message": message, "stop_reason": "stop"}],
            "usage": {"output_tokens": 10 * epoch},
        },
        "scores": {"match": {"value": "C" if right else "I", "answer": answer}},
    } | changed


def write(path, samples, compression=zipfile.ZIP_DEFLATED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        archive.writestr("header.json", json.dumps({"version": 2, "status": "success"}))
        for one in samples:
            archive.writestr(f"samples/{one['id']}_epoch_{one['epoch']}.json", json.dumps(one))
    return path


def grid(epochs=4):
    """Three questions whose epochs end in any order: question k is right in the first k epochs."""
    return [
        sample(name, epoch, right=epoch <= name, answer="7" if epoch <= name else "8")
        for epoch in range(epochs, 0, -1)
        for name in (1, 2, 3)
    ]


def test_a_log_gives_answers_scores_and_tokens_in_the_order_of_epochs(tmp_path):
    found, summary = read_inspect_log(write(tmp_path / "run.eval", grid()))
    assert found.ids == ["1", "2", "3"]
    assert found.questions == ["1?", "2?", "3?"]
    assert found.golds == ["7"] * 3
    assert found.answers[1] == ["7", "7", "8", "8"]
    assert np.array_equal(found.values, np.tri(3, 4))
    assert found.tokens.tolist() == [[10, 20, 30, 40]] * 3
    assert summary == (
        "12 samples, 0 of them without a score, answer 3 questions; "
        "kept are 3 with 4 answers each, as the scorer 'match' judged them"
    )


def test_failed_and_unscored_samples_are_left_out(tmp_path):
    more = [
        sample(1, 5, True, error={"message": "the model was down"}),
        sample(2, 5, True, scores={"match": {"value": float("nan")}}),
        sample(3, 5, True, scores=None),
        sample(3, 6, True, invalidation={"author": "me", "reason": "it saw the answer"}),
    ]
    found, summary = read_inspect_log(write(tmp_path / "run.eval", [*grid(), *more]))
    assert found.samples == 4
    assert summary.startswith("16 samples, 4 of them without a score")


def test_of_several_scorers_the_first_that_tells_right_from_wrong_judges(tmp_path):
    """Its name may hold dots, and another scorer may give lengths or several values."""
    samples = [
        one
        | {
            "scores": {
                "length": {"value": 312},
                "style": {"value": {"polite": 1, "short": 0}},
                "our.match": one["scores"]["match"],
            }
        }
        for one in grid()
    ]
    found, summary = read_inspect_log(write(tmp_path / "run.eval", samples))
    assert np.array_equal(found.values, np.tri(3, 4))
    assert "as the scorer 'our.match' judged them" in summary


def test_multiple_choice_without_usage_keeps_the_letters(tmp_path):
    samples = [
        sample(
            name,
            epoch,
            right=letter == "B",
            answer=letter,
            input=f"{name}?",
            choices=["one", "two"],
            target="B",
            output={"completion": f"ANSWER: {letter}", "choices": [], "usage": None},
            scores={"choice": {"value": "C" if letter == "B" else "I", "answer": letter}},
        )
        for name in (1, 2)
        for epoch, letter in enumerate("ABB", 1)
    ]
    found, _ = read_inspect_log(write(tmp_path / "run.eval", samples))
    assert found.questions == ["1?", "2?"]
    assert found.golds == ["B", "B"]
    assert found.answers == [["A", "B", "B"]] * 2
    assert found.tokens is None


def test_a_sample_in_chunks_is_read_with_its_long_texts(tmp_path):
    """Version 3 of the format: a folder per sample, texts above 100 characters apart."""
    path = tmp_path / "run.eval"
    with zipfile.ZipFile(path, "w") as archive:
        for one in grid():
            folder = f"samples/{one['id']}_epoch_{one['epoch']}"
            shell = one | {"input": [{"role": "user", "content": "attachment://1"}]}
            archive.writestr(f"{folder}/sample.json", json.dumps(shell))
            archive.writestr(f"{folder}/events/0.json", json.dumps([{"event": "model"}]))
            archive.writestr(f"{folder}/events/stats.json", "{}")
            archive.writestr(f"{folder}/attachments/1.json", json.dumps([f"{one['id']}, long?"]))
            archive.writestr(f"{folder}/attachments/0.json", json.dumps(["a tool's output"]))
    found, _ = read_inspect_log(path)
    assert found.questions == ["1, long?", "2, long?", "3, long?"]
    assert np.array_equal(found.values, np.tri(3, 4))


def test_an_answer_is_read_from_the_text_where_the_scorer_repeats_it(tmp_path):
    whole = "So I add.\nANSWER: 7"
    samples = [
        sample(1, epoch, True, output={"completion": whole}, scores={"m": score})
        for epoch, score in enumerate(
            [{"value": 1, "answer": whole}, {"value": 1.0}, {"value": True, "answer": "seven"}], 1
        )
    ]
    path = write(tmp_path / "run.eval", samples)
    assert read_inspect_log(path)[0].answers == [["7", "7", "seven"]]
    assert read_inspect_log(path, "number")[0].answers == [["7", "7", "7"]]


def test_a_log_is_evaluated_and_other_commands_read_what_was_kept(tmp_path, capsys, refused):
    samples = [
        sample(name, epoch, right := (name + epoch) % 3 > 0, "7" if right else "8")
        for name in range(12)
        for epoch in range(16)
    ]
    log, kept = str(write(tmp_path / "run.eval", samples)), str(tmp_path / "kept.jsonl")
    words = ["evaluate", log, "--budgets", "1,4,8", "--folds", "2", "--targets", "2"]
    assert main(words) == 0
    printed = capsys.readouterr()
    assert "Held out, 12 questions with 16 samples" in printed.out
    assert "kept are 12 with 16 answers each" in printed.err
    assert f"cat {log}" not in printed.out  # a log is no file of answers to add to
    assert f"explore {log}" not in printed.out
    assert main([*words, "--keep", kept]) == 0
    assert np.array_equal(load(kept).values, read_inspect_log(log)[0].values)
    refused([*words, "--gold", "golds.csv"], "is a log of one model with its scores; leave out")
    refused([*words, "--prices", "a=1"], "leave out --prices")


FAULTS = {
    "entry samples/1_epoch_9.json: scorer 'match' gives 'P', which is neither right nor wrong": [
        sample(1, 9, True, scores={"match": {"value": "P"}})
    ],
    "gives '0.5', which is": [sample(1, 9, True, scores={"match": {"value": 0.5}})],
    "gives '{}', which is": [sample(1, 9, True, scores={"match": {"value": {}}})],
    'entry samples/1_epoch_None.json: "epoch" is null': [sample(1, 1, True) | {"epoch": None}],
    '"id" is null': [sample(None, 1, True)],
    "no sample has a score; score it with inspect score": [sample(1, 1, True, scores={})],
    "hardly a question was answered twice; run the task again": [sample(1, 1, True)],
    "holds no samples": [],
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_names_the_entry_and_the_mend(tmp_path, message):
    path = write(tmp_path / "run.eval", FAULTS[message])
    with pytest.raises(DataError, match=r"run\.eval.*;") as fault:
        read_inspect_log(path)
    assert message in str(fault.value)


ODD = [None, 3, "text", [], ["a"], {}, {"a": 1}, [[]], True]


@pytest.mark.parametrize("field", ["input", "target", "output", "scores", "error"])
def test_odd_values_never_break_the_reader(tmp_path, field):
    for number, odd in enumerate(ODD):
        path = write(tmp_path / f"{number}.eval", [*grid(), sample(1, 9, True, **{field: odd})])
        found, _ = read_inspect_log(path)
        assert found.n == 3
        assert found.samples == 4


def test_damaged_archives_are_refused(tmp_path):
    path = write(tmp_path / "run.eval", grid())
    data = path.read_bytes()
    for damaged in (b"", b"{}", data[: len(data) // 2], data.replace(b"PK\x03\x04", b"PK\x00\x00")):
        path.write_bytes(damaged)
        with pytest.raises(DataError, match="is not a sound zip archive; copy the log again"):
            read_inspect_log(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("samples/1_epoch_1.json", "[" * 100_000)
    with pytest.raises(DataError, match=r"entry samples/1_epoch_1\.json: is not JSON"):
        read_inspect_log(path)


def test_entries_that_unpack_to_too_much_are_not_unpacked(tmp_path, monkeypatch):
    path = write(tmp_path / "run.eval", grid())
    monkeypatch.setattr(zipfile.ZipFile, "read", lambda *_: pytest.fail("it was unpacked"))
    monkeypatch.setattr(inspect_logs, "MAX_FILE", path.stat().st_size + 1)
    with pytest.raises(DataError, match="unpacks to more than"):
        read_inspect_log(path)
    monkeypatch.setattr(inspect_logs, "MAX_LINE", 100)
    with pytest.raises(DataError, match=r"entry samples/1_epoch_4\.json: unpacks to more than"):
        read_inspect_log(path)


def test_an_entry_that_holds_more_than_it_declares_is_refused(tmp_path):
    path = write(tmp_path / "run.eval", [sample(1, 1, True, input="a" * 1000)])
    data = bytearray(path.read_bytes())
    size = len(json.dumps(sample(1, 1, True, input="a" * 1000))).to_bytes(4, "little")
    assert data.count(size) == 2
    path.write_bytes(bytes(data).replace(size, (10).to_bytes(4, "little")))
    with pytest.raises(DataError, match="is not a sound zip archive"):
        read_inspect_log(path)


def test_zstandard_needs_a_package_on_an_older_python(tmp_path, monkeypatch):
    path = write(tmp_path / "run.eval", [sample(1, 1, True)], zipfile.ZIP_STORED)
    method = (93).to_bytes(2, "little")
    data = bytearray(path.read_bytes())
    place = data.rindex(b"PK\x01\x02")  # of the last entry in the archive's directory
    data[place + 10 : place + 12] = method
    path.write_bytes(bytes(data))
    monkeypatch.setattr(inspect_logs.sys, "version_info", (3, 11))
    monkeypatch.setitem(inspect_logs.sys.modules, "zipfile_zstd", None)
    with pytest.raises(DataError, match="run pip install zipfile-zstd, or use Python 3.14"):
        read_inspect_log(path)
