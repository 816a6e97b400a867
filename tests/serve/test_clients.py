"""What common clients send is voted on: as it was recorded, with usual fields, and themselves.

In `clients.json`, requests with headers were recorded; the others have the fields that users set,
as the manuals have them in late 2026. `make clients` installs some of the clients.
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
CLIENTS = json.loads((HERE / "clients.json").read_text(encoding="utf-8"))
INSTALLED = ROOT / "_build" / "clients"
# Instructor finds its JSON in the same text, and another client the answer.
TEXT = 'Answer: 7\n\n```json\n{"value": 7}\n```'


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


@pytest.mark.parametrize("client", CLIENTS, ids=lambda client: client["client"])
def test_the_request_of_a_client_is_voted_on(pair, client):
    upstream, base = pair
    body, headers = client["body"], client.get("headers", {})
    url = f"{base}/{client['path']}"
    reply = httpx.post(url, json=body, headers=headers, timeout=20).json()
    assert reply["adalib"]["answers"] == len(upstream.seen) >= 2
    assert TEXT in json.dumps(reply).encode().decode("unicode_escape")
    along = [name for name in body if name not in ("n", "stream", "seed")]
    for sent in upstream.seen:
        assert [sent[name] for name in along] == [body[name] for name in along]
    for name in {"authorization", "user-agent"} & set(headers):
        assert upstream.headers[-1][name] == headers[name]
    figures = httpx.get(base.removesuffix("/v1") + "/health", timeout=20).json()
    assert (figures["voted"], figures["passed_on"], figures["failed"]) == (1, 0, {})


@pytest.mark.nightly
def test_the_clients_themselves_are_voted_on(pair):
    _, base = pair
    lines = clients(base)
    assert len(lines) == sum("headers" in client for client in CLIENTS)
    assert all(line.endswith(": Answer: 7") for line in lines)
    figures = httpx.get(base.removesuffix("/v1") + "/health", timeout=20).json()
    assert (figures["voted"], figures["passed_on"], figures["failed"]) == (len(lines), 0, {})
