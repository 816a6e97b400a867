"""Correct answers from a file of their own, joined to votes that `serve --keep` wrote."""

import json

import pytest

from adalib.cli import main
from adalib.datasets.files import DataError, write_lines
from adalib.datasets.golds import read_golds
from adalib.datasets.logs import read_log


def votes(path, sizes):
    """One vote per size, as a server keeps it: every third answer is wrong."""

    def vote(k, size):
        texts = [f"Answer: {k + 1 + (j % 3 == 2)}" for j in range(size)]
        choices = [{"message": {"content": text}, "finish_reason": "stop"} for text in texts]
        messages = [{"role": "user", "content": f"What is {k} + 1?"}]
        return {"id": f"v{k}", "model": "m", "messages": messages, "choices": choices}

    write_lines(path, (vote(k, size) for k, size in enumerate(sizes)))
    return str(path)


@pytest.mark.parametrize("key", ["question", "id"])
@pytest.mark.parametrize("suffix", ["csv", "jsonl"])
def test_golds_by_question_or_id(tmp_path, key, suffix):
    file, golds = votes(tmp_path / "votes.jsonl", [8] * 12), tmp_path / f"golds.{suffix}"
    names = {"question": "What is {k} + 1?", "id": "v{k}"}
    rows = [{key: names[key].format(k=k), "gold": k + 1} for k in range(12)]
    if suffix == "csv":
        lines = [f"{key},gold", *(f'"{row[key]}",{row["gold"]}' for row in rows)]
        golds.write_text("\n".join(lines) + "\n")
    else:
        write_lines(golds, rows)
    found, note = read_log(file, str(golds))
    assert note == "12 lines hold 12 prompts; kept are 12 with 8 answers each"
    assert found.values.sum(axis=1).tolist() == [6] * 12


def test_unequal_votes_keep_the_most_answers(tmp_path):
    golds = tmp_path / "golds.csv"
    golds.write_text("question,gold\n" + "".join(f"What is {k} + 1?,{k + 1}\n" for k in range(9)))
    file = votes(tmp_path / "votes.jsonl", [1] * 4 + [4] * 3 + [5] * 3)
    found, note = read_log(file, str(golds))
    assert (found.n, found.samples) == (5, 4)  # 20 answers; one each would keep 9, five each 10
    assert note.endswith("these may be harder than your traffic")


@pytest.mark.parametrize(
    ("text", "fault"),
    [
        ("question,gold\nWhat?,\n", "line 2: give"),
        ("what,gold\nWhat?,7\n", 'line 2: give "gold"'),
        ("id,gold\nq1,7\nq1,8\n", "line 3: id 'q1' has the answers '7' and '8'"),
    ],
)
def test_a_fault_is_named_by_its_line(tmp_path, text, fault):
    file = tmp_path / "golds.csv"
    file.write_text(text)
    with pytest.raises(DataError, match="golds.csv") as refusal:
        read_golds(file)
    assert fault in str(refusal.value)


def test_commands_take_the_votes_of_a_server(tmp_path, capsys, refused):
    file, golds = votes(tmp_path / "votes.jsonl", [8] * 12), tmp_path / "golds.csv"
    golds.write_text("id,gold\n" + "".join(f"v{k},{k + 1}\n" for k in range(12)))
    refused(["evaluate", file], "give the correct answers with --gold FILE")
    words = ["--gold", str(golds), "--budgets", "1,2,4", "--folds", "2", "--targets", "2"]
    assert main(["evaluate", file, *words, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["rows"][0]["accuracy"] <= 1
    router = str(tmp_path / "router")
    assert main(["fit", file, "--gold", str(golds), "--budget", "2", "--out", router]) == 0
    assert "held out, 12 questions: accuracy " in capsys.readouterr().out
