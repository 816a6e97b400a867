"""What common clients send is voted on: their requests as they were recorded, and the clients.

`python tests/serve/test_clients.py` records the requests again, after `make clients`.
"""

import json
import os
import subprocess
import sys
from pathlib import Path

import httpx
import pytest
from upstream import Upstream, listening

from adalib import PricedStopping, Router, load
from adalib.serve.server import Server

HERE = Path(__file__).parent
ROOT = HERE.parents[1]
RECORDED = HERE / "clients.json"
INSTALLED = ROOT / "_build" / "clients"
# Instructor finds its JSON in the same text, and another client the answer.
TEXT = 'Answer: 7\n\n```json\n{"value": 7}\n```'
NOT_SENT = ("host", "content-length", "connection")  # which belong to one connection


@pytest.fixture(scope="module")
def policy():
    answers = load("word-fewshot").take(range(0, 372, 6))
    return PricedStopping(("votes",), repeats=2).fit(answers)


@pytest.fixture
def pair(policy):
    """An upstream, and the base URL of the server in front of it."""
    upstream = Upstream((TEXT,))
    with (
        listening(upstream.app()) as url,
        listening(Server(Router(policy, None, 6), url, "m").app()) as base,
    ):
        yield upstream, base


def clients(url):
    """Run all clients; return their lines."""
    own = {"PYTHONPATH": str(INSTALLED)}
    # Two of them would ask for news from elsewhere.
    own |= {"LITELLM_LOCAL_MODEL_COST_MAP": "True", "LANGSMITH_TRACING": "false"}
    command = [sys.executable, str(ROOT / "tests" / "helpers" / "real_clients.py"), url]
    done = subprocess.run(command, capture_output=True, text=True, env=os.environ | own)
    assert done.returncode == 0, f"{done.stderr[-2000:]}; run make clients, if they are missing"
    return done.stdout.splitlines()


@pytest.mark.parametrize("client", json.loads(RECORDED.read_text(encoding="utf-8")))
def test_the_request_of_a_client_is_voted_on(pair, client):
    upstream, base = pair
    reply = httpx.post(
        f"{base}/chat/completions", json=client["body"], headers=client["headers"], timeout=20
    ).json()
    assert reply["adalib"]["answers"] == len(upstream.seen) >= 2
    assert reply["choices"][0]["message"]["content"] == TEXT
    for name in ("authorization", "user-agent"):
        assert upstream.headers[-1][name] == client["headers"][name]
    figures = httpx.get(base.removesuffix("/v1") + "/health", timeout=20).json()
    assert (figures["voted"], figures["passed_on"], figures["failed"]) == (1, 0, {})


@pytest.mark.nightly
def test_the_clients_themselves_are_voted_on(pair):
    _, base = pair
    lines = clients(base)
    assert len(lines) == len(json.loads(RECORDED.read_text(encoding="utf-8")))
    assert all(line.endswith(": Answer: 7") for line in lines)
    figures = httpx.get(base.removesuffix("/v1") + "/health", timeout=20).json()
    assert (figures["voted"], figures["passed_on"], figures["failed"]) == (len(lines), 0, {})


def record():
    """Write what the clients send to an endpoint."""
    upstream = Upstream((TEXT,))
    with listening(upstream.app()) as url:
        names = [line.split(":")[0] for line in clients(url)]
    sent = [
        {
            "client": name,
            "headers": {key: value for key, value in headers.items() if key not in NOT_SENT},
            "body": body,
        }
        for name, headers, body in zip(names, upstream.headers, upstream.seen, strict=True)
    ]
    RECORDED.write_text(json.dumps(sent, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    record()
