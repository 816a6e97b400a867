"""Run common clients with the base URL of `adalib serve`, else unchanged.

Run it from the repository, in an environment with openai, langchain-openai and instructor; ADALIB
names the Python that has adalib-book[serve], if that is another one. No test needs these clients.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import instructor
import openai
from langchain_openai import ChatOpenAI
from pydantic import BaseModel

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "helpers"))
os.environ["LANGSMITH_TRACING"] = "false"  # nothing leaves this machine
from upstream import Upstream, listening  # noqa: E402

PYTHON = os.environ.get("ADALIB", sys.executable)
TURN = {"role": "user", "content": "What is 3 + 4?"}
FIT = "fit word-fewshot --budget 3 --out {folder}"
SERVE = "serve {folder} --upstream {url} --model m --port 0"


class Joke(BaseModel):
    """A joke to tell."""

    setup: str
    punchline: str


@contextmanager
def served(url: str) -> Iterator[str]:
    """Fit a router, and serve it in a process of its own; yields the base URL."""
    with tempfile.TemporaryDirectory() as folder:
        adalib = [PYTHON, "-m", "adalib"]
        subprocess.run([*adalib, *FIT.format(folder=folder).split()], check=True, cwd=ROOT)
        words = SERVE.format(folder=folder, url=url).split()
        process = subprocess.Popen([*adalib, *words], stderr=subprocess.PIPE, text=True, cwd=ROOT)
        try:
            yield process.stderr.readline().split(" at ")[1].split(",")[0]
        finally:
            process.terminate()
            process.communicate()


def plain(base: str, upstream: Upstream) -> str:
    """The `openai` package: a vote, a stream and a tool."""
    client = openai.OpenAI(base_url=base, api_key="none")
    reply = client.chat.completions.create(model="m", messages=[TURN])
    assert reply.usage.completion_tokens == 5 * len(upstream.seen)
    votes = len(upstream.seen)
    stream = client.chat.completions.create(model="m", messages=[TURN], stream=True)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in stream)
    assert text == reply.choices[0].message.content == upstream.texts[0]
    return f"a vote of {votes}, a stream"


def langchain(base: str, upstream: Upstream) -> str:
    """LangChain: invoke, stream and bind_tools."""
    model = ChatOpenAI(model="m", base_url=base, api_key="none", temperature=0.7)
    reply = model.invoke([("system", "You are a helpful assistant."), ("human", TURN["content"])])
    assert reply.content == upstream.texts[0]
    assert reply.usage_metadata["output_tokens"] == 5 * len(upstream.seen)
    assert "".join(chunk.text for chunk in model.stream("What is 3 + 4?")) == upstream.texts[0]
    tool = {"name": "add", "description": "Add.", "parameters": {"type": "object"}}
    calls = model.bind_tools([tool]).invoke("What is 3 + 4?").tool_calls
    assert calls[0]["args"] == {"a": 3, "b": 4}
    return "invoke, stream, bind_tools"


def structured(base: str, upstream: Upstream) -> str:
    """Instructor: a response model, which is passed on."""
    client = instructor.from_openai(
        openai.OpenAI(base_url=base, api_key="none"), mode=instructor.Mode.JSON
    )
    before = upstream.texts
    upstream.texts = ('{"setup": "Why?", "punchline": "Because."}',)
    ask = [{"role": "user", "content": "Tell me a joke"}]
    joke = client.chat.completions.create(model="m", response_model=Joke, messages=ask)
    assert joke.setup == "Why?"
    upstream.texts = before
    return "response_model"


def curl(base: str, upstream: Upstream) -> str:
    """Curl: a vote, and a body that is no JSON."""
    words = ["curl", "-s", f"{base}/chat/completions", "-H", "Content-Type: application/json"]
    body = json.dumps({"model": "m", "messages": [TURN]})
    reply = json.loads(subprocess.check_output([*words, "-d", body]))
    assert reply["adalib"]["answer"] == "7"
    broken = subprocess.check_output([*words, "-w", "%{http_code}", "-d", "{"], text=True)
    assert broken.endswith("500")  # what the endpoint itself says to it
    return f"a vote of {reply['adalib']['answers']}, a broken body"


TRIALS = {"openai": plain, "langchain-openai": langchain, "instructor": structured, "curl": curl}

if __name__ == "__main__":
    upstream = Upstream()
    with listening(upstream.app()) as url, served(url) as base:
        for name, trial in TRIALS.items():
            upstream.seen.clear()
            version = "" if name == "curl" else importlib.metadata.version(name)
            print(f"{name} {version}: {trial(base, upstream)}")
