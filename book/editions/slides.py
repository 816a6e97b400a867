"""Slides: a deck per chapter, from its list of slides and the cells of its page, as one file.

`notebooks/slides/02_oracle.yml` lists the slides of `notebooks/02_oracle.ipynb`. A slide has a
``title``, and if it needs them a ``text`` that the class sees at once, a ``cell`` of the chapter,
named by its id, or its ``output`` alone where the program is long, and words (``then``) that appear
at the next key, and the speaker's ``notes``. A first entry without a title belongs to the chapter's
own. The built page gives the outputs. A deck holds its styles, fonts, scripts and figures, and
needs neither the book nor a network.
"""

from __future__ import annotations

import ast
import base64
import html
import mimetypes
import re
import shutil
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

import yaml
from bs4 import BeautifulSoup
from bs4.element import Tag
from markdown_it import MarkdownIt
from mdit_py_plugins.dollarmath import dollarmath_plugin
from pygments import highlight
from pygments.formatters import HtmlFormatter
from pygments.lexers import PythonLexer

from contents import Page, keys, pages, spelled
from editions.text import spelled_out
from editions.writing import read_values
from mathml import to_mathml

_KEYS = ("title", "text", "cell", "output", "then", "notes")
_FOLDED = {"hide-input", "remove-input"}
# Scripts for a page that is read.
_LEFT_OUT = re.compile(r"/(?:exercises|live|progress|search|quiz|reachable)\.js")
_HELP = (
    "→ next, ← back, F full screen, N notes, S speaker's window, O all slides, T light or dark, "
    "Esc leaves a slider; #slide=5 at the end of the address opens the fifth"
)

_PAGE = """<!doctype html>
<html lang="en" data-theme="light">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>{title} · slides</title>
{styles}
</head>
<body class="deck-page">
<main class="deck bd-article">
{slides}
</main>
<footer class="deck-foot"><button type="button" data-go="-1" aria-label="Back">←</button>
<span class="deck-at" role="status"></span>
<button type="button" data-go="1" aria-label="Next">→</button>
<span class="deck-help">{help}</span></footer>
{scripts}
</body>
</html>
"""


@dataclass
class Slide:
    """A slide: its heading, and as HTML what the class sees at once, then, and never."""

    title: str
    shown: list[str] = field(default_factory=list)
    fragments: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)


def deck_source(page: Page) -> Path:
    """The file that lists the slides of a chapter; many pages have none."""
    return page.root / "notebooks" / "slides" / f"{page.stem}.yml"


def deck_title(page: Page) -> str:
    """What a deck is called: its chapter's title, with the number if it has one."""
    return f"{page.number}. {page.title}" if page.number else page.title


def slides(
    page: Page, built: BeautifulSoup, values: Mapping[str, str], chapters: Mapping[str, Page]
) -> list[Slide]:
    """Read the slides of a chapter; ``built`` is its page, ``values`` the numbers it may quote."""
    cut = [Slide(deck_title(page))]
    cells = {cell["id"]: cell for cell in page.cells}
    outputs = _outputs(page, built)
    for where, entry in _entries(deck_source(page)):
        texts = {
            key: _rendered(spelled(spelled_out(entry[key].strip(), values), chapters, where))
            for key in ("text", "then", "notes")
            if key in entry
        }
        if "title" in entry:
            cut.append(Slide(entry["title"]))
        slide = cut[-1]
        slide.shown += [texts["text"]] if "text" in texts else []
        for kind in [one for one in ("cell", "output") if one in entry]:
            if entry[kind] not in outputs:
                raise ValueError(
                    f"{where}: names the cell {entry[kind]!r}, and the page of {page.path.name} "
                    f"shows no code of that id: name one of {', '.join(outputs)}"
                )
            cell, output = cells[entry[kind]], outputs[entry[kind]]
            slide.fragments.append(_shown(cell, output) if kind == "cell" else str(output or ""))
            captions = output.select("figcaption, caption") if output else []
            slide.notes += [f"<p>{caption.decode_contents()}</p>" for caption in captions]
        slide.fragments += [texts["then"]] if "then" in texts else []
        slide.notes += [texts["notes"]] if "notes" in texts else []
    return cut


def _entries(file: Path) -> list[tuple[str, dict[str, str]]]:
    """The slides that a file lists, each with the words that say where it stands."""
    try:
        listed = yaml.safe_load(file.read_text(encoding="utf-8"))
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(
            f"{file}, line {line}: {error.problem}; put the text below its key, after |-"
        ) from None
    if not isinstance(listed, list):
        raise ValueError(f"{file}: is no list of slides; begin each with a hyphen")
    entries = []
    for number, entry in enumerate(listed, 1):
        where = f"{file}, slide {number}"
        if not isinstance(entry, dict) or not entry.keys() <= set(_KEYS):
            raise ValueError(f"{where}: has something else than {', '.join(_KEYS)}; take it out")
        if strange := [key for key, value in entry.items() if not isinstance(value, str)]:
            raise ValueError(f"{where}: its {strange[0]} is no text; put it in quotation marks")
        if number > 1 and "title" not in entry:
            raise ValueError(f"{where}: has no title; write one, such as  title: Price")
        entries.append((where, entry))
    return entries


def _outputs(page: Page, built: BeautifulSoup) -> dict[str, Tag | None]:
    """What the code cells of a chapter printed and drew on its page, by their ids."""
    printed = [
        cell["id"]
        for cell in page.cells
        if cell["cell_type"] == "code" and "remove-cell" not in cell["metadata"].get("tags", [])
    ]
    shown = built.select("article.bd-article div.cell")
    if len(shown) != len(printed):
        raise ValueError(
            f"{page.path}: has {len(printed)} code cells for its page, and the built page has "
            f"{len(shown)}; run `make book` again"
        )
    return {id_: cell.select_one(".cell_output") for id_, cell in zip(printed, shown, strict=True)}


def _shown(cell: Mapping, output: Tag | None) -> str:
    """A code cell on a slide: its program, unless the page folds it, and its output."""
    folded = _FOLDED & set(cell["metadata"].get("tags", []))
    program = "" if folded else highlight(essential(cell["source"]), PythonLexer(), HtmlFormatter())
    return program + (str(output) if output else "")


def essential(program: str) -> str:
    """Return a program without its imports, and without what compares it with the package.

    >>> print(essential("import math\\n\\nprint(2)\\nassert 2 > 1, (\\n  'so'\\n)\\nagrees(1, 1)"))
    print(2)
    """
    lines = program.split("\n")
    statements = (node for node in ast.walk(ast.parse(program)) if isinstance(node, ast.stmt))
    left_out = [node for node in statements if _compares(node)]
    for node in sorted(left_out, key=lambda node: node.lineno, reverse=True):
        del lines[node.lineno - 1 : node.end_lineno]
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip()


def _compares(node: ast.stmt) -> bool:
    """Whether this is an import, an assert, or a call of `adabook.agrees`."""
    match node:
        case ast.Import() | ast.ImportFrom() | ast.Assert():
            return True
        case ast.Expr(ast.Call(ast.Name("agrees"))):
            return True
    return False


def _formula(tex: str, options: Mapping) -> str:
    """A formula of a Markdown cell as MathML."""
    return to_mathml(tex.strip(), display=bool(options.get("display_mode")))


_MARKDOWN = MarkdownIt("commonmark").enable("table").use(dollarmath_plugin, renderer=_formula)


def _rendered(text: str) -> str:
    """A piece of Markdown as HTML, formulas included."""
    return _MARKDOWN.render(text)


def deck(page: Page, built: Path, values: Mapping[str, str], chapters: Mapping[str, Page]) -> str:
    """The deck of a chapter, with all that it needs inside; ``built`` is its page's file."""
    soup = BeautifulSoup(built.read_text(encoding="utf-8"), "html.parser")
    files = built.parents[1] / "_static"
    sheets = [
        built.parent / _address(str(tag["href"])) for tag in soup.select('link[rel="stylesheet"]')
    ]
    sheets += [files / "fonts" / "all.css", files / "deck.css"]
    scripts = [built.parent / address for address in _scripts(soup)]
    cut = slides(page, soup, values, chapters)
    shown = BeautifulSoup("\n".join(map(_section, cut)), "html.parser")
    _stand_alone(shown, built.parent)
    libraries = [files / "lib" / "plotly.min.js"] if shown.select(".plotly-graph-div") else []
    for explorer in shown.select(".adalib-explorer[data-settings]"):
        names = explorer["data-program"], explorer["data-settings"]
        libraries += [files / "explorer" / f"{name}.js" for name in names]
    return _PAGE.format(
        title=html.escape(cut[0].title),
        styles="\n".join(f"<style>{_style(file)}</style>" for file in dict.fromkeys(sheets)),
        slides=shown,
        scripts="\n".join(
            [*map(_script, scripts), _LOADED, *map(_script, dict.fromkeys(libraries))]
            + [_script(files / "deck.js")]
        ),
        help=_HELP,
    )


#: What a script would fetch is in the deck already.
_LOADED = "<script>window.fetchScript = window.fetchAhead = () => Promise.resolve();</script>"


def _address(reference: str) -> str:
    """The file that a page refers to, without what follows a question mark."""
    return reference.partition("?")[0]


def _scripts(soup: BeautifulSoup) -> list[str]:
    """The addresses of the book's own scripts that draw or play something on a slide."""
    found = []
    for tag in soup.select("head script[src][defer=defer], body > script[src][defer=defer]"):
        address = _address(str(tag["src"]))
        parts = str(tag.get("data-parts", "")).split()  # of book/press/bundles.py
        folder = address.rpartition("/")[0]
        found += [f"{folder}/{part}" for part in parts] or [address]
    return [address for address in found if not _LEFT_OUT.search(address)]


def _style(file: Path) -> str:
    """A style sheet without what no slide needs: fonts of icons, and the sheets that it imports."""
    text = re.sub(r"@import [^;]+;", "", file.read_text(encoding="utf-8"))
    return re.sub(r'url\((?!"?(?:data|#))[^)]*\)', 'url("data:,")', text)


def _script(file: Path) -> str:
    """A script inside the page."""
    text = file.read_text(encoding="utf-8")
    return "<script>" + text.replace("</script", "<\\/script") + "</script>"


def _stand_alone(shown: BeautifulSoup, folder: Path) -> None:
    """Put pictures into the slides, and turn links into the book to words."""
    for image in shown.select("img[src]"):
        file = folder / _address(str(image["src"]))
        if file.exists():
            kind = mimetypes.guess_type(file.name)[0]
            image["src"] = f"data:{kind};base64,{base64.b64encode(file.read_bytes()).decode()}"
    for link in shown.select("a[href]"):
        if not re.match(r"https?:|mailto:", str(link["href"])):
            del link["href"]


def _section(slide: Slide) -> str:
    """A slide as HTML."""
    fragments = (f'<div class="deck-fragment">{part}</div>' for part in slide.fragments)
    return (
        f'<section class="deck-slide"><h1>{_MARKDOWN.renderInline(slide.title)}</h1>'
        f'<div class="deck-shown">{"".join([*slide.shown, *fragments])}</div>'
        f'<aside class="deck-notes" aria-label="Speaker\'s notes">{"".join(slide.notes)}</aside>'
        "</section>"
    )


def write_decks(root: Path, executed: Path, built: Path, target: Path) -> list[Path]:
    """Write a deck for every chapter that has a list of slides, and a list of the decks.

    ``root`` holds ``_toc.yml``, ``executed`` the numbers of a build, ``built`` its pages.
    """
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    values, chapters = read_values(executed), keys(root)
    written = []
    lines = []
    for page in pages(root):
        if not deck_source(page).exists():
            continue
        text = deck(page, built / f"{page.name}.html", values, chapters)
        written.append(target / f"{page.stem}.html")
        written[-1].write_text(text, encoding="utf-8")
        title = html.escape(deck_title(page))
        lines.append(f'<li><a href="{page.stem}.html">{title}</a></li>')
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Slides</title><h1>Slides</h1>'
    )
    (target / "index.html").write_text(f"{head}<ul>{''.join(lines)}</ul>", encoding="utf-8")
    return written
