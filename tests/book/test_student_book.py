"""A student's book, built: no solution in a page, its notebook or the search index.

What is cut is cut from the sources, all of which tests/adabook/test_editions.py reads; two chapters
are built here, from the outputs of the last build, to see that what is built from a source holds no
more than it.
"""

from __future__ import annotations

import html as html_module
import re
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest
from conftest import ROOT
from jupyter_cache import get_cache

from editions.student import for_students, solution_cells
from editions.writing import TEACHERS, live_notebooks, student_sources

BUILT = ("02_oracle", "05_markets")
TOC = "format: jb-book\nroot: book/references\nchapters:\n" + "".join(
    f"  - file: notebooks/{name}\n" for name in BUILT
)


@pytest.fixture(scope="module")
def student(html, tmp_path_factory) -> Path:
    """The folder of the built pages; the cells carry the outputs of the last build."""
    folder = tmp_path_factory.mktemp("student")
    student_sources(ROOT, folder)
    config = (folder / "_config.yml").read_text(encoding="utf-8")
    config = (
        config.replace("execute_notebooks: cache", "execute_notebooks: 'off'")
        + "\nonly_build_toc_files: true\n"
    )
    (folder / "_config.yml").write_text(config, encoding="utf-8")
    (folder / "few.yml").write_text(TOC, encoding="utf-8")  # numbers still come from _toc.yml
    cache = get_cache(html.parent / ".jupyter_cache")
    for name in BUILT:
        _, executed = cache.merge_match_into_notebook(chapter(name))
        outputs = {cell.id: cell.get("outputs", []) for cell in executed.cells}
        path = folder / "notebooks" / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = outputs[cell.id]
        nbformat.write(notebook, path)
    build = "from jupyter_book.cli.main import main; main()"
    result = subprocess.run(
        [sys.executable, "-c", build, "build", str(folder), "--toc", str(folder / "few.yml")],
        capture_output=True,
        text=True,
    )
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return folder / "_build" / "html"


def chapter(name: str):
    """A chapter as its authors wrote it."""
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def secrets() -> dict[str, list[str]]:
    """Lines of solutions, if long enough to be told from others."""
    taught = "\n".join(cell.source for name in BUILT for cell in for_students(chapter(name)).cells)
    kept = {}
    for name in BUILT:
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
    files = [
        path for path in student.rglob("*") if path.suffix in kinds and "lib" not in path.parts
    ]
    held = {path.relative_to(student).as_posix(): words(path) for path in files}
    assert {f"notebooks/{name}.html" for name in BUILT} | {"searchindex.js"} <= set(held)
    assert {f"_sources/notebooks/{name}.ipynb" for name in BUILT} <= set(held)
    kept_back = [line for name in BUILT for line in secrets[name]]
    assert [
        f"{path}: {line}" for line in kept_back for path, text in held.items() if line in text
    ] == []
    sources = [text for path, text in held.items() if path.endswith(".ipynb")]
    assert not any("solution-start" in text for text in sources)
    assert not any((student / f"{page}.html").exists() for page in TEACHERS)


@pytest.mark.parametrize("name", BUILT)
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
def test_live_notebooks_quote_the_numbers_of_the_build(html, students):
    live = live_notebooks(ROOT, html.parent / "jupyter_execute" / "notebooks", students)
    for name, notebook in live.items():
        text = "\n".join(cell.source for cell in notebook.cells if cell.cell_type == "markdown")
        assert "{glue" not in text, name
        assert "[notebooks]" in notebook.cells[0].source, name
    assert any("**Solution.**" in cell.source for cell in live["02_oracle.ipynb"].cells) != students
