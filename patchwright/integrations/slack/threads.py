"""Read a thread of Slack as posts, with names for people and Markdown for text."""

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from patchwright.core.errors import NotFoundError, ServiceError
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import Post, TalkThread, Thread
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.api import Api
from patchwright.integrations.slack.metadata import PRIVATE, marks_of
from patchwright.integrations.slack.payloads import (
    Identity,
    Message,
    Messages,
    Permalink,
)
from patchwright.integrations.slack.people import People
from patchwright.integrations.slack.places import channel_of, root_of, team_of
from patchwright.integrations.slack.text.incoming import to_markdown
from patchwright.integrations.slack.text.message import (
    Reader,
    address_of,
    files_of,
    people_of,
)

MAX_POSTS: Final = 1_000
MAX_TITLE: Final = 80
# https://docs.slack.dev/reference/methods/conversations.replies recommends no more.
_PAGE: Final = 200
_MAX_PAGES: Final = 250
# Kinds of messages that people or programs wrote; the others tell what happened.
_WRITTEN: Final = frozenset(
    {
        "",
        "bot_message",
        "file_share",
        "me_message",
        "thread_broadcast",
        "reply_broadcast",
    }
)


class Found(Value):
    """The messages of a thread, oldest first, the first of all among them."""

    messages: tuple[Message, ...]
    unread: int


def fetch_thread(api: Api, people: People, ref: TalkThread) -> Thread:
    """Read the newest messages, and the one that began it."""
    return _thread(api, people, ref, fetch_messages(api, ref))


def fetch_opening(api: Api, people: People, ref: TalkThread) -> Thread:
    root = fetch_root(api, ref)
    return _thread(api, people, ref, Found(messages=(root,), unread=0))


def is_attached(api: Api, ref: TalkThread, url: str) -> bool:
    """Tell whether somebody has attached that file to a message of the thread."""
    found = fetch_messages(api, ref).messages
    return any(url == address_of(file) for one in found for file in files_of(one))


def fetch_root(api: Api, ref: TalkThread) -> Message:
    page = _page(api, ref, cursor="", limit=1)
    if not page.messages:
        raise NotFoundError(f"Slack has no message {ref}")
    return page.messages[0]


def fetch_messages(api: Api, ref: TalkThread) -> Found:
    """Read the newest of them; Slack sends the oldest first, whatever is asked."""
    found = tuple(_each(api, ref))
    if not found:
        raise NotFoundError(f"Slack has no message {ref}")
    root, *rest = found
    kept = deque(rest, MAX_POSTS - 1)
    messages = (root, *kept)
    return Found(messages=messages, unread=len(rest) - len(kept))


def written(messages: Iterable[Message]) -> Iterator[Message]:
    """Leave out who joined, and what else nobody wrote."""
    return (one for one in messages if one.subtype in _WRITTEN)


def is_own(message: Message, own: Identity) -> bool:
    return message.user == own.user_id or bool(
        own.bot_id and message.bot_id == own.bot_id
    )


def _each(api: Api, ref: TalkThread) -> Iterator[Message]:
    cursor = ""
    for _ in range(_MAX_PAGES):
        page = _page(api, ref, cursor=cursor, limit=_PAGE)
        # Each page begins with the root again, as people have seen; it is told once.
        yield from (m for m in page.messages if not cursor or m.ts != ref.id)
        cursor = page.cursor
        if not cursor:
            return
    raise ServiceError(f"{ref} has no end")


def _page(api: Api, ref: TalkThread, *, cursor: str, limit: int) -> Messages:
    channel, root = channel_of(ref), root_of(ref)
    return api.ask(
        team_of(ref),
        Messages,
        lambda client: client.conversations_replies(
            channel=channel,
            ts=root,
            cursor=cursor or None,
            limit=limit,
            include_all_metadata=True,
        ),
    )


def _thread(api: Api, people: People, ref: TalkThread, found: Found) -> Thread:
    own = api.identity(team_of(ref))
    root, *rest = found.messages
    # The root stays what it is, though somebody deleted its text.
    messages = (root, *(one for one in written(rest) if not _is_private(one, own)))
    ids = {one for m in messages for one in (*people_of(m), m.user) if one}
    names = people.names_of(team_of(ref), ids - {own.user_id})
    posts = tuple(_post(message, own, names) for message in messages)
    return Thread(
        ref=ref,
        title=title_of(posts[0].text),
        url=_permalink(api, ref),
        posts=posts,
        unread=found.unread,
    )


def title_of(text: str) -> str:
    """Return what a thread is called, which has no title: its first line."""
    first = next((line.strip() for line in text.splitlines() if line.strip()), "")
    return first if len(first) <= MAX_TITLE else f"{first[: MAX_TITLE - 1]}…"


def _permalink(api: Api, ref: TalkThread) -> str:
    channel, root = channel_of(ref), root_of(ref)
    found = api.ask(
        team_of(ref),
        Permalink,
        lambda client: client.chat_getPermalink(channel=channel, message_ts=root),
    )
    return found.permalink


def _post(message: Message, own: Identity, names: dict[str, str]) -> Post:
    edited = message.edited.ts if message.edited else ""
    return Post(
        id=message.ts,
        author=_author(message, own, names),
        text=_text(message, own, names),
        at=_moment(message.ts),
        edited_at=_moment(edited) if edited else None,
    )


def _author(message: Message, own: Identity, names: dict[str, str]) -> Actor:
    team = message.user_team or message.team or own.team_id
    if is_own(message, own):
        return Actor(
            service=SERVICE,
            login=own.user,
            external_id=own.user_id,
            is_bot=True,
            host=own.team_id,
        )
    bot_name = message.bot_profile.name if message.bot_profile else ""
    is_bot = bool(message.bot_id) or message.subtype == "bot_message"
    name = (message.username or bot_name) if is_bot else ""
    return Actor(
        service=SERVICE,
        login=name or names.get(message.user, "") or message.user or message.bot_id,
        external_id=message.user or message.bot_id,
        is_bot=is_bot,
        host=team,
    )


def _is_private(message: Message, own: Identity) -> bool:
    return is_own(message, own) and PRIVATE in marks_of(message)


def _text(message: Message, own: Identity, names: dict[str, str]) -> str:
    if _is_private(message, own):
        return ""
    if is_own(message, own):
        # Our blocks show what our text says, and buttons.
        text = to_markdown(message.text, names=names, own_id=own.user_id)
        return "\n".join((text, *marks_of(message)))
    whole = Reader(names, own.user_id).read(message)
    # Nobody else writes our marks, whatever their text looks like.
    return whole.replace("<!-- patchwright:", "<! -- patchwright:")


def _moment(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)
