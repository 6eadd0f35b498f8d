"""Say something in a thread, and say it anew."""

from collections import OrderedDict
from contextlib import suppress
from itertools import zip_longest
from threading import Lock
from typing import Final

from patchwright.core.channel import Offers
from patchwright.core.errors import NotFoundError
from patchwright.core.text.marks import Marked
from patchwright.core.types.threads import TalkThread
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.composing import compose_messages
from patchwright.integrations.slack.metadata import marks_of, run_metadata, part_of
from patchwright.integrations.slack.payloads import EmptyResponse, SlackMessage, PostedMessage
from patchwright.integrations.slack.places import channel_of, root_of, team_of
from patchwright.integrations.slack.text.outgoing import SlackText
from patchwright.integrations.slack.threads import fetch_messages, is_own

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

    def find(self, ref: TalkThread, mark: str) -> str | None:
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
    api: SlackClient, ref: TalkThread, text: SlackText, metadata: MetadataJson, *, thread: str = ""
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
