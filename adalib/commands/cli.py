"""``python -m adalib WORD ...``: the table of commands, and one line for whatever goes wrong.

Each command is a module of `adalib.commands` with two functions: ``arguments(parser)`` declares
what it takes, ``run(args)`` does it. To add a command, add the module and its line here. What goes
wrong with a user's input ends here, as one line on standard error and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Callable, Sequence
from functools import cache, partial
from importlib import import_module
from typing import Any, NoReturn

from adalib import __version__
from adalib.commands.terminal import note, shown
from adalib.datasets.files import free_memory, most_memory

# The word on the command line -> what `--help` says about it. The module is called the same, with
# "_" for "-".
COMMANDS = {
    "solve": "find the best budget for every question at a given average cost",
    "table": "make a table for solve from files of answers larger than memory",
    "evaluate": "say whether adaptive allocation pays on a file of answers, held out",
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
# Out-of-memory arrives as different exceptions from Python, XGBoost, the loader of libraries and
# threads. The last two texts come from extensions that had no room for an error of their own.
_OUT_OF_MEMORY = re.compile(
    "bad_alloc|[Cc]annot allocate memory|failed to map segment|can't start new thread"
    "|without exception set|without setting an exception"
)
_SPARE = 4_000_000  # bytes kept back, so that there is room to report that memory ran out

_BAD_INPUT = 2
_INTERRUPTED = 130  # what a shell reports for a program that was stopped with Ctrl-C


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
        sys.exit(_BAD_INPUT)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code.

    0 is done, 2 bad input or no way to go on, 130 interrupted.
    """
    args = _parser().parse_args(argv)
    say = cache(partial(note, args.word))  # a warning that comes with every fitted model, once
    spare = bytearray(_SPARE)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(f"note: {message}")
        try:
            args.run(args)
            sys.stdout.flush()
            return 0
        except KeyboardInterrupt as stop:
            say(str(stop) or "stopped")
            return _INTERRUPTED
        except BrokenPipeError:  # the reader of our output (head, less) has gone: nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        # Our errors are ValueErrors and RuntimeErrors with one line for the user; the system's are
        # OSErrors.
        except (ValueError, RuntimeError, OSError, MemoryError, ImportError, SystemError) as error:
            spare.clear()
            _report(error, say)
            return _BAD_INPUT


def _parser() -> _Parser:
    """Make the parser of all commands; each declares its own options."""
    parser = _Parser(prog="python -m adalib", description="Who deserves more samples?")
    parser.add_argument("--version", action="version", version=f"adalib {__version__}")
    words = parser.add_subparsers(dest="word", metavar="COMMAND", required=True)
    for word, summary in COMMANDS.items():
        command = import_module(f"adalib.commands.{word.replace('-', '_')}")
        own = words.add_parser(word, help=summary, description=command.__doc__)
        command.arguments(own)
        own.set_defaults(run=command.run)
    return parser


def _report(error: Exception, say: Callable[[str], None]) -> None:
    """Say in one line what went wrong; raise again what is a fault of this program."""
    if isinstance(error, MemoryError) or _OUT_OF_MEMORY.search(str(error)):
        say(_too_little_memory(error))
    elif extra := _missing_extra(error):
        say(extra)
    elif isinstance(error, ImportError | SystemError):
        raise error
    else:
        say(str(error))


def _missing_extra(error: Exception) -> str:
    """Return one sentence on the extra that installs a missing library; "" for other errors."""
    library = str(getattr(error, "name", None) or "").partition(".")[0]
    if not isinstance(error, ModuleNotFoundError) or library not in _EXTRAS:
        return ""
    extra = _EXTRAS[library]
    return f"needs adalib[{extra}], because {library} is missing: run pip install 'adalib[{extra}]'"


def _too_little_memory(error: Exception) -> str:
    """Return one sentence on a lack of memory."""
    # The frames of the traceback hold what filled the memory; without it they are freed.
    error.__traceback__ = None
    error.__context__ = None
    asked = re.search(r"allocate ([\d.]+ \w*B)\b", str(error))  # numpy says how much it asked for
    more = f", {asked[1]} at once" if asked else ""
    room = (
        f"over {most_memory() / 1e9:.1f} GB in all{more}, and {free_memory() / 1e9:.1f} GB are "
        "free now"
    )
    return (
        f"this needs more memory than there is ({room}); split the file, or ask for less at a time"
    )
