"""Samples of lm-eval, written by hand in the documented format, give the answers that went in."""

import json

import numpy as np
import pytest

from adalib.datasets.files import DataError, write_lines
from adalib.datasets.lm_eval_samples import is_lm_eval_samples, read_lm_eval_samples


def line(name, texts, kept, match, filter_name="strict-match", **changed):
    """One document under one filter, as lm-eval logs it."""
    return {
        "doc_id": name,
        "doc": {"question": f"What is {name} + 1?", "answer": "unused"},
        "target": f"I add one to {name}. So it is {name + 1}.\n#### {name + 1}",
        "arguments": {"gen_args_0": {"arg_0": f"Q: {name} + 1? A:", "arg_1": {"until": ["Q:"]}}},
        "resps": [texts],
        "filtered_resps": [kept],
        "filter": filter_name,
        "metrics": ["exact_match"],
        "doc_hash": "0" * 8,
        "exact_match": match,
    } | changed


def repeated(name, right, count=6):
    """A document with repeats whose filter has taken the vote, as for self-consistency."""
    texts = [f"It is so.\n#### {name + 1 if place < right else 0}" for place in range(count)]
    return line(name, texts, str(name + 1), 1.0)


def write(tmp_path, *lines):
    path = tmp_path / "samples_gsm8k_2026-11-17.jsonl"
    write_lines(path, lines)
    return path


def test_repeats_are_read_from_the_texts_where_the_filter_has_voted(tmp_path):
    path = write(tmp_path, *(repeated(name, right) for name, right in ((0, 2), (1, 6), (2, 0))))
    assert is_lm_eval_samples(path)
    found, summary = read_lm_eval_samples(path)
    assert found.ids == ["0", "1", "2"]
    assert found.questions[1] == "What is 1 + 1?"
    assert found.golds == ["1", "2", "3"]
    assert found.correct is None
    assert found.values.sum(axis=1).tolist() == [2, 6, 0]
    assert summary == "3 documents, by the filter 'strict-match'; kept are 3 with 6 answers each"


def test_runs_that_were_joined_keep_the_answers_and_the_metric_of_the_filter(tmp_path):
    rng = np.random.default_rng(0)
    right = rng.random((4, 5)) < 0.5
    lines = []
    for run in range(5):
        for name in range(4):
            kept = str(name) if right[name, run] else "[invalid]"
            lines.append(line(name, [f"... {name}"], kept, float(right[name, run])))
    found, _ = read_lm_eval_samples(write(tmp_path, *lines))
    assert np.array_equal(found.correct, right)
    assert found.answers == [[str(n) if one else "" for one in row] for n, row in enumerate(right)]


def test_a_metric_for_each_repeat_is_used(tmp_path):
    lines = [line(name, ["a", "b"], ["7", "8"], [0, 1.0]) for name in range(3)]
    found, _ = read_lm_eval_samples(write(tmp_path, *lines))
    assert found.answers == [["7", "8"]] * 3
    assert found.correct.tolist() == [[0, 1]] * 3


def test_of_several_filters_the_one_with_most_answers_is_read(tmp_path):
    lines = [line(name, ["#### 5"], "5", 1.0, "flexible-extract") for name in (0, 1) for _ in "abc"]
    lines += [line(name, ["#### 5"], "[invalid]", 0.0) for name in (0, 1) for _ in "ab"]
    found, summary = read_lm_eval_samples(write(tmp_path, *lines))
    assert found.values.tolist() == [[1, 1, 1]] * 2
    assert "by the filter 'flexible-extract' of flexible-extract, strict-match" in summary


def test_a_kind_reads_the_texts_and_old_arguments_hold_the_prompt(tmp_path):
    changed = {
        "doc": {},
        "arguments": [["Which one?", {"until": []}]],
        "target": "B",
        "filter": "none",
    }
    texts = ["The answer is (B).", "C", "B) because it is"]
    lines = [line(name, texts, texts[0], 1.0, **changed) for name in (0, 1)]
    found, _ = read_lm_eval_samples(write(tmp_path, *lines), "choice")
    assert found.questions == ["Which one?"] * 2
    assert found.answers == [["B", "C", "B"]] * 2
    assert found.values.tolist() == [[1, 0, 1]] * 2


def test_metrics_that_some_documents_lack_are_left_to_the_target(tmp_path):
    """A filter without take_first keeps a list, and a judge may fail on a document (NaN)."""
    texts = ["#### 1", "#### 9"]
    lines = [
        line(0, texts, ["1", "9"], [1.0, 0.0]),
        line(1, texts, ["1", "9"], None, metrics=["bypass"], bypass=999),
        line(2, texts, ["1", "[invalid]"], float("nan")),
    ]
    path = tmp_path / "samples.jsonl"
    path.write_text("".join(f"{json.dumps(one)}\n" for one in lines))
    found, _ = read_lm_eval_samples(path)
    assert found.correct is None
    assert found.answers == [["1", "9"], ["1", "9"], ["1", ""]]
    assert found.values.tolist() == [[1, 0], [0, 0], [0, 0]]


def test_a_generated_choice_is_compared_with_its_letter(tmp_path):
    """MMLU and GPQA as texts: the target is "(B)", the filter keeps "(B)"."""
    changed = {"doc": {"Question": "Which?", "choices": ["x", "y"]}, "target": "(B)"}
    lines = [
        line(name, ["So (B).", "So (A)."], ["(B)", "(A)"], [1.0, 0.0], **changed) for name in (0, 1)
    ]
    found, _ = read_lm_eval_samples(write(tmp_path, *lines))
    assert found.answers == [["(B)", "(A)"]] * 2
    assert found.correct.tolist() == [[1, 0]] * 2


def test_requests_as_messages_and_an_index_as_target(tmp_path):
    """A chat template logs the messages as one text, and a target may be the choice's number."""
    messages = '[{"role": "user", "content": "Which one?"}]'
    changed = {"doc": {}, "arguments": {"gen_args_0": {"arg_0": [messages]}}, "target": 1}
    lines = [line(name, ["1", "0"], ["1", "0"], [1.0, 0.0], **changed) for name in (0, 1)]
    found, _ = read_lm_eval_samples(write(tmp_path, *lines))
    assert found.golds == ["1", "1"]
    assert found.values.tolist() == [[1, 0]] * 2
    assert "Which one?" in found.questions[0]


FAULTS = {
    "line 2: holds log-likelihoods, not texts; run a task that generates answers": line(
        1, [], "", 0, resps=[[["-1.5", "False"]], [["-2.5", "False"]]]
    ),
    'line 2: has no "resps"; run lm_eval with --log_samples': line(1, [], "", 0, resps=None),
    "line 2: doc_id 0 has another target than before; give the lines of one task": line(
        0, ["4", "5"], ["4", "5"], 0, target="9"
    ),
    'line 2: "doc_id" is null': line(1, ["4", "5"], ["4", "5"], 0, doc_id=None),
    'line 2: "target" is an object': line(1, ["4", "5"], ["4", "5"], 0, target={"a": 1}),
}


@pytest.mark.parametrize("message", FAULTS)
def test_a_fault_names_the_line_and_the_mend(tmp_path, message):
    path = write(tmp_path, repeated(0, 2), FAULTS[message])
    with pytest.raises(DataError) as fault:
        read_lm_eval_samples(path)
    assert f"{path}, {message}" in str(fault.value)


def test_one_answer_per_document_is_too_few(tmp_path):
    with pytest.raises(DataError, match='answered twice; set "repeats: 16" in the task, or join'):
        read_lm_eval_samples(write(tmp_path, *(line(n, ["5"], "5", 1.0) for n in range(4))))


ODD = [None, 3, "text", [], ["a"], {}, {"a": 1}, [[]], True]


@pytest.mark.parametrize(
    "field", ["doc", "arguments", "filtered_resps", "metrics", "filter", "exact_match"]
)
def test_odd_values_never_break_the_reader(tmp_path, field):
    for odd in ODD:
        lines = [line(name, ["#### 4", "#### 5"], "4", 1, **{field: odd}) for name in (3, 4)]
        assert read_lm_eval_samples(write(tmp_path, *lines))[0].samples == 2
