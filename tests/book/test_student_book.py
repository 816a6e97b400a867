"""The student's book, cut out of the built one: no solution in a page, a notebook or the index."""

from __future__ import annotations

import html as html_module
import json
import re
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT, soup, toc_pages

from editions.handout import cut_book
from editions.student import for_students, solution_cells
from editions.writing import TEACHERS, live_notebooks

CHAPTERS = [
    path.stem
    for path in sorted((ROOT / "notebooks").glob("*.ipynb"))
    if "{solution-start}" in path.read_text(encoding="utf-8")
]


@pytest.fixture(scope="module")
def executed(html) -> Path:
    """The folder of the notebooks that the build ran."""
    return html.parent / "jupyter_execute" / "notebooks"


@pytest.fixture(scope="module")
def student(html, executed, tmp_path_factory) -> Path:
    """The folder of the student's pages."""
    folder = tmp_path_factory.mktemp("student") / "html"
    cut_book(html, folder, live_notebooks(ROOT, executed, students=True))
    return folder


def chapter(name: str):
    """A chapter as its authors wrote it."""
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def secrets() -> dict[str, list[str]]:
    """Lines of solutions, if long enough to be told from others."""
    taught = "\n".join(
        cell.source for name in CHAPTERS for cell in for_students(chapter(name)).cells
    )
    kept = {}
    for name in CHAPTERS:
        cells = chapter(name).cells
        texts, code = solution_cells(cells)
        lines = [
            line.strip()
            for part in [*texts, *(cell for _, cell in code)]
            for line in part.split("\n")
        ]
        kept[name] = [line for line in lines if len(line) > 25 and line not in taught]
    return kept


def words(path: Path) -> str:
    """A file as text; of a page also what is read on it, where a line of code is not cut up by its
    colours."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text += html_module.unescape(re.sub(r"<[^>]+>", "", text))
    return re.sub(r"\s+", " ", text)


def test_nothing_of_a_solution_is_in_any_file(student, secrets):
    kinds = (".html", ".js", ".ipynb", ".txt", ".json", ".md")
    # What a box compares an answer with, "recorded", has hints that stand in solutions, too.
    files = [
        path
        for path in student.rglob("*")
        if path.suffix in kinds and not {"lib", "explorer", "recorded"} & {*path.parts}
    ]
    held = {path.relative_to(student).as_posix(): words(path) for path in files}
    for name in CHAPTERS:
        assert f"notebooks/{name}.html" in held
        assert "solution-start" not in held[f"_sources/notebooks/{name}.ipynb"]
    kept_back = [line for name in CHAPTERS for line in secrets[name]]
    assert [
        f"{path}: {line}" for line in kept_back for path, text in held.items() if line in text
    ] == []


def test_no_way_leads_to_the_teachers_pages(student):
    names = [page.rpartition("/")[2] for page in TEACHERS]
    kinds = (".html", ".md", ".ipynb")
    files = [path for path in student.rglob("*") if path.suffix in kinds]
    assert not [path for path in files if path.stem in names]
    address = re.compile(rf"href=\"[^\"]*\b(?:{'|'.join(names)})\.html|For teachers|To teach\b")
    pages = {path: path.read_text(encoding="utf-8") for path in student.rglob("*.html")}
    assert [path.name for path, text in pages.items() if address.search(text)] == []


def test_the_search_finds_no_teachers_page(html, student):
    script = (student / "searchindex.js").read_text(encoding="utf-8")
    index = json.loads(script.removeprefix("Search.setIndex(").removesuffix(")"))
    pages = {name.partition("#")[0] for name in index["docnames"]}
    assert pages == {*toc_pages()} - {*TEACHERS}
    assert index["docnames"].index("book/glossary") in index["terms"]["frontier"]


@pytest.mark.parametrize("name", ["02_oracle", "markets"])
def test_the_check_would_find_them_in_the_book_with_solutions(html, secrets, name):
    page = words(html / "notebooks" / f"{name}.html")
    assert sum(line in page for line in secrets[name]) > 10


def test_a_students_quiz_still_answers(student, new_page):
    page = new_page()
    page.goto((student / "notebooks" / "02_oracle.html").as_uri())
    feedback = page.locator(".quiz-said").first
    answers = []
    for option in page.locator(".quiz-options").first.locator(".quiz-option").all():
        option.press("Enter")  # a page that is still being drawn may move away under a pointer
        answers.append(feedback.inner_text())
    assert sum(answer.startswith("Right.") for answer in answers) == 1


@pytest.mark.parametrize("students", [True, False], ids=["student", "instructor"])
def test_live_notebooks_quote_the_numbers_of_the_build(executed, students):
    live = live_notebooks(ROOT, executed, students)
    for name, notebook in live.items():
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert "{glue" not in text, name
        assert "[notebooks]" in notebook.cells[0].source, name
    cells = live["02_oracle.ipynb"].cells
    assert any("jp-MarkdownHeadingCollapsed" in cell.metadata for cell in cells) != students


@pytest.fixture(scope="module")
def texts(executed) -> dict[str, str]:
    """The Markdown of every notebook of the book."""
    return {
        name: "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        for name, notebook in live_notebooks(ROOT, executed).items()
    }


def test_a_notebook_has_the_numbers_of_its_page(texts):
    """Of the figures, games and tables of its cells, of exercises and of equations."""
    for name, text in texts.items():
        page = soup(f"notebooks/{name.removesuffix('.ipynb')}")
        numbers = page.select(".cell .adalib-number, .exercise .caption-number")
        assert [one.get_text() for one in numbers if one.get_text().strip() not in text] == [], name
        equations = [re.sub(r"\D", "", one.get_text()) for one in page.select(".eqno")]
        assert re.findall(r"\\tag\{(\d+)\}", text) == equations


def test_a_link_of_a_notebook_leads_to_a_heading(texts):
    """JupyterLab names a heading by its words."""
    headings = {
        name: {words.replace(" ", "-") for words in re.findall(r"^#+ (.+)$", text, re.M)}
        for name, text in texts.items()
    }
    links = [
        link for text in texts.values() for link in re.findall(r"\]\((\w+\.ipynb)#([^)]+)\)", text)
    ]
    assert links
    assert [(name, place) for name, place in links if place not in headings[name]] == []
