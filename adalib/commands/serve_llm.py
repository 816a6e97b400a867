"""Start a small model on this machine, behind an OpenAI-compatible address, until interrupted.

SmolLM2-135M-Instruct, or a GGUF file of your own.
"""

from __future__ import annotations

import argparse

from adalib.commands.options import whole


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add("--weights", metavar="FILE", help="a GGUF file (default: SmolLM2-135M-Instruct)")
    add("--port", type=whole, default=8080, help="loopback port, 0 for a free one (default 8080)")
    add("--parallel", type=whole, default=16, help="answers written at a time (default 16)")
    add(
        "--ctx",
        type=whole,
        default=1024,
        help="tokens for one question with its answer (default 1024)",
    )


def run(args: argparse.Namespace) -> None:
    """Serve until interrupted."""
    try:
        _serve(args.weights, args.port, args.parallel, args.ctx)
    except KeyboardInterrupt:
        print("stopped")


def _serve(weights: str | None, port: int, parallel: int, context: int) -> None:
    """Start the model, print where it listens, and wait for its end."""
    from adalib.llm.local import LocalModelError, local_model

    with local_model(weights, port=port, parallel=parallel, context=context) as local:
        listens = f"{local.model} listens at {local.base_url} (Ctrl-C ends it)"
        print(f"{listens}; to sample from it, in another window:")
        where = f"--base-url {local.base_url} --model {local.model}"
        print(f"python -m adalib collect QUESTIONS --out DIR {where} --samples 8", flush=True)
        local.process.wait()
        raise LocalModelError(
            "the local model ended by itself; start it again, with fewer or shorter answers"
        )
