"""What the quickstarts of LangChain and LiteLLM show, with the base URL of `adalib serve` and nothing else changed.

Run it where both are installed, from the repository: python benchmarks/try_clients.py. No test needs them.
"""

from __future__ import annotations

import contextlib
import importlib.metadata
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests")]
os.environ |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LANGSMITH_TRACING": "false"}  # nothing leaves this machine

try:
    import litellm
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    from pydantic import BaseModel, Field
except ImportError as error:
    sys.exit(f"this needs {error.name}: pip install langchain-openai litellm, in an environment with adalib[serve]")

from fault_server import FaultServer  # noqa: E402

from adalib import Router, load  # noqa: E402

ASK = [{"role": "user", "content": "What is 3 + 4?"}]
TOOL = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}}, "required": ["a", "b"]}
JOKE = '{"setup": "Why was the cat on the computer?", "punchline": "To watch the mouse."}'


class Joke(BaseModel):
    """Joke to tell user."""

    setup: str = Field(description="The setup of the joke")
    punchline: str = Field(description="The punchline to the joke")


class add(BaseModel):  # noqa: N801 (the name of the tool)
    """Add two integers."""

    a: int = Field(description="First integer")
    b: int = Field(description="Second integer")


@contextlib.contextmanager
def served(upstream: FaultServer) -> Iterator[str]:
    with tempfile.TemporaryDirectory() as folder:
        Router.fit(load("word-fewshot").take(range(0, 372, 12)), budget=3, signals=("votes",)).save(folder)
        words = ["serve", folder, "--upstream", upstream.url, "--model", "gpt-4o-mini", "--port", "0"]
        words += ["--price-in", "100", "--price-out", "1000"]  # dollars per million tokens: an answer costs $0.011
        process = subprocess.Popen(
            [sys.executable, "-m", "adalib", *words], stdout=subprocess.PIPE, text=True, cwd=ROOT
        )
        try:
            yield process.stdout.readline().split(" listens at ")[1].split(",")[0]
        finally:
            process.terminate()
            process.communicate()


def langchain(url: str, upstream: FaultServer) -> Iterator[str]:
    model = ChatOpenAI(model="gpt-4o-mini", base_url=url, api_key="none")
    told = model.invoke([("system", "You are a helpful assistant."), ("human", "What is 3 + 4?")])
    assert told.content == upstream.text
    assert told.usage_metadata["output_tokens"] == 9 * len(upstream.seen)
    yield f"invoke: a vote of {len(upstream.seen)}"
    assert "".join(chunk.text for chunk in model.stream("What is 3 + 4?")) == upstream.text
    yield "stream"
    calls = model.bind_tools([add]).invoke("What is 3 + 4?").tool_calls
    assert [(call["name"], call["args"]) for call in calls] == [("add", {"a": 3, "b": 4})]
    yield "bind_tools"
    upstream.text, before = JOKE, upstream.text
    for method in ("json_schema", "json_mode"):
        assert model.with_structured_output(Joke, method=method).invoke("Tell me a joke, as JSON").setup[:3] == "Why"
    upstream.text = before
    yield "with_structured_output"
    assert model.batch(["What is 3 + 4?", "What is 4 + 3?"])[1].content == upstream.text
    yield "batch"
    embed = OpenAIEmbeddings(
        model="text-embedding-3-small", base_url=url, api_key="none", check_embedding_ctx_length=False
    )
    assert embed.embed_query("Paris") == [1.0, 0.0, 0.0]
    yield "embed_query"
    responses = ChatOpenAI(model="gpt-4o-mini", base_url=url, api_key="none", use_responses_api=True)
    assert responses.invoke("What is 3 + 4?").text == upstream.text
    yield "use_responses_api"


def lite(url: str, upstream: FaultServer) -> Iterator[str]:
    how = {"model": "openai/gpt-4o-mini", "api_base": url, "api_key": "none", "messages": ASK}
    told = litellm.completion(**how)
    assert told.choices[0].message.content == upstream.text
    assert abs(told._hidden_params["response_cost"] - 0.011 * len(upstream.seen)) < 1e-9
    yield f"completion: {told.usage.total_tokens} tokens, booked as billed"
    parts = [part.choices[0].delta.content or "" for part in litellm.completion(**how, stream=True)]
    assert "".join(parts) == upstream.text
    yield "stream"
    tool = {"type": "function", "function": {"name": "add", "description": "Add two integers", "parameters": TOOL}}
    calls = litellm.completion(**how, tools=[tool], tool_choice="auto").choices[0].message.tool_calls
    assert calls[0].function.name == "add"
    yield "tools"
    upstream.text, before = JOKE, upstream.text
    told = litellm.completion(**how, response_format=Joke)
    assert Joke.model_validate_json(told.choices[0].message.content).punchline
    upstream.text = before
    yield "response_format"
    where = {"api_base": url, "api_key": "none"}
    told = litellm.embedding(model="openai/text-embedding-3-small", input=["Paris"], **where)
    assert told.data[0]["embedding"] == [1.0, 0.0, 0.0]
    yield "embedding"
    told = litellm.responses(model="openai/gpt-4o-mini", input="What is 3 + 4?", **where)
    assert told.output[0].content[0].text == upstream.text
    yield "responses"


if __name__ == "__main__":
    with FaultServer() as upstream, served(upstream) as url:
        for package, tried in (("langchain-openai", langchain), ("litellm", lite)):
            upstream.seen.clear()
            print(package, importlib.metadata.version(package))
            for done in tried(url, upstream):
                print(f"  {done}")
