"""Slack as a channel: channels and direct messages, with reactions and names."""

import re
from collections.abc import Mapping
from typing import Final

from patchwright.core.channel import Offers
from patchwright.core.errors import InvalidRequestError, NotFoundError, ServiceError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.attachments import fetch_file
from patchwright.integrations.slack.client import (
    SlackClient,
    channel_of,
    is_unopened,
    team_of,
)
from patchwright.integrations.slack.errors import SlackRefusalError
from patchwright.integrations.slack.posts import (
    MessageWriter,
    open_thread,
    tell_privately,
)
from patchwright.integrations.slack.responses import EmptyResponse
from patchwright.integrations.slack.text.mrkdwn import escape_markdown
from patchwright.integrations.slack.threads import (
    UserNames,
    fetch_opening,
    fetch_thread,
    is_attached,
)

# An id as our Markdown shows somebody without a name.
_ID: Final = re.compile(r"(?<![\w.@/-])@([UW][A-Z0-9]+)\b")
# Each may cost a question to Slack.
_MAX_LOOKUPS: Final = 20


def name_people(people: UserNames, trigger: Trigger) -> Trigger:
    """Return the request with names; who has none that we can learn keeps the id."""
    if not isinstance(trigger.thread, TalkThread):
        return trigger
    texts = (trigger.title, trigger.body, trigger.text, trigger.request)
    ids = [one for text in texts for one in _ID.findall(text)]
    if not ids:
        return trigger
    try:
        names = people.names_of(
            team_of(trigger.thread), list(dict.fromkeys(ids))[:_MAX_LOOKUPS]
        )
    except ServiceError:
        return trigger
    title, body, text, request = (_named(one, names) for one in texts)
    return trigger.replace(title=title, body=body, text=text, request=request)


def _named(text: str, names: Mapping[str, str]) -> str:
    def name(found: re.Match[str]) -> str:
        return f"@{escape_markdown(' '.join(names.get(found[1], found[1]).split()))}"

    return _ID.sub(name, text)


def react(api: SlackClient, trigger: Trigger, reaction: str) -> None:
    """React to the message that asked; where there is none there is nothing to do."""
    ref = trigger.thread
    if not isinstance(ref, TalkThread):
        raise InvalidRequestError(f"{ref} is not a thread in Slack")
    if is_unopened(ref):
        return
    channel = channel_of(ref)
    try:
        api.ask(
            team_of(ref),
            EmptyResponse,
            lambda client: client.reactions_add(
                channel=channel, timestamp=trigger.post_id or ref.id, name=reaction
            ),
        )
    except SlackRefusalError as error:
        if error.code != "already_reacted":
            raise


SEEN: Final = "eyes"
DECLINED: Final = "confused"


class SlackChannel:
    """A `Tracker`: threads that we open ourselves, with no labels, links or status."""

    def __init__(self, api: SlackClient, people: UserNames) -> None:
        self._api, self._people = api, people
        self._posts = MessageWriter(api)

    def acknowledge(self, trigger: Trigger) -> None:
        react(self._api, trigger, SEEN)

    def decline(self, trigger: Trigger) -> None:
        react(self._api, trigger, DECLINED)

    def fetch_thread(self, ref: TalkThread) -> Thread:
        return fetch_thread(self._api, self._people, ref)

    def fetch_opening(self, ref: TalkThread) -> Thread:
        return fetch_opening(self._api, self._people, ref)

    def find_post(self, ref: TalkThread, mark: str) -> str | None:
        return self._posts.find(ref, mark)

    def post(self, ref: TalkThread, text: str, offers: Offers = ()) -> str:
        return self._posts.post(ref, text, offers)

    def edit(
        self, ref: TalkThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        self._posts.edit(ref, post_id, text, offers)

    def delete(self, ref: TalkThread, post_id: str) -> None:
        self._posts.delete(ref, post_id)

    def tell_privately(
        self, ref: TalkThread, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        tell_privately(self._api, ref, actor, text, offers)

    def swap_labels(
        self, ref: TalkThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        """Leave it as it is: Slack has no labels."""

    def fetch_attachment(
        self,
        ref: TalkThread,
        url: str,
        max_bytes: int,
        post_id: str = "",  # noqa: ARG002 - a file's address is enough
    ) -> bytes:
        # Our rights open files that who names their address may not see.
        if not is_attached(self._api, ref, url):
            raise NotFoundError("this thread has no such attached file")
        return fetch_file(self._api, team_of(ref), url, max_bytes)

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        return open_thread(self._api, trigger, text)

    def name_people(self, trigger: Trigger) -> Trigger:
        return name_people(self._people, trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        """Leave the links to our message."""

    def move(self, ref: TalkThread, status: str) -> None:
        """Leave it as it is: a thread has no status."""
