"""Which tests are in which files, and which test files have to do with a change."""

import re
from collections.abc import Collection, Iterable, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Final

_SIGNS: Final = re.compile(r"[^\w]+")
# Names that half of all files contain.
_COMMON: Final = frozenset(
    {"__init__", "__main__", "index", "main", "mod", "lib", "src", "app", "utils"}
)


def find_file_of(name: str, texts: Mapping[str, str]) -> str | None:
    """Return which of these test files a test is in, by its name and their texts.

    Python's runners begin the name with the module. Others do not tell the file, which
    then is the one that the test's own name is written down in.
    """
    dotted = ".".join(filter(None, _SIGNS.split(name.partition("[")[0])))
    for path in sorted(texts, key=len, reverse=True):
        if _module_in(dotted, path):
            return path
    leaf = leaf_of(name)
    if not leaf:
        return None
    return next((path for path, text in texts.items() if leaf in text), None)


def is_named_in(name: str, text: str | None) -> bool:
    """Tell whether a test was there before, by the text that its file had then."""
    return bool(text) and leaf_of(name) in (text or "")


def leaf_of(name: str) -> str:
    """Return a test's own name, without its module, its class and its values."""
    plain = name.partition("[")[0].strip()
    return re.split(r"::| > |#|/|\.(?=\w+$)", plain)[-1].strip()


def find_related(
    changed: Iterable[str], texts: Mapping[str, str]
) -> tuple[str, ...]:
    """Return the test files that name one of the changed files, by its module's name.

    `texts` are the test files; those come first that name the whole module.
    """
    stems = {_stem(path) for path in changed} - _COMMON
    if not stems:
        return ()
    words = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(stems)))})\b")
    named = {path for path in texts if _names_in_path(path, stems)}
    found = [path for path, text in texts.items() if path in named or words.search(text)]
    return tuple(sorted(found, key=lambda path: (path not in named, path)))


def _stem(path: str) -> str:
    """Return by which word others import a file: a package by its folder."""
    file = PurePosixPath(path)
    if file.stem in ("__init__", "index", "mod") and file.parent.name:
        return file.parent.name
    return file.stem


def _names_in_path(path: str, stems: Collection[str]) -> bool:
    name = PurePosixPath(path).name.partition(".")[0]
    return re.sub(r"^test_|_test$|_spec$", "", name) in stems


def _module_in(dotted: str, path: str) -> bool:
    """Tell whether the name begins with the file's module, from whatever folder on."""
    parts = _module_parts(path)
    if not path.endswith(".py"):
        return False
    modules = (".".join(parts[at:]) for at in range(len(parts)))
    return any(dotted == one or dotted.startswith(f"{one}.") for one in modules)


def _module_parts(path: str) -> Sequence[str]:
    parts = PurePosixPath(path).with_suffix("").parts
    return [piece for part in parts for piece in _SIGNS.split(part) if piece]
