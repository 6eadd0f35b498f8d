"""The documentation speaks of what is there."""

import re
from pathlib import Path

import pytest

from patchwright.core.settings.describe import page
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


def test_the_table_of_settings_is_that_of_the_code() -> None:
    """Write it anew with `python -m patchwright.core.settings.describe`."""
    assert (ROOT / "docs/settings.md").read_text() == page()
