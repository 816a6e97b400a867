"""One scoreboard for the whole book: GPT-4o-mini on GSM8K, three answers on average.

It starts in chapter 1 with two rows and grows by a row where a chapter has earned one. Every number
comes from one record, which ``data/scripts/record_policies.py`` made: five deals of questions and
answers, and every policy scored on questions and answers that it has not seen. The tokens are in
its parts called "bill", where also a price that moves holds the budget while the questions come one
by one, and the time in those called "time".
"""

from __future__ import annotations

import pandas as pd

from adabook.headline import averaged
from adabook.paper.models import families
from adabook.prose import points

#: The set, by the name that `adalib.load` takes.
SET = "gsm8k-gpt4omini"
#: Average answers per question that a policy may spend.
BUDGET = 3.0
#: OpenAI's list price of GPT-4o-mini in dollars per million tokens, and when it was read. The file
#: has the tokens of the answers alone, so what a prompt costs is not counted.
PRICE_IN, PRICE_OUT, PRICED_ON = 0.15, 0.60, "November 2026"
#: The same for a prompt that was just read, if it has 1,024 tokens or more.
PRICE_CACHED = 0.075
#: The rows, from the first to the last that a chapter earns, by their names in the record.
ROWS = {
    "one": "one answer each",
    "three": "three answers for everyone",
    "oracle": "the oracle, on answers it did not see",
    "recipe": "the paper's recipe: trees that read the text",
    "noise": "the same trees, given random numbers",
    "curves": "curves predicted from the text",
    "watching": "watching the votes come in",
    "race": "the race: several at once, closed in time",
    "held": "watching, with the budget held",
    "rounds": "watching in three rounds of batches, at half the price",
}
#: The same rows in the record, where they have another name.
_RECORDED = {"recipe": "label", "curves": "curve", "watching": "votes"}
#: What is said of the time that rounds take: an endpoint answers a batch within a day.
_BATCHES = "up to 3 days"
#: What a batch bills, as a share of the list price, and the rounds that are asked there.
BATCH_PRICE, ROUNDS = 0.5, (2, 5, 16)


def scoreboard(upto: str = "rounds") -> pd.DataFrame:
    """Return the rows that have been earned so far.

    Columns: ``right`` (accuracy in percent), ``gain`` over the same number of answers for everyone,
    in points with its 95% interval (empty where there is nothing to compare), ``answers`` per
    question, ``time`` that a question waits, in that of an average answer, and ``dollars`` per
    million questions, for the answers.

    Parameters
    ----------
    upto : str
        The last row, a key of `ROWS`.

    Examples
    --------
    >>> scoreboard("three").index.tolist()
    ['one answer each', 'three answers for everyone']
    """
    found = figures()
    names = list(ROWS)[: list(ROWS).index(upto) + 1]
    rows = {
        ROWS[name]: {
            "right": f"{100 * found.accuracy[name]:.1f}%",
            "gain": points((found.gain[name], found.low[name], found.high[name]))
            if name not in ("one", "three")
            else "",
            "answers": f"{found.cost[name]:.2f}",
            "time": f"{found.time[name]:.1f}" if name != "rounds" else _BATCHES,
            "dollars": f"{found.dollars[name]:.0f}",
        }
        for name in names
    }
    return pd.DataFrame.from_dict(rows, orient="index").rename_axis("policy")


def figures() -> pd.DataFrame:
    """Return the numbers behind `scoreboard`, a row per key of `ROWS`.

    Columns: ``cost`` in answers (in those whose tokens it pays, for the race), ``accuracy``,
    ``gain`` with ``low`` and ``high`` over questions and deals, ``tokens``, ``time`` in that of an
    average answer (missing for rounds), ``dollars`` per million questions, ``mix_cost`` (what an
    equally accurate mix spends, in answers) and ``mix_dollars``.

    >>> found = figures()
    >>> bool(found.gain["watching"] > found.gain["curves"] > found.gain["noise"])
    True
    """
    rows = {}
    for name in ROWS:
        policy = _RECORDED.get(name, name)
        paid = "tokens" if name == "race" else "answers"
        of = {
            family: [
                row
                for row in families().get((SET, way, family), [])
                if row["policy"] == policy and row["target"] == BUDGET
            ]
            for way, family in (
                (paid, "plans"),
                (paid, "watches"),
                ("answers", "bill"),
                ("answers", "time"),
            )
        }
        rows[name] = averaged(
            of["plans"] or of["watches"] or of["bill"], ("cost", "accuracy", "mix_cost")
        )
        rows[name]["tokens"] = pd.DataFrame(of["bill"], columns=["tokens"]).tokens.mean()
        rows[name]["time"] = pd.DataFrame(of["time"], columns=["waiting"]).waiting.mean()
    table = pd.DataFrame.from_dict(rows, orient="index")
    per_answer = table.tokens["one"]
    table.loc["race", "tokens"] = table.cost["race"] * per_answer
    # One after another, answers take as long as all their tokens.
    for name in ("watching", "held"):
        table.loc[name, "time"] = table.tokens[name] / per_answer
    table["dollars"] = PRICE_OUT * table.tokens
    table.loc["rounds", "dollars"] *= BATCH_PRICE
    table["mix_dollars"] = PRICE_OUT * table.mix_cost * per_answer
    return table
