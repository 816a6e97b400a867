"""The registry of pages: numbers follow the order of `_toc.yml` alone, and sources name chapters by
key."""

from __future__ import annotations

import json
import re

import nbformat
import pytest
from conftest import ROOT

import contents
from press import registers

TOC = """format: jb-book
root: book/intro
parts:
  - caption: Play
    chapters:
      - file: notebooks/explorer
  - caption: First
    chapters:
      - file: notebooks/07_last
      - file: notebooks/02b_first
  - caption: Appendices
    chapters:
      - file: notebooks/z_more
"""
MENTION = re.compile(r"(?<!paper's )\b(?:[Cc]hapters?|[Aa]ppendix|[Aa]ppendices)\s+(?:\d+|[A-Z])\b")


def test_numbers_follow_the_order_of_the_table_of_contents(tmp_path):
    (tmp_path / "_toc.yml").write_text(TOC, encoding="utf-8")
    assert [(page.key, page.number) for page in contents.pages(tmp_path)] == [
        ("intro", ""),
        ("explorer", ""),
        ("last", "0"),
        ("first", "1"),
        ("z_more", "A"),
    ]
    by_key = contents.keys(tmp_path)
    text = "See chapters {ch}`first` and {ch}`last`, and appendix {ch}`z_more`."
    assert contents.spelled(text, by_key, "here") == "See chapters 1 and 0, and appendix A."
    with pytest.raises(ValueError, match="here.*'none'.*last"):
        contents.spelled("{ch}`none`", by_key, "here")


def test_a_notebook_can_say_that_its_cells_do_not_run_in_a_browser(tmp_path):
    (tmp_path / "_toc.yml").write_text(TOC, encoding="utf-8")
    (tmp_path / "notebooks").mkdir()
    for stem, metadata in (("07_last", {}), ("02b_first", {"adalib": {"live": False}})):
        notebook = {"cells": [], "metadata": metadata}
        (tmp_path / "notebooks" / f"{stem}.ipynb").write_text(json.dumps(notebook))
    by_key = contents.keys(tmp_path)
    assert (by_key["last"].runs_live, by_key["first"].runs_live) == (True, False)


@pytest.mark.parametrize("path", sorted((ROOT / "book").glob("*.md")), ids=lambda path: path.stem)
def test_every_chapter_that_a_page_mentions_exists(path):
    """Also on the pages of the instructor's edition, which are not in the table of contents."""
    text = path.read_text(encoding="utf-8")
    assert "{ch}`" not in contents.spelled(text, contents.keys(ROOT), path.stem)


@pytest.mark.parametrize("page", contents.pages(), ids=lambda page: page.key)
def test_pages_name_chapters_by_key(page):
    if page.path.suffix == ".md":
        texts = [page.path.read_text(encoding="utf-8")]
    else:
        texts = [cell.source for cell in nbformat.read(page.path, as_version=4).cells]
    by_key = contents.keys()
    for text in texts:
        assert MENTION.findall(text) == [], "write chapter {ch}`key`, with a key of _toc.yml"
        contents.spelled(text, by_key, page.name)


def test_the_package_names_no_chapter_by_a_number_that_may_change():
    for file in sorted((ROOT / "adalib").rglob("*.py")):
        text = " ".join(file.read_text(encoding="utf-8").split())
        assert re.findall(r"\b[Cc]hapters? \d+", text) == [], file  # appendices are the paper's


def lesson(root, stem, cells, **about):
    """A small notebook, from Markdown, with what it says of itself."""
    (root / "notebooks").mkdir(exist_ok=True)
    listed = [
        {"cell_type": "markdown", "id": str(at), "metadata": {}, "source": [text]}
        for at, text in enumerate(cells)
    ]
    notebook = {"cells": listed, "metadata": {"adalib": about}}
    (root / "notebooks" / f"{stem}.ipynb").write_text(json.dumps(notebook))


def test_registers_list_what_the_notebooks_say(tmp_path):
    (tmp_path / "_toc.yml").write_text(TOC, encoding="utf-8")
    exercise = ":::{exercise} build (core)\n:label: ex-one\nDo it.\n:::"
    lesson(tmp_path, "07_last", ["# Last", exercise], question="Why?")
    lesson(tmp_path, "02b_first", ["# First"], needs=["last"])
    lesson(tmp_path, "z_more", ["# More", ":::{prf:lemma} Small\n:label: lem\nSo.\n:::"])
    assert registers.chapter_table(tmp_path).splitlines()[2:] == [
        "| Chapter 0 | [Last](/notebooks/07_last.ipynb) | Why? |",
        "| Chapter 1 | [First](/notebooks/02b_first.ipynb) |  |",
    ]
    exercises, statements = (
        listed(tmp_path).splitlines()[2:]
        for listed in (registers.exercise_table, registers.statement_table)
    )
    assert exercises == ["| Chapter 0 | [build](ex-one) (core) |"]
    assert statements == ["| Appendix A | {prf:ref}`Small <lem>` |"]
    assert "Chapter 1 needs chapter 0." in registers.needs_graph(tmp_path)
    lesson(tmp_path, "07_last", ["# Last"], needs=["first"])
    with pytest.raises(ValueError, match="circle"):
        registers.needs_graph(tmp_path)
    lesson(tmp_path, "07_last", ["# Last"], needs=["nobody"])
    with pytest.raises(ValueError, match="07_last.ipynb: needs 'nobody'"):
        registers.needs_graph(tmp_path)
