"""Where a thread is, in Slack's words."""

from typing import Final

from patchwright.core.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.threads import TalkThread

# A place that is a person: the talk with them is opened first.
_PERSON: Final = "@"


def team_of(ref: TalkThread) -> str:
    """Return the installation whose token answers there."""
    return ref.place.partition("/")[0]


def channel_of(ref: TalkThread) -> str:
    """Return the channel; `InvalidRequestError` where it is only known who it is."""
    channel = ref.place.partition("/")[2]
    if not channel or channel.startswith(_PERSON):
        raise InvalidRequestError(f"no conversation was opened for {ref} yet")
    return channel


def person_of(ref: TalkThread) -> str | None:
    """Return whom the thread will be with, where it is not opened yet."""
    channel = ref.place.partition("/")[2]
    return channel[1:] if channel.startswith(_PERSON) else None


def is_unopened(ref: TalkThread) -> bool:
    return not ref.has_begun


def root_of(ref: TalkThread) -> str:
    """Return the time stamp of the first message; `NotFoundError` without one."""
    if is_unopened(ref):
        raise NotFoundError(f"{ref} has no message yet")
    return ref.id


def is_direct(channel: str) -> bool:
    """Tell whether it is a talk between one person and us."""
    return channel.startswith("D")
