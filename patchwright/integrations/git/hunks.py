"""The parts of a change, each of which can be taken out alone."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from patchwright.integrations.git.changes import GITLINK, ChangedPath, ChangeKind
from patchwright.integrations.git.command import GitDir
from patchwright.integrations.git.trees import read_files

_LINK: Final = 0o120000
# A larger file is no code that somebody has written.
_MAX_FILE_BYTES: Final = 1_000_000
# https://git-scm.com/docs/diff-format
_HEADER: Final = re.compile(
    rb"^@@ -(\d+)(?:,(\d+))? \+(\d+)(?:,(\d+))? @@", re.MULTILINE
)
_NEW: Final = (ChangeKind.ADDED, ChangeKind.COPIED)


@dataclass(frozen=True, slots=True)
class ChangePart:
    """Lines of one file that were changed together, or a file added or deleted.

    `start` counts from 1, in the changed file; `lines` is 0 where lines were only
    removed. `before` and `after` are the file without the change and with it, and
    `without` is the changed file when this part is taken out; None stands for no file.
    """

    path: str
    start: int
    lines: int
    before: bytes | None = field(repr=False)
    after: bytes | None = field(repr=False)
    without: bytes | None = field(repr=False)
    is_executable: bool = False


def list_parts(
    store: GitDir, base: str, head: str, changes: Sequence[ChangedPath]
) -> tuple[ChangePart, ...]:
    """Return the parts of these changes that are text, in the order of the files.

    What only moves, or only gets another mode, has none.
    """
    texts = [c for c in changes if not {c.mode, c.old_mode} & {GITLINK, _LINK}]
    old_paths = [_old_path(one) for one in texts if one.kind not in _NEW]
    new_paths = [one.path for one in texts if one.kind is not ChangeKind.DELETED]
    before = read_files(store, base, old_paths, _MAX_FILE_BYTES)
    after = read_files(store, head, new_paths, _MAX_FILE_BYTES)
    return tuple(
        part
        for one in texts
        for part in _parts_of(
            store,
            one,
            (f"{base}:{_old_path(one)}", f"{head}:{one.path}"),
            (before.get(_old_path(one)), after.get(one.path)),
        )
    )


def _old_path(change: ChangedPath) -> str:
    return change.old_path or change.path


def _parts_of(
    store: GitDir,
    change: ChangedPath,
    names: tuple[str, str],
    texts: tuple[object, object],
) -> Iterator[ChangePart]:
    before, after = texts
    was = before if isinstance(before, bytes) and change.kind not in _NEW else None
    now = after if isinstance(after, bytes) else None
    if any(text is not None and b"\0" in text for text in (was, now)):
        return
    is_executable = bool((change.mode or change.old_mode) & 0o100)
    if was is None or now is None:
        if was is not None and change.kind is not ChangeKind.DELETED:
            return  # it could not be read, which does not mean that it is gone
        if (was is None) == (now is None):
            return
        lines = now.count(b"\n") + (not now.endswith(b"\n")) if now else 0
        yield ChangePart(change.path, 1, lines, was, now, was, is_executable)
        return
    if was == now:
        return
    asked = ["diff", "--no-ext-diff", "--no-textconv", "-U0", "--no-color"]
    patch = store.run([*asked, "--inter-hunk-context=1", *names])
    for found in _HEADER.finditer(patch):
        numbers = [1 if one is None else int(one) for one in found.groups()]
        yield _part(change.path, was, now, numbers, is_executable=is_executable)


def _part(
    path: str, was: bytes, now: bytes, numbers: Sequence[int], *, is_executable: bool
) -> ChangePart:
    """Take out of `now` the lines of one header: start and count, before and after.

    A side without lines names the line in front of the place.
    """
    old_start, old_count, start, count = numbers
    old_lines, lines = _lines(was), _lines(now)
    old_from = old_start - 1 if old_count else old_start
    new_from = start - 1 if count else start
    put_back = old_lines[old_from : old_from + old_count]
    rest = lines[new_from + count :]
    without = b"".join([*lines[:new_from], *put_back, *rest])
    return ChangePart(path, new_from + 1, count, was, now, without, is_executable)


def _lines(text: bytes) -> list[bytes]:
    """Split at line feeds only, as git does."""
    pieces = text.split(b"\n")
    whole = [piece + b"\n" for piece in pieces[:-1]]
    return [*whole, pieces[-1]] if pieces[-1] else whole
