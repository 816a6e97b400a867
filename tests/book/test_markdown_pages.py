"""Each page as Markdown, and the list of them that programs read."""

from __future__ import annotations

import re

import pytest
from conftest import ROOT, toc_pages

from editions.markdown_pages import llms_txt

# A line of llms.txt, as llmstxt.org describes it: a link, and a note after a colon.
ENTRY = re.compile(r"- \[[^\]]+\]\(([^)]+)\)(?:: .+)?")


def test_the_list_names_every_page_once_below_a_title_and_a_summary(html):
    title, _, summary, _, *lines = (html / "llms.txt").read_text("utf-8").splitlines()
    assert title.startswith("# ")
    assert summary.startswith("> ")
    listed = [line for line in lines if line and not line.startswith("## ")]
    assert [ENTRY.fullmatch(line)[1] for line in listed] == [f"{page}.md" for page in toc_pages()]


def test_a_published_list_has_whole_addresses():
    found = ENTRY.findall(llms_txt(ROOT, "https://a.example/book/"))
    assert found[0] == "https://a.example/book/book/intro.md"
    assert all(address.startswith("https://a.example/book/") for address in found)


@pytest.mark.parametrize("page", toc_pages())
def test_a_page_as_markdown_is_named_in_its_head_and_leads_only_to_files_that_are_there(html, page):
    file = html / f"{page}.md"
    assert f'type="text/markdown" href="{file.name}"' in (html / f"{page}.html").read_text("utf-8")
    text = file.read_text("utf-8")
    assert re.search(r"^# ", text, re.M)
    prose = re.sub(r"```.*?```|`[^`\n]*`", "", text, flags=re.S)
    assert not re.findall(r"\{[\w:-]+\}`|^:{3,}|^```\{", text, re.M)
    for target in re.findall(r"\]\(((?!https?:|mailto:)[^)#\s]+)", prose):
        assert (file.parent / target).exists(), target


def test_a_page_as_markdown_has_what_its_cells_print_and_tabulate(html):
    printed = (html / "notebooks/03_budgets.md").read_text("utf-8")
    assert "```\nslope 0.40: accuracy +0.40 for 1 more\n" in printed
    tabled = (html / "notebooks/13_verdict.md").read_text("utf-8")
    assert re.search(r"^\| policy \|.*\n\|(---\|)+\n\| one answer each \|", tabled, re.M)
