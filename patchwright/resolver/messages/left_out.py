"""Say what a change lacks of what the agent made: to people, and once to the agent."""

from collections.abc import Iterator, Sequence
from typing import Final, NamedTuple

from patchwright.core.text.escape import inline_code
from patchwright.core.types.work import LeftOut, LeftOutReason

_SHOWN: Final = 5
_SHOWN_TO_AGENT: Final = 20


class _ReasonText(NamedTuple):
    """Why it is not there, as the end of a sentence; and what the agent can do."""

    why: str
    remedy: str


_REASON_TEXTS: Final = {
    LeftOutReason.NESTED_REPOSITORY: _ReasonText(
        "a Git repository of its own",
        "Delete its `.git` if its files belong to the change, or all of it if not.",
    ),
    LeftOutReason.SUBMODULE: _ReasonText(
        "a submodule, which stays at its commit",
        "Submodules are not moved, filled or removed. Undo it, or say so in `summary`.",
    ),
    LeftOutReason.IGNORED: _ReasonText(
        "covered by `.gitignore`",
        "Run `git add -f` on it if the change or its tests need it.",
    ),
    LeftOutReason.UNREADABLE: _ReasonText(
        "not readable", "Give it read permission (and a folder `x`), or delete it."
    ),
    LeftOutReason.NOT_A_FILE: _ReasonText(
        "a pipe, socket or device", "Replace it by a file, or delete it."
    ),
    LeftOutReason.ENCODING: _ReasonText(
        "not in the encoding that `.gitattributes` wants",
        "Write it in that encoding, or change `working-tree-encoding`.",
    ),
    LeftOutReason.ENCRYPTED: _ReasonText(
        "to be encrypted by a filter that is not here", "Leave this file to people."
    ),
    LeftOutReason.REFUSED_BY_GIT: _ReasonText(
        "refused by Git", "Give it another name, or correct what is in it."
    ),
    LeftOutReason.TOO_LARGE: _ReasonText(
        "too large", "Make it smaller, or have the test make it when it runs."
    ),
    LeftOutReason.STASH: _ReasonText(
        "stashed, and not in the work tree",
        "Run `git stash pop` if it belongs to the change, and `git stash drop` if not.",
    ),
    LeftOutReason.BRANCH: _ReasonText(
        "on another branch, and not in the work tree",
        "Merge it if it belongs to the change, and delete the branch if not.",
    ),
    LeftOutReason.COMMIT: _ReasonText(
        "a commit on no branch, and not in the work tree",
        "Merge it if it belongs to the change.",
    ),
    LeftOutReason.WORKTREE: _ReasonText(
        "another work tree",
        "Copy its changes into the main work tree, and remove it.",
    ),
}
# Parts of the change itself: without them a reviewer must not take it for whole.
_WARNED_REASONS: Final = frozenset(
    {
        LeftOutReason.UNREADABLE,
        LeftOutReason.ENCODING,
        LeftOutReason.ENCRYPTED,
        LeftOutReason.REFUSED_BY_GIT,
        LeftOutReason.TOO_LARGE,
    }
)


def left_out_notes(left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """Name what may be missed, a sentence for each reason."""
    return tuple(_sentences(left_out, is_grave=False))


def left_out_warnings(left_out: Sequence[LeftOut]) -> tuple[str, ...]:
    """Name what the change is not whole without, a sentence for each reason."""
    return tuple(_sentences(left_out, is_grave=True))


def taken_from_note(place: LeftOut) -> str:
    where = f"{inline_code(place.path)} ({_REASON_TEXTS[place.reason].why})"
    return f"The work tree had no change. This one was taken from {where}."


def left_out_advice(left_out: Sequence[LeftOut], conflicts: Sequence[str]) -> str:
    """Tell the agent what its change would lack, and what it can do; empty for nothing.

    The agent gets this once: after that its finish counts.
    """
    lines = [
        *(
            f"- {inline_code(path)} has conflict markers. Resolve the conflict."
            for path in conflicts
        ),
        *(f"- {_line(one)}" for one in left_out),
    ]
    if not lines:
        return ""
    more = len(lines) - _SHOWN_TO_AGENT
    shown = [*lines[:_SHOWN_TO_AGENT], *([f"- and {more} more"] if more > 0 else [])]
    return "\n".join([_INTRODUCTION, *shown, _CONCLUSION])


_INTRODUCTION: Final = (
    "finish was not run. Some of your work would not be in the change:"
)
_CONCLUSION: Final = (
    "Fix what matters, then call finish again. You will not be asked twice: what is "
    "left then is named to people as left out."
)


def _line(one: LeftOut) -> str:
    words = _REASON_TEXTS[one.reason]
    return f"{inline_code(one.path)} is {words.why}. {words.remedy}"


def _sentences(left_out: Sequence[LeftOut], *, is_grave: bool) -> Iterator[str]:
    for reason, words in _REASON_TEXTS.items():
        paths = [inline_code(one.path) for one in left_out if one.reason is reason]
        if paths and (reason in _WARNED_REASONS) is is_grave:
            more = len(paths) - _SHOWN
            listed = ", ".join(paths[:_SHOWN]) + (
                f" and {more} more" if more > 0 else ""
            )
            yield f"Left out of the change ({words.why}): {listed}."
