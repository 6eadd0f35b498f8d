"""The documentation speaks of what is there."""

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, project_files

PAGES = sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])
CODE_PATH = re.compile(r"`((?:[a-z_]+/)+[a-z_]+\.py)`")
LINK = re.compile(r"\]\(([^)#:]+)(?:#[^)]*)?\)")


def test_the_walk_leads_through_files_that_exist() -> None:
    named = CODE_PATH.findall((ROOT / "docs/walk.md").read_text())
    assert len(named) > 30
    here = set(project_files())
    assert [path for path in named if not {path, f"patchwright/{path}"} & here] == []


@pytest.mark.parametrize("file", PAGES, ids=lambda file: file.name)
def test_links_lead_to_files(file: Path) -> None:
    linked = LINK.findall(file.read_text())
    assert [link for link in linked if not (file.parent / link).exists()] == []


def test_every_page_is_among_the_contents() -> None:
    docs = ROOT / "docs"
    named = set((docs / "contents.md").read_text().splitlines())
    pages = {str(one.relative_to(docs).with_suffix("")) for one in docs.rglob("*.md")}
    listed = {one for one in pages if not one.startswith("decisions/0")}
    assert listed - named == {"contents"}


def test_every_decision_is_among_the_decisions() -> None:
    folder = ROOT / "docs/decisions"
    named = set(LINK.findall((folder / "index.md").read_text()))
    assert named == {one.name for one in folder.glob("0*.md")}
