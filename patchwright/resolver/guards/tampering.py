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
    reaches_for_runner,
    reads_code,
)
from patchwright.resolver.guards.versions import Version, old_path
from patchwright.resolver.messages.facts import counted

_SHOWN = 5


def find_tampering(versions: Sequence[Version]) -> tuple[str, ...]:
    """Return what a reviewer must look at before anything else, a sentence each."""
    return (
        *_listed("A test file was deleted", versions, _is_deleted_test),
        *(line for one in versions for line in _skips(one)),
        *(line for one in versions for line in _losses(one)),
        *_listed("The configuration of CI was changed", versions, _is_ci),
        *_listed(
            "The configuration of the tests was changed",
            versions,
            changes_test_configuration,
        ),
        *_listed(
            "The change ends a process at once, or reaches for the test runner",
            versions,
            _reaches_for_runner,
        ),
        *_listed(
            "A test reads code as text instead of running it",
            versions,
            _reader_of_code(versions),
        ),
    )


def rules_out_proof(versions: Sequence[Version]) -> bool:
    """Tell whether a change could make its tests say what it likes."""
    reads_code_of = _reader_of_code(versions)
    return any(
        changes_test_configuration(one)
        or _reaches_for_runner(one)
        or reads_code_of(one)
        for one in versions
    )


def changed_tests(changes: Sequence[ChangedPath]) -> tuple[str, ...]:
    """Return the test files of the base that the change does not leave as they were."""
    new = (ChangeKind.ADDED, ChangeKind.COPIED)
    paths = (old_path(c) for c in changes if c.kind not in new)
    return tuple(path for path in paths if is_test(path))


def _is_deleted_test(one: Version) -> bool:
    return one.change.kind is ChangeKind.DELETED and is_test(one.change.path)


def _is_ci(one: Version) -> bool:
    return is_ci(one.change.path) or is_ci(old_path(one.change))


def _reaches_for_runner(one: Version) -> bool:
    if one.after is None:
        return False
    path = one.change.path
    return any(reaches_for_runner(path, line) for line in _added_lines(one))


def _reader_of_code(versions: Sequence[Version]) -> Callable[[Version], bool]:
    """Return what knows a test that reads the text of this change's own code."""
    paths = (one.change.path for one in versions)
    code = {path for path in paths if is_source(path) and not is_test(path)}
    names = {PurePosixPath(path).name for path in code}

    def reads(one: Version) -> bool:
        is_read = one.after is not None and is_test(one.change.path)
        return is_read and bool(code) and reads_code(_added_lines(one), names)

    return reads


def _skips(one: Version) -> Iterator[str]:
    path = one.change.path
    if one.after is None or not (is_test(path) or has_tests_inside(path)):
        return
    marks = dict.fromkeys(
        mark for line in _added_lines(one) if (mark := find_skip(path, line))
    )
    if marks:
        shown = ", ".join(inline_code(mark) for mark in list(marks)[:_SHOWN])
        yield f"Tests are left out in {_code(one.change)} that would run: {shown}."


def _added_lines(one: Version) -> Iterator[str]:
    """Yield the lines that the file had not, or not as often; order does not count."""
    before = Counter(_lines(one.before or ""))
    yield from (Counter(_lines(one.after or "")) - before).elements()


def _lines(text: str) -> Iterator[str]:
    return (line.strip() for line in text.splitlines())


def _losses(one: Version) -> Iterator[str]:
    if one.before is None or one.after is None or not is_test(old_path(one.change)):
        return
    tests = count_tests(one.before) - count_tests(one.after)
    assertions = count_assertions(one.before) - count_assertions(one.after)
    lost = [
        counted(number, noun)
        for number, noun in ((tests, "test"), (assertions, "assertion"))
        if number > 0
    ]
    if lost:
        yield f"{_code(one.change)} has {' and '.join(lost)} fewer than before."


def _listed(
    words: str, versions: Sequence[Version], holds: Callable[[Version], bool]
) -> Iterator[str]:
    found = [one.change for one in versions if holds(one)]
    if found:
        shown = ", ".join(_code(change) for change in found[:_SHOWN])
        more = f" and {len(found) - _SHOWN} more" if len(found) > _SHOWN else ""
        yield f"{words}: {shown}{more}."


def _code(change: ChangedPath) -> str:
    return inline_code(change.shown)
