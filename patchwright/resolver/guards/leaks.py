"""Find secrets and private words that a change would make public."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from patchwright.core.text.token_formats import find_tokens
from patchwright.integrations.git.changes import is_test
from patchwright.resolver.guards.changed_files import FileVersions

# Yields from where to where the secrets go that are known by value.
FindKnownSecrets = Callable[[str], Iterator[tuple[int, int]]]

_EXAMPLE = re.compile(
    r"example|sample|dummy|fake|placeholder|changeme|redacted|your[_-]|not[_-]?a[_-]?",
    re.IGNORECASE,
)
_FEW_SIGNS = 6
# Values that tests invent: they open only what the test sets up.
_MADE_FOR_TESTS = ("eyJ", "-----BEGIN")


@dataclass(frozen=True, slots=True)
class Leak:
    """Where a secret is; the secret itself is nowhere in it."""

    path: str
    line: int


def find_no_secrets(text: str) -> Iterator[tuple[int, int]]:
    del text
    return iter(())


def find_secrets(
    versions: Sequence[FileVersions], find_known: FindKnownSecrets = find_no_secrets
) -> tuple[Leak, ...]:
    """Return where secrets are that no changed file held before.

    What a change only moves about is in the history already.
    """
    before = {
        one.before[start:end]
        for one in versions
        if one.before is not None
        for start, end in _spans(_without_zeros(one.before), find_known)
    }
    leaks = (leak for one in versions for leak in _new_secrets(one, before, find_known))
    return tuple(dict.fromkeys(leaks))


def _new_secrets(
    one: FileVersions, before: set[str], find_known: FindKnownSecrets
) -> Iterator[Leak]:
    if one.after is None:
        return
    text, path = _without_zeros(one.after), one.change.path
    known = set(find_known(text))
    for start, end in sorted(_spans(text, find_known)):
        secret = text[start:end]
        if secret in before:
            continue
        if (start, end) in known or not _is_harmless(secret, path):
            yield Leak(one.change.shown, text.count("\n", 0, start) + 1)


def _spans(text: str, find_known: FindKnownSecrets) -> set[tuple[int, int]]:
    return {*find_tokens(text), *find_known(text)}


def _without_zeros(text: str) -> str:
    """Make text of UTF-16 look like any other: its ASCII has zeros in between."""
    return text.replace("\0", "")


def _is_harmless(token: str, path: str) -> bool:
    """Tell whether a token stands for one: in documents, templates and tests."""
    if token.startswith(_MADE_FOR_TESTS):
        return is_test(path)
    _, _, value = token.rpartition("_" if "_" in token else "-")
    return bool(_EXAMPLE.search(token)) or len(set(value)) < _FEW_SIGNS


# Yields from where to where a text repeats them.
FindPrivateSpans = Callable[[str], Iterator[tuple[int, int]]]


@dataclass(frozen=True)
class PrivateWords:
    """`find` knows them; with `are_known_here` the readers of the answer know them too.

    `find_in_name` does the same for the name of a file, where fewer words count.
    """

    find: FindPrivateSpans
    find_in_name: FindPrivateSpans
    are_known_here: bool


def find_repeated(
    versions: Sequence[FileVersions], private: PrivateWords
) -> tuple[Leak, ...]:
    """Return where a change adds such words; what was there before is public."""
    before = {
        one.before[start:end].casefold()
        for one in versions
        if one.before is not None
        for start, end in private.find(one.before)
    }
    leaks = (
        leak for one in versions for leak in _new_private_words(one, before, private)
    )
    return tuple(dict.fromkeys(leaks))


def _new_private_words(
    one: FileVersions, before: set[str], private: PrivateWords
) -> Iterator[Leak]:
    shown = one.change.shown
    is_new_name = one.before is None or one.change.old_path
    if is_new_name and any(True for _ in private.find_in_name(one.change.path)):
        yield Leak(shown, 1)
    text = one.after or ""
    for start, end in private.find(text):
        if text[start:end].casefold() not in before:
            yield Leak(shown, text.count("\n", 0, start) + 1)
