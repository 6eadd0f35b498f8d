"""A forge's interface commits plain files of bounded size, with names in UTF-8."""

import pytest

from patchwright.integrations.git.changes import (
    GITLINK,
    MAX_BYTES,
    ChangedPath,
    ChangeKind,
    can_commit_by_api,
)

PLAIN, PROGRAM, LINK = 0o100644, 0o100755, 0o120000


def changed(
    path: str = "a.py", *, mode: int = PLAIN, old_mode: int = PLAIN, size: int = 1
) -> ChangedPath:
    return ChangedPath(path, ChangeKind.MODIFIED, mode, size, old_mode=old_mode)


@pytest.mark.parametrize(
    "change", [changed(), changed(mode=0), changed(old_mode=0), changed("ü/日本.py")]
)
def test_plain_files_come_change_and_go(change: ChangedPath) -> None:
    assert can_commit_by_api([change])


@pytest.mark.parametrize(
    "change",
    [
        changed(mode=PROGRAM),
        changed(mode=PROGRAM, old_mode=PROGRAM),
        changed(old_mode=PROGRAM),
        changed(mode=0, old_mode=LINK),
        changed(mode=LINK, old_mode=0),
        changed(mode=GITLINK, old_mode=GITLINK),
        changed("caf\udce9.py"),
        changed(size=MAX_BYTES + 1),
    ],
)
def test_s27_everything_else_is_pushed_by_git(change: ChangedPath) -> None:
    assert not can_commit_by_api([changed(), change])


def test_no_change_is_no_commit() -> None:
    assert not can_commit_by_api([])
