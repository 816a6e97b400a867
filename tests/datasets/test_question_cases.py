"""One table of question files, and three readers that give the same verdict on each: loader,
collector and page.

The page is another language and cannot share the loader's code, so it shares its cases. A case
holds the file (lines, or bytes in hexadecimal), and for a file of answers (`adalib.load`, and the
explorer's page) and a file of questions (the collector) either null, when it is accepted, or the
line of the fault and words that the message holds.
"""

import json
import re

import pytest
from conftest import ROOT

from adalib import load
from adalib.ask.collect import load_questions
from adalib.datasets.files import DataError

pytest_plugins = ["explorer_page"]

CASES = json.loads((ROOT / "tests/helpers/question_cases.json").read_text(encoding="utf-8"))


def body(case: dict) -> bytes:
    return (
        bytes.fromhex(case["hex"])
        if "hex" in case
        else "\n".join(case["lines"]).encode("utf-8", "surrogatepass")
    )


def agrees(message: str | None, ids: list[str] | None, case: dict, readers: str) -> None:
    """One reader's verdict against the table's."""
    expected = case[readers]
    if expected is None:
        assert message is None
        assert ids == case["ids"]
        return
    assert message is not None, f"{case['case']}: accepted"
    line = re.match(r"[^:]*?(?:, line (\d+))?: ", message)[1]
    assert (line and int(line)) == expected["line"]
    assert expected["says"] in message
    assert "\n" not in message


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
@pytest.mark.filterwarnings("ignore:.*of every question are used")
@pytest.mark.parametrize("readers", ["answers", "questions"])
def test_python_agrees(tmp_path, case, readers):
    file = tmp_path / "mine.jsonl"
    file.write_bytes(body(case))
    message = ids = None
    try:
        ids = (
            list(load(file).ids)
            if readers == "answers"
            else [question["id"] for question in load_questions(file)]
        )
    except DataError as error:
        message = str(error)
    agrees(message, ids, case, readers)


@pytest.mark.parametrize("case", CASES, ids=[case["case"] for case in CASES])
def test_the_page_agrees(functions, case):
    message, ids = functions.evaluate(
        """async (bytes) => {
          try {
            const setting = await ax.readFile(new File([Uint8Array.from(bytes)], "mine.jsonl"));
            return [null, setting.ids];
          } catch (error) {
            return [error.message, null];
          }
        }""",
        list(body(case)),
    )
    agrees(message, ids, case, "answers")
