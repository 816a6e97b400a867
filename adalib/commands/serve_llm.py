"""Start a small model on this machine, behind an OpenAI-compatible address, until interrupted.

SmolLM2-135M-Instruct, or a GGUF file of your own.
"""

from __future__ import annotations

import argparse

from adalib.commands.cli import whole


def arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--weights", metavar="FILE", help="a GGUF file (default: SmolLM2-135M-Instruct)")
    parser.add_argument("--port", type=whole, default=8080, help="loopback port, 0 for a free one (default 8080)")
    parser.add_argument("--parallel", type=whole, default=16, help="answers written at a time (default 16)")
    parser.add_argument(
        "--ctx", type=whole, default=1024, help="tokens for one question with its answer (default 1024)"
    )


def run(args: argparse.Namespace) -> int:
    """Serve until interrupted."""
    from adalib.llm.local import LocalModelError, local_model

    try:
        with local_model(args.weights, port=args.port, parallel=args.parallel, context=args.ctx) as local:
            print(f"{local.model} listens at {local.base_url} (Ctrl-C ends it); to sample from it, in another window:")
            where = f"--base-url {local.base_url} --model {local.model}"
            print(f"python -m adalib collect QUESTIONS --out DIR {where} --samples 8", flush=True)
            local.process.wait()
            raise LocalModelError("the local model ended by itself; start it again, with fewer or shorter answers")
    except KeyboardInterrupt:
        print("stopped")
    return 0
