"""`make serve`: texts come compressed to those who accept it, and everything arrives whole."""

import gzip
import urllib.request

import pytest
from conftest import site


@pytest.fixture
def address(tmp_path):
    (tmp_path / "page.html").write_text("<p>price</p>" * 1000, encoding="utf-8")
    (tmp_path / "card.png").write_bytes(bytes(range(256)))
    with site(tmp_path) as address:
        yield address


@pytest.mark.parametrize("accepted", ["gzip, br", "identity"])
@pytest.mark.parametrize("name", ["page.html", "card.png"])
def test_a_file_arrives_whole(address, tmp_path, name, accepted):
    request = urllib.request.Request(f"{address}/{name}", headers={"Accept-Encoding": accepted})
    with urllib.request.urlopen(request) as answer:
        body = answer.read()
        packed = answer.headers["Content-Encoding"] == "gzip"
    original = (tmp_path / name).read_bytes()
    assert packed == (name == "page.html" and "gzip" in accepted)
    assert (gzip.decompress(body) if packed else body) == original
    assert len(body) < len(original) or not packed
