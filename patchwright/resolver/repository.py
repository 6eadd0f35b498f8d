"""Decide which repository a request is about, or ask for it and read the answer."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from patchwright.core.channel import Offer
from patchwright.core.text.escape import inline_code
from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadKind, ThreadRef
from patchwright.core.types.work import QuestionReason
from patchwright.resolver.messages.elements import join
from patchwright.resolver.repository_references import (
    References,
    ReferenceScope,
    find_references,
    suggest_names,
)
from patchwright.resolver.visibility import Question, read_consent

MAX_BUTTONS: Final = 5
_MAX_LISTED: Final = 10
_MAX_SAID_CHARS: Final = 100
_PICKER: Final = Offer(words="Find a repository", picks_repository=True)
_HOW: Final = (
    "Answer here with its name, such as `owner/name`, or with a link to it. The "
    "request is kept."
)


def ask_for_repository(said: str, offered: Sequence[str]) -> Question:
    """Ask for a repository if nothing names one.

    `said` is the text of a reply that names none; similar names in `offered` are shown.
    """
    near = suggest_names(said, offered) if 0 < len(said) <= _MAX_SAID_CHARS else ()
    text = join(
        "**Which repository?** The request names none, and there is no default for it "
        "here.",
        _did_you_mean(near),
        _HOW,
    )
    return _make_question(QuestionReason.NO_REPOSITORY, text, near or offered)


def ask_for_another_repository(name: str, offered: Sequence[str]) -> Question:
    """Ask again if a person may not read the named or the default repository.

    The text is the same whether the repository exists or not. `name` is empty if the
    person did not name the repository.
    """
    what = inline_code(name) if name else "The default here"
    near = suggest_names(name, offered) if name else ()
    text = join(
        f"**{what} cannot be used for this request.** Either there is no such "
        "repository, or it is not open to both you and this bot.",
        _did_you_mean(near),
        f"Name another one, or ask its owner for access. {_HOW}",
    )
    return _make_question(QuestionReason.NO_ACCESS, text, near or offered)


def ask_which_repository(
    named: Sequence[RepoRef], readable: Sequence[RepoRef]
) -> Question:
    """Ask which one is meant if several were named; readable ones get a button."""
    names = [one.full_name for one in named]
    text = join(
        "**Which of these repositories?** The request names "
        f"{len(names)}, and one pull request is about one of them:",
        _list_names(names),
        "Answer here with the name of one. The request is kept.",
    )
    return _make_question(
        QuestionReason.SEVERAL_REPOSITORIES, text, [one.full_name for one in readable]
    )


def _make_question(reason: QuestionReason, text: str, names: Sequence[str]) -> Question:
    buttons = (
        Offer(words=name, command=name, is_in_text=True) for name in names[:MAX_BUTTONS]
    )
    return Question(reason=reason, text=text, offers=(*buttons, _PICKER))


def _did_you_mean(near: Iterable[str]) -> str:
    names = " or ".join(inline_code(name) for name in near)
    return f"Did you mean {names}?" if names else ""


def _list_names(names: Sequence[str]) -> str:
    lines = [f"- {inline_code(name)}" for name in names[:_MAX_LISTED]]
    if left := len(names) - len(lines):
        lines.append(f"- … and {left} more")
    return "\n".join(lines)


# Each name costs a request to the forge, and most texts like a path are only a path.
MAX_POSSIBLE: Final = 5


class RepositoryAccess(StrEnum):
    """Whether the person who asks may read a repository, as far as is known."""

    READABLE = "readable"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


class ChoiceReason(StrEnum):
    """The reason for a choice, from the strongest to the weakest."""

    ANSWER = "answer"
    REQUEST = "request"
    TICKET = "ticket"
    PLACE = "place"
    PLACE_DEFAULT = "place-default"
    OWN_DEFAULT = "own-default"


class RepositoryCandidates(Value):
    """Everything that can name the repository of a request.

    `answers` are the later replies, oldest first. `ticket` is the repository of the
    named tickets and `place` the repository of the channel or project; both come from
    the administrator's settings. People chose `place_default` and `own_default`. `said`
    is the text of a reply without an exact name.
    """

    request: References = References()
    answers: tuple[References, ...] = ()
    ticket: RepoRef | None = None
    place: RepoRef | None = None
    place_default: RepoRef | None = None
    own_default: RepoRef | None = None
    said: str = ""


class RepositoryChoice(Value):
    repo: RepoRef
    why: ChoiceReason


JudgeAccess = Callable[[RepoRef], RepositoryAccess]


def choose_repository(
    hints: RepositoryCandidates, access: JudgeAccess, offered: tuple[str, ...] = ()
) -> RepositoryChoice | Question:
    """Return the repository, or the question to ask.

    `access` checks what the person who asks may read. `offered` are names that this
    person may see.
    """
    for why, named in _named_candidates(hints):
        found = _exact_matches(named, access)
        if len(found) > 1:
            readable = [
                one for one in found if access(one) is RepositoryAccess.READABLE
            ]
            return ask_which_repository(found, readable)
        if found:
            return _choose_if_readable(found[0], why, access, offered)
    for why, default in _default_candidates(hints):
        if default is not None:
            return _choose_default(default, why, access, offered)
    return _ask_for_repository(hints, offered)


def mapped_repository(
    thread: ThreadRef, mapping: Mapping[str, str], places: ReferenceScope
) -> RepoRef | None:
    """Return the repository in the settings for a thread's channel or project."""
    if not isinstance(thread, TalkThread):
        return None
    key = thread.place.rpartition("/")[2]
    full_name = mapping.get(key) or mapping.get(thread.place, "")
    return places.repository(full_name) if full_name else None


def repository_of_tickets(
    thread: ThreadRef,
    named: Iterable[ThreadRef],
    find_projects: Callable[[ThreadRef], Mapping[str, str]],
    places: ReferenceScope,
) -> RepoRef | None:
    """Return the one repository of all the tickets that a thread names.

    `find_projects` returns the repositories of the projects in a ticket's service.
    If the thread is a ticket, its own project counts more than tickets that it names.
    """
    if thread.kind is ThreadKind.TICKET:
        return None
    tickets = (one for one in named if one.kind is ThreadKind.TICKET)
    found = {mapped_repository(one, find_projects(one), places) for one in tickets}
    return found.pop() if len(found) == 1 else None


def _named_candidates(
    hints: RepositoryCandidates,
) -> Iterable[tuple[ChoiceReason, References]]:
    """Yield all references to a repository, strongest first: the newest answer wins."""
    yield from ((ChoiceReason.ANSWER, answer) for answer in reversed(hints.answers))
    yield ChoiceReason.REQUEST, hints.request


def _exact_matches(named: References, access: JudgeAccess) -> tuple[RepoRef, ...]:
    """Return the repositories; a possible path counts as one if it can be read."""
    if sure := named.meant or named.repositories:
        return sure
    possible = (*named.possible, *named.bare)[:MAX_POSSIBLE]
    return tuple(one for one in possible if access(one) is RepositoryAccess.READABLE)


def _choose_if_readable(
    repo: RepoRef, why: ChoiceReason, access: JudgeAccess, offered: tuple[str, ...]
) -> RepositoryChoice | Question:
    if access(repo) is RepositoryAccess.READABLE:
        return RepositoryChoice(repo=repo, why=why)
    return ask_for_another_repository(repo.full_name, offered)


def _default_candidates(
    hints: RepositoryCandidates,
) -> Iterable[tuple[ChoiceReason, RepoRef | None]]:
    yield ChoiceReason.TICKET, hints.ticket
    yield ChoiceReason.PLACE, hints.place
    yield ChoiceReason.PLACE_DEFAULT, hints.place_default
    yield ChoiceReason.OWN_DEFAULT, hints.own_default


def _choose_default(
    repo: RepoRef, why: ChoiceReason, access: JudgeAccess, offered: tuple[str, ...]
) -> RepositoryChoice | Question:
    """Use the default if the person may read it; no other default is tried.

    A person who did not name the default and may not read it does not see its name.
    """
    if access(repo) is RepositoryAccess.READABLE:
        return RepositoryChoice(repo=repo, why=why)
    return ask_for_another_repository("", offered)


def _ask_for_repository(
    hints: RepositoryCandidates, offered: tuple[str, ...]
) -> Question:
    possible = [
        one for named in (*hints.answers, hints.request) for one in named.possible
    ]
    if possible:
        return ask_for_another_repository(possible[-1].full_name, offered)
    if len(hints.request.bare) == 1:
        return ask_for_another_repository(hints.request.bare[0].full_name, offered)
    return ask_for_repository(hints.said, offered)


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
    """For whom a choice is stored."""

    NOT = ""
    HERE = "here"
    FOR_ME = "for-me"


class RepositoryAnswer(Value):
    repository: RepoRef
    remember: RememberScope = RememberScope.NOT


def read_answer(text: str, places: ReferenceScope) -> RepositoryAnswer | None:
    """Return the repository that a reply chooses, if the reply does nothing else.

    "always NAME" is for everybody in this channel or project. "always NAME for me" is
    for one person everywhere.
    """
    if len(text) > _MAX_CHARS:
        return None
    words = _answer_words(text)
    named = [word for word in words if "/" in word]
    others = {word.casefold() for word in words if "/" not in word}
    if len(named) != 1 or not (
        others <= _COURTESY_WORDS | _WHERE | _FOR_ME | {_ALWAYS}
    ):
        return None
    found = find_references([named[0].removeprefix("repo:")], places).repositories
    if len(found) != 1:
        return None
    return RepositoryAnswer(repository=found[0], remember=_remember(others))


def is_answer(text: str, places: ReferenceScope) -> bool:
    """Tell whether a reply only chooses, so that the agent need not read it."""
    return read_consent(text) is not None or read_answer(text, places) is not None


def _answer_words(text: str) -> list[str]:
    """Return the words of a reply; for a link, its address."""
    shown = _LINK.sub(lambda link: f" {link[1] or link[2]} ", text)
    stripped = (word.strip(_PUNCTUATION) for word in shown.split())
    return [word for word in stripped if word]


def _remember(words: set[str]) -> RememberScope:
    if _ALWAYS not in words:
        return RememberScope.NOT
    return RememberScope.FOR_ME if words & _FOR_ME else RememberScope.HERE
