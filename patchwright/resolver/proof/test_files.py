"""Which tests are in which files, and which test files have to do with a change."""

import re
from collections.abc import Collection, Iterable, Mapping
from pathlib import PurePosixPath
from typing import Final

from patchwright.resolver.proof.runners import RunnerKind
from patchwright.resolver.proof.test_names import is_defined_in

# Names that half of all files contain.
_COMMON: Final = frozenset(
    {"__init__", "__main__", "index", "main", "mod", "lib", "src", "app", "utils"}
)


def find_file_of(name: str, runner: RunnerKind, texts: Mapping[str, str]) -> str | None:
    """Return which of these files a test is in; `texts` are the files by their paths.

    Where the test's name does not tell, it is the file that contains its own name.
    """
    leaf = leaf_of(name)
    found = (path for path in texts if is_defined_in(name, runner, path))
    return next((path for path in found if leaf in texts[path]), None)


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
