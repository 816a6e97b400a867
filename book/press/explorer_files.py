"""Take the explorer's program and settings out of the pages, into files that are fetched later.

`adalib.explorer.static_html` returns one piece of HTML that holds everything, so that it can be
mailed. In the book it would be most of a page's weight, and the same settings are shown on several
pages. Here both become scripts, which also load from a disk. ``explorers.js`` fetches them when an
explorer comes near the screen.

The settings are those that a cell computed, so they are taken out of what it printed.
"""

from __future__ import annotations

import hashlib
import re
from functools import partial
from pathlib import Path

from docutils import nodes

from adalib.explorer.static import script
from press import rewrite

FOLDER = "explorer"  # in the book's static folder, where explorers.js looks
_EXPLORER = re.compile(
    r'<div id="(?P<id>adalib-explorer-\w+)" class="adalib-explorer"></div>'
    r"(?P<still>\s*<noscript>.*?</noscript>)"
    r'\s*<script type="application/json" id="(?P=id)-data">(?P<settings>.*?)</script>'
    r'\s*<script type="module">.*?</script>',
    re.S,
)
# A script of its own has no exports, and its names must not meet those of the page.
_PROGRAM = """(() => {{
{program}
window.adalibExplorer = (root, settings) => new Explorer(root, settings);
}})();
"""
_SETTINGS = '(window.adalibSettings ??= {{}})["{name}"] = {settings};\n'


def without_explorers(body: str, folder: Path) -> str:
    """Write the explorers of a page into files, and return the page without them."""
    program = _PROGRAM.format(program=script().partition("export default")[0])
    program_name = _digest(program)

    def moved(found: re.Match) -> str:
        settings_name = _digest(found["settings"])
        settings = _SETTINGS.format(name=settings_name, settings=found["settings"])
        folder.mkdir(parents=True, exist_ok=True)
        (folder / f"{program_name}.js").write_text(program, encoding="utf-8")
        (folder / f"{settings_name}.js").write_text(settings, encoding="utf-8")
        return (
            f'<div id="{found["id"]}" class="adalib-explorer" data-program="{program_name}" '
            f'data-settings="{settings_name}"></div>{found["still"]}'
        )

    return _EXPLORER.sub(moved, body)


def _digest(text: str) -> str:
    """A short name for a text, by which a changed one gets a new file."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def move_explorers(app, doctree, docname) -> None:
    """Move the explorers of a page into files."""
    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / FOLDER
        for markup in doctree.findall(nodes.raw):
            rewrite(markup, partial(without_explorers, folder=folder))


def load(app, pagename, templatename, context, doctree) -> None:
    """Load the script that brings the explorers of a page back."""
    if 'class="adalib-explorer"' in context.get("body", ""):
        app.add_js_file("explorers.js", loading_method="defer")


def setup(app) -> dict:
    app.connect("doctree-resolved", move_explorers)
    app.connect("html-page-context", load)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
