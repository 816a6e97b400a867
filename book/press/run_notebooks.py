"""Run the notebooks that are out of date, several at a time, before Sphinx reads the pages.

Jupyter Book keeps the outputs of a notebook until its own cells change. That is half of what they
depend on; the other half is our code, the data and the pins. One hash of each is kept with the
outputs: when one differs, all outputs are dropped, all notebooks run again, and the build says why.
A notebook runs in a kernel and a thread of its own and lands in Jupyter Book's cache, where the
reading of its page finds it. One that fails is left out: the page then runs it again, and that run
reports the error and stops the build.
"""

from __future__ import annotations

import hashlib
import json
import os
import sys
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from sphinx.util import logging

#: What the outputs of every notebook depend on, beside its own cells.
PARTS = ("adalib", "book/adabook", "data", "requirements.txt", "constraints.txt")
# Of the data, what is read: not the scripts that made it, nor what is said about it.
UNREAD = {"data": (".py", ".md")}
STORE = "made_from.json"
WORKERS = min(4, os.cpu_count() or 1)
logger = logging.getLogger(__name__)


def made_from(root: Path) -> dict[str, str]:
    """Return a hash for each part of the project that outputs depend on, and Python's version."""
    hashes = {part: _hash(root / part, UNREAD.get(part, ())) for part in PARTS}
    return {**hashes, "Python": ".".join(map(str, sys.version_info[:2]))}


def _hash(part: Path, unread: tuple[str, ...]) -> str:
    """Hash a file, or the files below a folder but for hidden, compiled and unread ones."""
    digest = hashlib.sha256()
    for file in sorted(part.rglob("*")) if part.is_dir() else [part]:
        inside = file.relative_to(part).parts
        hidden = any(name.startswith((".", "__pycache__")) for name in inside)
        if file.is_file() and not hidden and file.suffix not in unread:
            digest.update(f"\n{'/'.join(inside)}\n".encode())
            digest.update(file.read_bytes())
    return digest.hexdigest()


def drop_outdated(app, env, added, changed, removed) -> list[str]:
    """Before reading: drop all outputs if what they were made from has changed."""
    store = Path(env.mystnb_config.execution_cache_path) / STORE
    before = json.loads(store.read_text(encoding="utf-8")) if store.exists() else {}
    now = made_from(Path(app.srcdir))
    different = [part for part in now if before.get(part) != now[part]]
    if not different:
        return []
    if before:
        logger.info("every notebook runs again: %s changed", ", ".join(different))
    get_cache(env.mystnb_config.execution_cache_path).clear_cache()
    store.parent.mkdir(parents=True, exist_ok=True)
    store.write_text(json.dumps(now, indent=1), encoding="utf-8")
    return sorted({doc for doc in env.found_docs if env.doc2path(doc).endswith(".ipynb")} - added)


def run_ahead(app, env, added, changed, removed) -> list[str]:
    """Run what is not cached; nothing more needs reading for it."""
    config = env.mystnb_config
    if config.execution_mode != "cache":
        return []
    cache = get_cache(config.execution_cache_path)
    waiting = {}
    for path in sorted(Path(env.doc2path(doc)) for doc in env.found_docs):
        if path.suffix == ".ipynb":
            notebook = nbformat.read(path, as_version=4)
            try:
                cache.match_cache_notebook(notebook)
            except KeyError:
                waiting[path] = notebook
    with ThreadPoolExecutor(WORKERS) as pool:
        options = {
            "timeout": config.execution_timeout,
            "allow_errors": False,
            # Kernels remark on their own transport, once each.
            "extra_arguments": ["--IPKernelApp.log_level=ERROR"],
            # Pages bring their own scripts; the state of widgets would come on top of them.
            "store_widget_state": False,
        }
        runs = {
            pool.submit(single_nb_execution, notebook, str(path.parent), **options): path
            for path, notebook in waiting.items()
        }
        for run in as_completed(runs):
            path = runs[run]
            result = run.result()
            if result.err is None:
                logger.info("ran %s in %.0f s", path.name, result.time)
                data = {"execution_seconds": result.time}
                bundle = CacheBundleIn(result.nb, str(path), data=data)
                cache.cache_notebook_bundle(bundle, check_validity=False)
    return []


def setup(app) -> dict:
    app.connect("env-get-outdated", drop_outdated)
    app.connect("env-get-outdated", run_ahead, priority=900)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
