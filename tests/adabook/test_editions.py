"""Students get no solution; live notebooks hold nothing that only a page can show, and no answer in
sight."""

from __future__ import annotations

import dis
import inspect
import re

import nbformat
import pytest
from conftest import ROOT
from nbformat.v4 import new_markdown_cell, new_notebook

import contents
from directives import Block, blocks
from editions.lab_notebooks import Book, live_notebook, live_text
from editions.student import for_students, solution_cells, without_solutions
from editions.text import Work, read_works, spelled_out
from editions.writing import refresh

SOURCES = {
    path.stem: nbformat.read(path, as_version=4)
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
}
START, END = ":::{solution-start} ex\n:class: dropdown\n:::", ":::{solution-end}\n:::"


class Anything(dict):
    """A number for every name: what is computed is the build's matter, not this test's."""

    def __contains__(self, key):
        return True

    def __getitem__(self, key):
        return "2"


def markdown(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


@pytest.fixture(scope="module")
def book():
    works = read_works(ROOT / "book" / "references.bib")
    return Book(
        Anything(),
        works,
        {},
        Anything(),
        {"ex-budgets-save": "3.2"},
        "pip install it",
        contents.keys(),
    )


@pytest.mark.parametrize("name", SOURCES)
def test_a_student_gets_no_solution(name):
    notebook = SOURCES[name]
    texts, code = solution_cells(notebook.cells)
    if "{exercise}" in markdown(notebook):
        assert code or texts, "an exercise without a solution between marks"
    student = for_students(notebook)
    written, plain = nbformat.writes(student), [cell.source for cell in student.cells]
    assert "solution" not in re.sub(
        r"\b(solutions?)\b(?!-)", "", written
    )  # the word may be used, the marks may not
    assert not any(cell in plain for _, cell in code)
    assert not any(text in cell for text in texts for cell in plain)


def names(code: str) -> tuple[set[str], set[str]]:
    """The names that a cell binds, and those it reads before it has bound them itself, by Python's
    own compiler."""
    bound: set[str] = set()
    read: set[str] = set()

    def follow(compiled) -> None:
        for step in dis.get_instructions(compiled):
            if step.opname == "STORE_NAME":
                bound.add(step.argval)
            elif step.opname in ("LOAD_NAME", "LOAD_GLOBAL"):
                read.update({step.argval} - bound)
            elif inspect.iscode(step.argval):
                follow(step.argval)

    follow(compile(re.sub(r"^\s*[%!].*$", "pass", code, flags=re.M), "cell", "exec"))
    return bound, read


def uses_of_solutions(cells) -> list[str]:
    """Names that a solution binds last before a later cell, which is no solution, reads them: "cell
    12: share"."""
    solutions, theirs, used = dict(solution_cells(cells)[1]), set(), []
    for at, cell in enumerate(cells):
        if cell.cell_type == "code":
            bound, read = names(cell.source)
            used += [f"cell {at}: {name}" for name in sorted(read & theirs) if at not in solutions]
            theirs = theirs | bound if at in solutions else theirs - bound
    return used


@pytest.mark.parametrize("name", SOURCES)
def test_no_later_cell_uses_what_a_solution_made(name):
    assert uses_of_solutions(SOURCES[name].cells) == []


@pytest.mark.parametrize(
    ("texts", "fault"),
    [
        ([START], "no {solution-end}"),
        ([END], "never opened"),
        ([START, START, END], "inside another"),
        ([":::{solution} ex\n42\n:::"], "not with {solution}"),
    ],
)
def test_marks_that_do_not_match_are_refused(texts, fault):
    with pytest.raises(ValueError, match=re.escape(fault)):
        without_solutions([new_markdown_cell(text) for text in texts])


def asked(text: str, kind: str = "prompt") -> str:
    """A prompt or quiz as JupyterLab shows it, without what only opens at a click."""
    book = Book({"n": "12", "all": "40"}, {})
    shown = live_text(f":::{{admonition}} Guess\n:class: {kind}\n{text}\n:::", book)
    return re.sub(r"<details>.*?</details>", "", shown)


def test_in_jupyterlab_the_answer_is_shut_away_until_the_guess():
    """Neither a mark nor a reason is in sight, in a prompt, in a quiz, or with a number."""
    options = "- [ ] this *No.*\n- [x] that *Yes.*"
    assert "- this \n- that \n" in asked(f"Which?\n{options}")
    assert "1. Which?\n   - this \n" in asked(
        "1. Which?\n   - [ ] this *No.*\n   - [x] b *Yes.*", "quiz"
    )
    number = asked("How many?\n- [x] {glue:text}`n` *Of {glue:text}`all`.*")
    assert "12" not in number
    assert "40" not in number
    with pytest.raises(ValueError, match="explanation"):
        asked("1. Why?\n   - [x] So.", "quiz")


@pytest.mark.parametrize("name", SOURCES)
@pytest.mark.parametrize("students", [False, True], ids=["instructor", "student"])
def test_live_notebooks_hold_nothing_that_only_a_page_can_show(name, students, book):
    notebook = for_students(SOURCES[name]) if students else SOURCES[name]
    live = live_notebook(notebook, book)
    nbformat.validate(live)
    text = re.sub(r"`[^`{]*`|\$[^$]*\$", "", markdown(live))
    assert (
        re.findall(
            r"^:{3,}.*|\{[\w:-]+\}`.*|^\([\w-]+\)=$|\$\$ *\([\w-]+\)|\.\./book/",
            text,
            re.M,
        )
        == []
    )
    assert text.count("<div") == text.count("</div>")
    assert text.count("<details>") == text.count("</details>")
    # The code is the same, cell for cell.
    code, lived = (
        [c.source for c in each.cells if c.cell_type == "code"] for each in (notebook, live)
    )
    assert lived == code


def test_blocks_nest():
    (outer,) = blocks("::::{admonition} Proof\n:class: dropdown\n\n:::{prf:proof}\nSo.\n:::\n::::")
    assert outer.options == {"class": "dropdown"}
    assert blocks(outer.body)[-1] == Block("prf:proof", "", "So.", {})
    with pytest.raises(ValueError, match="never closed"):
        blocks(":::{admonition} A\ntext")


def test_live_text_spells_out_roles():
    works = {
        "a": Work(("One", "Two"), "1999", "T", "J"),
        "b": Work(("A", "B", "C"), "2001", "T", "J"),
    }
    book = Book({"n": "372", "s": "0.031"}, works, {"thm": "Weak duality"}, {"eq": "1.1"})
    text = live_text(
        "{glue:text}`n`, {glue:text}`n:,d`, {glue:text}`s:.1%`; {cite}`a,b`, {cite:t}`b`; "
        "{prf:ref}`thm`, {prf:ref}`the ledger <lem>`, {eq}`eq`, [cards](../book/data-cards.md), "
        "{term}`the dual <dual>`",
        book,
    )
    assert text == (
        "372, 372, 3.1%; (One and Two, 1999; A et al., 2001), A et al. (2001); Weak duality, "
        "the ledger, (1.1), cards, the dual"
    )
    assert live_text("$$\nx\n$$ (eq)", book) == "$$\nx \\tag{1.1}\n$$"
    assert live_text("{glue:text}`n`. Next", book) == "372\\. Next"  # no list
    assert live_text(":::{admonition} Mind\n:class: tip\nSo.\n:::", book).split("\n\n")[1:3] == [
        "**Mind**",
        "So.",
    ]
    with pytest.raises(KeyError, match="make book"):
        live_text("{glue:text}`missing`", book)


def test_points_are_hundredths_with_a_sign():
    values = {"a": "0.0361", "b": "-0.0042", "c": "-0.0001"}
    text = spelled_out("{points}`a`, {points}`b:2`, {points}`c`", values)
    assert text == "+3.6, \N{MINUS SIGN}0.42, +0.0"


def test_a_notebook_that_its_reader_changed_is_kept(tmp_path):
    def noted(text):
        return new_notebook(cells=[new_markdown_cell(text)])

    assert refresh(tmp_path, {"a.ipynb": noted("a"), "b.ipynb": noted("b")}) == []
    nbformat.write(noted("mine"), tmp_path / "a.ipynb")
    assert refresh(tmp_path, {"a.ipynb": noted("new"), "b.ipynb": noted("new")}) == ["a.ipynb"]
    kept = [
        nbformat.read(tmp_path / name, as_version=4).cells[0].source
        for name in ("a.ipynb", "b.ipynb")
    ]
    assert kept == ["mine", "new"]


PROMPT = re.compile(
    r"^:{3,}\{admonition\} (?:Before|While) you [^\n]*\n(?::class:[^\n]*\n)?(.*?)^:{3,}$",
    re.M | re.S,
)


@pytest.mark.parametrize(
    "name", [name for name in SOURCES if name[0].isdigit() or name.startswith("appendix")]
)
def test_the_answer_key_answers_what_is_asked(name):
    title = (
        f"Chapter {{ch}}`{name.partition('_')[2]}`"
        if name[0].isdigit()
        else SOURCES[name].cells[0].source.split("\n")[0][2:]
    )
    chapter = re.search(
        rf"^## {re.escape(title)}$(.*?)(?=^## |\Z)", markdown(SOURCES["answer_key"]), re.M | re.S
    )
    quoted = re.findall(r'^\*\*"(.*?)"\*\*', chapter[1] if chapter else "", re.M)
    text = re.sub(r"\{glue:text\}`[^`]*`", "…", markdown(SOURCES[name]))
    asked = [" ".join(words.split()).removeprefix("1. ") for words in PROMPT.findall(text)]
    left = [words for words in quoted if not any(text.startswith(words) for text in asked)]
    assert left == [], "the key answers what is not asked any more"
