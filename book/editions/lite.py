"""JupyterLite with the student's notebooks: a folder for any static host.

What a student writes stays in the browser.

Python comes from the same files as for the pages (`editions.pyodide`), and every pure package,
adalib with its data included, from what is installed here. One lock file names them all, so that a
notebook's ``import`` brings what it needs and nothing is asked of another host. XGBoost has no
wheel there: scikit-learn's trees take its place.
"""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from importlib.metadata import distribution
from pathlib import Path

import nbformat
from packaging.requirements import Requirement

from editions import pyodide
from editions.writing import live_notebooks

__all__ = ["lock", "requirements", "write_lite"]

ROOTS = ("adalib", "ipython", "jedi", "comm", "micropip", "traitlets")
# What a package of another system would install.
BROWSER = {
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "os_name": "posix",
    "python_version": "3.14",
}
BROWSER |= {
    "python_full_version": "3.14.0",
    "platform_machine": "wasm32",
    "implementation_name": "cpython",
    "extra": "",
}
# What a chapter says to XGBoost, and what stands in its place.
_TREES = {
    "from xgboost import XGBClassifier": (
        "from adalib.learn.trees import classifier  # no XGBoost in a browser"
    ),
    "XGBClassifier(**paper_trees, n_jobs=1)": "classifier(columns.size, seed=0)",
}
# What its figures and widgets import when they are shown.
_SHOWN = (
    "plotly",
    "ipywidgets",
    "anywidget",
)
_PLUGIN = "@jupyterlite/pyodide-kernel-extension:kernel"


def requirements(root: Path) -> list[str]:
    """Return the packages that chapters need in a browser."""
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    extras = project["optional-dependencies"]
    return [*project["dependencies"], *extras["learn"], *extras["math"]]


def write_lite(root: Path, executed: Path, wheel: Path, source: Path, target: Path) -> None:
    """Write JupyterLite into ``target``, with parts from ``source`` and the package ``wheel``."""
    for folder in (source, target):
        shutil.rmtree(folder, ignore_errors=True)
    python = source / "static" / "pyodide"
    python.mkdir(parents=True)
    cache = root / ".cache" / "pyodide"
    pyodide.fetch(cache)
    for part in pyodide.needed().values():
        for name in part:
            shutil.copyfile(cache / name, python / name)
    (python / "pyodide-lock.json").write_text(
        json.dumps(lock(python, wheel, requirements(root))), encoding="utf-8"
    )
    (source / "files").mkdir()
    for name, notebook in live_notebooks(root, executed, students=True).items():
        for cell in notebook.cells:
            for theirs, ours in _TREES.items():
                cell.source = cell.source.replace(theirs, ours)
            if cell.cell_type == "code" and "xgboost" in cell.source:
                raise RuntimeError(
                    f"{name} imports XGBoost, which no browser has: "
                    "say in book/editions/lite.py what to run"
                )
        nbformat.write(notebook, source / "files" / name)
    settings = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": ["micropip", "comm", "jedi", "ipython"]},
    }
    about = {"appName": "Who deserves more samples?", "litePluginSettings": {_PLUGIN: settings}}
    whole = {"jupyter-lite-schema-version": 0, "jupyter-config-data": about}
    (source / "jupyter-lite.json").write_text(json.dumps(whole), encoding="utf-8")
    build = [
        sys.executable,
        "-m",
        "jupyterlite_core",
        "build",
        "--lite-dir",
        source,
        "--output-dir",
        target,
    ]
    build += [
        "--contents",
        source / "files",
        "--apps",
        "lab",
        "--apps",
        "notebooks",
        "--no-sourcemaps",
        "--no-libarchive",
    ]
    if subprocess.run([str(word) for word in build], cwd=source).returncode:
        raise RuntimeError("JupyterLite could not be built; the lines above say why")


def lock(folder: Path, wheel: Path, requires: Iterable[str]) -> dict:
    """Return Pyodide's lock for a folder that holds the package and the pure ones."""
    about = json.loads(pyodide.ABOUT.read_text(encoding="utf-8"))
    given = {
        _plain(name.split("-")[0]): (name, module) for name, (module, _) in about["wheels"].items()
    }
    packages: dict[str, dict] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name in packages:
            continue
        if name in given:
            file, module = given[name]
            version = file.split("-")[1]
            modules = [module]
            needs = about["needs"].get(name, [])
        elif name == "adalib":
            file = shutil.copy(wheel, folder / wheel.name).name
            version = file.split("-")[1]
            modules = ["adalib"]
            needs = [*_needs(requires), *_SHOWN]
        else:
            found = distribution(name)
            file = f"{name.replace('-', '_')}-{found.version}-py3-none-any.whl"
            version = found.version
            needs = _needs(found.requires)
            modules = pyodide.pack_installed(folder / file, name)
        packages[name] = {
            **{
                "name": name,
                "version": version,
                "file_name": file,
                "imports": sorted(modules),
                "depends": sorted(needs),
            },
            **{"install_dir": "site", "package_type": "package", "unvendored_tests": False},
            "sha256": hashlib.sha256((folder / file).read_bytes()).hexdigest(),
        }
        waiting += needs
    return {"info": about["info"], "packages": packages}


def _needs(requires: Iterable[str] | None) -> list[str]:
    """The packages that are required in a browser, by their plain names."""
    asked = map(Requirement, requires or ())
    return [
        _plain(one.name) for one in asked if not one.marker or one.marker.evaluate(dict(BROWSER))
    ]


def _plain(name: str) -> str:
    return re.sub(r"[-_.]+", "-", name).lower()
