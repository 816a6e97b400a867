"""The explorer's page in tokens."""

import json
import re

from adalib.commands.cli import main
from adalib.datasets.populations import beta_population


def described(page) -> dict:
    text = page.read_text(encoding="utf-8")
    return json.loads(re.search(r'"unit": ?"(\w+)"', text).group(0).join("{}"))


def test_budgets_cost_their_tokens(tmp_path):
    answers = beta_population(6, 1, 1).sample(16)
    path, page = tmp_path / "mine.jsonl", tmp_path / "page.html"
    lines = [
        {"id": str(i), "question": f"q{i}", "gold": answers.golds[i], "answers": list(answers.answers[i])}
        | {"tokens": [10 + i] * 16}
        for i in range(6)
    ]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    assert main(["explore", str(path), "--out", str(page), "--cost", "tokens"]) == 0
    assert described(page)["unit"] == "tokens"
    assert main(["explore", str(path), "--out", str(page)]) == 0
    assert described(page)["unit"] == "samples"


def test_a_table_has_its_own_costs(tmp_path, capsys):
    (tmp_path / "mine.csv").write_text("id,1,2\na,0.5,0.6\n")
    assert main(["explore", str(tmp_path / "mine.csv"), "--cost", "tokens", "--out", str(tmp_path / "p.html")]) == 2
    assert "its own costs" in capsys.readouterr().err
