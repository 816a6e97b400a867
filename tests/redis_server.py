"""A Redis for the tests: the one that is installed, else one that we install; run as a script,
prints its path."""

from __future__ import annotations

import functools
import os
import select
import shutil
import socket
import socketserver
import subprocess
import sys
import tempfile
import threading
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


class RedisProxy(socketserver.ThreadingTCPServer):
    """Stand between a client and a Redis, and spoil the replies to scripts on demand.

    ``scripts`` counts the replies of Redis to scripts. What becomes of the next ones is ``fault``:
    None passes them on, bytes go in their place, "hang" sends nothing, and "lose" cuts the line
    once, after Redis has run the script. Each reply waits for ``delay`` seconds.
    """

    daemon_threads = True

    def __init__(self, redis: RedisServer) -> None:
        super().__init__(("127.0.0.1", 0), _ProxiedLine)
        self.redis = redis
        self.url = f"redis://127.0.0.1:{self.server_address[1]}/0"
        self.scripts = 0
        self.fault: bytes | str | None = None
        self.delay = 0.0


class _ProxiedLine(socketserver.BaseRequestHandler):
    """One connection of a client, and its own to Redis."""

    def handle(self) -> None:
        proxy, client = self.server, self.request
        with socket.create_connection(("127.0.0.1", proxy.redis.port)) as redis:
            runs_script = False
            while True:
                for ready in select.select([client, redis], [], [], 600)[0]:
                    data = ready.recv(1 << 16)
                    if not data:
                        return
                    if ready is client:
                        runs_script = b"EVALSHA" in data
                        redis.sendall(data)
                    elif not runs_script or data.startswith(b"-NOSCRIPT"):
                        client.sendall(data)
                    elif not self._passes_on(data):
                        return

    def _passes_on(self, reply: bytes) -> bool:
        """Send the reply to a script, or what the fault makes of it; whether the line stays."""
        proxy = self.server
        proxy.scripts += 1
        time.sleep(proxy.delay)
        if proxy.fault == "lose":
            proxy.fault = None
            return False
        if proxy.fault != "hang":
            self.request.sendall(proxy.fault or reply)
        return True


@contextmanager
def redis_proxy(redis: RedisServer) -> Iterator[RedisProxy]:
    """A running proxy before a Redis, ended at the end."""
    with RedisProxy(redis) as proxy:
        thread = threading.Thread(target=proxy.serve_forever, daemon=True)
        thread.start()
        try:
            yield proxy
        finally:
            proxy.shutdown()
            thread.join()


if __name__ == "__main__":
    try:
        print("Redis:", find_redis())
    except RuntimeError as error:
        sys.exit(str(error))
