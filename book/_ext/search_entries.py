"""What a search can find, in one script that the search field loads, also from disk.

Every section of a page is an entry, and so are the theorems, the exercises, the words of the
glossary and the names of the package, each with its own anchor. Code, displayed formulas, solutions
and quizzes are left out: readers do not look for the first two, and would be told the answers by
the others.
``book/_static/search.js`` ranks the entries as the reader types.
"""

from __future__ import annotations

import json
import re
from dataclasses import asdict, dataclass
from html.parser import HTMLParser
from pathlib import Path

SCRIPT = "search-entries.js"
_ARTICLE = re.compile(r"<article\b.*?</article>", re.S)
# Cut out before the page is read, because the data of its figures are most of it.
_DATA = re.compile(r"<(script|style|svg|pre|noscript)\b.*?</\1>", re.S)
_UNSEEN = {"headerlink", "adalib-code", "solution", "quiz", "adalib-answer"}
_HEADINGS = ("h1", "h2", "h3", "h4")
_INLINE = {"a", "b", "code", "em", "i", "small", "span", "strong", "sub", "sup"}
_WITHOUT_END = {"br", "hr", "img", "input", "col", "wbr"}


#: The book's index: what readers look for in a chapter, also where its text seldom says so.
_INDEX = {
    "data": "sampling, temperature, self-consistency, majority vote, majority voting",
    "motivation": "confidence interval, student t, t interval, significance",
    "budgets": "knapsack, convex hull, hull, greedy",
    "duality": "lagrange, lagrangian, lagrange multiplier, multiplier, linear program, "
    "shadow price, complementary slackness, subgradient",
    "estimation": "optimism, bias, unbiased, data splitting",
    "learning": "xgboost, gbm, gradient boosting, classifier, overfit, overfitting, training",
    "results": "held-out, held-out test, noise control, leakage, data leakage, ablation, bootstrap",
    "stopping": "optimal stopping, early stopping, sequential, bandit, secretary problem, logprob, "
    "log-probability, adaptive consistency",
    "race": "latency, waiting, parallel, parallel sampling",
    "deploy": "server, production, openai, litellm, router",
    "menus": "routing, reasoning effort, several models",
    "book/teach": "syllabus, course, lecture",
    "book/data-cards": "dataset",
}


@dataclass
class Entry:
    """Something that a search finds: a page, a section, a statement, a word or a name."""

    kind: str
    anchor: str
    title: str = ""
    text: str = ""


@dataclass
class _Element:
    """An open element: its tag and id, whether readers see it, and the entry that it belongs to."""

    tag: str
    anchor: str
    seen: bool
    entry: Entry | None
    is_title: bool = False


class _Reader(HTMLParser):
    """Reads a page once, from top to bottom, and gives each text to its entry."""

    def __init__(self) -> None:
        super().__init__()
        self.entries: list[Entry] = []
        self.opened = [_Element("", "", True, None)]
        self.defined: Entry | None = None  # the word or name that the next definition explains

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self._part_words(tag)
        if tag in _WITHOUT_END:
            return
        parent = self.opened[-1]
        attributes = dict(attrs)
        classes = set((attributes.get("class") or "").split())
        is_formula = tag == "div" and "math" in classes
        is_seen = parent.seen and not (_UNSEEN & classes or is_formula)
        element = _Element(tag, attributes.get("id") or "", is_seen, parent.entry, parent.is_title)
        self._begin_entry(element, parent, classes)
        self.opened.append(element)

    def _begin_entry(self, element: _Element, parent: _Element, classes: set[str]) -> None:
        """Give what a search finds an entry of its own; the rest belongs to the parent's."""
        tag = element.tag
        if tag in _HEADINGS and parent.tag == "section" and parent.anchor:
            if tag == "h1":
                parent.entry = self._add("page", "")
            else:
                parent.entry = self._add("section", parent.anchor)
            element.entry = parent.entry
            element.is_title = True
        elif tag == "div" and element.anchor and {"proof", "exercise"} & classes:
            element.entry = self._add("statement", element.anchor)
        elif "admonition-title" in classes and parent.entry and not parent.entry.title:
            element.is_title = True
        elif tag == "dt" and element.anchor and "sig" in classes:
            element.entry = self._add("name", element.anchor)
            element.entry.title = element.anchor
            element.is_title = False
            self.defined = element.entry
        elif tag == "dt" and element.anchor:
            element.entry = self._add("word", element.anchor)
            element.is_title = True
            self.defined = element.entry
        elif tag == "dd" and self.defined:
            element.entry = self.defined
            self.defined = None

    def handle_endtag(self, tag: str) -> None:
        self._part_words(tag)
        if tag in {element.tag for element in self.opened}:
            while self.opened.pop().tag != tag:
                pass

    def handle_data(self, data: str) -> None:
        inner = self.opened[-1]
        if inner.seen and inner.entry and inner.is_title:
            inner.entry.title += data
        elif inner.seen and inner.entry:
            inner.entry.text += data

    def _add(self, kind: str, anchor: str) -> Entry:
        """Begin an entry."""
        self.entries.append(Entry(kind, anchor))
        return self.entries[-1]

    def _part_words(self, tag: str) -> None:
        """Keep two paragraphs from running into one word; formulas stay as they are."""
        if tag not in _INLINE and "math" not in {element.tag for element in self.opened}:
            self.handle_data(" ")


def entries(page: str) -> list[Entry]:
    """List what a search finds on a page, in the page's order.

    Examples
    --------
    >>> theorem = '<div class="proof" id="t"><p class="admonition-title">Everett</p>Exact.</div>'
    >>> page = f'<article><section id="a"><h1>Votes</h1><pre>x</pre><p>1 &lt; 2</p>{theorem}'
    >>> for entry in entries(page + "</section></article>"):
    ...     print(entry)
    Entry(kind='page', anchor='', title='Votes', text='1 < 2')
    Entry(kind='statement', anchor='t', title='Everett', text='Exact.')
    """
    article = _ARTICLE.search(page)
    if article is None:
        return []
    reader = _Reader()
    reader.feed(_DATA.sub(" ", article[0]))
    for entry in reader.entries:
        entry.title = " ".join(entry.title.split())
        entry.text = " ".join(entry.text.split())
    return [entry for entry in reader.entries if entry.title]


def write(app, exception) -> None:
    """Write the script, from the pages as they were built."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    found = []
    for name in sorted(app.env.found_docs):
        file = folder / f"{name}.html"
        if file.exists():
            words = _INDEX.get(re.sub(r"^.*/\d+_", "", name), "")
            page = entries(file.read_text(encoding="utf-8"))
            found += [
                {
                    "page": name,
                    "within": page[0].title,
                    "index": words.split(", ") if words and entry.kind == "page" else [],
                    **asdict(entry),
                }
                for entry in page
            ]
    data = json.dumps(found, ensure_ascii=False).replace("<", "\\u003c")
    script = f"window.adalibSearch({data});\n"
    (folder / "_static" / SCRIPT).write_text(script, encoding="utf-8")


def setup(app) -> dict:
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
