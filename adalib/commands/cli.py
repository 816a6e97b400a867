"""``python -m adalib WORD ...``: the table of commands.

Each command is a module of `adalib.commands` with two functions: ``arguments(parser)`` declares
what it takes, ``run(args)`` does it. To add a command, add the module and its line here. What goes
wrong with a user's input ends here, as one line on standard error and exit code 2. Below stands
what several commands take.
"""

from __future__ import annotations

import argparse
import math
import os
import re
import sys
import warnings
from collections.abc import Sequence
from dataclasses import replace
from functools import cache
from importlib import import_module
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, NoReturn

from adalib import __version__
from adalib.datasets.files import check_room, free_memory, most_memory

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses

__all__ = [
    "COMMANDS",
    "KINDS",
    "add_shared",
    "check_learn_from",
    "check_libraries",
    "main",
    "missing_extra",
    "parse_budgets",
    "parse_numbers",
    "price",
    "read_answers",
    "read_source",
    "shown",
    "whole",
]

# The word on the command line -> what `--help` says about it. The module is called the same, with
# "_" for "-".
COMMANDS = {
    "solve": "find the best budget for every question at a given average cost",
    "table": "make a table for solve from files of answers larger than memory",
    "evaluate": "say whether adaptive allocation pays on a file of answers, held out",
    "repeats": "say how often to ask which question of a benchmark, from a pilot",
    "explore": "write one self-contained page that explores a file",
    "collect": "sample answers to a file of questions from any OpenAI-compatible endpoint",
    "fit": "learn a routing policy from a file of answers, and save it",
    "route": "answer a file of questions by a fitted router, under a budget",
    "serve": "serve a fitted router as an OpenAI-compatible endpoint",
    "serve-llm": "start a small real language model on this machine",
}

# The extra of pyproject.toml that installs a library, by the library's name in an import.
_EXTRAS = {
    **dict.fromkeys(("pandas", "scipy", "sklearn", "threadpoolctl", "xgboost"), "learn"),
    **dict.fromkeys(("math_verify", "latex2sympy2_extended", "sympy", "mpmath"), "math"),
    "openai": "client",
    **dict.fromkeys(("starlette", "uvicorn", "prometheus_client", "redis", "re2"), "serve"),
    "plotly": "pages",
    **dict.fromkeys(("pyarrow", "dask", "distributed"), "scale"),
}
_OUT_OF_MEMORY = "bad_alloc|[Cc]annot allocate memory|failed to map segment|can't start new thread"
_OUT_OF_MEMORY += (
    "|without exception set|without setting an exception"  # extensions without room for an error
)
_SPARE = 4_000_000  # bytes kept back, so that there is room to say that there is none
# Bytes of address space that pandas, scikit-learn and XGBoost take before they do anything
_LIBRARIES = 500_000_000
KINDS = (
    "what an answer is: auto, number, choice, yesno, label:a,b, json:field, regex:..., "
    "python:module:function"
)
MAX_BUDGETS = 1_000  # on offer; the exact frontier compares every two of them


class _Parser(argparse.ArgumentParser):
    """An argument parser that reports a mistake in one line and takes no abbreviations.

    An unknown option's value may be a secret, so it is not repeated.
    """

    def __init__(self, **options: Any):
        super().__init__(**options, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        before, _, words = message.partition("unrecognized arguments: ")
        if words:
            # The value of an option that we do not know (--key SECRET) may be anything.
            options = " ".join(word.split("=")[0] for word in words.split() if word.startswith("-"))
            message = f"{before}unrecognized arguments{options and ': '}{options}"
        print(f"{self.prog}: {shown(message)}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 is done, 2 bad input or no way to go on, 130 interrupted.
    """
    parser = _Parser(prog="python -m adalib", description="Who deserves more samples?")
    parser.add_argument("--version", action="version", version=f"adalib {__version__}")
    words = parser.add_subparsers(dest="word", metavar="COMMAND", required=True)
    for word, summary in COMMANDS.items():
        command = import_module(f"adalib.commands.{word.replace('-', '_')}")
        own = words.add_parser(word, help=summary, description=command.__doc__)
        command.arguments(own)
        own.set_defaults(run=command.run)
    args = parser.parse_args(argv)

    @cache  # a note that comes with every model that is fitted is said once
    def say(line: object) -> None:
        print(f"adalib {args.word}: {shown(str(line))}", file=sys.stderr)

    spare = bytearray(_SPARE)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(f"note: {message}")
        try:
            args.run(args)
            sys.stdout.flush()
            return 0
        except KeyboardInterrupt as stop:
            say(str(stop) or "stopped")
            return 130  # what a shell reports for a program that was stopped with Ctrl-C
        except BrokenPipeError:  # the reader of our output (head, less) has gone: nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        # Our errors are ValueErrors and RuntimeErrors with one line for the user; the system's are
        # OSErrors.
        except (ValueError, RuntimeError, OSError, MemoryError, ImportError, SystemError) as error:
            # Python says that memory ran out in its way, XGBoost, the loader of libraries and
            # threads in theirs.
            if isinstance(error, MemoryError) or re.search(_OUT_OF_MEMORY, str(error)):
                spare.clear()
                say(_too_little(error))
            elif extra := missing_extra(error):
                say(extra)
            elif isinstance(error, ImportError | SystemError):
                raise
            else:
                say(error)
            return 2


def missing_extra(error: Exception) -> str:
    """Return one sentence on the extra that installs a missing library; "" for other errors."""
    library = str(getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or library not in _EXTRAS:
        return ""
    extra = _EXTRAS[library]
    return f"needs adalib[{extra}], because {library} is missing: run pip install 'adalib[{extra}]'"


def _too_little(error: Exception) -> str:
    """Return one sentence on a lack of memory."""
    error.__traceback__ = error.__context__ = (
        None  # they hold what filled the memory, and telling takes some too
    )
    asked = re.search(r"allocate ([\d.]+ \w*B)\b", str(error))  # numpy says how much it asked for
    more = f", {asked[1]} at once" if asked else ""
    room = (
        f"over {most_memory() / 1e9:.1f} GB in all{more}, and {free_memory() / 1e9:.1f} GB are "
        "free now"
    )
    return (
        f"this needs more memory than there is ({room}); split the file, or ask for less at a time"
    )


def price(text: str) -> float:
    """Read a number of dollars, 0 or more."""
    if not 0 <= float(text) < math.inf:
        raise ValueError(text)
    return float(text)


_PRICES = "prices of a token (or answer) for a file of several models, such as small=0.5,large=1.5"
_SCHEDULER = (
    "use the workers of this Dask scheduler, such as tcp://10.0.0.1:8786; "
    "they must see the same files"
)
_SHARED: dict[str, dict[str, Any]] = {
    "--budgets": {
        "metavar": "LIST",
        "default": "1,2,4,8,16",
        "help": "budgets on offer (default 1,2,4,8,16)",
    },
    "--estimator": {
        "choices": ("subsets", "windows"),
        "default": "subsets",
        "help": "how accuracy is estimated",
    },
    "--ties": {
        "choices": ("share", "first"),
        "default": "share",
        "help": "what happens to tied votes",
    },
    "--cost": {"choices": ("samples", "tokens"), "help": "what a budget costs (default samples)"},
    "--prices": {"metavar": "LIST", "help": _PRICES},
    "--scheduler": {"metavar": "ADDRESS", "help": _SCHEDULER},
    "--json": {"action": "store_true", "help": "print one JSON object and nothing else"},
    "--price-in": {
        "type": price,
        "default": 0.0,
        "metavar": "$",
        "help": "dollars per million tokens read",
    },
    "--price-out": {
        "type": price,
        "default": 0.0,
        "metavar": "$",
        "help": "dollars per million tokens written",
    },
    "--key-env": {
        "default": "OPENAI_API_KEY",
        "metavar": "NAME",
        "help": "variable with the key (default OPENAI_API_KEY)",
    },
}


def add_shared(parser: argparse.ArgumentParser, *names: str) -> None:
    """Declare options that several commands take, by their names."""
    for name in names:
        parser.add_argument(name, **_SHARED[name])


def check_libraries(source: str) -> None:
    """Fail early without memory to import what learns; a partial import can end the process."""
    check_room(source, "loading what learns", _LIBRARIES, "free some, or raise the limit")


def check_learn_from(given: int) -> int:
    """How many questions teach at most."""
    if given < 2:
        raise ValueError(f"--learn-from is {given}; give at least 2 questions")
    return given


def shown(text: str) -> str:
    """Make text from outside fit for a terminal: one line, with control characters escaped."""
    line = " ".join(text.splitlines())
    return "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in line)


def whole(text: str) -> int:
    """Read a whole number, also one written as 1e6."""
    number = float(text)  # a ValueError is argparse's to tell
    if not number.is_integer() or abs(number) > 1e15:
        raise ValueError(text)
    return int(text) if text.strip().lstrip("+-").isdigit() else int(number)


def parse_numbers(text: str, name: str) -> list[float]:
    """Read "1.5,2,3" as numbers."""
    try:
        return [float(part) for part in text.split(",")]
    except ValueError:
        raise ValueError(f"{name} is {text!r}; give numbers with commas, such as 1.5,2,3") from None


def parse_budgets(text: str) -> tuple[int, ...]:
    """Read "1,2,4" as budgets: whole numbers, at least 1, each larger than the one before."""
    try:
        budgets = tuple(int(part) for part in text.split(","))
        if len(budgets) > MAX_BUDGETS or max(budgets) > 10**9:
            raise ValueError
    except ValueError:
        wanted = f"whole numbers with commas, such as 1,2,4,8,16 (at most {MAX_BUDGETS})"
        raise ValueError(f"--budgets is {text[:60]!r}; give {wanted}") from None
    if budgets[0] < 1 or any(a >= b for a, b in zip(budgets, budgets[1:], strict=False)):
        raise ValueError(f"--budgets is {text!r}; give numbers of at least 1, in increasing order")
    return budgets


def _parse_prices(text: str) -> dict[str, float]:
    """Read "small=0.5,large=1.5" as prices by model."""
    try:
        return {
            name.strip(): float(price)
            for name, price in (part.rsplit("=", 1) for part in text.split(","))
        }
    except ValueError:
        raise ValueError(
            f"--prices is {text!r}; give model=price with commas, such as small=0.5,large=1.5"
        ) from None


def read_source(
    file: str, *, gold: str | None = None, prices: str | None = None, kind: str | None = None
) -> tuple[Responses | Menu, str]:
    """Read the answers of a file of any kind, and a sentence on what was left out of a log.

    The sentence is "" where nothing was left out.

    A file of answers has its correct answers inside, and so have the logs of Inspect and lm-eval. A
    gateway's log and the votes of `serve --keep` do not: there ``gold`` names a file of them, or a
    field of the log's lines.
    """
    from adalib.datasets.inspect_logs import is_inspect_log, read_inspect_log
    from adalib.datasets.lm_eval_samples import is_lm_eval_samples, read_lm_eval_samples
    from adalib.datasets.logs import is_log, read_log

    for belongs, read in (
        (is_inspect_log, read_inspect_log),
        (is_lm_eval_samples, read_lm_eval_samples),
    ):
        if belongs(file):
            if gold or prices:
                option = "--gold" if gold else "--prices"
                raise ValueError(
                    f"{file}: is a log of one model with its scores; leave out {option}"
                )
            return read(file, kind)
    if not is_log(file):
        if gold:
            raise ValueError(f"{file}: has its own correct answers; leave out --gold")
        return read_answers(file, prices, kind=kind), ""
    if not gold:
        raise ValueError(
            f"{file}: is a log of requests; give the correct answers with --gold FILE or FIELD"
        )
    return read_log(file, gold, kind or "auto")


def read_answers(
    file: str, prices: str | None = None, per: Any = None, kind: str | None = None
) -> Responses | Menu:
    """Read sampled answers, those of several models at the prices given or at the file's own.

    With a kind, the answers are read out of the texts again.
    """
    from adalib.datasets.loading import load
    from adalib.datasets.menu import Menu

    answers = load(file)
    if kind and isinstance(answers, Menu):
        raise ValueError(
            f"{file}: holds several models, and --kind reads one; give the answers of one model"
        )
    if kind and not isinstance(answers, Menu):
        answers = _read_anew(answers, kind)
    for one in answers.models.values() if isinstance(answers, Menu) else [answers]:
        _check_read(one)
        _check_formulas(one)
    if isinstance(answers, Menu):
        return answers.priced(_parse_prices(prices) if prices else answers.prices or {}, per)
    if prices:
        raise ValueError(f"{file}: holds one model, so --prices has nothing to price; leave it out")
    return answers


def _read_anew(answers: Responses, kind: str) -> Responses:
    """The answers as they are read by kind out of the texts that the file keeps."""
    from adalib.vote.kinds import answer_reader

    read = answer_reader(kind)
    texts = answers.extras.get("texts")
    if texts is None:
        raise ValueError(
            f"{answers.source}: keeps no texts to read a {kind} from; "
            "collect again, or leave --kind out"
        )
    ended = answers.extras.get("finish") or [["stop"] * len(row) for row in texts]
    rows = [
        [read(t, e == "stop") for t, e in zip(*pair, strict=True)]
        for pair in zip(texts, ended, strict=True)
    ]
    return replace(answers, answers=rows, correct=None)


def _check_formulas(answers: Responses) -> None:
    """Refuse formulas if the library that compares them is missing: accuracies would be wrong."""
    from adalib.vote.answers import is_formula

    if find_spec("math_verify") or "classes" in answers.extras:
        return
    if any(is_formula(answer) for row in answers.answers for answer in row):
        raise ModuleNotFoundError(name="math_verify")


def _check_read(answers: Responses) -> None:
    """Refuse whole texts in the place of answers: no two agree, and none is right."""
    first, gold = (
        sorted(map(len, texts)) for texts in ([row[0] for row in answers.answers], answers.golds)
    )
    if answers.correct is None and first[len(first) // 2] > 200 > gold[-1]:
        fault = "its answers are whole texts; read the answer out of each (adalib.extract_answer)"
        raise ValueError(f"{answers.source}: {fault}, or say which are right in a field correct")
