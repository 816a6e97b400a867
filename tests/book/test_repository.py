"""What others need before they adopt or cite the project: versions, workflows, messages."""

from __future__ import annotations

import re
import tomllib

import pytest
import yaml
from conftest import ROOT

import adalib


def test_the_package_its_citation_and_its_changelog_agree_on_the_version():
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
    citation = yaml.safe_load((ROOT / "CITATION.cff").read_text("utf-8"))
    latest = re.search(r"^- \*\*(\d\S+)\*\*", (ROOT / "CHANGELOG.md").read_text("utf-8"), re.M)[1]
    assert {project["version"], str(citation["version"]), latest} == {adalib.__version__}
    assert citation["references"][0]["identifiers"][0]["value"] == "arXiv:2604.14853"


@pytest.mark.parametrize("path", sorted((ROOT / ".github" / "workflows").glob("*.yml")), ids=str)
def test_a_workflow_only_calls_targets_of_the_makefile(path):
    jobs = yaml.safe_load(path.read_text("utf-8"))["jobs"]
    steps = [step.get("run", "") for job in jobs.values() for step in job["steps"]]
    targets = re.findall(r"\bmake ([a-z-]+)", "\n".join(steps))
    makefile = (ROOT / "Makefile").read_text("utf-8")
    assert targets
    assert all(re.search(rf"^{target}:", makefile, re.M) for target in targets)


def test_the_page_on_set_up_has_the_messages_that_make_ends_with():
    makefile = (ROOT / "Makefile").read_text("utf-8")
    messages = re.findall(r'echo "([^"$]*)" >&2; exit 1', makefile)
    page = (ROOT / "book" / "troubleshooting.md").read_text("utf-8")
    assert messages
    assert [message for message in messages if f"    {message}\n" not in page] == []


def test_every_file_that_workflows_and_the_notes_for_contributors_name_is_there():
    notes = [ROOT / "CONTRIBUTING.md", *(ROOT / ".github" / "workflows").glob("*.yml")]
    text = "\n".join(path.read_text(encoding="utf-8") for path in notes)
    named = re.findall(r"(?<![\w/.])(?:adalib|book|tests|data|notebooks)/[\w./-]*\w\.\w+", text)
    made_up = {"notebooks/14_mine.ipynb", "book/adabook/policies/yours.py"}
    templates = {"data/answers/NAME.jsonl.gz", "data/cards/NAME.md"}
    assert "adalib/explorer/front/path.js" in named
    missing = {name for name in named if not (ROOT / name).exists()}
    assert missing - made_up - templates == set()
