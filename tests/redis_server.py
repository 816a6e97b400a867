"""A Redis for the tests: the one that is installed, else one that we install; run as a script,
prints its path."""

from __future__ import annotations

import functools
import os
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager

from installing import install_from_system

NAMES = ("redis-server", "valkey-server")
PACKAGES = {"apt-get": "redis-server", "dnf": "redis", "apk": "redis"}
MEND = (
    "no redis-server could be found or installed: install Redis "
    "(Debian, Ubuntu: apt install redis-server), or set ADALIB_REDIS_SERVER to its path"
)


@functools.cache
def find_redis() -> str:
    """The path of a Redis server: ``ADALIB_REDIS_SERVER``, one on the PATH, or one that we
    install."""
    named = os.environ.get("ADALIB_REDIS_SERVER")
    if named:
        return named
    for attempt in (lambda: None, lambda: install_from_system(PACKAGES)):
        attempt()
        for path in filter(None, map(shutil.which, NAMES)):
            return path
    raise RuntimeError(MEND)


class RedisServer:
    """A Redis of our own on loopback, with nothing on disk; it can be ended and started again at
    the same port."""

    def __init__(self, folder: str) -> None:
        with socket.create_server(("127.0.0.1", 0)) as free:
            self.port = free.getsockname()[1]
        self.url, self.folder, self.process = f"redis://127.0.0.1:{self.port}/0", folder, None

    def start(self) -> None:
        command = [
            find_redis(),
            "--port",
            str(self.port),
            "--bind",
            "127.0.0.1",
            "--save",
            "",
            "--dir",
            self.folder,
        ]
        self.process = subprocess.Popen(
            command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        deadline = time.monotonic() + 60
        while True:
            try:
                socket.create_connection(("127.0.0.1", self.port)).close()
                return
            except ConnectionRefusedError:
                if self.process.poll() is not None or time.monotonic() > deadline:
                    raise RuntimeError(f"{command[0]} does not start") from None
                time.sleep(0.02)

    def stop(self) -> None:
        self.process.kill()
        self.process.wait()


@contextmanager
def redis_server() -> Iterator[RedisServer]:
    """A running Redis, ended at the end."""
    with tempfile.TemporaryDirectory() as folder:
        server = RedisServer(folder)
        server.start()
        try:
            yield server
        finally:
            server.stop()


if __name__ == "__main__":
    try:
        print("Redis:", find_redis())
    except RuntimeError as error:
        sys.exit(str(error))
