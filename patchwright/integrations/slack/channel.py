"""Slack as a service where people talk: channels and direct messages."""

from typing import Final

from patchwright.core.channel import Offers
from patchwright.core.errors import NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.slack.api import SlackClient
from patchwright.integrations.slack.files import fetch_file
from patchwright.integrations.slack.naming import name_people
from patchwright.integrations.slack.opening import open_thread
from patchwright.integrations.slack.people import UserNames
from patchwright.integrations.slack.places import team_of
from patchwright.integrations.slack.posts import MessageWriter
from patchwright.integrations.slack.private import tell_privately
from patchwright.integrations.slack.reactions import react
from patchwright.integrations.slack.threads import (
    fetch_opening,
    fetch_thread,
    is_attached,
)

SEEN: Final = "eyes"
DECLINED: Final = "confused"


class SlackChannel:
    """A `Board`: threads that we open ourselves, with no labels, links or status."""

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
            raise NotFoundError("no such file is attached in this thread")
        return fetch_file(self._api, team_of(ref), url, max_bytes)

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:
        return open_thread(self._api, trigger, text)

    def name_people(self, trigger: Trigger) -> Trigger:
        return name_people(self._people, trigger)

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        """Leave the links to our message."""

    def move(self, ref: TalkThread, status: str) -> None:
        """Leave it as it is: a thread has no status."""
