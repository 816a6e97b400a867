"""Run notebooks without cached outputs several at a time, before Sphinx reads the pages.

Each runs in a kernel and a thread of its own and lands in Jupyter Book's cache, where the reading
of its page finds it. One that fails is left out: the page then runs it again, and that run reports
the error and stops the build.
"""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import nbformat
from freshness import ran
from jupyter_cache import get_cache
from jupyter_cache.base import CacheBundleIn
from jupyter_cache.executors.utils import single_nb_execution
from sphinx.util import logging

WORKERS = min(4, os.cpu_count() or 1)
logger = logging.getLogger(__name__)


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
        quiet = [
            "--IPKernelApp.log_level=ERROR"
        ]  # kernels remark on their own transport, once each
        options = {
            "timeout": config.execution_timeout,
            "allow_errors": False,
            "extra_arguments": quiet,
            # Pages bring their own scripts; the state of widgets would come on top of them.
            "store_widget_state": False,
        }
        runs = {
            pool.submit(single_nb_execution, nb, str(path.parent), **options): path
            for path, nb in waiting.items()
        }
        for run in as_completed(runs):
            path = runs[run]
            result = run.result()
            if result.err is None:
                logger.info("ran %s in %.0f s", path.name, result.time)
                data = {"execution_seconds": result.time}
                cache.cache_notebook_bundle(
                    CacheBundleIn(result.nb, str(path), data=data), check_validity=False
                )
                ran(app, env.path2doc(str(path)))
    return []


def setup(app) -> dict:
    # After freshness.py has dropped what is stale.
    app.connect("env-get-outdated", run_ahead, priority=900)
    return {"parallel_read_safe": False, "parallel_write_safe": True}
