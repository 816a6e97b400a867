"""What an installation gets: every module, the front end, and the data."""

from __future__ import annotations

import re
import subprocess
import zipfile
from pathlib import Path

import pytest
from conftest import ROOT

import adabook.paper
import adalib

#: Folders of data/ that no chapter reads.
STAYS = {"scripts", "pilot", "checks"}
PACKED = ("adalib", "book/adabook", "data")


def shipped(folder: str) -> set[str]:
    """The paths below a folder that an installation needs: no hidden file, no compiled one."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    paths = (path.relative_to(ROOT) for path in files)
    return {
        path.as_posix()
        for path in paths
        if not any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    }


def test_the_wheel_holds_the_package_its_data_and_nothing_else():
    """The one that `make book` has put next to the book."""
    wheels = list((ROOT / "dist").glob("adalib_book-*.whl"))
    if not wheels:
        pytest.fail("there is no wheel in dist/: run `make wheel` first", pytrace=False)
    with zipfile.ZipFile(wheels[0]) as wheel:
        held = set(wheel.namelist())
    expected = (
        shipped("adalib")
        | {path.removeprefix("book/") for path in shipped("book/adabook")}
        | {f"adalib/{path}" for path in shipped("data") if path.split("/")[1] not in STAYS}
    )
    packed = {path for path in held if ".dist-info/" not in path}
    packed_at = wheels[0].stat().st_mtime
    sources = [ROOT / path for name in PACKED for path in shipped(name)]
    newer = [path for path in sources if path.stat().st_mtime > packed_at]
    mend = "name their kinds under package-data in pyproject.toml"
    if newer:
        mend = f"the wheel in dist/ is older than {newer[0].relative_to(ROOT)}: run `make wheel`"
    assert packed == expected, mend


def test_nobody_is_told_to_install_the_package_of_another():
    """On PyPI `adalib` is somebody else's; ours is `adalib-book`, imported as adalib."""
    foreign = re.compile(
        r"(?<![\w/.-])adalib\[[a-z]|pip3? install [^\n`#;&|]*(?<![\w/.-])adalib(?![\w-])|adalib-\d"
    )
    ours = ["pip install 'adalib-book[math]'", "pip install adalib-book", "import adalib"]
    theirs = ["pip install adalib", "pip install -U 'adalib[math]'", "adalib-0.4.0", "adalib[x]"]
    assert not any(map(foreign.search, ours))
    assert all(map(foreign.search, theirs))
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=True)
    for name in listed.stdout.decode().strip("\0").split("\0"):
        file = ROOT / name
        if file == Path(__file__) or not file.is_file():
            continue
        found = foreign.search(file.read_bytes().decode("utf-8", "ignore"))
        assert not found, f"{name}: {found[0]!r} names another package; write adalib-book"


def test_the_tests_run_against_this_checkout():
    assert adalib.__file__ == str(ROOT / "adalib" / "__init__.py"), (
        "another adalib is imported: run  make test , or set PYTHONPATH to this folder"
    )


def test_every_public_name_is_there():
    for package in (adalib, adabook.paper):
        for name in package.__all__:
            assert getattr(package, name) is not None
