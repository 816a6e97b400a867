"""The texts of one question's answers, what each says, and which of them say the same."""

from __future__ import annotations

import asyncio
import warnings
from collections import Counter
from collections.abc import Hashable

from adalib.llm.reply import Answer
from adalib.router.asking import Asking
from adalib.vote.answers import answer_classes
from adalib.vote.kinds import answer_reader, is_free_text, short_text
from adalib.vote.meaning import Meaning

_SHORT = 4_000  # characters that are read at once; longer texts are read in a thread
_UNREAD = 2  # this many unreadable texts mean there is no short answer


class Ballots:
    """The answers to one question, each with its class, the first of every class, and the votes.

    Attributes
    ----------
    answers : list of Answer
        All that came in.
    ballots : list
        The class of each answer that was read in time, None for one that holds no answer.
    winners : dict
        For every class, what its first answer says and that answer.
    votes : Counter
        Answers per class.
    """

    def __init__(self, asking: Asking) -> None:
        self.asking = asking
        self.answers: list[Answer] = []
        self.ballots: list[Hashable | None] = []
        self.winners: dict[Hashable, tuple[str, Answer]] = {}
        self.votes: Counter[Hashable] = Counter()
        self._read = answer_reader(asking.kind)
        self._classes: dict[str, int] = {}

    async def add(self, answer: Answer, seconds: float) -> None:
        """Read one more text and find its class; raise TimeoutError if that takes too long."""
        self.answers.append(answer)
        # A long text, and a function of the user's, may take seconds; a server has other work.
        if len(answer.text) > _SHORT or self.asking.kind.startswith("python:"):
            extracted = await asyncio.wait_for(asyncio.to_thread(self._extract, answer), seconds)
        else:
            extracted = self._extract(answer)
        if extracted and extracted not in self._classes:
            await self._classify(extracted, seconds)
        number = self._classes[extracted] if extracted else None
        if number is not None:
            self.winners.setdefault(number, (extracted, answer))
            self.votes[number] += 1
        self.ballots.append(number)

    def show_no_short_answer(self) -> bool:
        """Whether the unreadable texts show there is no short answer.

        One long text or code does, or several short texts.
        """
        if self.winners or self.asking.kind != "auto":
            return False
        texts = [answer.text for answer in self.answers if answer.finish == "stop"]
        return len(texts) >= _UNREAD or any(map(is_free_text, texts))

    def _extract(self, answer: Answer) -> str:
        """What a text says; where answers are compared by meaning, a short text is one."""
        finished = answer.finish == "stop"
        extracted = self._read(answer.text, finished)
        if not extracted and self.asking.same and self.asking.kind == "auto" and finished:
            extracted = short_text(answer.text)
        return extracted

    async def _classify(self, extracted: str, seconds: float) -> None:
        """Find the class of an answer that is written differently from all before it."""
        texts = [*self._classes, extracted]
        numbers = await asyncio.wait_for(asyncio.to_thread(answer_classes, texts), seconds)
        first_alike = texts[int((numbers == numbers[-1]).argmax())]
        number = self._classes.get(first_alike, len(self.winners))
        if self.asking.same and number == len(self.winners):
            number = await self._class_by_meaning(self.asking.same, extracted, seconds)
        self._classes[extracted] = number

    async def _class_by_meaning(self, same: Meaning, extracted: str, seconds: float) -> int:
        """The class of an answer in words: a new one if the comparison fails."""
        candidates = [answer for answer, _ in self.winners.values()]
        try:
            found = await asyncio.wait_for(same.find(extracted, candidates), seconds)
        except Exception as error:  # also of a function that is not ours
            warnings.warn(f"answers are not compared by meaning: {error}", stacklevel=2)
            return len(candidates)
        return len(candidates) if found is None else candidates.index(found)
