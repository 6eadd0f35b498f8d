"""Read a thread of Slack as posts, with names for people and Markdown for text."""

from collections import deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from typing import Final

from patchwright.core.errors import NotFoundError, ServiceError
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ThreadPost, TalkThread, Thread
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.metadata import PRIVATE_MARK, marks_of
from patchwright.integrations.slack.payloads import (
    BotIdentity,
    SlackMessage,
    MessagePage,
    Permalink,
)
from patchwright.integrations.slack.people import UserNames
from patchwright.integrations.slack.places import channel_of, root_of, team_of
from patchwright.integrations.slack.text.incoming import to_markdown
from patchwright.integrations.slack.text.message import (
    MessageReader,
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


class ThreadMessages(Value):
    """The messages of a thread, oldest first, the first of all among them."""

    messages: tuple[SlackMessage, ...]
    unread: int


def fetch_thread(api: SlackClient, people: UserNames, ref: TalkThread) -> Thread:
    """Read the newest messages, and the one that began it."""
    return _thread(api, people, ref, fetch_messages(api, ref))


def fetch_opening(api: SlackClient, people: UserNames, ref: TalkThread) -> Thread:
    root = fetch_root(api, ref)
    return _thread(api, people, ref, ThreadMessages(messages=(root,), unread=0))


def is_attached(api: SlackClient, ref: TalkThread, url: str) -> bool:
    """Tell whether somebody has attached that file to a message of the thread."""
    found = fetch_messages(api, ref).messages
    return any(url == address_of(file) for one in found for file in files_of(one))


def fetch_root(api: SlackClient, ref: TalkThread) -> SlackMessage:
    page = _page(api, ref, cursor="", limit=1)
    if not page.messages:
        raise NotFoundError(f"Slack has no message {ref}")
    return page.messages[0]


def fetch_messages(api: SlackClient, ref: TalkThread) -> ThreadMessages:
    """Read the newest of them; Slack sends the oldest first, whatever is asked."""
    found = tuple(_iterate_messages(api, ref))
    if not found:
        raise NotFoundError(f"Slack has no message {ref}")
    root, *rest = found
    kept = deque(rest, MAX_POSTS - 1)
    messages = (root, *kept)
    return ThreadMessages(messages=messages, unread=len(rest) - len(kept))


def without_notices(messages: Iterable[SlackMessage]) -> Iterator[SlackMessage]:
    """Leave out who joined, and what else nobody wrote."""
    return (one for one in messages if one.subtype in _WRITTEN)


def is_own(message: SlackMessage, own: BotIdentity) -> bool:
    return message.user == own.user_id or bool(
        own.bot_id and message.bot_id == own.bot_id
    )


def _iterate_messages(api: SlackClient, ref: TalkThread) -> Iterator[SlackMessage]:
    cursor = ""
    for _ in range(_MAX_PAGES):
        page = _page(api, ref, cursor=cursor, limit=_PAGE)
        # Each page begins with the root again, as people have seen; it is told once.
        yield from (m for m in page.messages if not cursor or m.ts != ref.id)
        cursor = page.cursor
        if not cursor:
            return
    raise ServiceError(f"{ref} has no end")


def _page(api: SlackClient, ref: TalkThread, *, cursor: str, limit: int) -> MessagePage:
    channel, root = channel_of(ref), root_of(ref)
    return api.ask(
        team_of(ref),
        MessagePage,
        lambda client: client.conversations_replies(
            channel=channel,
            ts=root,
            cursor=cursor or None,
            limit=limit,
            include_all_metadata=True,
        ),
    )


def _thread(api: SlackClient, people: UserNames, ref: TalkThread, found: ThreadMessages) -> Thread:
    own = api.identity(team_of(ref))
    root, *rest = found.messages
    # The root stays what it is, though somebody deleted its text.
    messages = (root, *(one for one in without_notices(rest) if not _is_private(one, own)))
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


def _permalink(api: SlackClient, ref: TalkThread) -> str:
    channel, root = channel_of(ref), root_of(ref)
    found = api.ask(
        team_of(ref),
        Permalink,
        lambda client: client.chat_getPermalink(channel=channel, message_ts=root),
    )
    return found.permalink


def _post(message: SlackMessage, own: BotIdentity, names: dict[str, str]) -> ThreadPost:
    edited = message.edited.ts if message.edited else ""
    return ThreadPost(
        id=message.ts,
        author=_author(message, own, names),
        text=_text(message, own, names),
        at=_moment(message.ts),
        edited_at=_moment(edited) if edited else None,
    )


def _author(message: SlackMessage, own: BotIdentity, names: dict[str, str]) -> Actor:
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


def _is_private(message: SlackMessage, own: BotIdentity) -> bool:
    return is_own(message, own) and PRIVATE_MARK in marks_of(message)


def _text(message: SlackMessage, own: BotIdentity, names: dict[str, str]) -> str:
    if _is_private(message, own):
        return ""
    if is_own(message, own):
        # Our blocks show what our text says, and buttons.
        text = to_markdown(message.text, names=names, own_id=own.user_id)
        return "\n".join((text, *marks_of(message)))
    whole = MessageReader(names, own.user_id).read(message)
    # Nobody else writes our marks, whatever their text looks like.
    return whole.replace("<!-- patchwright:", "<! -- patchwright:")


def _moment(ts: str) -> datetime:
    return datetime.fromtimestamp(float(ts), UTC)
