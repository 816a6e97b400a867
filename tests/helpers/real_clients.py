"""Ask a server one question with each of the clients that people use: `python real_clients.py URL`.

`make clients` installs them, in a folder of their own, so each is imported where it is used.
"""

from __future__ import annotations

import importlib.metadata
import sys

import openai
from pydantic import BaseModel

QUESTION = "What is 3 + 4?"
TURNS = [{"role": "user", "content": QUESTION}]


class Sum(BaseModel):
    """What Instructor is to read out of a reply."""

    value: int


def plain(url: str) -> str:
    """The `openai` package."""
    client = openai.OpenAI(base_url=url, api_key="none")
    return client.chat.completions.create(model="m", messages=TURNS).choices[0].message.content


def raw(url: str) -> str:
    """The `openai` package, asked for the reply with its headers."""
    client = openai.OpenAI(base_url=url, api_key="none")
    reply = client.chat.completions.with_raw_response.create(model="m", messages=TURNS)
    return reply.parse().choices[0].message.content


def langchain(url: str) -> str:
    """LangChain."""
    from langchain_openai import ChatOpenAI

    model = ChatOpenAI(model="m", base_url=url, api_key="none", temperature=0.7)
    return model.invoke(QUESTION).content


def lite(url: str) -> str:
    """LiteLLM."""
    import litellm

    reply = litellm.completion("openai/m", TURNS, api_base=url, api_key="none")
    return reply.choices[0].message.content


def structured(url: str) -> str:
    """Instructor, which asks for JSON in the text; by its other ways it sends tools or a schema."""
    import instructor

    client = instructor.from_openai(
        openai.OpenAI(base_url=url, api_key="none"), mode=instructor.Mode.MD_JSON
    )
    found = client.chat.completions.create(model="m", messages=TURNS, response_model=Sum)
    return f"Answer: {found.value}"


def agent(url: str) -> str:
    """Pydantic AI."""
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider

    provider = OpenAIProvider(base_url=url, api_key="none")
    return Agent(OpenAIChatModel("m", provider=provider)).run_sync(QUESTION).output


#: By the name of the package, and what tells two ways to use it apart.
CLIENTS = {
    "openai": plain,
    "openai raw": raw,
    "langchain-openai": langchain,
    "litellm": lite,
    "instructor": structured,
    "pydantic-ai-slim": agent,
}

if __name__ == "__main__":
    for name, ask in CLIENTS.items():
        version = importlib.metadata.version(name.split()[0])
        print(f"{name} {version}: {ask(sys.argv[1]).splitlines()[0]}", flush=True)
