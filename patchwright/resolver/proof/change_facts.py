"""What a proof needs to know of a change before anything is run."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.changes import (
    ChangedPath,
    ChangeKind,
    find_test_dependencies,
    is_test,
)
from patchwright.integrations.git.hunks import ChangePart
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.guards.changed_files import (
    FileVersions,
    old_path,
    read_versions,
)
from patchwright.resolver.guards.tampering import (
    changed_tests,
    is_source,
    rules_out_proof,
)
from patchwright.resolver.proof.hollow_code import hollow
from patchwright.resolver.proof.missing_names import AddedNames, find_added_names
from patchwright.resolver.proof.test_commands import (
    CONFIGURATIONS,
    TestTree,
    is_test_code,
)

_NEW: Final = (ChangeKind.ADDED, ChangeKind.COPIED, ChangeKind.RENAMED)
_MAX_TEST_BYTES: Final = 300_000
_MOST_TEST_FILES: Final = 5_000
# What people read, and what no test can be about.
_DOCUMENTS: Final = (".md", ".rst", ".adoc", ".txt", ".lock", ".svg")


@dataclass(frozen=True)
class ChangeFacts:
    """The change from `base_sha` to `head_sha`, with both versions of its files."""

    code: ObjectStore
    base_sha: str
    head_sha: str
    changes: tuple[ChangedPath, ...]
    versions: tuple[FileVersions, ...]

    @classmethod
    def read(cls, code: ObjectStore, base_sha: str, head_sha: str) -> "ChangeFacts":
        changes = code.changed_paths(base_sha, head_sha)
        versions = read_versions(code, base_sha, head_sha, changes)
        return cls(code, base_sha, head_sha, changes, versions)

    @property
    def paths(self) -> frozenset[str]:
        return frozenset(one.path for one in self.changes)

    @cached_property
    def is_doubtful(self) -> bool:
        """Whether the change could make its own tests say what it likes."""
        return rules_out_proof(self.versions)

    @cached_property
    def before_sha(self) -> str:
        """The base with the new tests, and with other files that they may need."""
        needed = [one.path for one in find_test_dependencies(self.changes)]
        if not needed:
            return self.base_sha
        return self.code.with_tests_of(self.base_sha, self.head_sha, needed)

    @cached_property
    def old_tests_sha(self) -> str:
        """The result with the tests as the base has them.

        Tests that are new stay, unless they stand in for a file of the base.
        """
        old = changed_tests(self.changes)
        if not old:
            return self.head_sha
        names = {PurePosixPath(path).name for path in old}
        moved = [
            one.path
            for one in self.changes
            if one.kind in _NEW
            and is_test(one.path)
            and (one.old_path in old or PurePosixPath(one.path).name in names)
        ]
        paths = [*old, *moved]
        return self.code.with_tests_of(self.head_sha, self.base_sha, paths)

    @cached_property
    def delivered_tests(self) -> Mapping[str, str]:
        """The test files that the change adds or edits, as they are with it."""
        return {
            one.change.path: one.after
            for one in self.versions
            if one.after is not None and is_test(one.change.path)
        }

    @cached_property
    def earlier_tests(self) -> Mapping[str, str]:
        """The same files as they were before, by their new paths."""
        return {
            one.change.path: one.before
            for one in self.versions
            if one.before is not None and is_test(old_path(one.change))
        }

    @cached_property
    def added_names(self) -> AddedNames:
        return find_added_names(self.versions)

    @property
    def code_paths(self) -> tuple[str, ...]:
        """The changed files that are no tests and no documents."""
        return tuple(path for path in self.paths if is_tried(path))

    @property
    def has_new_code(self) -> bool:
        """Whether code of the change is put on the base too, as its tests need it."""
        return any(
            one.kind in _NEW and is_source(one.path) and not is_test(one.path)
            for one in self.changes
        )

    @cached_property
    def hollow_files(self) -> Mapping[str, bytes]:
        """The changed Python files with the functions emptied that are new in them."""
        found: dict[str, bytes] = {}
        for one in self.versions:
            path = one.change.path
            if is_test(path) or not path.endswith(".py") or one.after is None:
                continue
            emptied = hollow(one.before, one.after)
            if emptied is not None:
                found[path] = emptied.encode()
        return found

    @cached_property
    def parts(self) -> tuple[ChangePart, ...]:
        """The parts of the change that tests could cover, code first."""
        tried = [one for one in self.changes if is_tried(one.path)]
        found = self.code.list_parts(self.base_sha, self.head_sha, tried)
        return tuple(sorted(found, key=lambda part: not is_source(part.path)))

    @cached_property
    def base_tests(self) -> tuple[str, ...]:
        """The test files of the base."""
        paths = self.code.list_files(self.base_sha)
        return tuple(path for path in paths if is_test_code(path))[:_MOST_TEST_FILES]

    @cached_property
    def tree(self) -> TestTree:
        """The files of base and result, and the texts that tell how tests are run."""
        paths = self.code.list_files(self.base_sha)
        wanted = [
            *(path for path in paths if PurePosixPath(path).name in CONFIGURATIONS),
            *self.base_tests,
        ]
        texts = _read_texts(self.code, self.base_sha, wanted)
        return TestTree(
            frozenset(paths) | self.paths, {**texts, **self.delivered_tests}
        )

    @property
    def base_test_texts(self) -> Mapping[str, str]:
        return {path: self.tree.texts.get(path, "") for path in self.base_tests}


def is_tried(path: str) -> bool:
    """Tell whether a file is worth taking out: no test, and read by programs."""
    file = PurePosixPath(path)
    return not is_test(path) and file.suffix.lower() not in _DOCUMENTS


def _read_texts(
    code: ObjectStore, commit: str, paths: Sequence[str]
) -> Mapping[str, str]:
    found = code.read_files(commit, paths, _MAX_TEST_BYTES)
    return {
        path: text.decode("utf-8", "replace")
        for path, text in found.items()
        if isinstance(text, bytes)
    }
