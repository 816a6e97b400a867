"""``python -m adalib WORD ...``: the table of commands.

Each command is a module of `adalib.commands` with two functions: ``arguments(parser)`` declares what it takes,
``run(args)`` does it and returns the exit code. To add a command, add the module and its line here. What goes wrong
with a user's input ends here, as one line on standard error and exit code 2.
"""

from __future__ import annotations

import argparse
import os
import re
import sys
import warnings
from collections.abc import Sequence
from importlib import import_module
from typing import Any, NoReturn

from adalib import __version__
from adalib.commands.arguments import shown
from adalib.datasets.files import free_memory, most_memory

__all__ = ["COMMANDS", "main"]

# The word on the command line -> what `--help` says about it. The module is called the same, with "_" for "-".
COMMANDS = {
    "solve": "find the best budget for every question at a given average cost",
    "table": "make a table for solve from files of answers larger than memory",
    "evaluate": "say whether adaptive allocation pays on a file of answers, held out",
    "explore": "write one self-contained page that explores a file",
    "collect": "sample answers to a file of questions from any OpenAI-compatible endpoint",
    "fit": "learn a routing policy from a file of answers, and save it",
    "route": "answer a file of questions by a fitted router, at a budget that is held",
    "serve": "serve a fitted router as an OpenAI-compatible endpoint",
    "serve-llm": "start a small real language model on this machine",
}

_OUT_OF_MEMORY = "bad_alloc|[Cc]annot allocate memory|failed to map segment|can't start new thread"
_OUT_OF_MEMORY += "|without exception set|without setting an exception"  # extensions without room for an error
_SPARE = 4_000_000  # bytes kept back, so that there is room to say that there is none
INTERRUPTED = 130  # what a shell reports for a program that was stopped with Ctrl-C


class _Parser(argparse.ArgumentParser):
    """argparse, but with one line for a mistake, no abbreviations, and nothing repeated that may be a secret."""

    def __init__(self, **how: Any):
        super().__init__(**how, allow_abbrev=False)

    def error(self, message: str) -> NoReturn:
        told, _, words = message.partition("unrecognized arguments: ")
        if words:
            # The value of an option that we do not know (--key SECRET) may be anything.
            options = [word.split("=")[0] for word in words.split() if word.startswith("-")]
            message = f"{told}unrecognized arguments{': ' + ' '.join(options) if options else ''}"
        print(f"{self.prog}: {shown(message)}; see {self.prog} --help", file=sys.stderr)
        sys.exit(2)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0 done, 2 bad input or no way to go on, 130 interrupted."""
    parser = _Parser(prog="python -m adalib", description="Who deserves more samples?")
    parser.add_argument("--version", action="version", version=f"adalib {__version__}")
    words = parser.add_subparsers(dest="word", metavar="COMMAND", required=True)
    for word, told in COMMANDS.items():
        command = import_module(f"adalib.commands.{word.replace('-', '_')}")
        own = words.add_parser(word, help=told, description=command.__doc__)
        command.arguments(own)
        own.set_defaults(run=command.run)
    args = parser.parse_args(argv)

    def say(line: object) -> None:
        print(f"adalib {args.word}: {shown(str(line))}", file=sys.stderr)

    spare = bytearray(_SPARE)
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: say(f"note: {message}")
        try:
            code = args.run(args)
            sys.stdout.flush()
            return code
        except KeyboardInterrupt as stop:
            say(str(stop) or "stopped")
            return INTERRUPTED
        except BrokenPipeError:  # the reader of our output (head, less) has gone: nothing is wrong
            os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
            return 0
        # Our errors are ValueErrors and RuntimeErrors with one line for the user; the system's are OSErrors.
        except (ValueError, RuntimeError, OSError, MemoryError, ImportError, SystemError) as error:
            # Python says that memory ran out in its way, XGBoost, the loader of libraries and threads in theirs.
            if isinstance(error, MemoryError) or re.search(_OUT_OF_MEMORY, str(error)):
                spare.clear()
                say(_too_little(error))
            elif isinstance(error, ImportError | SystemError):
                raise
            else:
                say(error)
            return 2


def _too_little(error: Exception) -> str:
    error.__traceback__ = error.__context__ = None  # they hold what filled the memory, and telling takes some too
    asked = re.search(r"allocate ([\d.]+ \w*B)\b", str(error))  # numpy says how much it asked for
    more = f", {asked[1]} at once" if asked else ""
    room = f"over {most_memory() / 1e9:.1f} GB in all{more}, and {free_memory() / 1e9:.1f} GB are free now"
    return f"this needs more memory than there is ({room}); split the file, or ask for less at a time"
