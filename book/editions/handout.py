"""What a class is handed: the student's book with its notebooks."""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from pathlib import Path

import nbformat
from bs4 import BeautifulSoup
from nbformat import NotebookNode

from editions.markdown_pages import notebook_as_markdown
from editions.writing import TEACHERS, live_notebooks

_START = """# Start here

**To read**, open `html/index.html` in a browser. Sliders, quizzes and exercises with a short
answer work there; nothing is installed and nothing is sent.

**To run the notebooks** you need Python 3.11 or newer and the file `{wheel}`, which your teacher
hands out next to this folder. Put it into this folder, and there run

    python3 -m venv venv
    venv/bin/pip install "./{wheel}[notebooks]"
    venv/bin/python check_environment.py
    venv/bin/jupyter lab notebooks

On Windows write `py` for `python3` and `venv\\Scripts\\` for `venv/bin/`. The third line says
whether all is well. Exercises are numbered alike in book and notebooks.

**On a Chromebook or a tablet**, where nothing can be installed, read the book at your teacher's
address instead of from this folder; the cells of its chapters then run in the page.

The text is under CC BY 4.0 and the code under the MIT licence; `LICENSE` has both.
"""
# Addresses of the teachers' pages, and of the package, which lies next to the folder.
_NAMES = "|".join(name.rpartition("/")[2] for name in TEACHERS)
_NOT_THEIRS = re.compile(rf"(?:^|/)(?:{_NAMES})\.(?:html|md)|\.whl$")
_INDEX = "student_searchindex.js"  # beside the folder of the pages
_CHECK = """import sys

if sys.version_info < (3, 11):
    sys.exit("Python 3.11 or newer is needed; this is " + sys.version.split()[0])
try:
    import jupyterlab, plotly

    import adalib
except ImportError as error:
    sys.exit(f"{error.name} is missing: install the package as START-HERE.md says")
table = adalib.load("word-fewshot").table()
assert round(adalib.frontier(table.acc, table.cost).at(2).cost, 6) <= 2
print("All is well: open the notebooks.")
"""


def hand_out(root: Path, executed: Path, target: Path) -> None:
    """Zip the student's book with its notebooks; ``executed`` holds those of the build.

    The package lies next to the zip: it is large, and a class installs it once.
    """
    wheel = next((root / "dist").glob("*.whl"))
    shutil.rmtree(target, ignore_errors=True)
    folder = target / "student"
    notebooks = live_notebooks(root, executed, students=True)
    cut_book(root / "_build" / "html", folder / "html", notebooks)
    shutil.copytree(folder / "html" / "_sources" / "notebooks", folder / "notebooks")
    shutil.copy(wheel, target)
    shutil.copy(root / "LICENSE", folder)
    (folder / "START-HERE.md").write_text(_START.format(wheel=wheel.name), encoding="utf-8")
    (folder / "check_environment.py").write_text(_CHECK, encoding="utf-8")
    zipped = Path(shutil.make_archive(str(folder), "zip", target, "student"))
    size = zipped.stat().st_size / 1e6
    print(f"To hand out:  {zipped} ({size:.0f} MB) and, to run notebooks, {target / wheel.name}")


def cut_book(built: Path, target: Path, notebooks: Mapping[str, NotebookNode]) -> None:
    """Copy the pages of the built book without solutions and without the teachers' pages.

    ``notebooks`` are the student's, for the download buttons. Python for the browser stays behind.
    """
    left_out = shutil.ignore_patterns("*.whl", "_live", "llms.txt")
    shutil.copytree(built, target, ignore=left_out)
    sources = target / "_sources"
    shutil.rmtree(sources / "notebooks")
    (sources / "notebooks").mkdir()
    for name, notebook in notebooks.items():
        nbformat.write(notebook, sources / "notebooks" / name)
        text = notebook_as_markdown(notebook, {})  # what cells show may answer what is asked
        (target / "notebooks" / name).with_suffix(".md").write_text(text, encoding="utf-8")
    for name in TEACHERS:
        (target / f"{name}.html").unlink(missing_ok=True)
        (target / f"{name}.md").unlink(missing_ok=True)
        (sources / f"{name}.md").unlink(missing_ok=True)
    for file in target.rglob("*.html"):
        file.write_text(cut_page(file.read_text(encoding="utf-8")), encoding="utf-8")
    shutil.copy(built.parent / _INDEX, target / "searchindex.js")


def write_index(builder) -> None:
    """Write what the search of the student's book looks words up in, when the book is built.

    It has no word, no title and no entry of the teachers' pages.
    """
    if indexer := getattr(builder, "indexer", None):  # there is none where no page was out of date
        indexer.prune(builder.env.all_docs.keys() - set(TEACHERS))
        # What it leaves: the words of no page, and the entries.
        for words in (indexer._mapping, indexer._title_mapping):
            for word in [word for word, pages in words.items() if not pages]:
                del words[word]
        for name in TEACHERS:
            indexer._index_entries.pop(name, None)
        with (Path(builder.outdir).parent / _INDEX).open("w", encoding="utf-8") as file:
            indexer.dump(file, builder.indexer_format)


def cut_page(text: str) -> str:
    """A built page without solutions, and without the ways to what a student does not get.

    >>> cut_page('<p>Why?</p><div class="solution">So.</div><li><a href="teach.html">T</a></li>')
    '<p>Why?</p>'
    """
    soup = BeautifulSoup(text, "html.parser")
    for solution in soup.select(".solution"):
        solution.decompose()
    for link in soup.select("[href]"):
        if not link.decomposed and _NOT_THEIRS.search(str(link["href"])):
            (link.find_parent("li") or link).decompose()
    for caption in soup.find_all("span", class_="caption-text", string="For teachers"):
        caption.string = "Homework"
    return str(soup)
