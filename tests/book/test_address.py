"""What a page says of its source, in a small book that is built with a repository and without."""

from __future__ import annotations

import re
import shutil

import nbformat
import pytest
from bs4 import BeautifulSoup
from conftest import ROOT, soup, toc_pages
from nbformat.v4 import new_code_cell, new_markdown_cell, new_notebook
from pybtex.database import parse_string
from sphinx.testing.util import SphinxTestApp

import adalib
from editions.lab_notebooks import Book, live_notebook
from press.address import wheel_address

CONF = """
extensions = ["myst_nb", "sphinx_book_theme", "press.address"]
html_theme = "sphinx_book_theme"
templates_path = ["_templates"]
root_doc = "book/intro"
nb_execution_mode = "off"
project = "A small book"
html_theme_options = {"article_header_start": [], "secondary_sidebar_items": []}
"""
CONTENTS = """
root: book/intro
parts:
  - caption: Chapters
    chapters:
      - file: notebooks/00_data
"""


@pytest.fixture(scope="module", params=["", "one/two"], ids=["without", "with"])
def built(request, tmp_path_factory) -> tuple[str, BeautifulSoup]:
    """The repository, and the page of a chapter."""
    folder = tmp_path_factory.mktemp("small")
    (folder / "conf.py").write_text(CONF, encoding="utf-8")
    (folder / "_toc.yml").write_text(CONTENTS, encoding="utf-8")
    shutil.copy(ROOT / "pyproject.toml", folder)
    (folder / "_templates").mkdir()
    shutil.copy(ROOT / "book" / "_templates" / "extra-footer.html", folder / "_templates")
    names = ("book/references", "book/errata", "book/accessibility", "notebooks/00_data")
    toctree = "\n/".join(["```{toctree}", *names]) + "\n```\n"
    (folder / "book").mkdir()
    (folder / "book" / "intro.md").write_text(f"# Intro\n\n{toctree}", encoding="utf-8")
    for name in ("references", "errata", "accessibility"):
        (folder / "book" / f"{name}.md").write_text(f"# {name}\n", encoding="utf-8")
    (folder / "notebooks").mkdir()
    chapter = new_notebook(cells=[new_markdown_cell("# Data\n\nText."), new_code_cell("1 + 1")])
    nbformat.write(chapter, folder / "notebooks" / "00_data.ipynb")
    with pytest.MonkeyPatch.context() as patch:
        for name in ("ADALIB_BOOK_URL", "GITHUB_REPOSITORY"):
            patch.delenv(name, raising=False)
        app = SphinxTestApp(srcdir=folder, confoverrides={"adalib_repository": request.param})
        app.build()
        app.cleanup()
    page = folder / "_build" / "html" / "notebooks" / "00_data.html"
    return request.param, BeautifulSoup(page.read_text("utf-8"), "html.parser")


def addresses(page: BeautifulSoup) -> list[str]:
    """All addresses on other hosts that a page leads to."""
    return [link["href"] for link in page.select("a[href^='https://']")]


def test_a_page_leads_to_its_source_an_issue_and_colab_only_if_there_is_a_repository(built):
    repository, page = built
    ways = [
        "https://github.com/one/two",
        "https://github.com/one/two/edit/main/notebooks/00_data.ipynb",
        "https://github.com/one/two/issues/new?template=mistake.md&title=Mistake%20on%20notebooks/00_data",
        "https://colab.research.google.com/github/one/two/blob/colab/00_data.ipynb",
    ]
    there = addresses(page)
    assert [way in there for way in ways] == [bool(repository)] * len(ways)
    if not repository:
        assert not [way for way in there if "github" in way or "colab" in way]


def test_a_page_says_its_version_its_licence_how_to_cite_it_and_where_it_runs(built):
    _, page = built
    footer = page.select_one("p.extra_footer")
    assert f"Version {adalib.__version__}" in footer.get_text()
    assert {link["href"] for link in footer.select("a[href*='book/']")} == {
        "../book/references.html#how-to-cite",
        "../book/errata.html",
        "../book/accessibility.html",
    }
    first = page.select_one(".cell > .cell_input").parent
    assert first.find_previous_sibling() == page.select_one(".adalib-runs")


def test_an_issue_template_of_that_name_is_there(built):
    repository, page = built
    for address in addresses(page):
        for template in re.findall(r"template=([\w.]+)", address):
            assert (ROOT / ".github" / "ISSUE_TEMPLATE" / template).exists()
            assert repository


@pytest.mark.parametrize("page", toc_pages())
def test_our_own_pages_say_it_too(html, page):
    footer = soup(page).select_one("p.extra_footer").get_text()
    assert f"Version {adalib.__version__}" in footer


def test_what_a_reader_copies_to_cite_the_book_is_what_citation_cff_says(html):
    block = soup("book/references").select_one("#how-to-cite div.highlight pre").get_text()
    (work,) = parse_string(block, "bibtex").entries.values()
    assert work.fields["version"] == adalib.__version__
    assert f'title: "{work.fields["title"]}"' in (ROOT / "CITATION.cff").read_text("utf-8")


def test_the_first_cell_installs_the_package_only_where_it_is_missing():
    chapter = new_notebook(cells=[new_markdown_cell("# Data"), new_code_cell("1 + 1")])
    address = wheel_address("one/two", adalib.__version__)
    book = Book({}, {}, wheel_address=address)
    (_, cell, _) = live_notebook(chapter, book).cells
    assert address in cell.source
    from IPython.core.interactiveshell import InteractiveShell

    asked = []
    shell = InteractiveShell()
    shell.register_magic_function(asked.append, magic_name="pip")
    assert shell.run_cell(cell.source).success
    assert asked == []  # this environment has the package
    elsewhere = cell.source.replace("import adabook", "import a_package_that_nobody_has")
    assert shell.run_cell(elsewhere).success
    (words,) = asked
    assert f'"adalib-book[learn,math,client,pages] @ {address}"' in words
