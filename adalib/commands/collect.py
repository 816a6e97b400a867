"""Sample answers to a file of questions from any OpenAI-compatible endpoint.

The same command goes on where an earlier one stopped. The key is read from the environment.
"""

from __future__ import annotations

import argparse
from pathlib import Path
from typing import Any

from adalib.commands.options import KINDS, add_shared, whole

# The options that `adalib.llm.collect.collect` takes under the same name.
_SETTINGS = (
    "base_url",
    "model",
    "samples",
    "prompt",
    "temperature",
    "max_tokens",
    "concurrency",
    "seed",
    "logprobs",
    "price_in",
    "price_out",
    "reasoning_effort",
    "key_env",
    "timeout",
    "tries",
    "kind",
)


def arguments(parser: argparse.ArgumentParser) -> None:
    """Declare what the command takes."""
    add = parser.add_argument
    add(
        "questions",
        metavar="QUESTIONS",
        help="JSON Lines with id, question and gold, or the name of a bundled set",
    )
    add("--out", metavar="DIR", required=True, help="folder for the answers; made, or gone on with")
    add("--base-url", metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
    add("--model", metavar="M", help="the model's name at that endpoint")
    _add_sampling(parser)
    _add_endpoint(parser)
    only = parser.add_mutually_exclusive_group()
    only.add_argument(
        "--dry-run",
        action="store_true",
        help="print calls, tokens and cost; ask nothing, write nothing",
    )
    only.add_argument(
        "--export",
        action="store_true",
        help="write DIR/responses.jsonl from what is there; ask nothing",
    )


def _add_sampling(parser: argparse.ArgumentParser) -> None:
    """Declare how many answers are sampled, and with which settings."""
    add = parser.add_argument
    add("--samples", type=whole, default=48, help="answers per question (default 48)")
    add(
        "--prompt",
        metavar="FILE",
        help="prompt file or name of a bundled prompt (default: asks for 'Answer: ...')",
    )
    add("--temperature", type=float, default=0.7, help="default 0.7")
    add(
        "--max-tokens",
        type=whole,
        default=256,
        help="tokens at which an answer is cut (default 256)",
    )
    add(
        "--logprobs",
        action="store_true",
        help="keep the mean log-probability and entropy of an answer's tokens",
    )
    add(
        "--seed",
        type=whole,
        help="give every answer a seed of its own, for endpoints that honour seeds",
    )
    add(
        "--reasoning-effort",
        metavar="E",
        help="how long a reasoning model may think, such as low or high (default: the model's own)",
    )
    add("--kind", help=f"{KINDS} (default: marked, else the last number)")


def _add_endpoint(parser: argparse.ArgumentParser) -> None:
    """Declare how the endpoint is asked, and what it costs."""
    add = parser.add_argument
    add("--concurrency", type=whole, default=16, help="requests in flight at a time (default 16)")
    add_shared(parser, "--price-in", "--price-out")
    add(
        "--timeout",
        type=float,
        default=120.0,
        metavar="S",
        help="seconds for one request (default 120)",
    )
    add(
        "--tries",
        type=whole,
        default=8,
        help="requests for one answer before giving up (default 8)",
    )
    add_shared(parser, "--key-env")


def run(args: argparse.Namespace) -> None:
    """Turn the options into plain values, then collect, export, or only count."""
    settings = {name: getattr(args, name) for name in _SETTINGS}
    if args.dry_run:
        _dry_run(args.questions, args.out, settings)
    elif args.export:
        _export(args.questions, args.out, args.kind)
    else:
        _collect(args.questions, args.out, settings)


def _collect(questions: str, folder: str, settings: dict[str, Any]) -> None:
    """Sample the answers that are missing, and export all."""
    from adalib.llm.collect import collect

    if settings["base_url"] is None or settings["model"] is None:
        raise ValueError(
            "name the endpoint and the model: --base-url http://127.0.0.1:8080/v1 --model M"
        )
    print(f"wrote {collect(questions, folder, **settings)}")


def _export(questions: str, folder: str, kind: str | None) -> None:
    """Write the file of answers from what is there."""
    from adalib.llm.collect import export

    print(f"wrote {export(questions, folder, kind)}")


def _dry_run(source: str, folder: str, settings: dict[str, Any]) -> None:
    """Print how many calls and tokens a collection would take, and what they would cost."""
    from adalib.llm.questions import load_prompt, load_questions, workload
    from adalib.llm.store import scan

    questions = load_questions(source)
    prompt = load_prompt(settings["prompt"])
    samples = settings["samples"]
    if samples < 1:
        raise ValueError(f"--samples is {samples}; give 1 or more")
    ids = (question["id"] for question in questions)
    done = scan(Path(folder) / "answers.jsonl").within(ids, samples)
    prompt_tokens = sum(prompt.tokens(q["question"]) for q in questions) / len(questions)
    work = workload(
        len(questions),
        samples,
        prompt_tokens=prompt_tokens,
        max_tokens=settings["max_tokens"],
        price_in=settings["price_in"],
        price_out=settings["price_out"],
    )
    size = f"({len(questions):,} questions x {samples:,} samples)"
    print(f"calls:  {work.calls:,} {size}, {done:,} done, {work.calls - done:,} to make")
    tokens_in = f"about {work.tokens_in:,} in (four characters each)"
    print(f"tokens: {tokens_in}, at most {work.tokens_out:,} out")
    if settings["price_in"] or settings["price_out"]:
        print(f"cost:   at most about ${work.cost:,.2f} for all calls")
    else:
        print("cost:   unknown without --price-in and --price-out (dollars per million tokens)")
