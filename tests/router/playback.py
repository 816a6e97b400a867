"""A client that gives recorded answers and fails on demand: an endpoint without a network."""

import asyncio
from collections import Counter

from adalib.llm.client import EndpointError
from adalib.llm.reply import Answer


class Playback:
    """Answer from a list of texts per question, or one list for all, over and over.

    A text of "!" fails for good, "hang" never comes, "cut" breaks off, which may be on the bill.
    """

    def __init__(self, texts, tokens=9):
        self.texts, self.tokens, self.asked, self.most, self.open = texts, tokens, Counter(), 0, 0
        self.options = []

    async def sample(self, messages, **options):
        question = messages[-1]["content"].split("\n\nThink")[0]
        texts = self.texts[question] if isinstance(self.texts, dict) else self.texts
        text = texts[self.asked[question] % len(texts)]
        self.asked[question] += 1
        self.options.append(options)
        self.open += 1
        self.most = max(self.most, self.open)
        try:
            await asyncio.sleep(0)
            if text == "hang":
                await asyncio.Event().wait()
            if text == "!":
                raise EndpointError("the endpoint failed 8 times in a row")
            if text == "cut":
                raise EndpointError("the connection was cut", billed=True, passes=True)
        finally:
            self.open -= 1
        return Answer(text, "stop", self.tokens, 20)
