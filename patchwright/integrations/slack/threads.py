"""Read a thread of Slack as posts, with names for people and Markdown for text."""

from collections import OrderedDict, deque
from collections.abc import Iterable, Iterator
from datetime import UTC, datetime
from threading import Lock
from typing import Final

from patchwright.core.text.escape import Marked
from patchwright.core.types.base import Value
from patchwright.core.types.errors import NotFoundError, ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread, ThreadPost
from patchwright.integrations.slack.client import (
    SlackClient,
    channel_of,
    root_of,
    team_of,
)
from patchwright.integrations.slack.responses import (
    BotIdentity,
    MessagePage,
    Permalink,
    SlackMessage,
    UserResponse,
)
from patchwright.integrations.slack.text.actions import SERVICE
from patchwright.integrations.slack.text.message_reader import (
    MessageReader,
    address_of,
    files_of,
    people_of,
)
from patchwright.integrations.slack.text.mrkdwn import to_markdown

EVENT_TYPE: Final = "patchwright_run"
# What is meant for one person's eyes, such as a link that makes somebody of them, is no
# part of what a thread says.
PRIVATE_MARK: Final = "<!-- patchwright:private -->"


def run_metadata(marked: Marked, part_of: str = "") -> dict[str, object]:
    """Return the metadata of a message.

    Values are text, numbers, booleans, or objects of such: no lists of texts, so that
    the marks are lines. `part_of` is the message that this one continues.
    https://docs.slack.dev/tools/node-slack-sdk/reference/web-api/interfaces/MessageMetadata/
    """
    facts = {"state": marked.state, "run": marked.run_id, "part_of": part_of}
    said = {key: value for key, value in facts.items() if value}
    payload = {**said, "marks": "\n".join(marked.marks)}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def marks_of(message: SlackMessage) -> tuple[str, ...]:
    noted = message.metadata
    if noted is None or noted.event_type != EVENT_TYPE:
        return ()
    return tuple(noted.event_payload.marks.splitlines())


def part_of(message: SlackMessage) -> str:
    """Return the message that this one continues, or an empty string."""
    noted = message.metadata
    if noted is None or noted.event_type != EVENT_TYPE:
        return ""
    return noted.event_payload.part_of


MAX_NAMES: Final = 5_000


class UserNames:
    """Remembers names as long as the process lives, the latest used of them."""

    def __init__(self, api: SlackClient) -> None:
        self._api = api
        self._names: OrderedDict[tuple[str, str], str] = OrderedDict()
        self._lock = Lock()

    def names_of(self, team: str, ids: Iterable[str]) -> dict[str, str]:
        return {one: self.name_of(team, one) for one in sorted(set(ids))}

    def name_of(self, team: str, user: str) -> str:
        """Return the name, or the id of somebody whom this workspace cannot see."""
        known = self._recall((team, user))
        if known is not None:
            return known
        name = self._fetch(team, user)
        self._remember((team, user), name)
        return name

    def _fetch(self, team: str, user: str) -> str:
        try:
            found = self._api.ask(
                team, UserResponse, lambda client: client.users_info(user=user)
            )
        except NotFoundError:
            return user
        return found.user.shown

    def _recall(self, key: tuple[str, str]) -> str | None:
        with self._lock:
            name = self._names.get(key)
            if name is not None:
                self._names.move_to_end(key)
            return name

    def _remember(self, key: tuple[str, str], name: str) -> None:
        with self._lock:
            self._names[key] = name
            while len(self._names) > MAX_NAMES:
                self._names.popitem(last=False)


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
        # Each page begins with the root message again; it is returned once.
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


def _thread(
    api: SlackClient, people: UserNames, ref: TalkThread, found: ThreadMessages
) -> Thread:
    own = api.identity(team_of(ref))
    root, *rest = found.messages
    # The root stays what it is, though somebody deleted its text.
    messages = (
        root,
        *(one for one in without_notices(rest) if not _is_private(one, own)),
    )
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
