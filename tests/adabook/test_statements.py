"""The statements as LaTeX: all of them, no solution, and what LaTeX can read."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, prose

from contents import pages
from editions.statements import statements, to_latex
from editions.student import solution_cells

NOTEBOOKS = [page for page in pages() if page.path.suffix == ".ipynb"]


class Anything(dict):
    """A number for every name."""

    def __contains__(self, key):
        return True

    def __getitem__(self, key):
        return "2"


@pytest.fixture(scope="module")
def text():
    return statements(ROOT, Anything())


def test_every_labelled_statement_and_exercise_is_there_once(text):
    kinds = "exercise|prf:(?:definition|theorem|lemma|proposition|corollary)"
    labels = [
        label
        for page in NOTEBOOKS
        for label in re.findall(
            rf"^:+\{{(?:{kinds})\}}[^\n]*\n:label: (\S+)", prose(page.stem), re.M
        )
    ]
    assert re.findall(r"^% ([\w-]+)$", text, re.M) == labels
    assert len(labels) > 80


def test_environments_braces_and_dollars_match(text):
    opened = []
    for kind, name in re.findall(r"\\(begin|end)\{(\w+\*?)\}", text):
        if kind == "begin":
            opened.append(name)
        else:
            assert opened.pop() == name
    assert opened == []
    plain = re.sub(r"^%.*$|\\\\|\\[{}$%]", "", text, flags=re.M)
    assert plain.count("{") == plain.count("}")
    assert plain.count("$") % 2 == 0
    assert text.count("\\[") == text.count("\\]")
    assert "```" not in text
    assert not re.search(r"\{[\w:]+\}`", text)
    assert text.isascii()


def test_no_solution_is_among_them(text):
    import nbformat

    for page in NOTEBOOKS:
        texts, _ = solution_cells(nbformat.read(page.path, as_version=4).cells)
        assert not [one for one in texts if len(one) > 40 and to_latex(one) in text]


@pytest.mark.parametrize(
    ("markdown", "latex"),
    [
        ("**bold** and *slanted*", r"\textbf{bold} and \emph{slanted}"),
        ("5% of `a_b`", r"5\% of \texttt{a\_b}"),
        ("$x_1$ & [a page](there.md)", r"$x_1$ \& a page"),
        ("$$ x $$ (eq-x)", r"\[ x \]"),
    ],
)
def test_markdown_becomes_latex(markdown, latex):
    assert to_latex(markdown) == latex
