"""Find secrets that a change would add to a repository's history."""

import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from patchwright.core.text.token_formats import find_tokens
from patchwright.integrations.git.paths import is_test
from patchwright.resolver.guards.versions import FileVersions

# Yields from where to where the secrets go that are known by value.
FindKnownSecrets = Callable[[str], Iterator[tuple[int, int]]]

_EXAMPLE = re.compile(
    r"example|sample|dummy|fake|placeholder|changeme|redacted|your[_-]|not[_-]?a[_-]?",
    re.IGNORECASE,
)
_FEW_SIGNS = 6
# What tests make up all the time: it opens nothing but what the test sets up.
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


def _new_secrets(one: FileVersions, before: set[str], find_known: FindKnownSecrets) -> Iterator[Leak]:
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
