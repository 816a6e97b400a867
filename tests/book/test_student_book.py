"""A student's book: no solution, no key and no marked option in any source, and none in what is built from it.

What is cut is cut from the sources, before anything else sees them. All of them are checked; two chapters are built,
from the outputs of the last build, to see that a page, its notebook and the search index hold no more than that.
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
from editions.student import for_students, solution_cells
from editions.writing import TEACHERS, live_notebooks, read_values, student_sources
from jupyter_cache import get_cache

CHAPTERS = [name for page in toc_pages() if page not in TEACHERS and (name := page.removeprefix("notebooks/")) != page]
BUILT = ("02_oracle", "appendix_markets")
TOC = "format: jb-book\nroot: book/references\nchapters:\n" + "".join(f"  - file: notebooks/{name}\n" for name in BUILT)
MARKED = re.compile(r"<input[^>]*\bchecked\b[^>]*task|task[^>]*\bchecked\b")


def chapter(name: str):
    """A chapter as its authors wrote it."""
    return nbformat.read(ROOT / "notebooks" / f"{name}.ipynb", as_version=4)


@pytest.fixture(scope="module")
def values(html) -> dict[str, str]:
    return read_values(html.parent / "jupyter_execute" / "notebooks")


@pytest.fixture(scope="module")
def sources(values, tmp_path_factory) -> Path:
    """The folder of the student's sources."""
    folder = tmp_path_factory.mktemp("student")
    student_sources(ROOT, folder, values)
    return folder


@pytest.fixture(scope="module")
def built(html, sources) -> Path:
    """The folder of the built pages; their cells carry the outputs of the last build."""
    (sources / "_toc.yml").write_text(TOC, encoding="utf-8")
    config = (sources / "_config.yml").read_text(encoding="utf-8")
    config = config.replace("execute_notebooks: cache", "execute_notebooks: 'off'") + "\nonly_build_toc_files: true\n"
    (sources / "_config.yml").write_text(config, encoding="utf-8")
    cache = get_cache(html.parent / ".jupyter_cache")
    for name in BUILT:
        _, executed = cache.merge_match_into_notebook(chapter(name))
        outputs = {cell.id: cell.get("outputs", []) for cell in executed.cells}
        path = sources / "notebooks" / f"{name}.ipynb"
        notebook = nbformat.read(path, as_version=4)
        for cell in notebook.cells:
            if cell.cell_type == "code":
                cell.outputs = outputs[cell.id]
        nbformat.write(notebook, path)
    build = "from jupyter_book.cli.main import main; main()"
    result = subprocess.run([sys.executable, "-c", build, "build", str(sources)], capture_output=True, text=True)
    assert result.returncode == 0, result.stdout[-2000:] + result.stderr[-2000:]
    return sources / "_build" / "html"


@pytest.fixture(scope="module")
def secrets(values) -> dict[str, list[str]]:
    """Texts that only a teacher has, by chapter: lines of solutions and explanations of a quiz, if long enough.

    A solution may use a line that another chapter teaches.
    """
    cells = {name: chapter(name).cells for name in CHAPTERS}
    taught = "\n".join(cell.source for name in CHAPTERS for cell in for_students(chapter(name), values).cells)
    kept = {}
    for name, own in cells.items():
        texts, code = solution_cells(own)
        lines = [line.strip() for part in [*texts, *(cell for _, cell in code)] for line in part.split("\n")]
        markdown = "\n".join(cell.source for cell in own if cell.cell_type == "markdown")
        lines += re.findall(r"^ *- \[[ xX]\] .*?\*([^*]+)\*$", markdown, re.M)
        kept[name] = [line for line in lines if len(line) > 25 and line not in taught]
    return kept


def words(path: Path) -> str:
    """A file as text; of a page also what is read on it, where a line of code is not cut up by its colours."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".html":
        text += html_module.unescape(re.sub(r"<[^>]+>", "", text))
    elif path.suffix == ".ipynb":
        text += "\n".join(cell.source for cell in nbformat.reads(text, as_version=4).cells)
    return re.sub(r"\s+", " ", text)


def told(files: dict[str, str], kept_back: list[str]) -> list[str]:
    """Where the files tell what is kept back, or mark an option."""
    marked = [
        path for path, text in files.items() if MARKED.search(text) or "- [x]" in text or "solution-start" in text
    ]
    return marked + [f"{path}: {line}" for line in kept_back for path, text in files.items() if line in text]


def test_nothing_of_a_solution_or_of_a_quizs_key_is_in_any_source(sources, secrets):
    pages = [page for page in toc_pages() if page not in TEACHERS]
    paths = [next(path for path in sources.glob(f"{page}.*") if path.suffix in (".md", ".ipynb")) for page in pages]
    kept_back = [line for lines in secrets.values() for line in lines]
    assert len(kept_back) > 300
    assert told({path.name: words(path) for path in paths}, kept_back) == []
    assert not any(list(sources.glob(f"{page}.*")) for page in TEACHERS)


def test_nor_in_any_file_that_is_built(built, secrets):
    kinds = (".html", ".js", ".ipynb", ".txt", ".json", ".md")
    files = [path for path in built.rglob("*") if path.suffix in kinds and "lib" not in path.parts]
    held = {path.relative_to(built).as_posix(): words(path) for path in files}
    assert {f"notebooks/{name}.html" for name in BUILT} | {"searchindex.js"} <= set(held)
    assert {f"_sources/notebooks/{name}.ipynb" for name in BUILT} <= set(held)
    assert told({path: text for path, text in held.items() if "_static" not in path}, []) == []
    assert told(held, [line for name in BUILT for line in secrets[name]]) == []


@pytest.mark.parametrize("name", [name for name in CHAPTERS if name[0].isdigit() or name.startswith("appendix")])
def test_the_check_would_find_them_in_the_book_with_solutions(html, secrets, name):
    page = words(html / "notebooks" / f"{name}.html")
    assert sum(line in page for line in secrets[name]) > 10
    assert MARKED.search(page)


def test_a_students_quiz_still_answers(built, browser):
    page = browser.new_page()
    page.set_default_timeout(600_000)
    page.goto((built / "notebooks" / "02_oracle.html").as_uri())
    said = page.locator(".quiz-said").first
    answers = []
    for option in page.locator(".quiz-options").first.locator(".quiz-option").all():
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
