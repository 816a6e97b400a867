"""Run the notebooks that are out of date, several at a time, before Sphinx reads the pages.

Jupyter Book keeps the outputs of a notebook until its own cells change. That is half of what they
depend on; the other half is our code, the data and the pins. Each run writes down what of them it
reads (``notebook_reads``), and a hash of each is kept with its outputs: when one differs, this
notebook runs again, and the build says why.
A notebook runs in a kernel and a thread of its own and lands in Jupyter Book's cache, where the
reading of its page finds it. One that fails is left out: the page then runs it again, and that run
reports the error and stops the build.
"""

from __future__ import annotations

import hashlib
import os
import sys
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor, as_completed
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from sphinx.util import logging

from press import notebook_reads

#: Where the modules and the data are that a notebook may read.
PARTS = ("adalib", "book/adabook", "data")
#: What the outputs of every notebook depend on.
PINS = ("requirements.txt", "constraints.txt")
_PYTHON = "Python " + ".".join(map(str, sys.version_info[:2]))
WORKERS = min(4, os.cpu_count() or 1)
logger = logging.getLogger(__name__)


def hashes(root: Path, names: Iterable[str], digest: Callable[[Path], str]) -> dict[str, str]:
    """Return the digest of each file or folder, and of what every notebook depends on."""
    return {_PYTHON: "", **{name: digest(root / name) for name in sorted({*names, *PINS})}}


def digest_of(path: Path) -> str:
    """The SHA-256 of a file, or of the names in a folder; "" for what is not there."""
    if path.is_dir():
        names = [inside.name for inside in path.iterdir() if inside.name != "__pycache__"]
        return hashlib.sha256("\n".join(sorted(names)).encode()).hexdigest()
    return hashlib.sha256(path.read_bytes()).hexdigest() if path.exists() else ""


def read_by(record: Path, root: Path) -> list[str]:
    """Return the files and folders of the project that a record of `notebook_reads` names."""
    lines = set(record.read_text(encoding="utf-8").split("\n")) - {""}
    if notebook_reads.EVERYTHING in lines:
        lines = {str(path) for part in PARTS for path in (root / part).rglob("*.*")}
    paths = [Path(line).relative_to(root) for line in lines]
    return [path.as_posix() for path in paths if "__pycache__" not in path.parts]


def drop_outdated(outputs: Any, root: Path, digest: Callable[[Path], str]) -> None:
    """Drop the outputs that were made from something else than what is there now."""
    for record in outputs.list_cache_records():
        before = (record.data or {}).get("read", {})
        now = hashes(root, before.keys() - {_PYTHON}, digest)
        different = [name for name in now if before.get(name) != now[name]]
        if different:
            if before:
                more = f" and {len(different) - 3} more" if len(different) > 3 else ""
                changed = ", ".join(different[:3]) + more
                logger.info("%s runs again: %s changed", Path(record.uri).name, changed)
            outputs.remove_cache(record.pk)


def run_ahead(app, env, added, changed, removed) -> list[str]:
    """Before reading: run what has no outputs, or old ones; its pages are to be read."""
    config = env.mystnb_config
    if config.execution_mode != "cache":
        return []
    root = Path(app.srcdir)
    outputs = get_cache(config.execution_cache_path)
    digest = cache(digest_of)  # as it is now: a file that changes meanwhile counts as changed
    drop_outdated(outputs, root, digest)
    waiting = {}
    for doc in sorted(env.found_docs):
        if env.doc2path(doc).endswith(".ipynb"):
            notebook = nbformat.read(env.doc2path(doc), as_version=4)
            try:
                outputs.match_cache_notebook(notebook)
            except KeyError:
                waiting[doc] = notebook
    with TemporaryDirectory() as folder, ThreadPoolExecutor(WORKERS) as pool:
        runs = {
            pool.submit(_run, notebook, Path(env.doc2path(doc)), root, Path(folder), config): doc
            for doc, notebook in waiting.items()
        }
        for run in as_completed(runs):
            path = Path(env.doc2path(runs[run]))
            result, names = run.result()
            if result.err is None:
                logger.info("ran %s in %.0f s", path.name, result.time)
                data = {"execution_seconds": result.time, "read": hashes(root, names, digest)}
                bundle = CacheBundleIn(result.nb, str(path), data=data)
                outputs.cache_notebook_bundle(bundle, check_validity=False)
    return sorted(waiting.keys() - added)


def _run(notebook: nbformat.NotebookNode, path: Path, root: Path, folder: Path, config) -> tuple:
    """Run a notebook; return the result, and what of the project it read."""
    record = folder / path.name
    record.touch()
    watch = f"__import__('runpy').run_path({notebook_reads.__file__!r})['watch']"
    parts = list(PARTS)
    result = single_nb_execution(
        notebook,
        str(path.parent),
        timeout=config.execution_timeout,
        allow_errors=False,
        extra_arguments=[
            # Kernels remark on their own transport, once each.
            "--IPKernelApp.log_level=ERROR",
            f"--IPKernelApp.exec_lines={watch}({str(record)!r}, {str(root)!r}, {parts!r})",
        ],
        # Pages bring their own scripts; the state of widgets would come on top of them.
        store_widget_state=False,
    )
    return result, read_by(record, root)


def setup(app) -> dict:
    app.connect("env-get-outdated", run_ahead)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
