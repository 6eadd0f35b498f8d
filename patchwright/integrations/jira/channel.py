"""Jira as a service where people talk: tickets, and what can be shown beside them."""

from functools import cached_property

from pydantic import JsonValue

from patchwright.core.channel import Offers
from patchwright.core.errors import InvalidRequestError
from patchwright.core.settings.jira import JiraSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.jira.api import JiraClient, ticket_path
from patchwright.integrations.jira.comments import (
    add_comment,
    delete_comment,
    edit_comment,
    find_own_comment,
)
from patchwright.integrations.jira.fields import SiteFields, fetch_site_fields
from patchwright.integrations.jira.files import fetch_attachment
from patchwright.integrations.jira.links import attach_link
from patchwright.integrations.jira.moving import move_ticket
from patchwright.integrations.jira.offers import with_offers
from patchwright.integrations.jira.private import mail_notice, send_mail
from patchwright.integrations.jira.tickets import fetch_opening, fetch_thread


class JiraChannel:
    """A `Board`. The posts of a thread are a ticket's own words, files and comments."""

    def __init__(self, api: JiraClient, settings: JiraSettings) -> None:
        self._api = api
        self._settings = settings

    def acknowledge(self, trigger: Trigger) -> None:
        """Do nothing: Jira has no reactions, and the first comment comes at once."""

    def decline(self, trigger: Trigger) -> None:
        """Do nothing: what can be seen without words, Jira does not have."""

    def fetch_thread(self, ref: TalkThread) -> Thread:
        projects = frozenset(self._settings.projects)
        return fetch_thread(self._api, ref, self._site_fields, projects)

    def fetch_opening(self, ref: TalkThread) -> Thread:
        return fetch_opening(self._api, ref)

    def find_post(self, ref: TalkThread, mark: str) -> str | None:
        return find_own_comment(self._api, ref.id, mark)

    def post(self, ref: TalkThread, text: str, offers: Offers = ()) -> str:
        shown = self._with_offers(text, offers)
        return add_comment(self._api, ref.id, shown, ref.audience)

    def edit(
        self, ref: TalkThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        shown = self._with_offers(text, offers)
        edit_comment(self._api, ref.id, post_id, shown, ref.audience)

    def delete(self, ref: TalkThread, post_id: str) -> None:
        delete_comment(self._api, ref.id, post_id)

    def tell_privately(
        self, ref: TalkThread, actor: Actor, text: str, offers: Offers = ()
    ) -> None:
        send_mail(self._api, ref.id, actor, self._with_offers(text, offers))
        self.post(ref, mail_notice(actor))

    def swap_labels(
        self, ref: TalkThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        changes: list[JsonValue] = [{"add": name} for name in add]
        changes += [{"remove": name} for name in remove]
        if changes:
            self._api.put(ticket_path(ref.id), {"update": {"labels": changes}})

    def fetch_attachment(
        self,
        ref: TalkThread,
        url: str,
        max_bytes: int,
        post_id: str = "",  # noqa: ARG002 - a ticket's files belong to all its posts
    ) -> bytes:
        return fetch_attachment(self._api, ref.id, url, max_bytes)

    def open_thread(self, trigger: Trigger, text: str) -> TalkThread:  # noqa: ARG002 - a ticket is there before anybody can ask in it
        if not isinstance(trigger.thread, TalkThread):
            raise InvalidRequestError(f"{trigger.thread} is no ticket")
        return trigger.thread

    def name_people(self, trigger: Trigger) -> Trigger:
        """Leave it as it is: a delivery of Jira's has names."""
        return trigger

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        attach_link(self._api, ref.id, url, title, key)

    def move(self, ref: TalkThread, status: str) -> None:
        move_ticket(self._api, ref.id, status)

    @cached_property
    def _site_fields(self) -> SiteFields:
        return fetch_site_fields(self._api, self._settings.criteria_fields)

    def _with_offers(self, text: str, offers: Offers) -> str:
        return with_offers(text, offers, self._settings.mention)
