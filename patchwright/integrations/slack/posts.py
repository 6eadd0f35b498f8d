"""Write in Slack: post, edit and delete, open a thread, tell one person privately."""

from collections import OrderedDict
from contextlib import suppress
from dataclasses import dataclass
from itertools import zip_longest
from threading import Lock
from typing import Final

from patchwright.core.channel import Offers
from patchwright.core.text.escape import Marked, split_marks
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.client import (
    SlackClient,
    channel_of,
    is_direct,
    is_unopened,
    open_direct_message,
    person_of,
    root_of,
    team_of,
)
from patchwright.integrations.slack.responses import (
    EmptyResponse,
    MessagePage,
    PostedMessage,
    SlackMessage,
)
from patchwright.integrations.slack.text.actions import offer_blocks
from patchwright.integrations.slack.text.message_writer import SlackText, render
from patchwright.integrations.slack.threads import (
    PRIVATE_MARK,
    fetch_messages,
    fetch_root,
    is_own,
    marks_of,
    part_of,
    run_metadata,
)


@dataclass(frozen=True, slots=True)
class ComposedMessages:
    """The messages of one text: the first stands for it, the rest follow."""

    messages: tuple[SlackText, ...]
    marked: Marked


def compose_messages(
    ref: TalkThread, markdown: str, offers: Offers
) -> ComposedMessages:
    """Put what is offered below the first message: it is the one that is edited."""
    marked = split_marks(markdown)
    first, *rest = render(marked.text)
    blocks = (*first.blocks, *offer_blocks(ref, offers))
    shown = SlackText(text=first.text, blocks=blocks)
    return ComposedMessages(messages=(shown, *rest), marked=marked)


_MAX_REMEMBERED: Final = 2_000
_NO_MARKS: Final = Marked(text="")
MetadataJson = dict[str, object]


class MessageWriter:
    """Our messages. A text too long for one goes on in the next, below the first."""

    def __init__(self, api: SlackClient) -> None:
        self._api = api
        self._single_messages = _SingleMessages()

    def post(self, ref: TalkThread, text: str, offers: Offers = ()) -> str:
        """Reply in the thread, and return the time stamp of the first message."""
        root = root_of(ref)
        composed = compose_messages(ref, text, offers)
        first, *rest = composed.messages
        posted = send(self._api, ref, first, run_metadata(composed.marked), thread=root)
        for one in rest:
            self._continue(ref, posted.ts, one)
        if not rest:
            self._single_messages.add(posted.ts)
        return posted.ts

    def edit(
        self, ref: TalkThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        composed = compose_messages(ref, text, offers)
        first, *rest = composed.messages
        self._replace(ref, post_id, first, run_metadata(composed.marked))
        if rest or post_id not in self._single_messages:
            self._update_continuations(ref, post_id, tuple(rest))

    def delete(self, ref: TalkThread, post_id: str) -> None:
        """Take back a post with all that continues it; what is gone is gone."""
        parts = [m.ts for m in self._own(ref) if part_of(m) == post_id]
        for ts in (post_id, *parts):
            with suppress(NotFoundError):
                self._remove(ref, ts)
        self._single_messages.discard(post_id)

    def find_post(self, ref: TalkThread, mark: str) -> str | None:
        own = (m for m in self._own(ref) if mark in "\n".join(marks_of(m)))
        return next((message.ts for message in own), None)

    def _own(self, ref: TalkThread) -> list[SlackMessage]:
        own = self._api.identity(team_of(ref))
        found = fetch_messages(self._api, ref).messages
        return [message for message in found if is_own(message, own)]

    def _update_continuations(
        self, ref: TalkThread, post_id: str, wanted: tuple[SlackText, ...]
    ) -> None:
        """Make the continuations what they should be: replaced, added, taken away."""
        found = [m.ts for m in self._own(ref) if part_of(m) == post_id]
        for ts, text in zip_longest(found, wanted):
            if ts is None:
                self._continue(ref, post_id, text)
            elif text is None:
                self._remove(ref, ts)
            else:
                self._replace(ref, ts, text, run_metadata(_NO_MARKS, post_id))
        if wanted:
            self._single_messages.discard(post_id)
        else:
            self._single_messages.add(post_id)

    def _continue(self, ref: TalkThread, post_id: str, text: SlackText) -> None:
        metadata = run_metadata(_NO_MARKS, post_id)
        send(self._api, ref, text, metadata, thread=root_of(ref))

    def _replace(
        self, ref: TalkThread, ts: str, text: SlackText, metadata: MetadataJson
    ) -> None:
        channel = channel_of(ref)
        self._api.ask(
            team_of(ref),
            EmptyResponse,
            lambda client: client.chat_update(
                channel=channel,
                ts=ts,
                text=text.text,
                blocks=list(text.blocks),
                metadata=metadata,
            ),
        )

    def _remove(self, ref: TalkThread, ts: str) -> None:
        channel = channel_of(ref)
        self._api.ask(
            team_of(ref),
            EmptyResponse,
            lambda client: client.chat_delete(channel=channel, ts=ts),
        )


def send(
    api: SlackClient,
    ref: TalkThread,
    text: SlackText,
    metadata: MetadataJson,
    *,
    thread: str = "",
) -> PostedMessage:
    """Post one message, in a thread or at the end of the channel."""
    channel = channel_of(ref)
    return api.ask(
        team_of(ref),
        PostedMessage,
        lambda client: client.chat_postMessage(
            channel=channel,
            thread_ts=thread or None,
            text=text.text,
            blocks=list(text.blocks),
            metadata=metadata,
            unfurl_links=False,
            unfurl_media=False,
        ),
    )


class _SingleMessages:
    """Remembers posts that nothing continues, so that nobody has to look."""

    def __init__(self) -> None:
        self._posts: OrderedDict[str, None] = OrderedDict()
        self._lock = Lock()

    def __contains__(self, post_id: str) -> bool:
        with self._lock:
            return post_id in self._posts

    def add(self, post_id: str) -> None:
        with self._lock:
            self._posts[post_id] = None
            while len(self._posts) > _MAX_REMEMBERED:
                self._posts.popitem(last=False)

    def discard(self, post_id: str) -> None:
        with self._lock:
            self._posts.pop(post_id, None)


# How many messages may have been written between two tries.
_LATEST = 100


def open_thread(api: SlackClient, trigger: Trigger, text: str) -> TalkThread:
    """Post the text, which says who asked for what, and return the thread of that.

    It is in the channel of the request, or with the asker where we may not write there.
    """
    ref = trigger.thread
    if not isinstance(ref, TalkThread):
        raise InvalidRequestError(f"{ref} is not a thread in Slack")
    if not is_unopened(ref):
        return ref
    if person_of(ref) is None:
        try:
            return _post_opening(api, ref, text)
        except (PermissionDeniedError, NotFoundError):
            # A slash command works also where we were never invited.
            pass
    direct = open_direct_message(api, ref, person_of(ref) or trigger.actor.external_id)
    return _post_opening(api, direct, text)


def _post_opening(api: SlackClient, ref: TalkThread, text: str) -> TalkThread:
    mark = f"<!-- patchwright:opened={ref.id} -->"
    # Marks of ours are put in here alone: the text has other people's words.
    shown = text.replace("<!--", "<! --")
    ts = _find(api, ref, mark) or _post(api, ref, f"{shown}\n{mark}")
    return ref.replace(id=ts)


def _find(api: SlackClient, ref: TalkThread, mark: str) -> str | None:
    """Return the message of an earlier try, if there is one."""
    team, channel = team_of(ref), channel_of(ref)
    own = api.identity(team)
    found = api.ask(
        team,
        MessagePage,
        lambda client: client.conversations_history(
            channel=channel, limit=_LATEST, include_all_metadata=True
        ),
    )
    ours = (m for m in found.messages if is_own(m, own) and mark in marks_of(m))
    return next((message.ts for message in ours), None)


def _post(api: SlackClient, ref: TalkThread, text: str) -> str:
    composed = compose_messages(ref, text, ())
    first, *rest = composed.messages
    root = send(api, ref, first, run_metadata(composed.marked)).ts
    for one in rest:
        send(api, ref, one, run_metadata(Marked(text=""), root), thread=root)
    return root


def tell_privately(
    api: SlackClient, ref: TalkThread, actor: Actor, text: str, offers: Offers
) -> None:
    """Show it to them alone where they asked, or write to them where that cannot be."""
    if not actor.external_id:
        raise InvalidRequestError(f"{actor.login} has no id in Slack")
    composed = compose_messages(ref, f"{text}\n{PRIVATE_MARK}", offers)
    if person_of(ref) is None and not is_direct(channel_of(ref)):
        try:
            _show(api, ref, actor, composed)
        except (PermissionDeniedError, NotFoundError):
            # They, or we, are not in that channel.
            pass
        else:
            return
    _write(api, ref, actor, composed)


def _show(
    api: SlackClient, ref: TalkThread, actor: Actor, composed: ComposedMessages
) -> None:
    thread = _thread_to_show_in(api, ref)
    for message in composed.messages:
        _show_one(api, ref, actor, message, thread)


def _show_one(
    api: SlackClient,
    ref: TalkThread,
    actor: Actor,
    message: SlackText,
    thread: str | None,
) -> None:
    channel = channel_of(ref)
    api.ask(
        team_of(ref),
        EmptyResponse,
        lambda client: client.chat_postEphemeral(
            channel=channel,
            user=actor.external_id,
            thread_ts=thread,
            text=message.text,
            blocks=list(message.blocks),
        ),
    )


def _thread_to_show_in(api: SlackClient, ref: TalkThread) -> str | None:
    """Return the thread if it has a reply: in one without, nobody sees it.

    https://docs.slack.dev/reference/methods/chat.postEphemeral/
    """
    if is_unopened(ref):
        return None
    return ref.id if fetch_root(api, ref).reply_count else None


def _write(
    api: SlackClient, ref: TalkThread, actor: Actor, composed: ComposedMessages
) -> None:
    is_here = person_of(ref) is None and is_direct(channel_of(ref))
    to = ref if is_here else open_direct_message(api, ref, actor.external_id)
    thread = ref.id if is_here and not is_unopened(ref) else ""
    for message in composed.messages:
        send(api, to, message, run_metadata(composed.marked), thread=thread)
