"""Find what a change does to the tests that are to judge it, for a reviewer's eyes."""

from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from pathlib import PurePosixPath

from patchwright.core.text.fence import inline_code
from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.integrations.git.paths import is_test
from patchwright.resolver.guards.configuration import (
    changes_test_configuration,
    is_ci,
)
from patchwright.resolver.guards.marks import (
    count_assertions,
    count_tests,
    find_skip,
    has_tests_inside,
    is_source,
    tampers_with_runner,
    reads_source_text,
)
from patchwright.resolver.guards.versions import FileVersions, old_path
from patchwright.resolver.messages.facts import count_noun

_SHOWN = 5


def find_tampering(versions: Sequence[FileVersions]) -> tuple[str, ...]:
    """Return what a reviewer must look at before anything else, a sentence each."""
    return (
        *_list_files("A test file was deleted", versions, _is_deleted_test),
        *(line for one in versions for line in _skipped_tests(one)),
        *(line for one in versions for line in _lost_tests(one)),
        *_list_files("The configuration of CI was changed", versions, _is_ci),
        *_list_files(
            "The configuration of the tests was changed",
            versions,
            changes_test_configuration,
        ),
        *_list_files(
            "The change ends a process at once, or reaches for the test runner",
            versions,
            _tampers_with_runner,
        ),
        *_list_files(
            "A test reads code as text instead of running it",
            versions,
            _source_reader(versions),
        ),
    )


def rules_out_proof(versions: Sequence[FileVersions]) -> bool:
    """Tell whether a change could make its tests say what it likes."""
    reads_code_of = _source_reader(versions)
    return any(
        changes_test_configuration(one)
        or _tampers_with_runner(one)
        or reads_code_of(one)
        for one in versions
    )


def changed_tests(changes: Sequence[ChangedPath]) -> tuple[str, ...]:
    """Return the test files of the base that the change does not leave as they were."""
    new = (ChangeKind.ADDED, ChangeKind.COPIED)
    paths = (old_path(c) for c in changes if c.kind not in new)
    return tuple(path for path in paths if is_test(path))


def _is_deleted_test(one: FileVersions) -> bool:
    return one.change.kind is ChangeKind.DELETED and is_test(one.change.path)


def _is_ci(one: FileVersions) -> bool:
    return is_ci(one.change.path) or is_ci(old_path(one.change))


def _tampers_with_runner(one: FileVersions) -> bool:
    if one.after is None:
        return False
    path = one.change.path
    return any(tampers_with_runner(path, line) for line in _added_lines(one))


def _source_reader(versions: Sequence[FileVersions]) -> Callable[[FileVersions], bool]:
    """Return what knows a test that reads the text of this change's own code."""
    paths = (one.change.path for one in versions)
    code = {path for path in paths if is_source(path) and not is_test(path)}
    names = {PurePosixPath(path).name for path in code}

    def reads(one: FileVersions) -> bool:
        is_read = one.after is not None and is_test(one.change.path)
        return is_read and bool(code) and reads_source_text(_added_lines(one), names)

    return reads


def _skipped_tests(one: FileVersions) -> Iterator[str]:
    path = one.change.path
    if one.after is None or not (is_test(path) or has_tests_inside(path)):
        return
    marks = dict.fromkeys(
        mark for line in _added_lines(one) if (mark := find_skip(path, line))
    )
    if marks:
        shown = ", ".join(inline_code(mark) for mark in list(marks)[:_SHOWN])
        yield f"Tests are left out in {_code(one.change)} that would run: {shown}."


def _added_lines(one: FileVersions) -> Iterator[str]:
    """Yield the lines that the file had not, or not as often; order does not count."""
    before = Counter(_lines(one.before or ""))
    yield from (Counter(_lines(one.after or "")) - before).elements()


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines())


def _lost_tests(one: FileVersions) -> Iterator[str]:
    if one.before is None or one.after is None or not is_test(old_path(one.change)):
        return
    tests = count_tests(one.before) - count_tests(one.after)
    assertions = count_assertions(one.before) - count_assertions(one.after)
    lost = [
        count_noun(number, noun)
        for number, noun in ((tests, "test"), (assertions, "assertion"))
        if number > 0
    ]
    if lost:
        yield f"{_code(one.change)} has {' and '.join(lost)} fewer than before."


def _list_files(
    words: str, versions: Sequence[FileVersions], holds: Callable[[FileVersions], bool]
) -> Iterator[str]:
    found = [one.change for one in versions if holds(one)]
    if found:
        shown = ", ".join(_code(change) for change in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield f"{words}: {shown}{more}."


def _code(change: ChangedPath) -> str:
    return inline_code(change.shown)
