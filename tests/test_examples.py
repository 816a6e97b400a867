"""The examples: the lines of the README and of the operator's page as they are printed, and
examples/ against a stub of what it plugs into."""

import re
import sys
from importlib import import_module
from types import ModuleType, SimpleNamespace

import pytest
from conftest import ROOT, in_own_thread, run_to_end

from adabook.paper.results import claimed_gains
from adabook.paper.settings import PAPER_CLAIMS
from adalib import PricedStopping, Router, cli, load


def ask(question):
    return "Three and four are seven.\nAnswer: 7"


async def ask_async(question):
    return ask(question)


@pytest.mark.parametrize(
    ("page", "asked"),
    [("README.md", ask), ("book/operate.md", ask_async)],
    ids=["readme", "operate"],
)
def test_the_lines_on_a_page_run(tmp_path, monkeypatch, capsys, page, asked):
    text = (ROOT / page).read_text(encoding="utf-8")
    (code,) = [block.split("```")[0] for block in text.split("```python\n")[1:]]
    load("word-fewshot").take(range(0, 372, 12)).save(tmp_path / "answers.jsonl")
    monkeypatch.chdir(tmp_path)
    in_own_thread(exec, compile(code, page, "exec"), {"ask": asked})
    assert capsys.readouterr().out == "7\n"


README = (ROOT / "README.md").read_text(encoding="utf-8")


@pytest.mark.nightly
def test_the_command_of_the_readme_prints_what_it_shows(capsys):
    command, shown = re.search(r"^    \$ adalib (.+)\n((?:    .+\n)+)", README, re.M).groups()
    assert cli.main(command.split()) == 0
    printed = " ".join(capsys.readouterr().out.split())
    assert " ".join(shown.replace("[...]", "").split()) in printed


def test_the_readme_describes_the_set_that_is_bundled():
    answers = load("gsm8k-gpt4omini")
    assert f"{answers.n:,} questions of GSM8K, {answers.samples} each" in README


@pytest.mark.parametrize("page", ["README.md", "book/intro.md"])
def test_the_largest_gain_that_the_paper_claims_is_quoted_as_printed(page):
    text = (ROOT / page).read_text(encoding="utf-8")
    assert f"up to {PAPER_CLAIMS['relative_gain']:.1%}" in " ".join(text.split())


def test_the_readme_says_what_is_left_of_that_gain_at_equal_cost():
    largest = claimed_gains().sort_values("difference").iloc[-1]
    left, printed = 100 * largest.over_mix, 100 * largest.difference
    assert f"{left:.1f} of the {printed:.1f} points" in " ".join(README.split())


def test_the_lines_of_the_cheat_sheet_stop_when_two_answers_agree():
    page = (ROOT / "book" / "summary.md").read_text(encoding="utf-8")
    (code,) = [block.split("```")[0] for block in page.split("```python\n")[1:]]
    answers = iter(["8", "7", "8", "7"])
    names = {"ask": lambda question: next(answers), "question": "What is 3 + 4?"}
    exec(code, names)
    assert (names["answer"], next(answers)) == ("8", "7")


def test_inspect_skips_the_epochs_that_the_router_would_not_ask_for(tmp_path, monkeypatch):
    stub = ModuleType("inspect_ai.util")
    stub.EarlyStop = SimpleNamespace
    monkeypatch.setitem(sys.modules, "inspect_ai", ModuleType("inspect_ai"))
    monkeypatch.setitem(sys.modules, "inspect_ai.util", stub)
    monkeypatch.syspath_prepend(ROOT / "examples")
    few = load("word-fewshot").take(range(0, 372, 12))
    Router.fit(few, 3, PricedStopping(("votes",))).save(tmp_path)
    hook, asked = (
        import_module("inspect_stopping").PricedEpochs(tmp_path),
        {"agree": 0, "differ": 0},
    )

    async def evaluate():
        samples = [SimpleNamespace(id=name, input=f"What is it, {name}?") for name in asked]
        assert await hook.start_task(None, samples, epochs=32)
        for epoch in range(1, 33):
            for name in asked:
                if await hook.schedule_sample(name, epoch) is None:
                    asked[name] += 1
                    score = SimpleNamespace(answer="7" if name == "agree" else str(epoch))
                    await hook.complete_sample(name, epoch, {"match": SimpleNamespace(score=score)})
        return await hook.complete_task()

    assert run_to_end(evaluate()) == {"price": hook.price, "skipped": 64 - sum(asked.values())}
    for name in asked:
        vote, n = hook.router.plan(f"What is it, {name}?", hook.price).session, 1
        while vote.add(0 if name == "agree" else n):
            n += 1
        assert asked[name] == min(n, 32)
    assert asked["agree"] < asked["differ"]
