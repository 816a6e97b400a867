"""The built book: every page is there, with its headings and its figures, and asks nothing of the
network."""

from __future__ import annotations

import functools
import json
import posixpath
import re
from copy import copy
from pathlib import Path
from urllib.parse import unquote

import make_cards
import nbformat
import pytest
from conftest import HTML, ROOT, prose, soup, toc_pages
from jupyter_cache import get_cache

from adalib.datasets.loading import bundled
from contents import chapters, pages
from press.cross_references import initials

LOADING = {"link": "href"} | dict.fromkeys(
    ("script", "img", "iframe", "source", "video", "audio"), "src"
)
CHAPTERS = [page for page in toc_pages() if page.startswith("notebooks/")]


def source(page: str) -> Path:
    """The file that a page is made from."""
    return next(path for suffix in (".md", ".ipynb") if (path := ROOT / f"{page}{suffix}").exists())


@pytest.mark.parametrize("page", toc_pages())
def test_the_head_of_a_page(html, page):
    ids = [tag["id"] for tag in soup(page).find_all(id=True)]
    assert sorted(set(ids)) == sorted(ids)
    assert len(soup(page).find_all("h1")) == 1
    assert (
        len(
            soup(page).select(
                "meta[name=description][content], meta[property='og:title'], link[rel=icon], "
                "link[rel=apple-touch-icon]"
            )
        )
        == 4
    )
    assert not soup(page).select(".cell > details.adalib-code.above-input + .cell_output")


@pytest.mark.parametrize("page", toc_pages())
def test_no_script_keeps_a_page_waiting(html, page):
    scripts = [tag for tag in soup(page).find_all("script", src=True) if not tag.has_attr("defer")]
    assert [tag["src"].split("?")[0].split("/")[-1] for tag in scripts] == [
        "documentation_options.js"
    ]


@functools.cache
def places(page: str) -> set[str]:
    """What a link may name on a page; nothing on what is no page."""
    return (
        {tag["id"] for tag in soup(page).find_all(id=True)}
        if (HTML / f"{page}.html").exists()
        else set()
    )


@pytest.mark.parametrize("page", CHAPTERS)
def test_figures_and_games_have_words_without_scripts(html, page):
    assert all(figure.figcaption.get_text() for figure in soup(page).select(".adalib-figure"))
    assert all(re.search(r"\d", game.p.get_text()) for game in soup(page).select(".adalib-game"))


def test_the_stops_of_the_20_minute_path_lead_to_each_other(html):
    (path,) = soup("book/intro").select("section:has(> #twenty-minutes) > ol")
    stops = [link["href"].removeprefix("../notebooks/") for link in path.select("li a:has(strong)")]
    assert stops
    following = [*stops[1:], "../book/intro.html#from-here"]
    for number, (stop, after) in enumerate(zip(stops, following, strict=True), start=1):
        name, label = stop.split(".html#")
        place = soup(f"notebooks/{name}").find(id=label)
        marks = place.find_parent("section").select(":scope > p > em:only-child:has(a)")
        assert marks[0].get_text().startswith(f"Stop {number} of {len(stops)} ")
        assert marks[-1].a["href"] == after


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.key)
def test_a_chapter_says_whether_its_cells_run_in_the_page(html, page):
    line = soup(page.name).select_one(".adalib-runs").get_text()
    assert ("in this page" in line, "XGBoost" in line) == (page.runs_live, not page.runs_live)


@pytest.mark.parametrize("page", CHAPTERS)
def test_every_plotly_figure_came_through_show(html, page):
    """A bare plotly figure is drawn by JupyterLab but not by a page, and Jupyter Book drops it
    without a word."""
    # The outputs of the last build; the pages' copies have none.
    cache = get_cache(html.parent / ".jupyter_cache")
    _, executed = cache.merge_match_into_notebook(nbformat.read(source(page), as_version=4))
    outputs = [
        (cell.source, output.get("data", {}))
        for cell in executed.cells
        for output in cell.get("outputs", [])
    ]
    assert outputs
    for code, data in outputs:
        if "application/vnd.plotly.v1+json" in data:
            assert "adalib-figure" in data.get("text/html", ""), code


@pytest.mark.parametrize("page", chapters(), ids=lambda page: page.key)
def test_chapters_lead_to_each_other(html, page):
    head = f"Appendix {page.number}. " if page.is_appendix else f"{page.number}. "
    assert soup(page.name).find("h1").get_text().startswith(head)
    article = copy(soup(page.name).find("article"))
    for hidden in article.select(
        "pre, a, h1, h2, h3, script, .cell_output, code, figcaption, title"
    ):
        hidden.decompose()
    unlinked = re.findall(r"\b(?:[Cc]hapter|[Aa]ppendix)\s+(\d+|[A-Z])\b", article.get_text())
    assert set(unlinked) <= {page.number}


def test_every_data_card_is_on_its_page(html):
    """A setting that came or went is a line of ``book/data-cards.md``."""
    included = re.findall(
        r"\{include\} \.\./data/cards/(.+)\.md",
        (ROOT / "book" / "data-cards.md").read_text("utf-8"),
    )
    # The last is a measurement.
    assert sorted(included) == sorted([*bundled(), *make_cards.CHECKED, "machine"])


def test_links_inside_the_book_lead_somewhere(html):
    broken = []
    for page in toc_pages():
        for tag in soup(page).find_all(href=True) + soup(page).find_all(src=True):
            link, _, anchor = (tag.get("href") or tag.get("src")).partition("#")
            file = (
                posixpath.normpath(f"{posixpath.dirname(page)}/{link.split('?')[0]}")
                if link
                else f"{page}.html"
            )
            if re.match(r"[a-z]+:", link):
                continue
            # An address with "=" holds what the explorer shows, and is no place on a page.
            named = {unquote(anchor)} if anchor and "=" not in anchor else set()
            if not (html / file).exists() or not named <= places(file.removesuffix(".html")):
                broken.append(f"{page}: {link}#{anchor}")
    assert broken == []
    assert soup("notebooks/13_verdict").select("a.adalib-see")  # tables link, too


def test_nothing_is_loaded_from_the_network(html):
    outside = []
    for path in html.rglob("*.html"):
        page = path.relative_to(html).with_suffix("").as_posix()
        for tag in soup(page).find_all(list(LOADING)):
            if re.match(r"(https?:)?//", tag.get(LOADING[tag.name]) or ""):
                outside.append(f"{page}: {tag}"[:200])
    for path in html.rglob("*.css"):
        for url in re.findall(
            r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^\"')]+", path.read_text(encoding="utf-8")
        ):
            outside.append(f"{path.relative_to(html)}: {url}")
    assert outside == []


def test_site_is_at_most_60_megabytes(html):
    # The folder _live is what `make live` adds.
    files = (file for file in html.rglob("*") if file.is_file() and "_live" not in file.parts)
    assert sum(file.stat().st_size for file in files) <= 60e6


def test_no_source_map_is_shipped(html):
    assert list(html.rglob("*.map")) == []


def test_every_notebook_is_in_the_table_of_contents():
    there = {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")}
    assert there - set(toc_pages()) == {"notebooks/answer_key"}  # which the instructor's folder has
    assert toc_pages()[0] == "book/intro"


def test_no_two_captions_of_the_book_share_a_number(html):
    numbers = [
        number["id"] for name in toc_pages() for number in soup(name).select(".adalib-number")
    ]
    assert sorted(set(numbers)) == sorted(numbers)


def test_theorems_are_numbered_within_their_chapter(html):
    """A title without its kind, " (Weak duality)" or " (read)", would tell nobody what stands below
    it."""
    for entry in pages():
        page = soup(entry.name)
        titles = [title.get_text() for title in page.select(".exercise > .admonition-title")]
        front = f"{entry.number or initials(entry.name)}."
        assert [re.match(r"Exercise \S+", title)[0] for title in titles] == [
            f"Exercise {front}{number}" for number in range(1, len(titles) + 1)
        ], entry.name
        stated = [
            title.get_text().split()[:2]
            for title in page.select(".proof:not(.remark) > .admonition-title")
        ]
        assert {kind for kind, _ in stated} <= {
            "Theorem",
            "Proposition",
            "Lemma",
            "Corollary",
            "Definition",
        }, entry.name
        assert [number for _, number in stated] == [
            f"{front}{i}" for i in range(1, len(stated) + 1)
        ], entry.name


@pytest.mark.parametrize("page", CHAPTERS)
def test_where_a_page_first_uses_a_word_it_leads_to_the_glossary(html, page):
    links = soup(page).select("a.adalib-term")
    words = [re.sub(r"\s+", " ", link.get_text().lower()) for link in links]
    assert len(words) == len(set(words)), "a word is linked once a page"
    for link in links:
        assert link["title"]
        assert link["href"].split("#")[1] in places("book/glossary")
        assert link.find_parent(class_="quiz") is None
        assert link.find_parent(["h1", "h2", "h3", "code", "pre"]) is None


@pytest.mark.parametrize("page", CHAPTERS)
def test_a_gain_on_the_page_is_the_gain_that_was_computed(page, html):
    """In one format on every page, of which test_editions.py has the rule."""
    built = (html / f"{page}.html").read_text(encoding="utf-8")
    assert "{points}" not in built
    kept = html.parent / "jupyter_execute" / f"{page}.glue.json"
    values = json.loads(kept.read_text(encoding="utf-8")) if kept.exists() else {}
    for name, digits in re.findall(
        r"\{points\}`(\w+)(?::(\d))?`", prose(page.removeprefix("notebooks/"))
    ):
        expected = f"{100 * float(values[name]['data']['text/plain']):+z.{digits or 1}f}".replace(
            "-", "\N{MINUS SIGN}"
        )
        assert f'<span class="pasted-text">{expected}</span>' in built


def test_the_page_for_what_is_not_there_counts_its_links_from_the_books_address(html):
    page = soup("404")
    assert "Page not found" in page.find("h1").get_text()
    links = [link["href"] for link in page.select("nav a.reference.internal[href]")]
    assert f"/{toc_pages()[1]}.html" in links
    assert all(link.startswith(("/", "#")) for link in links)
