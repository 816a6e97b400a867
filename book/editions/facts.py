"""What Sphinx knows of the pages when it has read them, for notebooks and Markdown.

`gather` is called once a build and its result kept beside the notebooks that ran, so that an
edition can be written without Sphinx.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from bs4 import BeautifulSoup
from docutils import nodes
from sphinx_exercise.nodes import exercise_enumerable_node, exercise_subtitle
from sphinx_proof.nodes import unenumerable_node

from contents import Page
from press.printed_numbers import printed_markup

FACTS = "facts.json"
# How JupyterLab names a heading; a page has curved marks for straight ones.
_AS_TYPED = str.maketrans("‘’“” ", "''\"\"-")


def gather(
    pages: Iterable[Page], doctree_of: Callable[[str], nodes.document]
) -> dict[str, dict[str, Any]]:
    """Return titles, numbers and places by label, and by page and cell the captions.

    They are those of `editions.lab_notebooks.Book`. ``doctree_of`` returns what Sphinx has read of
    a page.
    """
    titles: dict[str, str] = {}
    equations: dict[str, str] = {}
    numbers: dict[str, str] = {}
    places: dict[str, str] = {}
    captions: dict[str, dict[str, list[str]]] = {}
    for page in pages:
        doctree = doctree_of(page.name)
        file = page.path.name
        captions[page.name] = _captions(doctree, page)
        for node in doctree.findall(nodes.Element):
            label = node.get("label")
            if isinstance(node, nodes.math_block) and label:
                equations[label] = str(len(equations) + 1)  # counted through the book
            elif isinstance(node, (exercise_enumerable_node, unenumerable_node)):
                titles[label] = _title(node)
                numbers[label] = node["place"]
                places[label] = file
            elif isinstance(node, nodes.section) and page.path.suffix == ".ipynb":
                places |= dict.fromkeys(node["names"], _heading_place(file, node[0]))
    return {
        "titles": titles,
        "equations": equations,
        "numbers": numbers,
        "places": places,
        "captions": captions,
    }


def _title(node: nodes.Element) -> str:
    """The title of an exercise or a statement, without its kind and number."""
    if isinstance(node, exercise_enumerable_node):
        return "".join(subtitle.astext() for subtitle in node.findall(exercise_subtitle))
    return node["title"].strip(" ()")


def _heading_place(file: str, title: nodes.title) -> str:
    """Where a heading stands; JupyterLab names one by its words, if they are plain.

    >>> _heading_place("a.ipynb", nodes.title("", "Sort the slopes"))
    'a.ipynb#Sort-the-slopes'
    """
    words = title.astext().translate(_AS_TYPED)
    is_plain = len(title) == 1 and isinstance(title[0], nodes.Text) and "(" not in words
    return f"{file}#{words}" if is_plain else file


def _captions(doctree: nodes.document, page: Page) -> dict[str, list[str]]:
    """The captions of what the cells of a page show, by their ids.

    A cell shows the words of a table's or a drawing's caption itself.
    """
    captions: dict[str, list[str]] = {}
    cells = page.cells
    for cell in doctree.findall(lambda node: _is_part(node, "cell_code")):
        for shown in cell.findall(nodes.raw):
            itself = "adalib-drawing" in shown.astext()
            for number, words in shown.get("captions", ()):
                told = (
                    ""
                    if itself or not words
                    else " " + printed_markup(words.replace("&#x27;", "'"))
                )
                caption = f"<b>{number}</b>{told}"
                captions.setdefault(cells[cell["cell_index"]]["id"], []).append(caption)
    return captions


def _is_part(node: nodes.Node, element: str) -> bool:
    """Whether a node is such a part of a notebook."""
    return isinstance(node, nodes.container) and node.get("nb_element") == element


def cell_outputs(doctree: nodes.document, page: Page) -> dict[str, str]:
    """Return what the cells of a page print and tabulate, by their ids."""
    outputs: dict[str, list[str]] = {}
    cells = page.cells
    for cell in doctree.findall(lambda node: _is_part(node, "cell_code")):
        for output in cell.findall(lambda node: _is_part(node, "cell_code_output")):
            shown = outputs.setdefault(cells[cell["cell_index"]]["id"], [])
            for node in output.findall(nodes.raw):
                tables = BeautifulSoup(node.astext(), "html.parser").find_all("table")
                shown += [as_pipes(str(table)) for table in tables]
            for node in output.findall(nodes.literal_block):
                if not _has_page_form(node):
                    shown.append(f"```\n{node.astext().rstrip()}\n```")
    return {id_: "\n\n".join(shown) for id_, shown in outputs.items() if shown}


def _has_page_form(text: nodes.literal_block) -> bool:
    """Whether a text stands in for the HTML of a page, which has the same in another form."""
    forms = text.parent.parent.children if _is_part(text.parent.parent, "mime_bundle") else []
    return any(form.get("mime_type") == "text/html" for form in forms)


def as_pipes(table: str) -> str:
    """Return an HTML table as Markdown, its caption without the number above it.

    >>> table = "<table><caption>Two</caption><tr><th>a</th><th>b</th></tr><tr><td>1|2</td>"
    >>> print(as_pipes(table + "<td>3</td></tr></table>"))
    Two
    <BLANKLINE>
    | a | b |
    |---|---|
    | 1\\|2 | 3 |
    """
    markup = BeautifulSoup(table, "html.parser")
    for number in markup.select(".adalib-number"):
        number.decompose()
    rows = [
        [
            " ".join(cell.get_text(" ").split()).replace("|", "\\|")
            for cell in row.find_all(["th", "td"])
        ]
        for row in markup.find_all("tr")
    ]
    lines = [f"| {' | '.join(row)} |" for row in rows]
    lines.insert(1, "|" + "---|" * max(map(len, rows), default=1))
    caption = markup.caption.get_text().strip() + "\n\n" if markup.caption else ""
    return caption + "\n".join(lines)
