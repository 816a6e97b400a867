"""The built book: every page is there, with its headings and its figures, and asks nothing of the network."""

from __future__ import annotations

import ast
import json
import posixpath
import re
from copy import copy
from pathlib import Path

import nbformat
import pytest
from conftest import HTML, ROOT, soup, toc_pages
from jupyter_cache import get_cache

LOADING = {
    "script": "src",
    "link": "href",
    "img": "src",
    "iframe": "src",
    "source": "src",
    "video": "src",
    "audio": "src",
}


def source(page: str) -> Path:
    """The file that a page is made from."""
    return next(path for suffix in (".md", ".ipynb") if (path := ROOT / f"{page}{suffix}").exists())


def cells(page: str, kind: str, executed: bool = False) -> list[str]:
    """The cells of a page: a prose page is one cell of Markdown. Cells whose output is removed are left out.

    ``executed`` leaves out, too, what runs only in JupyterLab.
    """
    path = source(page)
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".md":
        return [text] if kind == "markdown" else []
    notebook = json.loads(text)["cells"]
    removed = {"remove-cell", "remove-output", "remove_cell", "remove_output"} | (
        {"skip-execution"} if executed else set()
    )
    kept = [c for c in notebook if not removed & set(c["metadata"].get("tags", []))]
    return ["".join(c["source"]) for c in kept if c["cell_type"] == kind]


def headings(markdown: str) -> list[str]:
    """The first- and second-level headings of a Markdown text."""
    no_code = re.sub(r"^(`{3,}|~{3,}).*?^\1", "", markdown, flags=re.M | re.S)
    return re.findall(r"^##? +(.+?)\s*#*$", no_code, flags=re.M)


def words(text: str) -> str:
    """What two spellings of a heading have in common: its letters and digits, without formulas and role names."""
    text = re.sub(r"\$[^$]*\$|\\\(.*?\\\)|\{[\w:-]+\}(?=`)|\]\([^)]*\)|<[^>]*>", "", text)
    return re.sub(r"\W+", "", text).lower()


def figures_shown(code: str) -> int:
    """How many figures a cell shows, at least."""
    plain = "\n".join("pass" if re.match(r"\s*[%!]", line) else line for line in code.split("\n"))
    calls = [node.func for node in ast.walk(ast.parse(plain)) if isinstance(node, ast.Call)]
    return sum(getattr(func, "attr", getattr(func, "id", "")) == "show" for func in calls)


@pytest.mark.parametrize("page", toc_pages())
def test_page_has_its_headings_and_figures(html, page):
    article = soup(page).find("article")
    # The page puts the chapter's number before its title.
    built = [words(re.sub(r"^\d+\. ", "", h.get_text())) for h in article.find_all(["h1", "h2"])]
    expected = [words(h) for cell in cells(page, "markdown") for h in headings(cell)]
    assert expected, f"{source(page)} has no heading"
    assert [h for h in expected if h not in built] == []
    drawn = article.select(".plotly-graph-div, .cell_output img, .cell_output svg")
    assert len(drawn) >= sum(map(figures_shown, cells(page, "code", executed=True)))


@pytest.mark.parametrize("page", [page for page in toc_pages() if page.startswith("notebooks/")])
def test_every_plotly_figure_came_through_show(html, page):
    """A bare plotly figure is drawn by JupyterLab but not by a page, and Jupyter Book drops it without a word."""
    cache = get_cache(html.parent / ".jupyter_cache")  # the outputs of the last build; the pages' copies have none
    _, executed = cache.merge_match_into_notebook(nbformat.read(source(page), as_version=4))
    outputs = [(cell.source, output.get("data", {})) for cell in executed.cells for output in cell.get("outputs", [])]
    assert outputs
    for code, data in outputs:
        if "application/vnd.plotly.v1+json" in data:
            assert "adalib-figure" in data.get("text/html", ""), code


@pytest.mark.parametrize("page", [page for page in toc_pages() if page.startswith("notebooks/")])
def test_chapters_carry_their_number_and_lead_to_each_other(html, page):
    number = re.match(r"notebooks/(\d+)_", page)
    if number:
        assert soup(page).find("h1").get_text().startswith(f"{int(number[1])}. ")
    article = copy(soup(page).find("article"))
    for hidden in article.select("pre, a, h1, h2, h3, script, .cell_output, code, figcaption, title"):
        hidden.decompose()
    here = number and int(number[1])
    mentioned = [int(n) for n in re.findall(r"\b[Cc]hapter\s+(\d+)\b", article.get_text())]
    assert [n for n in mentioned if n != here] == []


def test_links_inside_the_book_lead_somewhere(html):
    broken = []
    for page in toc_pages():
        for tag in soup(page).find_all(href=True) + soup(page).find_all(src=True):
            link = (tag.get("href") or tag.get("src")).split("#")[0].split("?")[0]
            if link and not re.match(r"[a-z]+:", link) and not (html / page).parent.joinpath(link).exists():
                broken.append(f"{page}: {link}")
    assert broken == []


def test_nothing_is_loaded_from_the_network(html):
    outside = []
    for path in html.rglob("*.html"):
        page = path.relative_to(html).with_suffix("").as_posix()
        for tag in soup(page).find_all(list(LOADING)):
            if re.match(r"(https?:)?//", tag.get(LOADING[tag.name]) or ""):
                outside.append(f"{page}: {tag}"[:200])
    for path in html.rglob("*.css"):
        for url in re.findall(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//[^\"')]+", path.read_text(encoding="utf-8")):
            outside.append(f"{path.relative_to(html)}: {url}")
    assert outside == []


def test_site_is_at_most_60_megabytes(html):
    assert sum(f.stat().st_size for f in html.rglob("*") if f.is_file()) <= 60e6


def test_every_notebook_is_in_the_table_of_contents():
    assert {f"notebooks/{path.stem}" for path in (ROOT / "notebooks").glob("*.ipynb")} <= set(toc_pages())


def test_pages_of_this_book_are_the_ones_built():
    assert HTML.is_relative_to(ROOT)
    assert toc_pages()[0] == "book/intro"


def test_the_index_of_theorems_shows_their_titles(html):
    entries = soup("prf-prf").select(".indextable a")
    assert "Weak duality" in [entry.get_text() for entry in entries]
    assert not [entry.get_text() for entry in entries if entry["href"].endswith("#" + entry.get_text())]


def test_the_welcome_page_quotes_three_findings_with_their_links(html):
    findings = soup("book/intro").select(".adalib-finding")
    assert [bool(re.search(r"\d", finding.strong.get_text())) for finding in findings] == [True] * 3
    for finding in findings:
        page, _, label = finding.a["href"].partition("#")
        assert soup(posixpath.normpath(f"book/{page.removesuffix('.html')}")).find(id=label)


def test_exercises_and_theorems_are_counted_within_their_chapter_and_say_what_they_are(html):
    """A title without its kind, " (Weak duality)" or " (read)", would tell nobody what stands below it."""
    for path in sorted((html / "notebooks").glob("*.html")):
        page = soup(f"notebooks/{path.stem}")
        titles = [title.get_text() for title in page.select(".exercise > .admonition-title")]
        front = f"{int(path.stem[:2])}." if path.stem[0].isdigit() else ""
        assert [re.match(r"Exercise \S+", title)[0] for title in titles] == [
            f"Exercise {front}{number}" for number in range(1, len(titles) + 1)
        ], path.stem
        stated = [title.get_text().split()[:2] for title in page.select(".proof:not(.remark) > .admonition-title")]
        assert {kind for kind, _ in stated} <= {"Theorem", "Proposition", "Lemma", "Corollary", "Definition"}, path.stem
        assert [number for _, number in stated] == [f"{front}{i}" for i in range(1, len(stated) + 1)], path.stem


def test_links_of_tables_lead_to_a_section_of_the_built_book(html):
    links = [a["href"] for a in soup("notebooks/12_referee").select("a.adalib-see")]
    assert links
    for link in set(links):
        target, _, anchor = link.partition("#")
        page = posixpath.normpath(f"notebooks/{target.removesuffix('.html') or '12_referee'}")
        assert soup(page).find(id=anchor) is not None, link
