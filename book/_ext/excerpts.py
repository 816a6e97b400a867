"""Search results with excerpts, also from disk.

Sphinx's search page fetches every page that it found, to show the words around a hit. A browser
refuses that for a book opened from files. So the texts of the pages travel in one script beside the
search page, which hands them out instead.
"""

from __future__ import annotations

import html
import json
import re
from pathlib import Path

SCRIPT = "excerpts.js"
ORDER = "search.js"  # which results come first
# Code and displayed formulas say little in one line.
_UNSEEN = re.compile(
    r"<(script|style|svg|pre)\b.*?</\1>|<div class=\"math\b.*?</div>"
    r"|<a class=\"headerlink\".*?</a>|<[^>]+>",
    re.S,
)
_TAG = re.compile(r"<[^>]+>")
_FORMULA = re.compile(r'<span class="math\b[^>]*>(.*?)</span>', re.S)
# In place of the network: a page's text, in the element where the search page looks for it.
_HAND_OUT = """
window.adalibTexts = TEXTS;
const fetched = window.fetch;
window.fetch = (address, ...rest) => {
  const text = TEXTS[String(address).split("/").slice(-2).join("/").replace(/\\.html$/, "")];
  if (text === undefined) return fetched(address, ...rest);
  const main = document.createElement("div");
  main.setAttribute("role", "main");
  main.textContent = text;
  return Promise.resolve(new Response(main.outerHTML));
};
"""


def seen(page: str) -> str:
    """The text that a reader sees in the article of a page, without code and displayed formulas.

    Examples
    --------
    >>> seen('<body><article><h1>Votes</h1><script>x</script> 1 &lt; 2</article></body>')
    'Votes 1 < 2'
    """
    article = re.search(r"<article\b.*?</article>", page, re.S)
    text = _FORMULA.sub(lambda found: _TAG.sub("", found[1]), article[0] if article else "")
    return " ".join(html.unescape(_UNSEEN.sub(" ", text)).split())


def write(app, exception) -> None:
    """Write the script, from the pages as they were built."""
    if exception or app.builder.format != "html":
        return
    folder = Path(app.outdir)
    pages = {doc: folder / f"{doc}.html" for doc in sorted(app.env.found_docs)}
    texts = {
        doc: seen(page.read_text(encoding="utf-8")) for doc, page in pages.items() if page.exists()
    }
    data = json.dumps(texts, ensure_ascii=False).replace("<", "\\u003c")
    (folder / "_static" / SCRIPT).write_text(
        f"(function () {{\nconst TEXTS = {data};{_HAND_OUT}}})();\n", encoding="utf-8"
    )


def load(app, pagename, templatename, context, doctree) -> None:
    """The search page loads it; its file is written once all pages are."""
    if pagename == "search":
        (Path(app.outdir) / "_static" / SCRIPT).touch()
        app.add_js_file(SCRIPT, priority=100)
        app.add_js_file(ORDER, priority=101)


def setup(app) -> dict:
    app.connect("html-page-context", load)
    app.connect("build-finished", write)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
