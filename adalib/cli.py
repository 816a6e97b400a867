"""The commands: ``adalib COMMAND ...`` or ``python -m adalib COMMAND ...``.

A command is a function: its signature says what the command takes, its docstring what ``--help``
prints (the package `cyclopts` reads both). `collect`, `batch` and `serve` are the functions of the
library themselves. What goes wrong with a user's input ends in `main`, as one line on standard
error and exit code 2.
"""

from __future__ import annotations

import json as json_format
import logging
import os
import shlex
import signal
import sys
import warnings
from collections import Counter
from collections.abc import Sequence
from contextlib import suppress
from importlib.util import find_spec
from pathlib import Path
from statistics import median_high
from typing import TYPE_CHECKING, Annotated, Any, Literal, NoReturn

import cyclopts

import adalib

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Cost, Responses
from adalib.extras import missing_words
from adalib.table import NUMBERS, UtilityTable

_BAD_INPUT = 2
_INTERRUPTED = 130  # what a shell reports for a program that was stopped with Ctrl-C
_FEW = 100  # questions; a policy that learned from fewer is mostly chance
_PAGE_OF_OURS = b'<meta name="generator" content="adalib">'
_LONG = 200  # characters; an answer that was read out of a text is shorter

# What `solve` prints.
_MEANINGS = {
    "budget": "what a question may cost on average",
    "lam": "the price: accuracy that the next unit of cost buys",
    "cost": "what this plan costs on average",
    "accuracy": "its average accuracy",
    "bound": "no plan within the budget is more accurate than this",
    "slack": "what the plan leaves of the budget",
}


def _split(type_: Any, tokens: Sequence[cyclopts.Token]) -> tuple[Any, ...]:
    """Read "1.5,2,3" as a tuple."""
    entry = type_.__args__[0]
    return tuple(entry(word) for word in tokens[0].value.split(","))


_LIST = cyclopts.Parameter(converter=_split, n_tokens=1)
Budgets = Annotated[tuple[int, ...], _LIST]
Numbers = Annotated[tuple[float, ...], _LIST]
Words = Annotated[tuple[str, ...], _LIST]
Paid = Literal["samples", "tokens", "dollars"]

app = cyclopts.App(
    name="adalib",
    help="Who deserves more samples?",
    version=adalib.__version__,
    help_flags="--help",
    default_parameter=cyclopts.Parameter(negative=()),  # no --no-json and no --empty-budgets
    suppress_keyboard_interrupt=False,  # `run` says that the work was stopped
)
app.command(
    "adalib.ask.collect:collect",
    name="collect",
    help="Sample answers to a file of questions from any OpenAI-compatible endpoint.",
)
app.command(
    "adalib.batch.job:batch",
    name="batch",
    help="Answer a file of questions in rounds, each of which is a batch.",
)
app.command(
    "adalib.serve.server:serve",
    name="serve",
    help="Serve a fitted router as an OpenAI-compatible endpoint in front of another.",
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code: 0, or 2 for bad input."""
    words = sys.argv[1:] if argv is None else argv
    with warnings.catch_warnings():
        warnings.showwarning = lambda message, *_: _note(f"note: {message}")
        try:
            result = app(
                words, exit_on_error=False, print_error=False, result_action="return_value"
            )
            if result is not None:
                print(f"wrote {result}")
            sys.stdout.flush()  # here, where a full disk gets its sentence
            return 0
        except ImportError as error:
            # cyclopts wraps what goes wrong in loading a command.
            words = missing_words(error.__cause__ or error)
            if not words:
                raise
            _note(words)
            return _BAD_INPUT
        except cyclopts.UnknownCommandError:
            names = ", ".join(name for name in app if not name.startswith("-"))
            _note(f"there is no command {words[0]!r}; choose one of {names}")
            return _BAD_INPUT
        # Errors of ours are a ValueError or RuntimeError with one line for the user.
        except (cyclopts.CycloptsError, ValueError, RuntimeError) as error:
            _note(str(error))
            return _BAD_INPUT
        except OSError as error:
            where = error.filename or "standard output"
            _note(f"{where}: {error.strerror}; check its name, its folder and the free space")
            return _BAD_INPUT


def run() -> NoReturn:
    """Run the command of this process, and end the process with its exit code; 130 for Ctrl-C."""
    try:
        code = main()
    except KeyboardInterrupt:
        signal.signal(signal.SIGINT, signal.SIG_IGN)  # a second Ctrl-C changes nothing
        _note("stopped")
        logging.shutdown()  # writes the last lines of the server's log
        # An ordinary exit waits for all threads, and one may have begun a minute of learning.
        os._exit(_INTERRUPTED)
    try:
        sys.stdout.flush()
    except OSError:  # said by `main`; Python would try once more at the end, and exit with 120
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    sys.exit(code)


def _cost(cost: Paid, prices: Sequence[float] | None) -> Cost:
    """Return what is paid: answers, tokens, or dollars at these prices."""
    from adalib.datasets.responses import Prices

    if cost == "dollars" and prices is not None and len(prices) == 2:
        return Prices(*prices)
    if cost == "dollars" or prices is not None:
        raise ValueError(
            "dollars need both: --cost dollars --prices INPUT,OUTPUT, in dollars for a million "
            "tokens of the prompt and of the answer, such as 0.15,0.60"
        )
    return cost


def _note(text: str) -> None:
    """Write one line to standard error; standard output holds the result alone."""
    line = " ".join(text.split())
    # A file's text may hold codes that control a terminal.
    visible = "".join(c if c.isprintable() else "?" for c in line)
    with suppress(OSError):  # a terminal that was closed must not change the exit code
        print("adalib:", visible, file=sys.stderr)


@app.command
def solve(
    file: str,
    *,
    budget: float,
    budgets: Budgets = (1, 2, 4, 8, 16),
    estimator: Literal["subsets", "windows"] = "subsets",
    ties: Literal["share", "first"] = "share",
    cost: Paid = "samples",
    prices: Numbers | None = None,
    json: bool = False,
) -> None:
    """Find the best budget for every question, given what a question may cost on average.

    This is the best plan in hindsight on these very answers; `evaluate` says what survives on
    others.

    Parameters
    ----------
    file : str
        Answers (.jsonl, .csv or .parquet), accuracies (.csv), or the name of a bundled setting.
    budget : float
        What a question may cost on average, in answers, or in tokens or dollars with --cost.
    budgets : tuple of int
        Numbers of answers on offer, such as 1,2,4. Those that the file cannot fill are left out.
    estimator : str
        How accuracy is estimated.
    ties : str
        What happens to tied votes.
    cost : str
        What a budget costs: its answers, their tokens, or dollars.
    prices : tuple of float
        With --cost dollars: dollars for a million tokens of the prompt and of the answer.
    json : bool
        Print one JSON object and nothing else.
    """
    from adalib.solve.frontier import frontier

    table = _table(file, budgets, estimator, ties, _cost(cost, prices))
    best = frontier(table).at(budget)
    numbers = {
        name: getattr(best, name)
        for name in ("budget", "lam", "cost", "accuracy", "bound", "slack")
    }
    bought = [table.budgets[label] for label in best.labels.tolist()]
    split = None
    if best.split is not None:
        row, low, high, share = best.split
        low_budget, high_budget = table.budgets[low], table.budgets[high]
        split = {"id": table.ids[row], "low": low_budget, "high": high_budget, "share": share}
    if json:
        labels = dict(zip(table.ids, bought, strict=True))
        _print_json({**numbers, "labels": labels, "split": split})
        return
    for name, number in numbers.items():
        print(f"{name:9} {number:<12.6g} {_MEANINGS[name]}")
    if cost == "dollars":
        print(f"{'answers':9} {sum(bought) / table.n:<12.6g} what a question gets on average")
    count_by_budget = Counter(bought)
    for offered in table.budgets:
        print(f"budget {offered}: {count_by_budget[offered]:,} of {table.n:,} questions")
    if split:
        often = f"in {split['share']:.1%} of cases"
        print(f"to spend the slack, give {split['id']!r} budget {split['high']} {often}")
    print("best in hindsight on these answers, so optimistic; adalib evaluate says what survives")


def _table(
    file: str,
    budgets: Sequence[int],
    estimator: Literal["subsets", "windows"],
    ties: Literal["share", "first"],
    cost: Cost,
) -> UtilityTable:
    """Read a table of accuracies, or estimate one from answers."""
    from adalib.datasets.menu import Menu
    from adalib.explorer import read_csv

    if _has_accuracies(file):
        return read_csv(file)
    answers = _load(file)
    offered = [b for b in budgets if b <= answers.samples] or budgets
    if len(offered) < len(budgets):
        warnings.warn(
            f"{file}: has {answers.samples} answers per question; larger budgets are left out",
            stacklevel=2,
        )
    if isinstance(answers, Menu):  # whose costs are prices times answers or tokens already
        if not isinstance(cost, str):
            raise ValueError(f"{file}: holds several models; give each its price in the file")
        return answers.table(offered, estimator, ties)
    return answers.table(offered, estimator, ties, cost)


@app.command
def evaluate(
    file: str,
    *,
    targets: Numbers | None = None,
    budgets: Budgets = NUMBERS,
    cost: Paid = "samples",
    prices: Numbers | None = None,
    groups: str | None = None,
    policy: tuple[str, ...] = (),
    all: bool = False,
    why: bool = False,
    report: str | None = None,
    worth: float | None = None,
    checked: bool = False,
    json: bool = False,
) -> None:
    """Say whether adaptive allocation pays on a file of sampled answers, held out.

    Policies learn from one half of every question's samples, are scored with the other half, and
    only on questions that they have not seen. A gain is counted over the same number of answers for
    everyone, any number or two of them by lot, at the cost that a policy really had.

    Parameters
    ----------
    file : str
        Answers (.jsonl), also of several models, or the name of a bundled setting.
    targets : tuple of float
        Average costs to aim for, such as 1.5,2,3; default 2, 3 and 4 times the cheapest budget.
    budgets : tuple of int
        Numbers of answers on offer to policies that plan; the bar may give everyone any number.
    cost : str
        What is paid: answers, their tokens, or dollars, all counted in average answers.
    prices : tuple of float
        With --cost dollars: dollars for a million tokens of the prompt and of the answer.
    groups : str
        Keep questions with the same value of this field in one fold. Without it, families that ids
        or texts show are held out a second time, and their verdict follows.
    policy : tuple of str
        Python files with policies of your own, each a row under its class's name: --policy
        a.py --policy b.py. The files are run, so name only those that you trust.
    all : bool
        Print every policy at every target.
    why : bool
        Say how the gain was tested.
    report : str
        A page to write, with the verdict, a figure, every policy, and how it was tested.
    worth : float
        With --report and --cost dollars: what a right answer is worth, drawn as the price.
    checked : bool
        Answers are checked, not voted on: ask until one passes. The file may hold "passes" and
        "attempts" alone, and "checked": true on its first line says the same.
    json : bool
        Print one JSON object and nothing else.
    """
    from adalib.datasets.files import written
    from adalib.datasets.passes import says_checked
    from adalib.evaluate.checked import evaluate_checked
    from adalib.evaluate.evaluation import Evaluation
    from adalib.evaluate.policy_files import policies_in

    if checked or says_checked(file):
        if policy or report is not None or worth is not None or cost == "dollars":
            raise ValueError(
                f"{file}: its answers are checked; --policy, --report, --worth and dollars are for "
                "votes, leave them out"
            )
        evaluate_checked(file, targets, cost, groups, json)
        return
    if report is not None:
        _check_page(report)
    answers = _load(file)
    paid = _cost(cost, prices)
    if worth is not None and (report is None or cost != "dollars" or worth <= 0):
        raise ValueError(
            f"--worth {worth:g} is drawn on the page: give a number above 0, --report PAGE, and "
            "--cost dollars with --prices"
        )
    with policies_in(policy) as own:
        found = Evaluation.of(answers, targets, budgets, paid, groups, own)
    if report is not None:
        with written(report) as draft:
            draft.write(found.as_page(Path(file).name, worth).encode("utf-8", "replace"))
    if json:
        _print_json(found.as_json())
        return
    print(found.as_text(all, why))
    if report is not None:
        print(f"wrote {report}; open it in a browser, no network needed")
    print(found.next_step(file))


def _check_page(out: str) -> None:
    """Refuse to write a page over a file that is none of ours."""
    if os.path.isfile(out) and _PAGE_OF_OURS not in Path(out).read_bytes()[:1000]:
        raise ValueError(f"{out}: exists already and is no page of adalib; name another file")


@app.command
def explore(
    file: str, *, out: str = "explore.html", cost: Literal["samples", "tokens"] | None = None
) -> None:
    """Write one self-contained page that explores a file, without Python or a network.

    Parameters
    ----------
    file : str
        Answers (.jsonl, .csv or .parquet), accuracies (.csv), or the name of a bundled setting.
    out : str
        The page to write.
    cost : str
        What a budget costs: its answers, or their tokens.
    """
    from adalib.datasets.loading import bundled
    from adalib.datasets.responses import Responses
    from adalib.explorer import page, read_csv, setting

    _check_page(out)
    name = Path(file).name
    about: dict[str, Any] = {"name": name, "title": name, "kind": "yours"}
    if file in bundled():
        about["kind"] = "real"
    if _has_accuracies(file):
        if cost is not None:
            raise ValueError(f"{file}: a table of accuracies has its own costs; leave out --cost")
        described = setting(read_csv(file), **about)
    else:
        answers = _load(file)
        if cost == "tokens" and isinstance(answers, Responses):
            table = answers.table(cost="tokens")
            described = setting(table, responses=answers, unit="tokens", **about)
        else:
            described = setting(answers, **about)
    written = page([described], out)
    size = f"{written.stat().st_size / 1024:.0f} KB"
    print(f"wrote {written} ({size}); open it in a browser, no network needed")


@app.command
def convert(
    tool: str,
    /,
    *files: str,
    out: str,
    questions: str | None = None,
    samples: int | None = None,
    score: str | None = None,
) -> None:
    """Turn logs of an evaluation tool into a file of answers.

    The tools are lm-eval (samples_*.jsonl), inspect (what `inspect log dump` writes), and litellm
    (calls as its loggers get them, or rows of SpendLogs). A question is known by its model, task
    and text, so logs of several runs, tasks and models may be given together.

    Parameters
    ----------
    tool : str
        The tool that wrote the logs.
    files : str
        Its logs.
    out : str
        The file of answers to write.
    questions : str
        For LiteLLM: a file with id, question and gold on each line.
    samples : int
        Answers per question to keep; questions with fewer are left out. Default: the commonest
        number.
    score : str
        The filter (lm-eval) or scorer (Inspect) to take where a log has several; default the first.
    """
    from adalib.datasets.logs import TOOLS, Options
    from adalib.datasets.logs import convert as converted

    if tool not in TOOLS:
        raise ValueError(f"there is no tool {tool!r}; choose one of {', '.join(TOOLS)}")
    if not files:
        raise ValueError(f"name the logs to convert: adalib convert {tool} FILE... --out {out}")
    records = converted(tool, files, out, Options(questions, score, samples))
    models = ", ".join(dict.fromkeys(record["model"] for record in records))
    each = len(records[0]["answers"])
    print(f"wrote {out}: {len(records):,} questions with {each} answers each, by {models}")
    print(f"Next: adalib evaluate {shlex.quote(out)}")


@app.command
def fit(
    file: str,
    *,
    budget: float,
    out: str,
    policy: Literal["priced", "race"] = "priced",
    signals: Words | None = None,
    cost: Paid = "samples",
    prices: Numbers | None = None,
    schedule: Budgets | None = None,
    rounds: int | None = None,
    groups: str | None = None,
) -> None:
    """Learn a policy from a file of sampled answers, and save it for `serve` or `batch`.

    The folder holds JSON and nothing that runs. `evaluate` says which policy pays.

    Parameters
    ----------
    file : str
        Answers (.jsonl) of one model, or the name of a bundled setting.
    budget : float
        What a question may cost on average: answers, tokens with a race or --cost tokens, or
        dollars.
    out : str
        The folder to write.
    policy : str
        Stop at a price (priced), or start several answers and cancel the slow ones (race).
    signals : tuple of str
        What it looks at, such as votes,text; default every signal that the file has.
    cost : str
        What an answer costs: 1, its tokens, or dollars. A race counts tokens, and so does a
        server whose budget is in dollars.
    prices : tuple of float
        With --cost dollars: dollars for a million tokens of the prompt and of the answer.
    schedule : tuple of int
        Numbers of answers at which priced stopping may stop, such as 2,4,8: those in between are
        asked at once, which saves waiting. Default: after every answer up to 16.
    rounds : int
        For `batch`: find the best schedule of at most so many rounds, such as 3, and say what it
        loses against stopping after every answer.
    groups : str
        Leave questions with the same value of this field out together.
    """
    from adalib.datasets.menu import Menu
    from adalib.evaluate.compare import answer_cost, column
    from adalib.sequential.priced_stopping import PricedStopping
    from adalib.sequential.race import PricedRace
    from adalib.serve.router import TAUGHT

    for taken in (Path(out), Path(out, "router.json")):
        if taken.is_file():
            raise ValueError(f"{taken}: exists already; remove it, or name another folder")
    answers = _load(file)
    if isinstance(answers, Menu):
        raise ValueError(f"{file}: holds several models; give the answers of one model")
    if policy == "race" and (schedule is not None or rounds is not None):
        raise ValueError(
            "a race starts its answers at once by itself; leave out --schedule and --rounds"
        )
    if schedule is not None and rounds is not None:
        raise ValueError("--rounds finds a schedule; leave out --schedule")
    paid = _cost(cost, prices)
    asked = budget
    if not isinstance(paid, str):  # a server sees tokens, not bills
        budget *= answer_cost(answers, "tokens") / answer_cost(answers, paid)
        paid = "tokens"
    family = None if groups is None else column(answers, groups)
    if rounds is not None:
        # By the bill, which has a prompt for every answer.
        schedule = _rounds(answers, asked, rounds, _cost(cost, prices), family)
    stopping = PricedStopping(signals, cost=paid, schedule=schedule)
    learner = PricedRace(signals) if policy == "race" else stopping
    if answers.n < _FEW:
        warnings.warn(
            f"{file}: has {answers.n} questions, and what is learned from fewer than {_FEW} is "
            "mostly chance",
            stacklevel=2,
        )
    router = adalib.Router.fit(answers, budget, learner, groups=family)
    router.save(out)
    print(
        f"fitted {policy} on {min(answers.n, TAUGHT):,} of {answers.n:,} questions, "
        f"budget {budget:g} {router.unit} per question, "
        f"first price {router.controller.price:.4g}"
    )
    if cost == "dollars":
        print(f"a server counts tokens: with these answers, {budget:.0f} of them cost ${asked:g}")
    following = "serve {} --upstream URL --model M"
    if rounds is not None:
        following = "batch {} QUESTIONS --out JOB --model M --dry-run"
    print(f"wrote {out}; next: adalib {following.format(shlex.quote(out))}")


def _rounds(
    answers: Responses, budget: float, rounds: int, cost: Cost, groups: Sequence | None
) -> tuple[int, ...]:
    """Find the best schedule, and say what it loses."""
    from adalib.datasets.folds import subsample
    from adalib.sequential.rounds import best_rounds
    from adalib.serve.router import TAUGHT

    rows = subsample(range(answers.n), TAUGHT, 0)
    kept = None if groups is None else [groups[row] for row in rows]
    found = best_rounds(answers.take(rows), budget, rounds, cost=cost, groups=kept)
    listed = ", ".join(map(str, found.schedule))
    print(
        f"rounds of {listed} answers: right on {found.accuracy:.1%} in training, and "
        f"{found.one_by_one:.1%} if one stops after every answer"
    )
    if found.pays_from < 1:
        share = found.as_right / (2 * budget)
        print(
            f"they are cheaper and as right at a discount of {found.pays_from:.0%} or more; "
            f"at half price they cost {share:.0%} of asking one by one"
        )
    else:
        print("they are never as right as that, whatever the discount")
    return found.schedule


def _has_accuracies(file: str) -> bool:
    """Whether a file is a table of accuracies: CSV without a column of answers."""
    from adalib.datasets.rows import holds_answers

    return file.lower().endswith(".csv") and not holds_answers(file)


def _load(file: str) -> Responses | Menu:
    """Read sampled answers; refuse those whose accuracies or costs would be wrong."""
    from adalib.datasets.loading import load
    from adalib.datasets.menu import Menu

    answers = load(file)
    for responses in answers.models.values() if isinstance(answers, Menu) else [answers]:
        _check_answers(responses)
    return answers


def _check_answers(responses: Responses) -> None:
    """Refuse whole texts as answers, tokens that are all 0, and formulas without their library."""
    from adalib.vote.answers import is_formula

    typical_answer = median_high(len(row[0]) for row in responses.answers)
    longest_gold = max(len(gold) for gold in responses.golds)
    if responses.correct is None and typical_answer > _LONG > longest_gold:
        raise ValueError(
            f"{responses.source}: its answers are whole texts; read the answer out of each "
            "(adalib.extract_answer), or say which are right in a field correct"
        )
    if responses.tokens is not None and not responses.tokens.any():
        raise ValueError(
            f"{responses.source}: all its tokens are 0; give what each answer has, or leave the "
            "field out"
        )
    if find_spec("math_verify") or "classes" in responses.extras:
        return
    if any(is_formula(answer) for row in responses.answers for answer in row):
        raise ModuleNotFoundError(name="math_verify")


def _print_json(value: dict[str, Any]) -> None:
    """Print one JSON object on one line."""
    print(json_format.dumps(value, ensure_ascii=False))
