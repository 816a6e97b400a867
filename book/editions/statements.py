"""The book's definitions, theorems and exercises as one LaTeX file, without proofs and solutions.

A teacher cuts statements out of it for a sheet of their own. Formulas are LaTeX already; the prose
around them uses little Markdown, which is turned here: emphasis, code, links and lists.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

import nbformat

from contents import keys, pages, spelled
from editions.student import without_solutions
from editions.text import Block, blocks, cited, read_works, spelled_out

_KINDS = ("definition", "theorem", "lemma", "proposition", "corollary", "exercise")
_HEAD = r"""% Written by `make student` and `make instructor`; the text is under CC BY 4.0.
\documentclass{article}
\usepackage[utf8]{inputenc}
\usepackage{amsmath,amssymb,amsthm}
\theoremstyle{definition}
"""
_FORMULA = re.compile(r"\$\$.*?\$\$(?: *\([\w-]+\))?|\$[^$]+\$", re.S)
_CODE = re.compile(r"`([^`]+)`")
_SPECIAL = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
_SPECIAL |= {sign: f"\\{sign}" for sign in "&%#_{}$"}
# Signs that pdfLaTeX does not know as they are.
_SIGNS = {
    "λ": r"$\lambda$",
    "→": r"$\to$",
    "≤": r"$\le$",
    "≥": r"$\ge$",
    "−": "$-$",
    "…": r"\dots{}",
}


def statements(root: Path, values: Mapping[str, str]) -> str:
    """The LaTeX file of the book under ``root``; ``values`` are the numbers in its prose."""
    works = read_works(root / "book" / "references.bib")
    by_key = keys(root)
    parts = [_HEAD]
    parts += [f"\\newtheorem*{{{kind}}}{{{kind.capitalize()}}}\n" for kind in _KINDS]
    parts.append("\\begin{document}\n")
    for page in pages(root):
        if page.path.suffix != ".ipynb":
            continue
        found = list(_found(page.path))
        if found:
            place = f"{page.place.capitalize()}: {page.title}" if page.number else page.title
            parts.append(f"\n\\section*{{{to_latex(place)}}}\n")
        for kind, block in found:
            text = spelled(spelled_out(block.body, values), by_key, page.name)
            title = to_latex(spelled(block.argument, by_key, page.name))
            named = f"[{title}]" if title else ""
            label = block.options.get("label", "")
            parts.append(f"\n% {label}\n\\begin{{{kind}}}{named}\n")
            parts.append(f"{to_latex(cited(text, works))}\n\\end{{{kind}}}\n")
    return "".join([*parts, "\n\\end{document}\n"])


def _found(path: Path) -> Iterator[tuple[str, Block]]:
    """The statements of a notebook in their order, each with its kind."""
    for cell in without_solutions(nbformat.read(path, as_version=4).cells):
        if cell.cell_type == "markdown":
            yield from _inside(cell.source)


def _inside(text: str) -> Iterator[tuple[str, Block]]:
    """The statements of a text, also inside other blocks."""
    for part in blocks(text):
        if isinstance(part, Block):
            kind = part.name.removeprefix("prf:")
            if kind in _KINDS:
                yield kind, part
            else:
                yield from _inside(part.body)


def to_latex(text: str) -> str:
    r"""Markdown as LaTeX.

    >>> to_latex("At *most* 5% of `acc_x` cost $\\lambda$")
    'At \\emph{most} 5\\% of \\texttt{acc\\_x} cost $\\lambda$'
    """
    text = re.sub(
        r"\{(?:eq|ref|numref|prf:ref)\}`(?:([^`<]+?) *<[^`]+>|([^`]+))`", _reference, text
    )
    parts = []
    at = 0
    for formula in _FORMULA.finditer(text):
        parts += [_prose(text[at : formula.start()]), _formula(formula[0])]
        at = formula.end()
    whole = "".join([*parts, _prose(text[at:])])
    return re.sub(r"^(?=\d+\. |- )", r"\\par ", whole, flags=re.M)  # an item starts a line


def _reference(match: re.Match) -> str:
    """The words of a reference, or its label."""
    return match[1] or match[2]


def _formula(text: str) -> str:
    """A formula: one in a line of its own in brackets, without its label."""
    if not text.startswith("$$"):
        return text
    return "\\[" + text[2:].rpartition("$$")[0] + "\\]"


def _prose(text: str) -> str:
    """Prose without formulas as LaTeX."""
    parts = []
    at = 0
    for code in _CODE.finditer(text):
        parts += [_marked(text[at : code.start()]), f"\\texttt{{{_escaped(code[1])}}}"]
        at = code.end()
    return "".join([*parts, _marked(text[at:])])


def _marked(text: str) -> str:
    """Prose without code and formulas: links become their words, stars become emphasis."""
    text = re.sub(r"\[([^\]]+)\]\([^)]+\)", r"\1", text)
    text = re.sub(r"<[^<>]+>", "", text)
    text = _escaped(text)
    text = re.sub(r"\*\*(.+?)\*\*", r"\\textbf{\1}", text, flags=re.S)
    text = re.sub(r"(?<!\*)\*([^*]+)\*", r"\\emph{\1}", text)
    return text


def _escaped(text: str) -> str:
    """A text with its special signs written as LaTeX."""
    return "".join(_SPECIAL.get(sign, _SIGNS.get(sign, sign)) for sign in text)
