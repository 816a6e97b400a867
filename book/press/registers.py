"""Lists of the whole book, written from the notebooks themselves: nobody keeps them by hand.

A page asks for one with ``{register} chapters``; the argument is a name in `REGISTERS`. What a
notebook says of itself stands under "adalib" in its metadata: its ``question``, and the keys of the
chapters that it ``needs``. A cell whose figure or game can be moved says there what it ``moves``.
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator
from pathlib import Path

from docutils import nodes
from docutils.statemachine import StringList
from sphinx.util.docutils import SphinxDirective

from contents import Page, chapters, keys, lessons
from directives import Block, blocks

_LABEL = re.compile(r"^\(([\w-]+)\)=$", re.M)
#: Between two layers and two nodes of the graph, and the radius of a node.
_ACROSS, _DOWN, _RADIUS = 82, 72, 20


def _name(page: Page) -> str:
    """What a list calls a lesson; "Chapter 3" becomes a link by itself."""
    if not page.number:
        return f"[{page.title}](/{page.name}.ipynb)"
    return page.place[0].upper() + page.place[1:]


def _blocks(page: Page) -> Iterator[Block]:
    """The directives of a notebook, in their order."""
    for cell in page.cells:
        if cell["cell_type"] == "markdown":
            yield from (part for part in blocks(cell["source"]) if isinstance(part, Block))


def _by_lesson(what: str, links: dict[str, str]) -> str:
    """A table with a row for each lesson that has any of these links."""
    rows = [f"| {name} | {linked} |" for name, linked in links.items() if linked]
    return "\n".join([f"| chapter | {what} |", "|---|---|", *rows])


def chapter_table(root: Path) -> str:
    """The chapters with the question that each answers."""
    rows = [
        f"| {_name(page)} | [{page.title}](/{page.name}.ipynb) "
        f"| {page.metadata.get('question', '')} |"
        for page in chapters(root, appendices=False)
    ]
    return "\n".join(["| number | chapter | the question |", "|---|---|---|", *rows])


def exercise_table(root: Path) -> str:
    """Every exercise by its kind."""
    links = {
        _name(page): ", ".join(
            f"[{part.argument.removesuffix(' (core)')}]({part.options['label']})"
            + " (core)" * part.argument.endswith("(core)")
            for part in _blocks(page)
            if part.name == "exercise"
        )
        for page in lessons(root)
    }
    return _by_lesson("exercises", links)


def statement_table(root: Path) -> str:
    """Every definition, theorem, lemma and proposition by its name."""
    kinds = ("prf:definition", "prf:theorem", "prf:lemma", "prf:proposition", "prf:corollary")
    links = {
        _name(page): ", ".join(
            f"{{prf:ref}}`{part.argument} <{part.options['label']}>`"
            for part in _blocks(page)
            if part.name in kinds
        )
        for page in lessons(root)
    }
    return _by_lesson("statements", links)


def moving_list(root: Path) -> str:
    """The figures and games that can be moved, each with the section where it stands."""
    lines = []
    for page in lessons(root):
        label = ""
        items = []
        for cell in page.cells:
            if cell["cell_type"] == "markdown":
                label = (_LABEL.findall(cell["source"]) or [label])[-1]
            elif moves := cell["metadata"].get("adalib", {}).get("moves"):
                items.append(f"  - [{moves}]({label})")
        lines += [f"- {_name(page)}", *items] if items else []
    return "\n".join(lines)


def needs_graph(root: Path) -> str:
    """A drawing of which chapter needs which, and the same in words for who cannot see it."""
    by_key = keys(root)
    needs = {key: page.metadata.get("needs", []) for key, page in by_key.items()}
    for key, needed in needs.items():
        if unknown := sorted(set(needed) - set(by_key)):
            raise ValueError(f"{by_key[key].path}: needs {unknown[0]!r}; name a key of _toc.yml")
    layers: list[list[str]] = []
    while sum(map(len, layers)) < len(needs):
        drawn = {key for layer in layers for key in layer}
        layer = [key for key in needs if key not in drawn and drawn.issuperset(needs[key])]
        if not layer:
            raise ValueError("chapters need each other in a circle: mend `needs` in their metadata")
        layers.append(layer)
    height = max(map(len, layers)) * _DOWN
    place: dict[str, tuple[float, float]] = {}
    for across, layer in enumerate(layers):
        above = {key: [place[one][1] for one in needs[key]] for key in layer}
        layer.sort(key=lambda key: sum(above[key]) / max(1, len(above[key])))
        for down, key in enumerate(layer, start=1):
            place[key] = (_ACROSS * (across + 0.5), height * down / (len(layer) + 1))
    drawn_arrows, circles, words = [], [], []
    for key, (x, y) in place.items():
        number = by_key[key].number
        circles.append(
            f'<circle cx="{x:g}" cy="{y:.0f}" r="{_RADIUS}"/>'
            f'<text x="{x:g}" y="{y + 6:.0f}" stroke="none" fill="currentColor">{number}</text>'
        )
        for one in needs[key]:
            x_from, y_from = place[one]
            far = ((x - x_from) ** 2 + (y - y_from) ** 2) ** 0.5
            dx, dy = _RADIUS * (x - x_from) / far, _RADIUS * (y - y_from) / far
            drawn_arrows.append(
                f'<path marker-end="url(#tip)" d="M{x_from + dx:.0f} {y_from + dy:.0f}'
                f'L{x - dx:.0f} {y - dy:.0f}"/>'
            )
        if needs[key]:
            needed = " and ".join(by_key[one].place for one in needs[key])
            words.append(f"{_name(by_key[key])} needs {needed}.")
    return (
        "```{raw} html\n"
        f'<svg viewBox="0 0 {_ACROSS * len(layers)} {height}" role="img" '
        f'aria-label="{html.escape(" ".join(words))}" '
        'style="max-width: 46em; width: 100%; color: inherit">'
        '<defs><marker id="tip" viewBox="0 0 8 8" refX="8" refY="4" markerWidth="7" '
        'markerHeight="7" orient="auto"><path d="M0 0L8 4L0 8z" fill="currentColor"/></marker>'
        '</defs><g stroke="currentColor" fill="none" stroke-width="1.5" font-size="22" '
        'text-anchor="middle" font-family="system-ui, sans-serif">'
        f"{''.join(drawn_arrows + circles)}</g></svg>\n```"
    )


REGISTERS = {
    "chapters": chapter_table,
    "exercises": exercise_table,
    "statements": statement_table,
    "what moves": moving_list,
    "needs": needs_graph,
}


class Register(SphinxDirective):
    """One of these lists, as a page asks for it."""

    required_arguments = 1
    final_argument_whitespace = True

    def run(self) -> list[nodes.Node]:
        name = self.arguments[0]
        if name not in REGISTERS:
            raise self.error(f"no register is called {name!r}: use one of {', '.join(REGISTERS)}")
        # Every notebook may change what the list says.
        for page in lessons(Path(self.env.srcdir)):
            self.env.note_dependency(str(page.path))
        text = REGISTERS[name](Path(self.env.srcdir))
        holder = nodes.container()
        self.state.nested_parse(StringList(text.splitlines(), name), 0, holder)
        return holder.children


def setup(app) -> dict:
    app.add_directive("register", Register)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
