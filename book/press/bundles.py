"""One style sheet and one script for what every page loads.

Each file costs a slow line a journey, and the theme, its extensions and the book bring more than
thirty. What a single page adds, such as a game, stays a file of its own.
"""

from __future__ import annotations

import re
from pathlib import Path
from types import SimpleNamespace

from press.offline import write_new

STYLES, SCRIPTS = "book.css", "book.js"
#: What the theme's layout names itself: first of the style sheets, last of the scripts.
THEME_STYLES = ("basic.css", "styles/pydata-sphinx-theme.css")
THEME_SCRIPTS = ("scripts/bootstrap.js", "scripts/pydata-sphinx-theme.js")
# The page's own values, which all scripts read, are different on every page.
_PAGES_OWN = "documentation_options.js"
_ADDRESS = re.compile(r"""url\((?!["']?(?:data:|#))["']?([^)"']+)["']?\)""")


def _shared(app) -> SimpleNamespace:
    """The files that every page loads, in order, below the static folder."""
    builder = app.builder

    def names(files) -> list[str]:
        found = [str(file.filename).removeprefix("_static/") for file in files if file.filename]
        return [name for name in found if name not in (_PAGES_OWN, STYLES, SCRIPTS)]

    by_weight = sorted(builder._orig_js_files, key=lambda file: file.priority)
    styles = sorted(builder._orig_css_files, key=lambda file: file.priority)
    return SimpleNamespace(
        styles=[*THEME_STYLES, *names(styles)], scripts=[*names(by_weight), *THEME_SCRIPTS]
    )


def joined_styles(folder: Path, names: list[str]) -> str:
    """The style sheets as one, with addresses that still lead where they led."""

    def read(name: str) -> str:
        text = (folder / name).read_text(encoding="utf-8")
        parent = Path(name).parent.as_posix()
        return _ADDRESS.sub(rf"url({parent}/\1)", text) if parent != "." else text

    return "\n".join(map(read, names))


def joined_scripts(folder: Path, names: list[str]) -> str:
    """The scripts as one; each ends where it ended."""
    return "".join(f"{(folder / name).read_text(encoding='utf-8')}\n;\n" for name in names)


def write(app, error=None, early: bool = False) -> None:
    """Write both files, when Sphinx and the extensions have written theirs.

    Before the first page some are missing: then only a name for this version is made.
    """
    # Where no page was out of date, Sphinx wrote none and listed no scripts.
    if error or app.builder.format != "html" or not hasattr(app.builder, "_orig_js_files"):
        return
    folder = Path(app.outdir) / "_static"
    for target, join, names in (
        (STYLES, joined_styles, _shared(app).styles),
        (SCRIPTS, joined_scripts, _shared(app).scripts),
    ):
        there = [name for name in names if not early or (folder / name).exists()]
        write_new(folder / target, join(folder, there))


def load_joined(app, pagename, templatename, context, doctree) -> None:
    """Name the two files in place of those that are in them."""
    if not getattr(app, "adalib_bundled", False):
        write(app, early=True)
        app.adalib_bundled = True
    shared = _shared(app)
    joined = {f"_static/{name}" for name in [*shared.styles, *shared.scripts]}
    for kind in ("css_files", "script_files"):
        context[kind] = [file for file in context[kind] if str(file.filename) not in joined]


def setup(app) -> dict:
    own = [name for name, _ in app.config.html_js_files]
    app.add_css_file(STYLES, priority=100)
    # The slides take single ones (book/editions/slides.py).
    app.add_js_file(SCRIPTS, priority=300, loading_method="defer", **{"data-parts": " ".join(own)})
    app.connect("html-page-context", load_joined, priority=950)  # after those that add files
    # The theme writes the colours of code last of all.
    app.connect("build-finished", write, priority=900)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
