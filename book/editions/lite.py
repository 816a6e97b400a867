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
from typing import Any, NamedTuple

import nbformat
from packaging.requirements import Requirement

from editions import pyodide
from editions.writing import live_notebooks

#: The packages that every notebook needs, from which all others follow.
ROOTS = ("adalib", "ipython", "jedi", "comm", "micropip", "traitlets")
#: Python in a browser, as the markers of a requirement ask for it.
BROWSER = {
    "sys_platform": "emscripten",
    "platform_system": "Emscripten",
    "os_name": "posix",
    "python_version": "3.14",
    "python_full_version": "3.14.0",
    "platform_machine": "wasm32",
    "implementation_name": "cpython",
    "extra": "",
}
# The lines with which a chapter calls XGBoost, and what takes their place in a browser.
_TREES = {
    "from xgboost import XGBClassifier": (
        "from adalib.learn.trees import classifier  # no XGBoost in a browser"
    ),
    "XGBClassifier(**paper_trees, n_jobs=1)": "classifier(columns.size, seed=0)",
}
# What adalib's figures and widgets import when they are shown.
_SHOWN = ("plotly", "ipywidgets", "anywidget")
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
    _copy_python(root, wheel, source / "static" / "pyodide")
    _write_notebooks(root, executed, source / "files")
    (source / "jupyter-lite.json").write_text(json.dumps(_settings()), encoding="utf-8")
    _build(source, target)


def _copy_python(root: Path, wheel: Path, folder: Path) -> None:
    """Put Pyodide, all packages and their lock file into a folder."""
    folder.mkdir(parents=True)
    cache = root / ".cache" / "pyodide"
    pyodide.fetch(cache)
    for part in pyodide.needed().values():
        for name in part:
            shutil.copyfile(cache / name, folder / name)
    locked = lock(folder, wheel, requirements(root))
    (folder / "pyodide-lock.json").write_text(json.dumps(locked), encoding="utf-8")


def _write_notebooks(root: Path, executed: Path, folder: Path) -> None:
    """Write the student's notebooks, with other trees in the place of XGBoost's."""
    folder.mkdir()
    for name, notebook in live_notebooks(root, executed, students=True).items():
        for cell in notebook.cells:
            for theirs, ours in _TREES.items():
                cell.source = cell.source.replace(theirs, ours)
            if cell.cell_type == "code" and "xgboost" in cell.source:
                raise RuntimeError(
                    f"{name} imports XGBoost, which no browser has: "
                    "say in book/editions/lite.py what to run"
                )
        nbformat.write(notebook, folder / name)


def _settings() -> dict[str, Any]:
    """JupyterLite's settings: nothing is asked of another host."""
    kernel = {
        "disablePyPIFallback": True,
        "loadPyodideOptions": {"packages": ["micropip", "comm", "jedi", "ipython"]},
    }
    about = {"appName": "Who deserves more samples?", "litePluginSettings": {_PLUGIN: kernel}}
    return {"jupyter-lite-schema-version": 0, "jupyter-config-data": about}


def _build(source: Path, target: Path) -> None:
    """Run JupyterLite's own build."""
    options = {"--lite-dir": source, "--output-dir": target, "--contents": source / "files"}
    command = [sys.executable, "-m", "jupyterlite_core", "build"]
    for option, folder in options.items():
        command += [option, str(folder)]
    command += ["--apps", "lab", "--apps", "notebooks", "--no-sourcemaps", "--no-libarchive"]
    if subprocess.run(command, cwd=source).returncode:
        raise RuntimeError("JupyterLite could not be built; the lines above say why")


class _Package(NamedTuple):
    """A package as the lock file names it."""

    file: str
    version: str
    modules: list[str]
    needs: list[str]  # other packages, by their plain names


def lock(folder: Path, wheel: Path, requires: Iterable[str]) -> dict:
    """Return Pyodide's lock for a folder that holds the package and the pure ones."""
    about = json.loads(pyodide.ABOUT.read_text(encoding="utf-8"))
    compiled = {
        _plain(file.split("-")[0]): (file, module) for file, (module, _) in about["wheels"].items()
    }
    packages: dict[str, dict] = {}
    waiting = list(ROOTS)
    while waiting:
        name = waiting.pop()
        if name in packages:
            continue
        if name in compiled:
            file, module = compiled[name]
            package = _Package(file, _version(file), [module], about["needs"].get(name, []))
        elif name == "adalib":
            file = shutil.copy(wheel, folder / wheel.name).name
            package = _Package(file, _version(file), ["adalib"], [*_needs(requires), *_SHOWN])
        else:
            package = _packed(folder, name)
        packages[name] = _entry(folder, name, package)
        waiting += package.needs
    return {"info": about["info"], "packages": packages}


def _version(wheel: str) -> str:
    """The version in the name of a wheel."""
    return wheel.split("-")[1]


def _packed(folder: Path, name: str) -> _Package:
    """Pack a pure package, as it is installed here, into a folder."""
    found = distribution(name)
    file = f"{name.replace('-', '_')}-{found.version}-py3-none-any.whl"
    modules = list(pyodide.pack_installed(folder / file, name))
    return _Package(file, found.version, modules, _needs(found.requires))


def _entry(folder: Path, name: str, package: _Package) -> dict[str, Any]:
    """What the lock file says of a package."""
    return {
        "name": name,
        "version": package.version,
        "file_name": package.file,
        "imports": sorted(package.modules),
        "depends": sorted(package.needs),
        "install_dir": "site",
        "package_type": "package",
        "unvendored_tests": False,
        "sha256": hashlib.sha256((folder / package.file).read_bytes()).hexdigest(),
    }


def _needs(requires: Iterable[str] | None) -> list[str]:
    """The packages that are required in a browser, by their plain names."""
    wanted = [Requirement(text) for text in requires or ()]
    return [
        _plain(requirement.name)
        for requirement in wanted
        if not requirement.marker or requirement.marker.evaluate(dict(BROWSER))
    ]


def _plain(name: str) -> str:
    """A package's name as indexes compare it: lower case, with hyphens."""
    return re.sub(r"[-_.]+", "-", name).lower()
