"""Give the pages the answers and hints of their value exercises.

Each chapter's file becomes one script, by which ``exercises.js`` makes the boxes of its page. No
page holds the answers itself.
"""

from __future__ import annotations

import json
from pathlib import Path

import contents
from adabook.exercises import value_exercises


def write_scripts(app, env) -> None:
    """Write one script per chapter that asks for a value."""
    if app.builder.format != "html":
        return
    folder = Path(app.outdir) / "_static" / "exercises"
    folder.mkdir(parents=True, exist_ok=True)
    for chapter, exercises in value_exercises().items():
        values = json.dumps(exercises, ensure_ascii=False)
        script = f'(window.adalibExercises ??= {{}})["{chapter}"] = {values};\n'
        (folder / f"{chapter}.js").write_text(script, encoding="utf-8")


def load_script(app, pagename, templatename, context, doctree) -> None:
    """Load a chapter's script on its page."""
    chapter = next(
        (page.key for page in contents.pages(Path(app.srcdir)) if page.name == pagename), ""
    )
    if chapter in value_exercises():
        app.add_js_file(f"exercises/{chapter}.js", loading_method="defer")


def setup(app) -> dict:
    app.connect("env-updated", write_scripts)
    app.connect("html-page-context", load_script)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
