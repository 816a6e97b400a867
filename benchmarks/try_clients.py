"""Run the quickstarts of common clients with the base URL of `adalib serve`, else unchanged.

Run it from the repository, in an environment with adalib[learn,serve] and the clients:
langchain-openai, litellm, instructor and pydantic-ai-slim[openai]. Node's openai package is tried
where NODE_PATH has it. No test needs them."""

from __future__ import annotations

import asyncio
import contextlib
import importlib.metadata
import json
import os
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path[:0] = [str(ROOT), str(ROOT / "tests" / "helpers")]
os.environ |= {
    "LITELLM_LOCAL_MODEL_COST_MAP": "True",
    "LANGSMITH_TRACING": "false",
}  # nothing leaves this machine

try:
    import instructor
    import litellm
    import openai
    from langchain_openai import ChatOpenAI, OpenAIEmbeddings
    from pydantic import BaseModel, Field
    from pydantic_ai import Agent
    from pydantic_ai.models.openai import OpenAIChatModel
    from pydantic_ai.providers.openai import OpenAIProvider
except ImportError as error:
    sys.exit(
        f"this needs {error.name}: pip install langchain-openai litellm instructor "
        "'pydantic-ai-slim[openai]'"
    )

from fault_server import FaultServer  # noqa: E402

from adalib import Router, load  # noqa: E402

# LiteLLM pins an older openai than the server takes, so the server may run in an environment of
# its own.
SERVER = os.environ.get("ADALIB_PYTHON", sys.executable)
ASK = [{"role": "user", "content": "What is 3 + 4?"}]
TOOL = {
    "type": "object",
    "properties": {"a": {"type": "integer"}, "b": {"type": "integer"}},
    "required": ["a", "b"],
}
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
        Router.fit(load("word-fewshot").take(range(0, 372, 12)), budget=3, signals=("votes",)).save(
            folder
        )
        words = [
            "serve",
            folder,
            "--upstream",
            upstream.url,
            "--model",
            "gpt-4o-mini",
            "--port",
            "0",
        ]
        words += [
            "--price-in",
            "100",
            "--price-out",
            "1000",
        ]  # dollars per million tokens: an answer costs $0.011
        process = subprocess.Popen(
            [SERVER, "-m", "adalib", *words], stdout=subprocess.PIPE, text=True, cwd=ROOT
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
        assert (
            model.with_structured_output(Joke, method=method)
            .invoke("Tell me a joke, as JSON")
            .setup[:3]
            == "Why"
        )
    upstream.text = before
    yield "with_structured_output"
    assert model.batch(["What is 3 + 4?", "What is 4 + 3?"])[1].content == upstream.text
    yield "batch"
    embed = OpenAIEmbeddings(
        model="text-embedding-3-small",
        base_url=url,
        api_key="none",
        check_embedding_ctx_length=False,
    )
    assert embed.embed_query("Paris") == [1.0, 0.0, 0.0]
    yield "embed_query"


def lite(url: str, upstream: FaultServer) -> Iterator[str]:
    how = {"model": "openai/gpt-4o-mini", "api_base": url, "api_key": "none", "messages": ASK}
    told = litellm.completion(**how)
    assert told.choices[0].message.content == upstream.text
    assert abs(told._hidden_params["response_cost"] - 0.011 * len(upstream.seen)) < 1e-9
    yield f"completion: {told.usage.total_tokens} tokens, booked as billed"
    parts = [part.choices[0].delta.content or "" for part in litellm.completion(**how, stream=True)]
    assert "".join(parts) == upstream.text
    yield "stream"
    tool = {
        "type": "function",
        "function": {"name": "add", "description": "Add two integers", "parameters": TOOL},
    }
    calls = (
        litellm.completion(**how, tools=[tool], tool_choice="auto").choices[0].message.tool_calls
    )
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


def plain_openai(url: str, upstream: FaultServer) -> Iterator[str]:
    client = openai.OpenAI(base_url=url, api_key="none")
    reply = client.chat.completions.create(model="gpt-4o-mini", messages=ASK)
    assert reply.choices[0].message.content == upstream.text
    assert reply.usage.completion_tokens == 9 * len(upstream.seen)
    yield f"create: a vote of {len(upstream.seen)}"
    parts = client.chat.completions.create(
        model="gpt-4o-mini", messages=ASK, stream=True, stream_options={"include_usage": True}
    )
    chunks = list(parts)
    text = "".join(chunk.choices[0].delta.content or "" for chunk in chunks if chunk.choices)
    assert text == upstream.text
    assert chunks[-1].usage.completion_tokens > 0
    yield "stream with usage"
    raw = client.chat.completions.with_raw_response.create(model="gpt-4o-mini", messages=ASK)
    assert int(raw.headers["x-adalib-samples"]) >= 1
    yield "with_raw_response"
    assert "gpt-4o-mini" in [model.id for model in client.models.list()]
    yield "models.list"

    async def several() -> list[str]:
        asynchronous = openai.AsyncOpenAI(base_url=url, api_key="none")
        calls = [
            asynchronous.chat.completions.create(model="gpt-4o-mini", messages=ASK)
            for _ in range(8)
        ]
        return [reply.choices[0].message.content for reply in await asyncio.gather(*calls)]

    assert set(asyncio.run(several())) == {upstream.text}
    yield "eight at once, async"


def structured(url: str, upstream: FaultServer) -> Iterator[str]:
    client = instructor.from_openai(
        openai.OpenAI(base_url=url, api_key="none"), mode=instructor.Mode.JSON
    )
    upstream.text, before = JOKE, upstream.text
    joke = client.chat.completions.create(
        model="gpt-4o-mini",
        response_model=Joke,
        messages=[{"role": "user", "content": "Tell me a joke"}],
    )
    assert joke.setup[:3] == "Why"
    upstream.text = before
    yield "response_model"


def agents(url: str, upstream: FaultServer) -> Iterator[str]:
    provider = OpenAIProvider(base_url=url, api_key="none")
    agent = Agent(OpenAIChatModel("gpt-4o-mini", provider=provider))
    assert agent.run_sync("What is 3 + 4?").output == upstream.text
    yield "run_sync"


_NODE = """
const OpenAI = require("openai").default || require("openai");
const client = new OpenAI({ baseURL: process.argv[1], apiKey: "none" });
const body = { model: "gpt-4o-mini", messages: [{ role: "user", content: "What is 3 + 4?" }] };
(async () => {
  const reply = await client.chat.completions.create(body);
  let text = "";
  for await (const part of await client.chat.completions.create({ ...body, stream: true }))
    text += part.choices[0]?.delta?.content || "";
  console.log(JSON.stringify([reply.choices[0].message.content, text, reply.adalib.samples]));
})();
"""


def node(url: str, upstream: FaultServer) -> Iterator[str]:
    if not shutil.which("node") or not os.environ.get("NODE_PATH"):
        yield "left out: set NODE_PATH to the folder that has openai"
        return
    done = subprocess.run(
        ["node", "-e", _NODE, url], capture_output=True, text=True, check=True, timeout=60
    )
    reply, streamed, samples = json.loads(done.stdout)
    assert reply == streamed == upstream.text
    yield f"create and stream: a vote of {samples}"


def curl(url: str, upstream: FaultServer) -> Iterator[str]:
    body = json.dumps({"model": "gpt-4o-mini", "messages": ASK})
    words = ["curl", "-s", f"{url}/chat/completions", "-H", "Content-Type: application/json"]
    done = subprocess.run([*words, "-d", body], capture_output=True, text=True, check=True)
    assert json.loads(done.stdout)["adalib"]["answer"] == "7"
    yield "chat/completions"
    done = subprocess.run([*words, "-d", "{"], capture_output=True, text=True, check=True)
    assert "error" in json.loads(done.stdout)
    yield "a broken body is an error in JSON"


TRIALS = {
    "openai": plain_openai,
    "langchain-openai": langchain,
    "litellm": lite,
    "instructor": structured,
    "pydantic-ai-slim": agents,
    "node": node,
    "curl": curl,
}

if __name__ == "__main__":
    with FaultServer() as upstream, served(upstream) as url:
        failed = False
        for name, trial in TRIALS.items():
            upstream.seen.clear()
            print(name, "" if name in ("node", "curl") else importlib.metadata.version(name))
            try:
                for done in trial(url, upstream):
                    print(f"  {done}")
            except Exception as error:  # the next client is tried all the same
                failed = True
                print(f"  failed: {type(error).__name__}: {str(error)[:300]}")
        sys.exit(failed)
