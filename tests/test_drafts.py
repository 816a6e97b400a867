"""Folders that are made in a draft: an unfinished one is gone on with, kept, or taken over where it
came to nothing."""

import pytest

from adalib.drafts import claim, publish, replacing


def test_only_the_same_plan_goes_on(tmp_path):
    draft = claim(tmp_path / "out", {"a": 1})
    (draft / "part").write_text("done")
    assert claim(tmp_path / "out", {"a": 1}) == draft
    with pytest.raises(ValueError, match="unfinished run with other input"):
        claim(tmp_path / "out", {"a": 2})
    publish(draft, tmp_path / "out", keep={"part"})
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["part"]


@pytest.mark.parametrize("note", [None, "", "{", "[1, 2"])
def test_a_draft_that_came_to_nothing_is_taken_over(tmp_path, note):
    draft = claim(tmp_path / "out", {"a": 1})
    (draft / "work" / "pieces").mkdir()
    (draft / "work" / ".00.parquet.1-0123abcd.part").write_text("half")  # left by a kill
    if note is not None:
        (draft / "work" / "plan.json").write_text(note)
    assert claim(tmp_path / "out", {"a": 2}) == draft
    publish(draft, tmp_path / "out", keep=set())
    assert not list((tmp_path / "out").iterdir())


def test_a_complete_folder_holds_nothing_of_a_killed_run(tmp_path):
    draft = claim(tmp_path / "out", {})
    (draft / ".a.parquet.1-0123abcd.part").write_text("half")
    with replacing(draft / "a.parquet") as file:
        file.write_text("whole")
    publish(draft, tmp_path / "out", keep={"a.parquet"})
    assert [file.name for file in (tmp_path / "out").iterdir()] == ["a.parquet"]
