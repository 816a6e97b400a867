"""Mark the sentences that tell a reader to drag or click, so that paper can leave them out.

Paper has no slider. The style sheet hides ``adalib-on-screen`` when a page is printed.
"""

from __future__ import annotations

import re

_BEGINS = r"(?:Drag|Click|Move the slider|Press the button)\b"
# Text and inline markup up to the end of the sentence, never past the end of its paragraph.
_GOES_ON = r"(?:[^<]|<(?!/?(?:p|li|div|figcaption|caption|td|h\d)\b)[^>]*>)*?"
_SENTENCE = re.compile(
    r"<(?P<data>script|style|pre|textarea)\b.*?</(?P=data)>"
    rf"|(?<=[>.!?])(?P<sentence>\s*{_BEGINS}{_GOES_ON}[.!?])(?=\s|<)"
    rf"|(?P<clause>; drag\b{_GOES_ON})(?=\.(?:\s|<))",
    re.S,
)
_TAG = re.compile(r"<(/?)(\w+)[^>]*>")


def with_screen_only(body: str) -> str:
    """Wrap what only a screen can do.

    Examples
    --------
    >>> with_screen_only("<p>A curve. Drag <i>b</i> to 0.5. It falls; drag on.</p>")[:61]
    '<p>A curve.<span class="adalib-on-screen"> Drag <i>b</i> to 0'
    >>> with_screen_only("<p>It falls; drag on.</p>")
    '<p>It falls<span class="adalib-on-screen">; drag on</span>.</p>'
    >>> with_screen_only("<p>A <b>Dragon</b> flew. Clicks count.</p>")
    '<p>A <b>Dragon</b> flew. Clicks count.</p>'
    """

    def wrapped(found: re.Match) -> str:
        text = found["sentence"] or found["clause"]
        if not text or not _is_whole(text):
            return found[0]
        return f'<span class="adalib-on-screen">{text}</span>'

    return _SENTENCE.sub(wrapped, body)


def _is_whole(markup: str) -> bool:
    """Whether every element that begins in a piece of HTML also ends in it."""
    depth = 0
    for tag in _TAG.finditer(markup):
        depth += -1 if tag[1] else 1
        if depth < 0:
            return False
    return depth == 0


def mark(app, pagename, templatename, context, doctree) -> None:
    """Mark the sentences of a page."""
    if "body" in context:
        context["body"] = with_screen_only(context["body"])


def setup(app) -> dict:
    app.connect("html-page-context", mark)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
