"""A book without network: what its pages load lies beside them, and a page loads what it uses.

plotly.js and the fonts come at build time out of installed, pinned packages or this repository.
The answers and hints of a chapter's value exercises are a script, by which ``exercises.js`` makes
their boxes: no page holds the answers itself.

`adalib.explorer.static_html` returns one piece of HTML that holds everything, so that it can be
mailed. Here its program and its settings, which several pages show, become scripts, which also load
from a disk; ``explorers.js`` fetches them when an explorer comes near the screen.
"""

from __future__ import annotations

import filecmp
import hashlib
import json
import re
import shutil
from base64 import b64encode
from collections.abc import Mapping
from functools import partial
from importlib.resources import files as resources
from pathlib import Path

from docutils import nodes

from adabook.exercises import value_exercises
from adabook.games.scripts import FRONT, SCRIPTS, page_script
from adalib.explorer.static import script
from contents import pages
from press import rewrite

PLOTLY = "plotly.min.js"
FOLDER = Path(__file__).parent.parent / "fonts"
# Family, weights and style of every font file (book/make_fonts.py cut them).
FONTS = {
    "serif.woff2": ("Adalib Serif", "400 700", "normal"),
    "serif-italic.woff2": ("Adalib Serif", "400", "italic"),
    "sans.woff2": ("Adalib Sans", "400 700", "normal"),
    "mono.woff2": ("Adalib Mono", "400", "normal"),
    "math.woff2": ("Adalib Math", "400", "normal"),
}
ICONS = {"icons.woff2": ("Adalib Icons", "900", "normal")}
# What the theme brings for every icon there is, and for those who change the theme.
UNUSED = ("vendor/fontawesome/**/*.*", "scripts/fontawesome.js*", "**/*.map")

EXPLORERS = "explorer"  # in the book's static folder, where explorers.js looks
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
# A script that leaves a value where others find it.
_SHARED = '(window.{shared} ??= {{}})["{name}"] = {value};\n'


def font_faces(fonts: Mapping[str, tuple[str, str, str]]) -> str:
    """A style sheet that holds fonts."""
    faces = []
    for name, (family, weights, style) in fonts.items():
        held = b64encode((FOLDER / name).read_bytes()).decode()
        faces.append(
            f'@font-face {{ font-family: "{family}"; font-weight: {weights}; font-style: {style}; '
            f'font-display: block; src: url("data:font/woff2;base64,{held}") format("woff2"); }}\n'
        )
    return "".join(faces)


def made_files() -> dict[str, str]:
    """Return what is made for pages to load, by its place in the static folder.

    Fonts are there twice, as the layout's template says: as files, and all in a style sheet. The
    few icons are in a style sheet of their own, so that no button waits for another file.
    """
    plotly = (resources("plotly") / "package_data" / PLOTLY).read_text(encoding="utf-8")
    made = {
        "fonts/all.css": font_faces(FONTS),
        "fonts/icons.css": font_faces(ICONS),
        "games.css": (FRONT / "games.css").read_text(encoding="utf-8"),
        # The line lets a browser compile all of it beside the page while it arrives; else the page
        # would stand still for twice as long when the first figure is drawn.
        f"lib/{PLOTLY}": f"//# allFunctionsCalledOnLoad\n{plotly}",
    }
    made |= {f"{name}.js": page_script(name) for name in SCRIPTS}
    for chapter, exercises in value_exercises().items():
        values = json.dumps(exercises, ensure_ascii=False)
        made[f"exercises/{chapter}.js"] = _SHARED.format(
            shared="adalibExercises", name=chapter, value=values
        )
    return made


def write_new(file: Path, text: str) -> None:
    """Write a file unless it holds the text already."""
    if not file.exists() or file.read_text(encoding="utf-8") != text:
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text, encoding="utf-8")


def without_explorers(body: str, folder: Path) -> str:
    """Write the explorers of a page into files, and return the page without them."""
    program = _PROGRAM.format(program=script().partition("export default")[0])
    program_name = _digest(program)

    def moved(found: re.Match) -> str:
        name = _digest(found["settings"])
        settings = _SHARED.format(shared="adalibSettings", name=name, value=found["settings"])
        write_new(folder / f"{program_name}.js", program)
        write_new(folder / f"{name}.js", settings)
        return (
            f'<div id="{found["id"]}" class="adalib-explorer" data-program="{program_name}" '
            f'data-settings="{name}"></div>{found["still"]}'
        )

    return _EXPLORER.sub(moved, body)


def _digest(text: str) -> str:
    """A short name for a text, by which a changed one gets a new file."""
    return hashlib.sha256(text.encode()).hexdigest()[:12]


def move_explorers(app, doctree, docname) -> None:
    """Move the explorers of a page into files."""
    if app.builder.format == "html":
        folder = Path(app.outdir) / "_static" / EXPLORERS
        for markup in doctree.findall(nodes.raw):
            rewrite(markup, partial(without_explorers, folder=folder))


def copy_assets(app) -> None:
    """Put libraries, styles and scripts that changed into the book's static folder.

    Sphinx copies static files only when a page is out of date, so that a change of style alone
    would not be seen.
    """
    if app.builder.format != "html":
        return
    static = Path(app.outdir) / "_static"
    for place, text in made_files().items():
        write_new(static / place, text)
    wanted = {static / "fonts" / name: FOLDER / name for name in FONTS}
    for name in app.config.html_static_path:
        folder = Path(app.srcdir) / name
        if not Path(name).is_absolute():  # the others are the extensions' own
            wanted |= {static / f.relative_to(folder): f for f in folder.rglob("*") if f.is_file()}
    for target, source in wanted.items():
        if not target.exists() or not filecmp.cmp(source, target, shallow=False):
            target.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(source, target)


def load_scripts(app, pagename, templatename, context, doctree) -> None:
    """Name the fonts to the layout; load each script where it is used."""
    context["fonts"] = FONTS
    body = context.get("body", "")
    if "plotly-graph-div" in body:
        # It runs plotly.js when a figure comes near.
        app.add_js_file("figures.js", loading_method="defer")
    if 'class="adalib-explorer"' in body:
        app.add_js_file("explorers.js", loading_method="defer")
    for name in SCRIPTS:
        if f'class="adalib-{name}"' in body:
            app.add_js_file(f"{name}.js", loading_method="defer")
    chapter = next((page.key for page in pages(Path(app.srcdir)) if page.name == pagename), "")
    if chapter in value_exercises():
        app.add_js_file(f"exercises/{chapter}.js", loading_method="defer")


def defer_scripts(app, pagename, templatename, context, doctree) -> None:
    """Let no page wait for scripts; only the options must be there before the rest."""
    for file in context["script_files"]:
        if file.filename and "documentation_options" not in str(file.filename):
            file.attributes.setdefault("defer", "")


def drop_unused(app, error) -> None:
    """Remove what the theme brings and no page loads: its source maps, and icons for everything."""
    if error or app.builder.format != "html":
        return
    for pattern in UNUSED:
        for file in (Path(app.outdir) / "_static").glob(pattern):
            file.unlink()


def setup(app) -> dict:
    app.connect("builder-inited", copy_assets)
    app.connect("doctree-resolved", move_explorers)
    app.connect("build-finished", drop_unused)
    app.connect("html-page-context", load_scripts)
    app.connect("html-page-context", defer_scripts, priority=900)
    app.add_css_file("fonts/icons.css")
    app.add_css_file("games.css")
    return {"parallel_read_safe": True, "parallel_write_safe": True}
