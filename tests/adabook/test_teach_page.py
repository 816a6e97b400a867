"""The teacher's page: its links show what it says they show."""

from __future__ import annotations

import html
import re
from urllib.parse import parse_qs

from conftest import ROOT

from adabook.paper.settings import SETTINGS, answers

TEXT = (ROOT / "book" / "teach.md").read_text(encoding="utf-8")
VIEWS = {
    text: {key: values[0] for key, values in parse_qs(html.unescape(view)).items()}
    for view, text in re.findall(
        r'<a href="\.\./notebooks/02_oracle\.html#([^"]+)">([^<]+)</a>', TEXT
    )
}


def test_links_lead_to_settings_and_questions_that_there_are():
    assert VIEWS
    for shown in VIEWS.values():
        assert shown["set"] in SETTINGS
        assert float(shown["lambda"]) >= 0
        assert "q" not in shown or shown["q"] in answers(shown["set"]).ids
