"""A real JupyterLab for the tests, with one notebook open in it."""

from __future__ import annotations

import os
import secrets
import socket
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import nbformat


@contextmanager
def jupyter_lab(home: Path, cells: list) -> Iterator[tuple[str, Path]]:
    """Serve a notebook of these cells in a JupyterLab that keeps all its files in a folder.

    Yields the address of the notebook, its token included, and the Lab's runtime folder.
    """
    notebook = nbformat.v4.new_notebook(cells=cells)
    notebook.metadata.kernelspec = {
        "name": "python3",
        "display_name": "Python 3",
        "language": "python",
    }
    nbformat.write(notebook, home / "live.ipynb")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    token = secrets.token_hex(16)
    folders = {
        f"JUPYTER_{name}_DIR": str(home / name.lower()) for name in ("CONFIG", "DATA", "RUNTIME")
    }
    with (home / "log").open("w") as log:
        server = subprocess.Popen(
            [sys.executable, "-m", "jupyter", "lab", "--no-browser", "--allow-root",
             "--ip=127.0.0.1", f"--port={port}", "--ServerApp.port_retries=0",
             f"--IdentityProvider.token={token}", f"--ServerApp.root_dir={home}"],
            env={**os.environ, **folders, "IPYTHONDIR": str(home / "ipython")},
            stdout=log,
            stderr=subprocess.STDOUT,
        )  # fmt: skip
        address = f"http://127.0.0.1:{port}"
        try:
            for _ in range(2400):  # ten minutes: a loaded machine is slow, not wrong
                assert server.poll() is None, (home / "log").read_text()
                try:
                    urllib.request.urlopen(f"{address}/api?token={token}", timeout=5)
                    break
                except OSError:
                    time.sleep(0.25)
            yield f"{address}/lab/tree/live.ipynb?token={token}", home / "runtime"
        finally:
            server.terminate()
            server.wait(30)


def opened(browser, address: str, height: int = 1600):
    """Open the notebook, and wait for its kernel: a cell run before is not run at all."""
    page = browser.new_page(viewport={"width": 1400, "height": height})
    page.goto(address)
    page.get_by_text("| Idle").wait_for(timeout=300_000)
    return page


def run_cell(page, number: int) -> None:
    """Run a code cell of the notebook, by the key that a reader presses."""
    page.locator(".jp-Notebook .jp-CodeCell .cm-content").nth(number).click()
    page.keyboard.press("Shift+Enter")
