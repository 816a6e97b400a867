"""Run a notebook and hand over its answers: what the grader starts where nothing can be reached."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from adabook import plain_data

#: The tag of a cell that is not run.
SKIPPED_TAG = "not-graded"
_CELL_SECONDS = 120  # a cell that takes longer is interrupted, and the next one runs

# Practice checks would cost time, and an endless function would be waited for twice.
_QUIET = """
import adabook.exercises

adabook.exercises.Checker.__call__ = lambda *_: None
"""
_COLLECT = "import runpy; runpy.run_path({file!r})['collect']({names!r}, globals(), {target!r})"


def run(task: dict[str, Any]) -> dict[str, Any]:
    """Run a notebook, cell by cell; return its answers and what went wrong."""
    import nbformat  # these come with the extra "notebooks", which the grader itself does without
    from nbclient import NotebookClient

    try:
        notebook = nbformat.reads(task["notebook"], as_version=4)
    except Exception as error:  # a student may hand in any file
        return {"error": f"this file is not a notebook: {' '.join(str(error).split())[:200]}"}
    client = NotebookClient(
        notebook,
        kernel_name="python3",
        timeout=_CELL_SECONDS,
        interrupt_on_timeout=True,
        allow_errors=True,
        shutdown_kernel="immediate",  # nothing is left to save, and asking it to end takes a second
        skip_cells_with_tag=SKIPPED_TAG,
    )
    target = str(Path("answers.json").resolve())
    own = {"file": plain_data.__file__, "names": task["names"], "target": target}
    new_cell = nbformat.v4.new_code_cell
    first = new_cell(_QUIET if task["has_checks"] else "")
    notebook.cells = [first, *notebook.cells, new_cell(_COLLECT.format(**own))]
    client.execute()
    answers = json.loads(Path(target).read_text(encoding="utf-8"))
    return {"value": {"answers": answers, "faults": list(_faults(notebook.cells[1:-1]))}}


def _faults(cells: list) -> Iterator[str]:
    """What went wrong in the cells of a notebook that ran."""
    for number, cell in enumerate(cells, 1):
        for output in cell.get("outputs", []):
            if output["output_type"] == "error":
                yield f"cell {number} raised {output['ename']}: {output['evalue'][:100]}"


if __name__ == "__main__":
    replies = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # what a notebook's programs print is not a reply
    print(json.dumps(run(json.loads(sys.stdin.readline()))), file=replies, flush=True)
