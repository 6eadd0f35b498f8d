"""The three questions about a repository: none was named, no access, several."""

from collections.abc import Iterable, Sequence
from typing import Final

from patchwright.core.channel import Offer
from patchwright.core.text.fence import inline_code
from patchwright.core.types.threads import RepoRef
from patchwright.resolver.messages.facts import join
from patchwright.resolver.placing.asking import Question, QuestionReason
from patchwright.resolver.placing.references import suggest_names

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


def ask_which_repository(named: Sequence[RepoRef], readable: Sequence[RepoRef]) -> Question:
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
