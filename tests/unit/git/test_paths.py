"""Changed paths are told apart by the habits of many languages."""

import pytest

from patchwright.integrations.git.changes import (
    GITLINK,
    ChangedPath,
    ChangeKind,
    ChangeProblem,
    ChangeProblemKind,
    SizeLimits,
    find_excess,
    find_rubbish,
    is_rubbish,
    is_test,
)

LIMITS = SizeLimits(max_files=2, max_file_bytes=10, max_total_bytes=15)


def added(path: str, size: int = 1, mode: int = 0o100644) -> ChangedPath:
    return ChangedPath(path, ChangeKind.ADDED, mode, size)


@pytest.mark.parametrize(
    "path",
    [
        "tests/data/one.json",
        "pkg/Tests/one.cs",
        "test_app.py",
        "pkg/app_test.go",
        "src/app.spec.ts",
        "src/app.test.jsx",
        "web/__tests__/app.js",
        "spec/app_spec.rb",
        "conftest.py",
        "src/AppTest.java",
        "src/AppTests.kt",
    ],
)
def test_tests_are_known(path: str) -> None:
    assert is_test(path)


@pytest.mark.parametrize(
    "path",
    ["src/app.py", "latest.py", "contest.py", "src/attest.go", "testing.md", "test"],
)
def test_other_files_are_no_tests(path: str) -> None:
    assert not is_test(path)


@pytest.mark.parametrize(
    "path",
    [
        ".venv/lib/a.py",
        "web/node_modules/a/index.js",
        "pkg/__pycache__/a.cpython-311.pyc",
        "a.egg-info/PKG-INFO",
        ".agent/notes.md",
        "repro.py",
        "reproduce_issue.sh",
        "out.log",
        "src/app.py.orig",
        ".DS_Store",
    ],
)
def test_s29_generated_files_are_recognised(path: str) -> None:
    assert is_rubbish(path)


@pytest.mark.parametrize(
    "path",
    ["src/app.py", "src/repro.py", "docs/venv.md", "reprocess.py", "log/reader.py"],
)
def test_s29_real_work_is_not_left_out(path: str) -> None:
    assert not is_rubbish(path)


def test_s29_tracked_file_may_change_whatever_its_name() -> None:
    changed = ChangedPath("out.log", ChangeKind.MODIFIED, 0o100644, 1)
    assert find_rubbish([changed, added("debug.log")]) == (added("debug.log"),)


def test_s29_change_of_usual_size_is_fine() -> None:
    assert find_excess([added("a", 10), added("b", 5)], LIMITS) == ()


def test_s29_absurd_size_is_found() -> None:
    changes = [added("a", 11), added("b", 5), added("c", 0)]
    everything = ("a", "b", "c")
    assert find_excess(changes, LIMITS) == (
        ChangeProblem(ChangeProblemKind.TOO_MANY_FILES, everything),
        ChangeProblem(ChangeProblemKind.FILE_TOO_LARGE, ("a",)),
        ChangeProblem(ChangeProblemKind.TOO_LARGE, everything),
    )


def test_s28_gitlink_that_changes_is_found() -> None:
    flattened = ChangedPath("lib", ChangeKind.RETYPED, 0o100644, 1, old_mode=GITLINK)
    moved = added("sub", 0, GITLINK)
    assert find_excess([flattened, moved], LIMITS) == (
        ChangeProblem(ChangeProblemKind.SUBMODULE, ("lib", "sub")),
    )
