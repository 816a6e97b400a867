"""The explorer's program and settings as files beside the pages that show it."""

import json
import re

from adalib.explorer import setting, static_html
from adalib.explorer.static import script
from adalib.table import UtilityTable
from press.offline import without_explorers

TABLE = UtilityTable([[0.2, 0.7], [0.5, 0.6]], [1, 4])


def test_a_page_gives_its_explorers_away(tmp_path):
    settings = [setting(TABLE, name="</script>")]
    page = f"<p>Before.</p>{static_html(settings)}<p>After.</p>{static_html(settings)}"
    left = without_explorers(page, tmp_path)
    assert left.startswith("<p>Before.</p>")
    assert left.count("<noscript>") == 2
    assert "<script" not in left
    # Both explorers share their files.
    [(program, described)] = set(re.findall(r'data-program="(\w+)" data-settings="(\w+)"', left))
    assert {file.name for file in tmp_path.iterdir()} == {f"{program}.js", f"{described}.js"}
    kept = (tmp_path / f"{described}.js").read_text(encoding="utf-8")
    assert json.loads(kept.partition("] = ")[2].rstrip(";\n")) == settings
    written = (tmp_path / f"{program}.js").read_text(encoding="utf-8")
    assert script().partition("export default")[0].strip() in written
    assert "export" not in written.splitlines()[-5:]


def test_a_page_without_explorer_stays(tmp_path):
    assert without_explorers("<p>Nothing.</p>", tmp_path / "none") == "<p>Nothing.</p>"
    assert not (tmp_path / "none").exists()
