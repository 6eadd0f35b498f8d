"""What changed paths are: tests, rubbish of a build, or too much to propose."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from pathlib import PurePosixPath

from patchwright.integrations.git.changes import GITLINK, ChangedPath, ChangeKind

_TEST_FOLDERS = frozenset(
    ("test", "tests", "__tests__", "spec", "specs", "testing", "testdata", "e2e")
)
_TEST_FILE = re.compile(
    r"(?:test_.+|.+_test|.+_spec|.+[.-](?:test|spec)|conftest)\.\w+"
    r"|.+(?:Tests?|Spec|IT)\.(?:java|kt|scala|cs|swift|groovy|php)"
)

_RUBBISH_FOLDERS = frozenset(
    (
        "__pycache__",
        ".agent",
        ".cache",
        ".eggs",
        ".gradle",
        ".hypothesis",
        ".ipynb_checkpoints",
        ".mypy_cache",
        ".nox",
        ".nyc_output",
        ".pytest_cache",
        ".ruff_cache",
        ".tox",
        ".venv",
        "htmlcov",
        "node_modules",
        "venv",
    )
)
_RUBBISH_FOLDER = re.compile(r".+\.egg-info")
_RUBBISH_FILE = re.compile(
    r".+\.(?:pyc|pyo|class|o|swp|swo|orig|rej|log|tmp)|\.DS_Store|\.coverage|core\.\d+"
)
# Only beside the readme: deeper down a file of that name may well be meant.
_RUBBISH_AT_THE_TOP = re.compile(r"repro(?:duce|duction)?(?:[_-].*)?\.\w+")


class ChangeProblemKind(StrEnum):
    TOO_MANY_FILES = "too-many-files"
    FILE_TOO_LARGE = "file-too-large"
    TOO_LARGE = "too-large"
    SUBMODULE = "submodule"


@dataclass(frozen=True, slots=True)
class ChangeProblem:
    """A reason not to propose a change as it is, and the paths it is about."""

    kind: ChangeProblemKind
    paths: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SizeLimits:
    """Beyond these a change is no fix any more; what it takes away counts, too."""

    max_files: int = 300
    max_file_bytes: int = 5_000_000
    max_total_bytes: int = 20_000_000


def is_test(path: str) -> bool:
    """Say whether a file is there to test others, by the habits of its language."""
    parts = PurePosixPath(path)
    if any(folder.lower() in _TEST_FOLDERS for folder in parts.parts[:-1]):
        return True
    return _TEST_FILE.fullmatch(parts.name) is not None


def is_rubbish(path: str) -> bool:
    """Say whether a file is what builds, tools and experiments leave behind."""
    *folders, name = PurePosixPath(path).parts
    if any(
        folder in _RUBBISH_FOLDERS or _RUBBISH_FOLDER.fullmatch(folder)
        for folder in folders
    ):
        return True
    if _RUBBISH_FILE.fullmatch(name):
        return True
    return not folders and _RUBBISH_AT_THE_TOP.fullmatch(name) is not None


def find_test_dependencies(changes: Sequence[ChangedPath]) -> tuple[ChangedPath, ...]:
    """Return what the tests of a change may need: tests, and whatever is new.

    A test that fails only for want of a new file shows no fault in the old ones.
    """
    new = (ChangeKind.ADDED, ChangeKind.COPIED, ChangeKind.RENAMED)
    return tuple(c for c in changes if c.kind in new or is_test(c.path))


def find_rubbish(changes: Sequence[ChangedPath]) -> tuple[ChangedPath, ...]:
    """Return what should not be proposed; a file that was there before may change."""
    new = (ChangeKind.ADDED, ChangeKind.COPIED)
    return tuple(
        change for change in changes if change.kind in new and is_rubbish(change.path)
    )


def find_excess(
    changes: Sequence[ChangedPath], limits: SizeLimits
) -> tuple[ChangeProblem, ...]:
    """Return what makes a change one to ask about before it is proposed."""
    paths = tuple(change.path for change in changes)
    large = tuple(c.path for c in changes if max(c.sizes) > limits.max_file_bytes)
    gitlinks = tuple(c.path for c in changes if GITLINK in (c.mode, c.old_mode))
    found = (
        (ChangeProblemKind.TOO_MANY_FILES, paths, len(paths) > limits.max_files),
        (ChangeProblemKind.FILE_TOO_LARGE, large, bool(large)),
        (
            ChangeProblemKind.TOO_LARGE,
            paths,
            sum(sum(change.sizes) for change in changes) > limits.max_total_bytes,
        ),
        (ChangeProblemKind.SUBMODULE, gitlinks, bool(gitlinks)),
    )
    return tuple(ChangeProblem(kind, paths) for kind, paths, holds in found if holds)
