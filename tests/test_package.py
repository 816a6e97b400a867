"""What an installation gets: every module, the front end, and the data."""

from __future__ import annotations

import zipfile

import pytest
from conftest import ROOT

import adabook.paper
import adalib


def shipped(folder: str) -> set[str]:
    """The paths below a folder that an installation needs: no hidden file, no compiled one."""
    files = (path for path in (ROOT / folder).rglob("*") if path.is_file())
    paths = (path.relative_to(ROOT) for path in files)
    return {
        path.as_posix()
        for path in paths
        if not any(part.startswith(".") or part == "__pycache__" for part in path.parts)
    }


def test_the_wheel_is_whole():
    """The one that `make book` has put next to the book."""
    wheels = list((ROOT / "dist").glob("adalib-*.whl"))
    if not wheels:
        pytest.fail("there is no wheel in dist/: run `make wheel` first", pytrace=False)
    with zipfile.ZipFile(wheels[0]) as wheel:
        held = set(wheel.namelist())
    expected = (
        shipped("adalib")
        | {path.removeprefix("book/") for path in shipped("book/adabook")}
        | {f"adalib/{path}" for path in shipped("data")}
    )
    assert expected - held == set(), "name their kinds under package-data in pyproject.toml"


def test_the_tests_run_against_this_checkout():
    assert adalib.__file__ == str(ROOT / "adalib" / "__init__.py"), (
        "another adalib is imported: run  make test , or set PYTHONPATH to this folder"
    )


def test_every_public_name_is_there():
    for package in (adalib, adabook.paper):
        for name in package.__all__:
            assert getattr(package, name) is not None
