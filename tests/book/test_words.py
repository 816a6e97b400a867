"""What a notebook says is on its page: the words of each Markdown cell."""

from __future__ import annotations

import re

import nbformat
import pytest
from conftest import ROOT, soup, toc_pages

NOTEBOOKS = [page for page in toc_pages() if page.startswith("notebooks/")]

# What MyST does not print as it is written, and the text that it does print of it.
PRINTED = (
    (r"(?s)\$\$.*?\$\$(?:\s*\([\w-]+\))?|\$[^$]+\$", "|"),  # formulas
    (r"(?ms)^```.*?^```", "|"),
    (r"(?m)^#+ (.*)$", r"|\1|"),  # a heading, below which a chapter says how its cells run
    (r"(?m)^:::+\{[\w:-]+\}[ ]*(?=[A-Z])", "|"),  # a box with a title, which is printed
    (r"(?m)^(?::::*.*|:[\w-]+:.*|\([\w-]+\)=)$", "|"),  # other fences, options, labels
    (r"\{[\w:]+\}`[^`]*`|`[^`]*`", "|"),  # roles, code
    (r"!?\[([^\]]*)\]\([^)]*\)", r"\1"),  # links
    (r"(?m)^\s*(?:[-*]|\d+\.)\s+(?:\[[ x]\]\s*)?", "|"),  # items
    (r"<[^>]+>", "|"),
)


def words(text: str) -> str:
    """The words of a text, without what stands between them."""
    return " " + " ".join(re.findall(r"[^\W_]+", text)) + " "


def printed_runs(markdown: str) -> list[str]:
    """Stretches of words of a cell that its page prints one after the other."""
    for pattern, printed in PRINTED:
        markdown = re.sub(pattern, printed, markdown)
    return [run for part in markdown.split("|") if len((run := words(part)).split()) > 2]


def test_words_between_markup_are_kept_whole():
    cell = (
        "(a)=\n:::{solution-start} ex-a\n:class: dropdown\nBoth *copies*, [on this](x.md) page, "
        "are $a+b$ too many of {glue:text}`n`\n- [x] It learns it. *Or not.*\n:::"
    )
    assert printed_runs(cell) == [
        " Both copies on this page are ",
        " too many of ",
        " It learns it Or not ",
    ]


@pytest.mark.parametrize("page", NOTEBOOKS)
def test_every_word_of_a_notebook_is_on_its_page(html, page):
    shown, missing = words(soup(page).get_text(" ")), []
    cells = nbformat.read(ROOT / f"{page}.ipynb", as_version=4).cells
    for number, cell in enumerate(cells):
        if cell.cell_type == "markdown":
            missing += [(number, run) for run in printed_runs(cell.source) if run not in shown]
    assert not missing, f"{page}.ipynb has words that its page lacks, by cell: {missing}"
