"""Pages at old addresses lead to pages that there are."""

import re

import pytest
from conftest import ROOT

MOVED = ROOT / "book" / "moved"


@pytest.mark.parametrize("path", sorted(MOVED.rglob("*.html")), ids=lambda path: path.name)
def test_an_old_address_leads_to_a_page(path):
    page = path.read_text(encoding="utf-8")
    (target,) = set(re.findall(r'(?:url=|replace\("|href=")([\w./]+)\.html', page))
    folder = path.parent.relative_to(MOVED)
    assert (ROOT / folder / f"{target}.ipynb").exists()
    assert not (ROOT / folder / f"{path.stem}.ipynb").exists()
