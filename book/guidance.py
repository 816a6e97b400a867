"""Print, chapter by chapter, what a reader's patience is asked for, beside what we aim at.

``make report`` runs it. Nothing here is wrong or right, so no test reads it: a chapter may have its
reasons. What is wrong fails a test. Only the minutes that a course plans with are tested, in all.
"""

from __future__ import annotations

import re

import pandas as pd

from contents import ROOT, Page, chapters, lessons, pages
from directives import blocks
from editions.grading import rows
from editions.quizzes import quiz_items

#: What each column counts, and what we aim at.
AIMS = {
    "words": "2,300 at most, 19,000 in all: no code, exercises, quiz or formulas",
    "minutes": "as its first lines say, and about as many as are needed",
    "needed": "130 words or 30 lines a minute, 2 for a prompt, 1 for a quiz question, and the core",
    "core": "minutes that the core exercises take",
    "prompts": "one or more, each with its answer in notebooks/answer_key.ipynb",
    "unanswered": "none: prompts without an answer in the key",
    "quiz": "three or more",
    "longest": "a third: share of questions whose right option is the longest",
    "changes": "three things to change and run again",
    "crowded": "none: paragraphs that quote more than four computed numbers",
    "lines": "visible lines of code, solutions included",
}
_UNITS = "answers|samples|tokens|cents|points|dollars|calls"
_VALUE = r"[+−-]?(?:\d[\d.]*|\{(?:points|glue:text)\}`[^`]+`)"
#: What is seldom meant, by what we write in its place.
HABITS = {
    "a rate has per": re.compile(
        rf"\b(?:{_UNITS}) an? (?:question|answer|day|month|second|request)\b"
    ),
    "an interval is [low, high]": re.compile(rf"\({_VALUE}(?: points)? to {_VALUE}(?: points)?\)"),
    "the spelling is British": re.compile(
        r"\b(?:behavior|optimiz|randomiz|normaliz|summariz|formaliz|neighbor)\w*"
    ),
}
_SIGNPOST = r"\*(?:Stop|Next stop) .*\*"
_NUMBER = re.compile(r"\{(?:points|glue:text)\}`")


def unusual(page: Page) -> list[str]:
    """Where a page breaks a habit of ours, a line a place."""
    is_prose = page.path.suffix == ".md"
    text = page.path.read_text(encoding="utf-8") if is_prose else page.prose
    text = re.sub(r"```.*?```", "", text, flags=re.DOTALL)
    return [
        f"{page.name}: {habit}: ... {' '.join(text[max(0, one.start() - 40) : one.end()].split())}"
        for habit, broken in HABITS.items()
        for one in broken.finditer(text)
    ]


def running_words(text: str) -> int:
    """The words of a chapter's running text: no exercises, quiz, formulas or directives.

    >>> running_words("# A\\n\\nOne $x + 1$ two.\\n\\n## Exercises\\n\\nNo.")
    5
    """
    before, _, rest = text.partition("\n## Exercises")
    text = f"{before}\n\n{rest.partition('## Takeaways')[2]}"
    text = re.sub(r"\$\$.*?\$\$|```.*?```", "", text, flags=re.DOTALL)
    text = re.sub(r"\$[^$]*\$", "symbol", text)
    text = re.sub(rf"^(?::.*|\(.*\)=|{_SIGNPOST})$", "", text, flags=re.MULTILINE)
    return len(text.split())


def _visible_lines(page: Page) -> int:
    return sum(
        len(cell["source"].splitlines())
        for cell in page.cells
        if cell["cell_type"] == "code"
        and not {"hide-input", "remove-cell"} & set(cell["metadata"].get("tags", []))
    )


def counted(page: Page) -> dict[str, object]:
    """The row of a chapter."""
    text = page.prose
    asked = [
        block
        for block in blocks(text)
        if not isinstance(block, str) and block.argument.startswith(("Before you", "While you"))
    ]
    key = (ROOT / "notebooks" / "answer_key.ipynb").read_text(encoding="utf-8")
    heading = f"Chapter {{ch}}`{page.key}`" if page.number else page.title
    answers = key.partition(f"## {heading}\\n")[2].partition('"## ')[0]
    minutes = re.search(r"\*(\d+) minutes", text)
    quiz = quiz_items(page.path)
    lengths = [sorted((len(one.text), one.right) for one in item.options) for item in quiz]
    words, lines = running_words(text), _visible_lines(page)
    core = sum(row.minutes for row in rows(page) if row.core)
    return {
        "chapter": page.key,
        "words": words,
        "minutes": int(minutes[1]) if minutes else 0,
        "needed": round(words / 130 + lines / 30 + 2 * len(asked) + len(quiz) + core),
        "core": core,
        "prompts": len(asked),
        "unanswered": max(0, len(asked) - answers.count('**\\"')),
        "quiz": len(quiz),
        "longest": round(sum(each[-1][1] for each in lengths) / max(1, len(quiz)), 1),
        "changes": text.partition("## Change this and run again")[2].count("\n- In ["),
        "crowded": sum(len(_NUMBER.findall(part)) > 4 for part in text.split("\n\n")),
        "lines": lines,
    }


def main() -> None:
    table = pd.DataFrame([counted(page) for page in lessons()]).set_index("chapter")
    print(table.to_string())
    main_line = table.loc[[page.key for page in chapters(appendices=False)]]
    print(f"\n{main_line.words.sum():,} words in the main line")
    for column, aim in AIMS.items():
        print(f"{column:10} {aim}")
    print(
        *(line for page in pages() if page.stem != "references" for line in unusual(page)), sep="\n"
    )


if __name__ == "__main__":
    main()
