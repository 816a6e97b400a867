"""Start a small model on this machine, behind an OpenAI-compatible address, until interrupted.

SmolLM2-135M-Instruct, or a GGUF file of your own.
"""

from __future__ import annotations

import argparse

from adalib.commands.cli import whole


def arguments(parser: argparse.ArgumentParser) -> None:
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
    from adalib.llm.local import LocalModelError, local_model

    try:
        with local_model(
            args.weights, port=args.port, parallel=args.parallel, context=args.ctx
        ) as local:
            print(
                f"{local.model} listens at {local.base_url} (Ctrl-C ends it); to sample from it, in another window:"
            )
            where = f"--base-url {local.base_url} --model {local.model}"
            print(f"python -m adalib collect QUESTIONS --out DIR {where} --samples 8", flush=True)
            local.process.wait()
            raise LocalModelError(
                "the local model ended by itself; start it again, with fewer or shorter answers"
            )
    except KeyboardInterrupt:
        print("stopped")
