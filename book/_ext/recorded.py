"""Record the exercises at build time, for checks and answer boxes to know right from wrong.

A solution cell leaves its exercise among the outputs of its notebook
(`adabook.exercises.Solution`). From there it goes into the package's own record, by which
``check`` works where the solutions were cut out, and into one script per chapter, by which
``exercises.js`` makes the boxes of a page. No page holds it, so that none grows stale.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from nbformat import NotebookNode

from adabook.exercises import RECORD, Solution

Record = dict[str, dict[str, dict]]  # exercises by chapter and name

_ASKS = re.compile(r'class="adalib-answer" data-chapter="(\w+)"')


def executed(notebooks: Path, cache: str | Path) -> Iterator[tuple[str, NotebookNode]]:
    """Yield the notebooks of a folder with their cached outputs, by name.

    Those that did not run are left out.
    """
    kept = get_cache(cache)
    for path in sorted(notebooks.glob("*.ipynb")):
        with suppress(KeyError):
            yield path.stem, kept.merge_match_into_notebook(nbformat.read(path, as_version=4))[1]


def solutions(notebooks: Iterable[NotebookNode]) -> Record:
    """The exercises that executed notebooks hold, by chapter and name."""
    record: Record = {}
    cells = [cell for notebook in notebooks for cell in notebook.cells]
    for output in (output for cell in cells for output in cell.get("outputs", [])):
        exercise = dict(output.get("data", {}).get(Solution.MIME, {}))
        if exercise:
            chapter = record.setdefault(exercise.pop("chapter"), {})
            chapter[exercise.pop("name")] = exercise
    return record


def written(record: Record) -> str:
    """A record as JSON, one line per exercise."""
    chapters = []
    for chapter, exercises in sorted(record.items()):
        lines = [
            f"  {json.dumps(name)}: {json.dumps(exercise, ensure_ascii=False)}"
            for name, exercise in exercises.items()
        ]
        chapters.append(f" {json.dumps(chapter)}: {{\n" + ",\n".join(lines) + "\n }")
    return "{\n" + ",\n".join(chapters) + "\n}\n"


def write(path: Path, text: str) -> None:
    """Write a file, unless it holds this text already."""
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


def update(app, env) -> None:
    """Update the package's record from the solutions that ran, and write the pages' scripts.

    A book without the package's sources uses the record of the installed package.
    """
    if app.builder.format != "html":
        return
    root = Path(app.srcdir)
    own = root / "book" / "adabook" / "exercises" / RECORD.name
    if own.exists():
        ran = executed(root / "notebooks", env.mystnb_config.execution_cache_path)
        earlier = json.loads(own.read_text(encoding="utf-8"))
        record = earlier | solutions(notebook for _, notebook in ran)
        write(own, written(record))
    else:
        record = json.loads(RECORD.read_text(encoding="utf-8"))
    for chapter, exercises in record.items():
        values = json.dumps(exercises, ensure_ascii=False)
        script = f'(window.adalibRecorded ??= {{}})["{chapter}"] = {values};\n'
        write(Path(app.outdir) / "_static" / "recorded" / f"{chapter}.js", script)


def load_record(app, pagename, templatename, context, doctree) -> None:
    """Load a chapter's record on pages that ask for a value.

    A chapter that asks only for code has none.
    """
    for chapter in set(_ASKS.findall(context.get("body", ""))):
        if (Path(app.outdir) / "_static" / "recorded" / f"{chapter}.js").exists():
            app.add_js_file(f"recorded/{chapter}.js", loading_method="defer")


def setup(app) -> dict:
    app.connect("env-updated", update)
    app.connect("html-page-context", load_record)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
