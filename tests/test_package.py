"""What an installation gets: every module, the front end, and the data."""

from __future__ import annotations

import shutil
import subprocess
import sys
import zipfile

from conftest import ROOT

import adalib
import adalib.paper


def test_the_wheel_is_whole(tmp_path):
    source = tmp_path / "source"  # building leaves files behind: not in the checkout
    hidden = shutil.ignore_patterns("__pycache__", ".*")
    for name in ("adalib", "data"):
        shutil.copytree(ROOT / name, source / name, ignore=hidden)
    for name in ("pyproject.toml", "setup.py", "README.md", "LICENSE"):
        shutil.copy(ROOT / name, source)
    command = [
        sys.executable,
        "-m",
        "pip",
        "wheel",
        "--quiet",
        "--no-deps",
        "--no-build-isolation",
        ".",
    ]
    subprocess.run([*command, "--wheel-dir", str(tmp_path)], cwd=source, check=True)

    with zipfile.ZipFile(next(tmp_path.glob("adalib-*.whl"))) as wheel:
        held = set(wheel.namelist())
    expected = {
        file.relative_to(source).as_posix()
        for file in (source / "adalib").rglob("*")
        if file.is_file()
    }
    expected |= {
        f"adalib/{f.relative_to(source).as_posix()}"
        for f in (source / "data").rglob("*")
        if f.is_file()
    }
    expected |= {
        file.relative_to(source / "book").as_posix() for file in (source / "book").rglob("*.py")
    }
    missing = {name for name in expected if "/build/" not in name} - held
    assert missing == set(), "name their kinds under package-data in pyproject.toml"


def test_the_tests_run_against_this_checkout():
    assert adalib.__file__ == str(ROOT / "adalib" / "__init__.py"), (
        "another adalib is imported: run  make test , or set PYTHONPATH to this folder"
    )


def test_every_public_name_is_there():
    for package in (adalib, adalib.paper):
        for name in package.__all__:
            assert getattr(package, name) is not None
