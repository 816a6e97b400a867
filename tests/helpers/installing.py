"""Programs that the tests need from the system's packages: installed where that is allowed, never
skipped silently."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Mapping

# How a system's package manager brings a package; each list is tried in order.
INSTALLERS = {
    "apt-get": [["apt-get", "update"], ["apt-get", "install", "--yes", "--no-install-recommends"]],
    "dnf": [["dnf", "install", "--assumeyes"]],
    "apk": [["apk", "add"]],
}


def install_from_system(packages: Mapping[str, str]) -> None:
    """Install a package by the tool that is here; ``packages`` has its name for every tool of
    `INSTALLERS`."""
    for tool, commands in INSTALLERS.items():
        if not shutil.which(tool):
            continue
        prefix = [] if os.geteuid() == 0 else ["sudo", "--non-interactive"]
        if prefix and not (shutil.which("sudo") and run(["sudo", "--non-interactive", "true"])):
            return
        print(f"Installing {packages[tool]} with {tool} ...", file=sys.stderr)
        *before, install = commands
        for command in [*before, [*install, packages[tool]]]:
            if not run(prefix + command):
                return


def run(command: list[str]) -> bool:
    """Run a command with its messages on standard error, where the reason of a failure is worth
    reading."""
    environment = {**os.environ, "DEBIAN_FRONTEND": "noninteractive"}
    try:
        return (
            subprocess.run(command, stdout=sys.stderr, env=environment, timeout=900).returncode == 0
        )
    except (OSError, subprocess.TimeoutExpired):
        return False
