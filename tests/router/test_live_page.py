"""The live page in a real browser, while fifty requests a second pass through."""

import asyncio
import threading

import httpx
from axe_playwright_python.sync_playwright import Axe
from fault_server import FaultServer
from test_server import ASK, folder, serving  # noqa: F401 - folder is a fixture

SECONDS, RATE = 3, 50
PATIENCE = 300_000  # milliseconds: a loaded machine is slow, not wrong


def storm(url, done):
    """Fifty requests a second, each begun on time whatever became of the others."""

    async def one(client, statuses):
        statuses.append((await client.post("/v1/chat/completions", json=ASK)).status_code)

    async def run():
        statuses = []
        limits = httpx.Limits(max_connections=200)
        how = {"timeout": PATIENCE / 1000, "trust_env": False, "limits": limits}
        async with httpx.AsyncClient(base_url=url, **how) as client, asyncio.TaskGroup() as group:
            for _ in range(SECONDS * RATE):
                group.create_task(one(client, statuses))
                await asyncio.sleep(1 / RATE)
        done.append(statuses)

    asyncio.run(run())


def test_it_follows_fifty_requests_a_second(folder, browser):  # noqa: F811
    with FaultServer(latency=0.02) as upstream, serving(folder, upstream, limit=500, patience=300) as running:
        outside, errors, pages = [], [], []
        for scheme in ("light", "dark"):
            page = browser.new_page(viewport={"width": 390, "height": 900}, color_scheme=scheme)
            page.on("request", lambda request: request.url.startswith(running.url) or outside.append(request.url))
            page.on("pageerror", lambda error: errors.append(str(error)))
            page.goto(running.url)
            pages.append(page)
        done: list = []
        thread = threading.Thread(target=storm, args=(running.url, done))
        thread.start()
        for page in pages:
            page.wait_for_function("document.querySelectorAll('#charts svg').length === 4", timeout=PATIENCE)
        first = int(page.locator("#tiles .card").first.locator("b").inner_text())
        page.wait_for_function(f"+document.querySelector('#tiles b').textContent > {first}", timeout=PATIENCE)
        thread.join()
        assert done[0] == [200] * (SECONDS * RATE)
        for page in pages:
            page.wait_for_function(
                f"+document.querySelector('#tiles b').textContent === {SECONDS * RATE}", timeout=PATIENCE
            )
            assert page.locator("#charts svg").first.get_attribute("aria-label").startswith("Running average")
            assert page.evaluate("document.documentElement.scrollWidth <= innerWidth")
            assert Axe().run(page).response["violations"] == []
            page.close()
        assert (outside, errors) == ([], [])


def test_a_token_is_asked_for_and_then_it_shows(folder, browser):  # noqa: F811
    with FaultServer() as upstream, serving(folder, upstream, token="s3cret-t0ken") as running:
        assert running.post().status_code == 200
        page = browser.new_page()
        page.goto(running.url)
        page.locator("#token").fill("s3cret-t0ken")
        page.get_by_role("button", name="show").click()
        page.wait_for_function("document.querySelectorAll('#charts svg').length === 4", timeout=PATIENCE)
        assert page.locator("#ask").is_hidden()
        page.close()
