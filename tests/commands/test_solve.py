"""`solve` and `explore` on the command line: the promised JSON, one clear line for bad input, a
page in tokens."""

import json
import re

import numpy as np
import pytest

import adalib
from adalib.commands.cli import main
from adalib.solve import reference


@pytest.fixture
def toy_file(tmp_path):
    """Six questions with eight answers each, of every kind; one text would be markup if it were not
    data."""
    rng, path = np.random.default_rng(4), tmp_path / "toy.jsonl"
    with path.open("w", encoding="utf-8") as file:
        for i, p in enumerate((1.0, 0.0, 0.5, 0.6, 0.7, 0.4)):
            answers = ["7" if u < p else str(rng.integers(10, 14)) for u in rng.random(8)]
            line = {
                "id": f"q{i}",
                "question": '<script>"x"</script>',
                "gold": "7",
                "answers": answers,
            }
            file.write(json.dumps(line) + "\n")
    return path


def test_json_is_the_exact_solution(toy_file, capsys):
    assert main(["solve", str(toy_file), "--budget", "2.4", "--budgets", "1,3,5", "--json"]) == 0
    out = capsys.readouterr().out
    found = json.loads(out)
    assert out.count("\n") == 1
    assert list(found) == ["budget", "lam", "cost", "accuracy", "bound", "slack", "labels", "split"]
    table = adalib.load(toy_file).table(budgets=(1, 3, 5))
    assert set(found["labels"]) == set(table.ids)
    labels = [table.budgets.index(found["labels"][name]) for name in table.ids]
    cost, accuracy = table.cost[labels].mean(), table.acc[np.arange(table.n), labels].mean()
    assert [found[name] for name in ("cost", "accuracy", "slack")] == pytest.approx(
        [cost, accuracy, 2.4 - cost]
    )
    assert found["cost"] <= 2.4
    assert found["bound"] == pytest.approx(reference.lp_value(table.acc, table.cost, 2.4), abs=1e-9)


def test_the_split_spends_the_slack(toy_file, capsys):
    main(["solve", str(toy_file), "--budget", "1.2", "--budgets", "1,3,5", "--json"])
    found = json.loads(capsys.readouterr().out)
    split = found["split"]
    assert found["cost"] + split["share"] * (split["high"] - split["low"]) / 6 == pytest.approx(1.2)
    assert found["labels"][split["id"]] == split["low"]
    assert main(["solve", "drill-fewshot", "--budget", "2"]) == 0
    assert "optimistic" in capsys.readouterr().out


def test_the_explorer_s_budgets_cost_their_tokens(toy_file, tmp_path):
    lines = [json.loads(line) for line in toy_file.read_text().splitlines()]
    path, page = tmp_path / "mine.jsonl", tmp_path / "page.html"
    more = (
        {"answers": 2 * line["answers"], "tokens": [10 + i] * 16} for i, line in enumerate(lines)
    )
    path.write_text(
        "".join(json.dumps(one | two) + "\n" for one, two in zip(lines, more, strict=True))
    )
    for more, unit in ((["--cost", "tokens"], "tokens"), ([], "samples")):
        assert main(["explore", str(path), "--out", str(page), *more]) == 0
        assert re.search(r'"unit": ?"(\w+)"', page.read_text(encoding="utf-8"))[1] == unit
