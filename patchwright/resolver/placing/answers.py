"""Read a reply that is nothing but a choice: a repository, or a word of consent."""

import re
from enum import StrEnum
from typing import Final

from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.placing.consent import read_consent
from patchwright.resolver.placing.places import ReferenceScope
from patchwright.resolver.placing.references import find_references

_LINK: Final = re.compile(r"\[[^\]\[\n]*\]\(\s*<?([^\s()<>]+)>?[^()\n]*\)|<(\S+)>")
_COURTESY_WORDS: Final = frozenset(
    {"a", "go", "in", "is", "it", "its", "it's", "on", "please", "pls", "repo"}
    | {"repository", "take", "thank", "thanks", "that", "the", "to", "use", "with"}
    | {"work", "yes", "you"}
)
_ALWAYS: Final = "always"
_WHERE: Final = frozenset({"here", "for", "in", "this", "channel", "project"})
_FOR_ME: Final = frozenset({"me", "mine", "my"})
_MAX_CHARS: Final = 500
_PUNCTUATION: Final = " \t`*_~,;:.!()\"'“”‘’"  # noqa: RUF001 - as people type them


class RememberScope(StrEnum):
    """For whom a choice holds from now on."""

    NOT = ""
    HERE = "here"
    FOR_ME = "for-me"


class RepositoryAnswer(Value):
    repository: RepoRef
    remember: RememberScope = RememberScope.NOT


def read_answer(text: str, places: ReferenceScope) -> RepositoryAnswer | None:
    """Return the repository that a reply chooses, if it does nothing else.

    "always NAME" is meant for everybody in this channel or project, "always NAME for
    me" for one person everywhere.
    """
    if len(text) > _MAX_CHARS:
        return None
    words = _answer_words(text)
    named = [word for word in words if "/" in word]
    others = {word.casefold() for word in words if "/" not in word}
    if len(named) != 1 or not (others <= _COURTESY_WORDS | _WHERE | _FOR_ME | {_ALWAYS}):
        return None
    found = find_references([named[0].removeprefix("repo:")], places).repositories
    if len(found) != 1:
        return None
    return RepositoryAnswer(repository=found[0], remember=_remember(others))


def is_answer(text: str, places: ReferenceScope) -> bool:
    """Tell whether a reply only chooses, so that it tells the agent nothing."""
    return read_consent(text) is not None or read_answer(text, places) is not None


def _answer_words(text: str) -> list[str]:
    """Return the words of a reply, and of a link where it leads to."""
    shown = _LINK.sub(lambda link: f" {link[1] or link[2]} ", text)
    stripped = (word.strip(_PUNCTUATION) for word in shown.split())
    return [word for word in stripped if word]


def _remember(words: set[str]) -> RememberScope:
    if _ALWAYS not in words:
        return RememberScope.NOT
    return RememberScope.FOR_ME if words & _FOR_ME else RememberScope.HERE
