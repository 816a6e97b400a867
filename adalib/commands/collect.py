"""Sample answers to a file of questions from any OpenAI-compatible endpoint.

The same command goes on where an earlier one stopped. The key is read from the environment.
"""

from __future__ import annotations

import argparse
from pathlib import Path

from adalib.commands.cli import KINDS, price, whole

_ASKED = "base_url model samples prompt temperature max_tokens concurrency seed logprobs price_in price_out"
_ASKED += " reasoning_effort key_env timeout tries kind"


def arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add(
        "questions",
        metavar="QUESTIONS",
        help="JSON Lines with id, question and gold, or the name of a bundled set",
    )
    add("--out", metavar="DIR", required=True, help="folder for the answers; made, or gone on with")
    add("--base-url", metavar="URL", help="the endpoint, for example http://127.0.0.1:8080/v1")
    add("--model", metavar="M", help="the model's name at that endpoint")
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
    add("--concurrency", type=whole, default=16, help="requests in flight at a time (default 16)")
    add("--price-in", type=price, default=0.0, metavar="$", help="dollars per million tokens read")
    add(
        "--price-out",
        type=price,
        default=0.0,
        metavar="$",
        help="dollars per million tokens written",
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
    add(
        "--key-env",
        default="OPENAI_API_KEY",
        metavar="NAME",
        help="variable with the key (default OPENAI_API_KEY)",
    )
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


def run(args: argparse.Namespace) -> None:
    from adalib.llm.collect import collect, export

    if args.dry_run:
        return _dry_run(args)
    if args.export:
        path = export(args.questions, args.out, args.kind)
    elif args.base_url is None or args.model is None:
        raise ValueError(
            "name the endpoint and the model: --base-url http://127.0.0.1:8080/v1 --model M"
        )
    else:
        path = collect(
            args.questions, args.out, **{name: getattr(args, name) for name in _ASKED.split()}
        )
    print(f"wrote {path}")


def _dry_run(args: argparse.Namespace) -> None:
    from adalib.llm.questions import load_prompt, load_questions, workload
    from adalib.llm.store import scan

    questions, prompt = load_questions(args.questions), load_prompt(args.prompt)
    if args.samples < 1:
        raise ValueError(f"--samples is {args.samples}; give 1 or more")
    there = scan(Path(args.out) / "answers.jsonl").within(
        (q["id"] for q in questions), args.samples
    )
    each = sum(prompt.tokens(q["question"]) for q in questions) / len(questions)
    prices = {"price_in": args.price_in, "price_out": args.price_out}
    work = workload(
        len(questions), args.samples, prompt_tokens=each, max_tokens=args.max_tokens, **prices
    )
    told = f"({len(questions):,} questions x {args.samples:,} samples), {there:,} done"
    print(f"calls:  {work.calls:,} {told}, {work.calls - there:,} to make")
    print(
        f"tokens: about {work.tokens_in:,} in (four characters each), at most {work.tokens_out:,} out"
    )
    known = f"at most about ${work.cost:,.2f} for all calls"
    unknown = "unknown without --price-in and --price-out (dollars per million tokens)"
    print(f"cost:   {known if args.price_in or args.price_out else unknown}")
