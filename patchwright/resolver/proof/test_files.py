"""Which tests are in which files, and which test files have to do with a change."""

import posixpath
import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from patchwright.integrations.git.changes import is_test
from patchwright.resolver.proof.runners import RunnerKind

# Names that half of all files contain.
_COMMON: Final = frozenset(
    {"__init__", "__main__", "index", "main", "mod", "lib", "src", "app", "utils"}
)
# Runners that know the file of a test have it at the beginning of its name.
_WITH_FILE: Final = re.compile(r"(.+?\.\w+)(?:::|$)")
# Whose tests of a package, a class or a program may be in any of several files.
_BY_PACKAGE: Final = (RunnerKind.GO,)
_BY_CLASS: Final = (RunnerKind.MAVEN, RunnerKind.GRADLE, RunnerKind.PHPUNIT)
_OTHER: Final = (RunnerKind.CTEST,)
_BY_MODULE: Final = (RunnerKind.UNITTEST, RunnerKind.CARGO)


def find_file_of(name: str, runner: RunnerKind, texts: Mapping[str, str]) -> str | None:
    """Return which of these files a test is in; `texts` are the files by their paths.

    Where the test's name does not tell, it is the file that contains its own name.
    """
    leaf = leaf_of(name)
    found = (path for path in texts if is_defined_in(name, runner, path))
    return next((path for path in found if leaf in texts[path]), None)


def test_file_of(name: str, runner: RunnerKind) -> str | None:
    """Return the file that a name begins with, relative to the repository."""
    if runner in (*_BY_PACKAGE, *_BY_CLASS, *_BY_MODULE, *_OTHER):
        return None
    found = _WITH_FILE.match(name)
    return posixpath.normpath(found[1]) if found else None


test_file_of.__test__ = False  # type: ignore[attr-defined]


def is_defined_in(name: str, runner: RunnerKind, path: str) -> bool:
    """Tell whether a test is in this file, or may be, where the name does not say."""
    file = test_file_of(name, runner)
    if file is not None:
        return file == path
    if runner in _BY_PACKAGE:
        return _is_of_go_package(name, path)
    if runner in _BY_CLASS:
        return _is_of_class(name, path)
    if runner in _BY_MODULE:
        return _is_module(name, path)
    return is_test(path)


def _is_of_go_package(name: str, path: str) -> bool:
    """Compare the folder with the end of the package's import path."""
    folder = posixpath.dirname(path)
    package = re.sub(r"\.(?:Test|Example|Fuzz|Benchmark)\w*(?:/.*)?$", "", name)
    return path.endswith("_test.go") and (
        not folder or package == folder or package.endswith(f"/{folder}")
    )


def _is_of_class(name: str, path: str) -> bool:
    """Look for a class at the end of a path; of PHP, namespaces are not folders."""
    owner, is_php, _ = name.partition("::")
    if is_php:
        return _ends_with(path, [owner.rpartition("\\")[2]])
    parts = re.split(r"[$(]", owner)[0].split(".")
    return any(_ends_with(path, parts[:end]) for end in (len(parts), len(parts) - 1))


def _is_module(name: str, path: str) -> bool:
    """Look for a dotted name, or one of Rust, at the end of a path.

    The module may be any part of the name: what follows are classes and functions.
    """
    parts = re.split(r"::|\.", name)
    if parts[0] == "__main__":
        return is_test(path)
    if path.endswith(".rs"):
        inside = {*parts, "lib", "main"}
        return PurePosixPath(path).stem in inside or path.endswith("/mod.rs")
    return path.endswith(".py") and any(
        _ends_with(path, parts[:end]) or _ends_with(path, [*parts[:end], "__init__"])
        for end in range(1, len(parts))
    )


def _ends_with(path: str, parts: list[str]) -> bool:
    """Tell whether a path without its ending has these last parts."""
    whole = PurePosixPath(path).with_suffix("").parts
    return len(whole) >= len(parts) > 0 and list(whole[-len(parts) :]) == parts


def leaf_of(name: str) -> str:
    """Return a test's own name, without its module, its class and its values."""
    plain = name.partition("[")[0].strip()
    return re.split(r"::| > |#|\.(?=\w+$)", plain)[-1].strip()


def find_related(changed: Iterable[str], texts: Mapping[str, str]) -> tuple[str, ...]:
    """Return the test files that name one of the changed files, by its module's name.

    `texts` are the test files; those come first that are named like a changed file.
    """
    stems = {_stem(path) for path in changed} - _COMMON
    if not stems:
        return ()
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(stems)))})\b")
    named = {path for path in texts if _is_named_like(path, stems)}
    found = (
        path for path, text in texts.items() if path in named or words.search(text)
    )
    return tuple(sorted(found, key=lambda path: (path not in named, path)))


def _stem(path: str) -> str:
    """Return by which word others import a file: a package by its folder."""
    file = PurePosixPath(path)
    if file.stem in ("__init__", "index", "mod") and file.parent.name:
        return file.parent.name
    return file.stem


def _is_named_like(path: str, stems: Collection[str]) -> bool:
    name = PurePosixPath(path).name.partition(".")[0]
    return re.sub(r"^test_|_test$|_spec$", "", name) in stems
