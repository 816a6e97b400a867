"""The icons that the book's pages show, cut out of the theme's script of two thousand.

That script is a megabyte and a half to read for every page, and then watches each change of the
page for new icons, every line of a figure too. The book has a dozen icons, all of them there when a
page arrives: each place becomes an SVG, once.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

_SHOWN = re.compile(r'<(?:i|span) class="[^"]*?\bfa(?:s|-solid) fa-([a-z-]+)')
# The theme's script hands over its table of solid icons, the kind that the pages ask for
_SOLID = '("fas",p)'
_SCRIPT = """// Written by book/_ext/small_icons.py. Paths: Font Awesome Free 6, CC BY 4.0, https://fontawesome.com/license/free
(function () {
  "use strict";
  const ICONS = %s;
  for (const [name, [width, height, path]] of Object.entries(ICONS)) {
    for (const place of document.querySelectorAll(`i.fa-${name}, span.fa-${name}`)) {
      const svg = document.createElementNS("http://www.w3.org/2000/svg", "svg");
      for (const { name: key, value } of place.attributes) svg.setAttribute(key, value);
      svg.classList.add("svg-inline--fa");
      svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
      svg.setAttribute("aria-hidden", "true");
      svg.innerHTML = `<path fill="currentColor" d="${path}"></path>`;
      place.replaceWith(svg);
    }
  }
})();
"""


def small_icons(source: str, pages: Iterable[str]) -> str:
    """A script that draws the icons of these pages."""
    names = sorted({name for page in pages for name in _SHOWN.findall(page)})
    # The sets come one after the other, each before its hand-over.
    begin = source.rfind("={", 0, source.index(_SOLID))
    return _SCRIPT % json.dumps({name: _icon(source[begin:], name) for name in names})


def _icon(table: str, name: str) -> tuple[int, int, str]:
    """Width, height and path of an icon in a table of them."""
    found = re.search(rf'[{{,]"?{name}"?:\[(\d+),(\d+),\[[^\]]*\],"\w+","([^"]+)"\]', table)
    if not found:
        raise ValueError(
            f"the theme's {name!r} icon is not where it was; see book/_ext/small_icons.py"
        )
    return int(found[1]), int(found[2]), found[3]
