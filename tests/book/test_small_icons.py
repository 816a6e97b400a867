"""The icons that the book carries: those that its pages show, and no others."""

import re
from importlib.resources import files

import pytest
from offline import ICONS
from small_icons import small_icons

THEME = files("pydata_sphinx_theme") / "theme" / "pydata_sphinx_theme" / "static" / ICONS
PAGE = '<i class="fa-solid fa-list"></i><i class="fas fa-file-pdf"></i><span class="switch fa-solid fa-sun fa-lg">'


def test_the_solid_icons_of_the_pages_alone():
    made = small_icons(THEME.read_text(encoding="utf-8"), [PAGE, PAGE])
    icons = dict(re.findall(r'"([\w-]+)": \[\d+, \d+, "(M[^"]+)"\]', made))
    assert list(icons) == ["file-pdf", "list", "sun"]
    # A sun is there as an outline, too.
    outline = re.search(r'[{,]sun:\[\d+,\d+,\[[^]]*\],"\w+","([^"]+)"', THEME.read_text(encoding="utf-8"))[1]
    assert icons["sun"] != outline


def test_an_icon_that_is_not_there_is_named():
    with pytest.raises(ValueError, match="'no-such-thing' icon"):
        small_icons(THEME.read_text(encoding="utf-8"), ['<i class="fas fa-no-such-thing"></i>'])
