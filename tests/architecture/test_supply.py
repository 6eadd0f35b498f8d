"""What is installed is what was chosen: versions, hashes and commits are pinned."""

import re
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT

LOCK_FILES = sorted(ROOT.glob("requirements*.lock"))
WORKFLOWS = sorted(ROOT.glob(".github/workflows/*.yml"))
REQUIREMENT = re.compile(
    r"^[a-z0-9._-]+==\S+( ;[^\\]+)?( \\\n    --hash=sha256:[0-9a-f]{64})+$"
)


def test_there_are_two_lock_files() -> None:
    assert [path.name for path in LOCK_FILES] == [
        "requirements-dev.lock",
        "requirements.lock",
    ]


@pytest.mark.parametrize("lock", LOCK_FILES, ids=lambda path: path.name)
def test_every_locked_version_has_hashes(lock: Path) -> None:
    requirements = re.split(r"\n(?! )", lock.read_text().strip())
    assert [text for text in requirements if not REQUIREMENT.match(text)] == []


@pytest.mark.parametrize("lock", LOCK_FILES, ids=lambda path: path.name)
def test_no_lock_file_says_where_packages_come_from(lock: Path) -> None:
    text = lock.read_text()
    assert "://" not in text
    assert "index-url" not in text
    assert "find-links" not in text


@pytest.mark.parametrize("workflow", WORKFLOWS, ids=lambda path: path.name)
def test_workflows_use_actions_at_a_commit(workflow: Path) -> None:
    used = re.findall(r"\buses: (\S+)", workflow.read_text())
    assert used
    # What begins with $/ is a file of ours, of the very commit that runs.
    assert [name for name in used if not re.search(r"^\$/|@[0-9a-f]{40}$", name)] == []
