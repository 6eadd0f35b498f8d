"""Decide which repository a request is about, or ask for it and read the answer."""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from enum import StrEnum
from typing import Final

from patchwright.core.channel import Offer
from patchwright.core.text.escape import inline_code
from patchwright.core.types.base import Value
from patchwright.core.types.threads import RepoRef, TalkThread, ThreadRef
from patchwright.resolver.messages.elements import join
from patchwright.resolver.repository_references import (
    References,
    ReferenceScope,
    find_references,
    suggest_names,
)
from patchwright.resolver.visibility import Question, QuestionReason, read_consent

MAX_BUTTONS: Final = 5
_MAX_LISTED: Final = 10
_MAX_SAID_CHARS: Final = 100
_PICKER: Final = Offer(words="Find a repository", picks_repository=True)
_HOW: Final = (
    "Answer here with its name, such as `owner/name`, or with a link to it. The "
    "request is kept."
)


def ask_for_repository(said: str, offered: Sequence[str]) -> Question:
    """Ask where nothing names a repository.

    `said` is what a reply says instead; names of `offered` like it are shown.
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
    """Ask where somebody may not read what they named, or what is the default here.

    The words are the same whether it is there or not. `name` is empty where the
    person has not named it themselves.
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
    """Ask where several were named; those that may be read can be pressed."""
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
    buttons = (Offer(words=name, command=name) for name in names[:MAX_BUTTONS])
    return Question(reason=reason, text=text, offers=(*buttons, _PICKER))


def _did_you_mean(near: Iterable[str]) -> str:
    names = " or ".join(inline_code(name) for name in near)
    return f"Did you mean {names}?" if names else ""


def _list_names(names: Sequence[str]) -> str:
    lines = [f"- {inline_code(name)}" for name in names[:_MAX_LISTED]]
    if left := len(names) - len(lines):
        lines.append(f"- … and {left} more")
    return "\n".join(lines)


# Each costs a question to the forge, and most of what looks like a path is one.
MAX_POSSIBLE: Final = 5


class RepositoryAccess(StrEnum):
    """Whether the person who asks may read a repository, as far as we can tell."""

    READABLE = "readable"
    UNREADABLE = "unreadable"
    UNKNOWN = "unknown"


class ChoiceReason(StrEnum):
    """What a choice rests on, from the strongest to the weakest."""

    ANSWER = "answer"
    REQUEST = "request"
    TICKET = "ticket"
    PLACE = "place"
    PLACE_DEFAULT = "place-default"
    OWN_DEFAULT = "own-default"


class RepositoryCandidates(Value):
    """All that says where the work may be.

    `answers` are the replies since, oldest first. `ticket` is that of the tickets it
    names and `place` that of its channel or project, both by the administrator's word;
    `place_default` and `own_default` were chosen by people. `said` is what a reply says
    in place of an exact name.
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
    """Return the repository, or what to ask.

    `access` judges for the person who asks, and `offered` are names that this person
    may be shown.
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
    """Return what the administrator says about a thread's channel or project."""
    if not isinstance(thread, TalkThread):
        return None
    key = thread.place.rpartition("/")[2]
    full_name = mapping.get(key) or mapping.get(thread.place, "")
    return places.repository(full_name) if full_name else None


def repository_of_tickets(
    thread: ThreadRef,
    named: Iterable[ThreadRef],
    projects: Mapping[str, str],
    places: ReferenceScope,
) -> RepoRef | None:
    """Return the one repository that all the tickets named in a thread belong to.

    A ticket has a project of its own, which says more than those that it names.
    """
    if thread.service == "jira":
        return None
    tickets = (one for one in named if one.service == "jira")
    found = {mapped_repository(one, projects, places) for one in tickets}
    return found.pop() if len(found) == 1 else None


def _named_candidates(
    hints: RepositoryCandidates,
) -> Iterable[tuple[ChoiceReason, References]]:
    """Yield what names a repository, the strongest first: the newest answer wins."""
    yield from ((ChoiceReason.ANSWER, answer) for answer in reversed(hints.answers))
    yield ChoiceReason.REQUEST, hints.request


def _exact_matches(named: References, access: JudgeAccess) -> tuple[RepoRef, ...]:
    """Return the repositories; what may be a path is one if it can be read."""
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
    """Take a default that the person may read; another one would surprise them.

    Its name is not told to somebody who has not named it and may not read it.
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
    if len(named) != 1 or not (
        others <= _COURTESY_WORDS | _WHERE | _FOR_ME | {_ALWAYS}
    ):
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
