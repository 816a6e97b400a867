"""The commands to type after `evaluate`: what its verdict asks for next.

If adaptive allocation pays, fit the policy that did best. If it does not, look at the file in the
explorer. If the questions are too few to tell, collect more of them and evaluate again.
"""

from __future__ import annotations

import os
import shlex
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from adalib.datasets.menu import Menu
    from adalib.datasets.responses import Responses
    from adalib.evaluate.heldout import HeldOutRow

_COMMAND = "python -m adalib"


@dataclass(frozen=True)
class NextSteps:
    """What was given to `evaluate` and has to be given to the next command as well.

    Attributes
    ----------
    file, gold, kept : str, str or None, str or None
        The file, its correct answers, and the file of answers that --keep wrote.
    is_log : bool
        Whether the file is a log, of which other commands read only what --keep wrote.
    prices, cost, kind : str or None, str, str or None
        The options of these names.
    folds : int
        Number of folds.
    is_grouped : bool
        Whether questions of one family were kept in one fold.
    """

    file: str
    gold: str | None
    kept: str | None
    is_log: bool
    prices: str | None
    cost: str
    kind: str | None
    folds: int
    is_grouped: bool

    def lines(self, responses: Responses | Menu, rows: Sequence[HeldOutRow]) -> Iterator[str]:
        """Yield the lines to print: the next command, and one for questions that are alike."""
        import numpy as np

        from adalib.evaluate.verdict import judged

        judgement = judged(rows)[0]
        if judgement.word() == "cannot tell":
            yield from self._collect(responses, judgement.needed)
        elif judgement.word() == "pays":
            best = judgement.rows[int(np.argmax(judgement.gain.low))]
            yield self._use(responses, best)
        else:
            yield self._explore()
        family = _family_field(responses, self.folds)
        if family and not self.is_grouped:
            groups = f"--groups {shlex.quote(family)}"
            command = f"{_COMMAND} evaluate {self._source} {groups}"
            yield f"If questions of one {family} are alike: {command}"

    @property
    def _source(self) -> str:
        """The answers as other commands take them, quoted for a shell."""
        if self.kept:
            return shlex.quote(self.kept)
        gold = f" --gold {shlex.quote(self.gold)}" if self.gold else ""
        return shlex.quote(self.file) + gold

    def _use(self, responses: Responses | Menu, best: HeldOutRow) -> str:
        """Use the policy that did best; of several models `solve` makes a plan."""
        if hasattr(responses, "models"):  # a router asks one model
            prices = f" --prices {shlex.quote(self.prices)}" if self.prices else ""
            return f"Next: {_COMMAND} solve {self._source} --budget {best.target:g}{prices}"
        options = fit_options(best, responses, self.cost, self.kind)
        return f"Next: {_COMMAND} fit {self._source} {options} --out router"

    def _explore(self) -> str:
        """Look at the file in the explorer."""
        if self.is_log and not self.kept:
            explore = f"{_COMMAND} explore answers.jsonl --out explore.html"
            return f"Next: add --keep answers.jsonl to this command, and then run {explore}"
        file = shlex.quote(self.kept or self.file)
        return f"Next: {_COMMAND} explore {file} --out explore.html"

    def _collect(self, responses: Responses | Menu, needed: float) -> Iterator[str]:
        """Collect as many questions as would settle it, and evaluate all of them."""
        missing = max(int(float(f"{needed:.2g}")) - responses.n, 1)
        sample = f"--out more --base-url URL --model M --samples {responses.samples}"
        yield (
            f"Next: put about {missing:,} more questions like these, with gold, into more.jsonl, "
            "and run"
        )
        yield f"  {_COMMAND} collect more.jsonl {sample}"
        # New answers can be appended to a file of answers, but not to a log.
        can_append = self.kept is not None or not self.is_log
        if can_append and os.path.isfile(self.kept or self.file):
            together = f"cat {self._source} more/responses.jsonl > all.jsonl"
            yield f"  {together} && {_COMMAND} evaluate all.jsonl"


def fit_options(best: HeldOutRow, responses: Any, cost: str, kind: str | None) -> str:
    """Return the options of `fit` that make the policy which did best, at its target."""
    from adalib.evaluate.trials import RACE

    is_race = best.policy == RACE
    policy_options = {"priced": "", "priced_votes": "", "curve": " --policy curve", RACE: " --race"}
    options = policy_options.get(best.policy, " --policy verdict")
    if cost == "tokens" and not is_race:  # a race counts tokens anyway
        options += " --cost tokens"
    if cost == "tokens" or is_race:
        budget = f"{best.target * responses.tokens.mean():.0f}"
    else:
        budget = f"{best.target:g}"
    if best.policy == "priced" or is_race:  # these use every signal that the file has
        options += " --certainty" if responses.logprob is not None else ""
        options += " --entropy" if responses.entropy is not None else ""
    if kind:
        options += f" --kind {shlex.quote(kind)}"
    return f"--budget {budget}{options}"


def _family_field(responses: Responses | Menu, folds: int) -> str:
    """Name a field that may hold families of similar questions; "" if there is none.

    Its values are texts, neither too few nor too many of them.
    """
    for name, column in responses.extras.items():
        if isinstance(column[0], str) and folds <= len(set(column)) <= responses.n / 2:
            return name
    return ""
