"""The rendered book asks nothing of the network: it carries its own MathJax and plotly.js.

Both come at build time out of installed, pinned packages: one file each, of plotly.js the part that the book draws with
(see `small_plotly`), loaded only when a figure comes near the screen. (The ``sphinx-mathjax-offline`` package is used
for its files alone; as an extension it would copy 24 MB of fonts and speech rules that the SVG output never asks for.)
"""

from __future__ import annotations

import filecmp
import shutil
from importlib.metadata import files
from importlib.resources import files as resources
from pathlib import Path

import small_plotly

MATHJAX = "tex-svg-full.js"  # _config.yml names it as mathjax_path
PLOTLY = "plotly.min.js"
# What plays the places that adalib.teach.games.fragment leaves on a page, by their names.
GAMES = {
    "spend": "spend.js",
    "stop": "stop.js",
    "states": "stop.js",
    "guess": "guess.js",
    "lineup": "lineup.js",
    "noise": "noise.js",
    "cards": "cards.js",
    "market": "market.js",
    "hold": "deploy.js",
    "bill": "deploy.js",
    "menu": "menu.js",
}


def mathjax_source() -> Path:
    """Where pip put the one MathJax file that we need."""
    return next(Path(f.locate()) for f in files("sphinx-mathjax-offline") if f.name == MATHJAX)


def plotly_source() -> Path:
    """Where pip put plotly.js."""
    return Path(str(resources("plotly") / "package_data" / PLOTLY))


def write_plotly(target: Path) -> None:
    """Cut the book's part out of plotly.js, unless that was done since plotly or the cut changed."""
    made_from = plotly_source(), Path(small_plotly.__file__)
    if not target.exists() or target.stat().st_mtime <= max(source.stat().st_mtime for source in made_from):
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(small_plotly.small_plotly(plotly_source().read_text(encoding="utf-8")), encoding="utf-8")


def copy_assets(app) -> None:
    """Put the two libraries into the book's own static folder, and our style and scripts where they changed.

    Sphinx copies static files only when a page is out of date, so that a change of style alone would not be seen.
    """
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    write_plotly(static / "lib" / PLOTLY)
    wanted = {static / "lib" / MATHJAX: mathjax_source()}
    for name in app.config.html_static_path:
        folder = Path(app.srcdir) / name
        if not Path(name).is_absolute():  # the others are the extensions' own
            wanted |= {static / f.relative_to(folder): f for f in folder.rglob("*") if f.is_file()}
    for target, source in wanted.items():
        if not target.exists() or not filecmp.cmp(source, target, shallow=False):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def load_scripts(app, pagename, templatename, context, doctree) -> None:
    """Load what draws on the pages that hold a figure, and what typesets on those with formulas (MathJax is there)."""
    body = context.get("body", "")
    if "plotly-graph-div" in body:
        app.add_js_file("figures.js", loading_method="defer")  # it fetches plotly.js when a figure comes near
    played = [script for name, script in GAMES.items() if f'class="adalib-{name}"' in body]
    for script in dict.fromkeys(["parts.js", *played] if played else []):
        app.add_js_file(script, loading_method="defer")
    if "market.js" in played:
        app.add_css_file("market.css")
    if 'class="math' in body:
        app.add_js_file("formulas.js", loading_method="defer", priority=900)


def setup(app) -> dict:
    app.connect("builder-inited", copy_assets)
    app.connect("html-page-context", load_scripts)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
