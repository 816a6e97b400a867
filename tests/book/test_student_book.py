"""A student's book, built: no solution, no key and no marked option in a page, its notebook or the search index.

The whole of it, from the outputs of the last build: what is cut is cut before anything runs, so that nothing needs to
run again.
"""

from __future__ import annotations

import html as html_module
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT, toc_pages
from jupyter_cache import get_cache

from adalib.teach.editions.student import for_students, solution_cells
from adalib.teach.editions.writing import TEACHERS, live_notebooks, read_values, student_sources

CHAPTERS = [name for page in toc_pages() if page not in TEACHERS and (name := page.removeprefix("notebooks/")) != page]


@pytest.fixture(scope="module")
def student(html, tmp_path_factory):
    """The folder of the built book; the chapters' cells carry the outputs of the last build."""
    folder = tmp_path_factory.mktemp("student")
    values = read_values(html.parent / "jupyter_execute" / "notebooks")
    student_sources(ROOT, folder, values)
    config = (folder / "_config.yml").read_text(encoding="utf-8")
    (folder / "_config.yml").write_text(config.replace("execute_notebooks: cache", "execute_notebooks: 'off'"))
    cache = get_cache(html.parent / ".jupyter_cache")
    for name in CHAPTERS:
        _, executed = cache.merge_match_into_notebook(chapter(name))
        outputs = {cell.id: cell.get("outputs", []) for cell in executed.cells}
        path = folder / "notebooks" / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = outputs[cell.id]
        nbformat.write(notebook, path)
    build = "from jupyter_book.cli.main import main; main()"
    result = subprocess.run([sys.executable, "-c", build, "build", str(folder)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return folder / "_build" / "html"


def chapter(name: str):
    """A chapter as its authors wrote it."""
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def taught(html) -> str:
    """All that the chapters tell students: a solution may use a line that another chapter teaches."""
    values = read_values(html.parent / "jupyter_execute" / "notebooks")
    return "\n".join(cell.source for name in CHAPTERS for cell in for_students(chapter(name), values).cells)


def secrets(name: str, taught: str) -> list[str]:
    """Texts of a chapter that only a teacher has: lines of solutions and explanations of a quiz, if long enough."""
    notebook = chapter(name)
    texts, code = solution_cells(notebook.cells)
    markdown = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
    whys = re.findall(r"^ *- \[[ xX]\] .*?\*([^*]+)\*$", markdown, re.M)
    lines = [line.strip() for part in [*texts, *(cell for _, cell in code)] for line in part.split("\n")]
    return [line for line in [*lines, *whys] if len(line) > 25 and line not in taught]


def words(path: Path) -> str:
    """A file as text; of a page also what is read on it, where a line of code is not cut up by its colours."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text += html_module.unescape(re.sub(r"<[^>]+>", "", text))
    return re.sub(r"\s+", " ", text)


def test_nothing_of_a_solution_or_of_a_quizs_key_is_in_any_file(student, taught):
    kinds = (".html", ".js", ".ipynb", ".txt", ".json", ".md")
    files = [path for path in student.rglob("*") if path.suffix in kinds and "lib" not in path.parts]
    held = {path.relative_to(student).as_posix(): words(path) for path in files}
    built = {
        f"{folder}notebooks/{name}.{kind}"
        for name in CHAPTERS
        for folder, kind in (("", "html"), ("_sources/", "ipynb"))
    }
    assert built | {"searchindex.js"} <= set(held)
    kept_back = [line for name in CHAPTERS for line in secrets(name, taught)]
    assert len(kept_back) > 300
    assert [f"{path}: {line}" for line in kept_back for path, text in held.items() if line in text] == []
    for path, text in held.items():
        if path.endswith(".html"):
            assert not re.search(r"<input[^>]*\bchecked\b[^>]*task|task[^>]*\bchecked\b", text), path
        elif path.endswith(".ipynb"):
            assert "- [x]" not in text, path
            assert "solution-start" not in text, path
    assert not any((student / f"{page}.html").exists() for page in TEACHERS)


@pytest.mark.parametrize("name", [name for name in CHAPTERS if name[0].isdigit() or name.startswith("appendix")])
def test_the_check_would_find_them_in_the_book_with_solutions(html, taught, name):
    page = words(html / "notebooks" / f"{name}.html")
    assert sum(line in page for line in secrets(name, taught)) > 10
    assert re.search(r"<input[^>]*\bchecked\b[^>]*task|task[^>]*\bchecked\b", page)


def test_a_students_quiz_still_answers(student, browser):
    page = browser.new_page()
    page.set_default_timeout(600_000)
    page.goto((student / "notebooks" / "02_oracle.html").as_uri())
    first = page.locator(".quiz-options").first
    said = page.locator(".quiz-said").first
    answers = []
    for option in first.locator(".quiz-option").all():
        option.click()
        answers.append(said.inner_text())
    assert sum(answer.startswith("Right.") for answer in answers) == 1
    assert all(len(answer) > 20 for answer in answers)
    page.close()


@pytest.mark.parametrize("students", [True, False], ids=["student", "instructor"])
def test_live_notebooks_quote_the_numbers_of_the_build(html, students):
    live = live_notebooks(ROOT, html.parent / "jupyter_execute" / "notebooks", students)
    for name, notebook in live.items():
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert "{glue" not in text, name
        assert "adalib[notebooks]" in notebook.cells[0].source, name
    assert any("**Solution.**" in cell.source for cell in live["02_oracle.ipynb"].cells) != students
