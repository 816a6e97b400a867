"""Students get no solution and no marked option; live notebooks hold nothing that only a page can show."""

from __future__ import annotations

import re

import nbformat
import pytest
from conftest import ROOT, toc_pages
from nbformat.v4 import new_code_cell, new_markdown_cell

from adalib.teach.editions.blocks import Block, blocks
from adalib.teach.editions.cited import Citations, Work
from adalib.teach.editions.live import Book, live_notebook, live_text
from adalib.teach.editions.student import (
    for_students,
    lock,
    locked_quizzes,
    solution_cells,
    uses_of_solutions,
    without_solutions,
)
from adalib.teach.editions.writing import TEACHERS, refresh, student_sources

NOTEBOOKS = sorted((ROOT / "notebooks").glob("*.ipynb"))
START, END = ":::{solution-start} ex\n:class: dropdown\n:::", ":::{solution-end}\n:::"


def read(path):
    return nbformat.read(path, as_version=4)


def markdown(notebook) -> str:
    return "\n\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")


class Anything(dict):
    """A number for every name: what is computed is the build's matter, not this test's."""

    def __contains__(self, key):
        return True

    def __getitem__(self, key):
        return "2"


@pytest.fixture(scope="module")
def book():
    return Book(Anything(), Citations.read(ROOT / "book" / "references.bib"), {}, Anything(), "pip install it")


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_student_gets_no_solution_and_no_marked_option(path):
    notebook = read(path)
    texts, code = solution_cells(notebook.cells)
    if "{exercise}" in markdown(notebook):
        assert code or texts, "an exercise without a solution between marks"
    student = nbformat.writes(for_students(notebook, Anything()))
    assert "solution" not in re.sub(r"\b(solutions?)\b(?!-)", "", student)  # the word may be used, the marks may not
    plain = [cell.source for cell in for_students(notebook, Anything()).cells]
    for _, cell in code:
        assert cell not in plain
    for text in texts:
        assert not any(text in cell for cell in plain)
    assert not re.search(r"- \[[xX]\]", student)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_explanations_of_a_quiz_are_locked(path):
    text = markdown(read(path))
    whys = re.findall(r"^ *- \[[ xX]\] .*?\*([^*]+)\*$", text, re.M)
    locked = locked_quizzes(text, Anything())
    assert len(whys) == locked.count("quiz-lock")
    assert [why for why in whys if len(why) > 25 and why in locked] == []


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_no_later_cell_uses_what_a_solution_made(path):
    assert uses_of_solutions(read(path).cells) == []


def test_a_use_of_a_solution_is_found():
    cells = [
        new_code_cell("share = 1"),
        new_markdown_cell(START),
        new_code_cell("share = 2\nfor row in [1]:\n    pass"),
        new_markdown_cell(END),
        new_code_cell("row = 1\nprint(row)"),
        new_code_cell("print(share)"),
    ]
    assert uses_of_solutions(cells) == ["cell 5: share"]
    cells[4].source = "row = 1\nshare = 3"
    assert uses_of_solutions(cells) == []


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


def test_an_option_without_an_explanation_is_refused():
    with pytest.raises(ValueError, match="explanation"):
        locked_quizzes(":::{admonition} One\n:class: quiz\n1. Why?\n   - [x] So.\n:::", {})


def test_a_number_to_be_guessed_is_locked_with_its_explanation():
    text = ":::{admonition} Guess\n:class: prompt\nHow many?\n- [x] {glue:text}`n` *Of {glue:text}`all`.*\n:::"
    locked = locked_quizzes(text, {"n": "7", "all": "19"})
    assert "7" not in re.sub(r"<span[^>]*>", "", locked)
    assert re.search(r"^- \[ \] <span class=\"quiz-lock\"", locked, re.M)
    assert "- [ ]" not in live_text(locked, Book({}, Citations({})))


def test_a_lock_holds_every_letter():
    assert lock("λ = ½", "s") != lock("λ = ½", "t")
    assert re.fullmatch(r"[\w-]+", lock("λ = ½ <script>", "s"))


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
@pytest.mark.parametrize("students", [False, True], ids=["instructor", "student"])
def test_live_notebooks_hold_nothing_that_only_a_page_can_show(path, students, book):
    notebook = for_students(read(path), Anything()) if students else read(path)
    live = live_notebook(notebook, book)
    nbformat.validate(live)
    text = re.sub(r"`[^`{]*`|\$[^$]*\$", "", markdown(live))
    assert re.findall(r"^:{3,}.*|\{[\w:-]+\}`.*|^\([\w-]+\)=$|\$\$ *\([\w-]+\)|\.\./book/|quiz-lock", text, re.M) == []
    assert text.count("<div") == text.count("</div>")
    assert text.count("<details>") == text.count("</details>")
    # The code is the same, cell for cell.
    code = [cell.source for cell in notebook.cells if cell.cell_type == "code"]
    assert [cell.source for cell in live.cells if cell.cell_type == "code"] == code


def test_blocks_nest_and_unclosed_ones_are_refused():
    (outer,) = blocks("::::{admonition} Proof\n:class: dropdown\n\n:::{prf:proof}\nSo.\n:::\n::::")
    assert outer.options == {"class": "dropdown"}
    assert blocks(outer.body)[-1] == Block("prf:proof", "", "So.", {})
    with pytest.raises(ValueError, match="never closed"):
        blocks(":::{admonition} A\ntext")


def test_live_text_spells_out_roles():
    works = {"a": Work(("One", "Two"), "1999", "T", "J"), "b": Work(("A", "B", "C"), "2001", "T", "J")}
    book = Book({"n": "372", "s": "0.031"}, Citations(works), {"thm": "Weak duality"}, {"eq": "1.1"})
    said = live_text(
        "{glue:text}`n`, {glue:text}`n:,d`, {glue:text}`s:.1%`; {cite}`a,b`, {cite:t}`b`; {prf:ref}`thm`, "
        "{prf:ref}`the ledger <lem>`, {eq}`eq`, [cards](../book/data-cards.md), {term}`the dual <dual>`",
        book,
    )
    assert said == (
        "372, 372, 3.1%; (One and Two, 1999; A et al., 2001), A et al. (2001); Weak duality, "
        "the ledger, (1.1), cards, the dual"
    )
    assert live_text("$$\nx\n$$ (eq)", book) == "$$\nx \\tag{1.1}\n$$"
    with pytest.raises(KeyError, match="make book"):
        live_text("{glue:text}`missing`", book)


def test_a_notebook_that_its_reader_changed_is_kept(tmp_path):
    first = {name: nbformat.v4.new_notebook(cells=[new_markdown_cell(name)]) for name in ("a.ipynb", "b.ipynb")}
    assert refresh(tmp_path, first) == []
    nbformat.write(nbformat.v4.new_notebook(cells=[new_markdown_cell("mine")]), tmp_path / "a.ipynb")
    second = {name: nbformat.v4.new_notebook(cells=[new_markdown_cell("new")]) for name in first}
    assert refresh(tmp_path, second) == ["a.ipynb"]
    assert read(tmp_path / "a.ipynb").cells[0].source == "mine"
    assert read(tmp_path / "b.ipynb").cells[0].source == "new"


def test_the_students_sources_leave_the_teachers_pages_out(tmp_path):
    student_sources(ROOT, tmp_path, Anything())
    toc = (tmp_path / "_toc.yml").read_text(encoding="utf-8")
    assert re.findall(r"(?:root|file): (\S+)", toc) == [page for page in toc_pages() if page not in TEACHERS]
    texts = "".join(path.read_text(encoding="utf-8") for path in (tmp_path / "book").glob("*.md"))
    assert not re.search(r"\]\([\w./]*(?:teach\.md|answer_key\.ipynb)", texts)
    assert not any(list(tmp_path.glob(f"{page}.*")) for page in TEACHERS)


PROMPT = re.compile(r"^:{3,}\{admonition\} (?:Before|While) you [^\n]*\n(?::class:[^\n]*\n)?(.*?)^:{3,}$", re.M | re.S)


CHAPTERS = [path for path in NOTEBOOKS if path.stem[0].isdigit() or path.stem.startswith("appendix")]


@pytest.mark.parametrize("path", CHAPTERS, ids=lambda path: path.stem)
def test_the_answer_key_answers_every_prompt(path):
    key = markdown(read(ROOT / "notebooks" / "answer_key.ipynb"))
    title = f"Chapter {int(path.stem[:2])}" if path.stem[0].isdigit() else read(path).cells[0].source.split("\n")[0][2:]
    chapter = re.search(rf"^## {title}$(.*?)(?=^## |\Z)", key, re.M | re.S)
    quoted = re.findall(r'^\*\*"(.*?)"\*\*', chapter[1] if chapter else "", re.M)
    text = re.sub(r"\{glue:text\}`[^`]*`", "…", markdown(read(path)))
    asked = [" ".join(words.split()).removeprefix("1. ") for words in PROMPT.findall(text)]
    assert [text for text in asked if not text.startswith(tuple(quoted))] == [], "a prompt has no answer"
    assert len(quoted) == len(asked), "the key answers what is not asked any more"
