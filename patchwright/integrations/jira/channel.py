"""Jira as a channel: comments, files, links, mails, labels and the status."""

import re
from collections.abc import Sequence
from functools import cached_property
from typing import Final
from urllib.parse import urljoin, urlsplit

from markdown_it import MarkdownIt
from pydantic import JsonValue
from requests import Response

from patchwright.core.channel import Offer, Offers, Tracker
from patchwright.core.text.escape import MENTION_LINK, mention_link, split_marks
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import TalkThread, Thread
from patchwright.core.types.triggers import Trigger
from patchwright.integrations.http.limits import CHUNK_BYTES, read_limited
from patchwright.integrations.jira.client import JiraClient, ticket_path
from patchwright.integrations.jira.comments import (
    add_comment,
    delete_comment,
    edit_comment,
    find_own_comment,
)
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.jira.threads import (
    SiteFields,
    fetch_opening,
    fetch_site_fields,
    fetch_thread,
)
from patchwright.integrations.jira.webhooks import payloads
from patchwright.integrations.jira.webhooks.payloads import (
    JiraAttachment,
    JiraModel,
    parse_answer,
)

MAX_REDIRECTS: Final = 3
# A data center's addresses, and Cloud's.
_FILE: Final = re.compile(
    r"/(?:secure/(?:attachment|thumbnail)/|rest/api/\d/attachment/content/)(\d+)(?=/|\Z)"
)
_OK: Final = 200
_MISSING: Final = frozenset({401, 403, 404, 410})


class _AttachmentFields(JiraModel):
    attachment: tuple[JiraAttachment, ...] = ()


class _AttachmentTicket(JiraModel):
    fields: _AttachmentFields = _AttachmentFields()


def fetch_attachment(api: JiraClient, key: str, url: str, max_bytes: int) -> bytes:
    """Return a file of this ticket; our rights open no others that a text names."""
    number = attachment_of(api.base_url, url)
    answer = api.get(ticket_path(key), {"fields": "attachment"})
    files = parse_answer(_AttachmentTicket, answer).fields.attachment
    found = next((file.content for file in files if file.id == number), None)
    if found is None:
        raise NotFoundError("this ticket has no such attached file")
    # Jira's own word for where it is, which may not lead elsewhere either.
    attachment_of(api.base_url, found)
    return _follow(api, found, max_bytes)


def attachment_of(base_url: str, url: str) -> str:
    """Return the id of the attachment; `InvalidRequestError` for anything else."""
    site = urlsplit(base_url)
    try:
        wanted = urlsplit(url)
    except ValueError as error:
        raise InvalidRequestError("it is not an address") from error
    is_here = (wanted.scheme, wanted.netloc) == (site.scheme, site.netloc)
    is_below = wanted.path.startswith(f"{site.path}/")
    path = wanted.path.removeprefix(site.path)
    found = _FILE.match(path) if is_here and is_below else None
    if found is None:
        raise InvalidRequestError("it is not a file of this Jira")
    return found[1]


def _follow(api: JiraClient, url: str, max_bytes: int) -> bytes:
    """Go where Jira sends us, as nobody: Cloud's files are on a host for files.

    https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issue-attachments/#api-rest-api-3-attachment-content-id-get
    """
    as_ourselves = True
    for _ in range(MAX_REDIRECTS + 1):
        with api.open(url, as_ourselves=as_ourselves) as answer:
            if not answer.is_redirect:
                return _read(answer, max_bytes)
            url = _next(url, answer.headers["Location"])
        as_ourselves = False
    raise ServiceUnavailableError("Jira redirects too often")


def _next(url: str, location: str) -> str:
    """Return where to go, which is no less secret than the way so far."""
    try:
        found = urljoin(url, location)
    except ValueError as error:
        raise InvalidRequestError("the redirect has no address") from error
    if urlsplit(found).scheme not in ("https", urlsplit(url).scheme):
        raise InvalidRequestError("the redirect goes to an address without TLS")
    return found


def _read(answer: Response, max_bytes: int) -> bytes:
    status = answer.status_code
    if status in _MISSING:
        raise NotFoundError(f"Jira answered {status}")
    if status != _OK:
        raise ServiceUnavailableError(f"Jira answered {status}")
    return read_limited(answer.iter_content(CHUNK_BYTES), max_bytes)


def with_offers(text: str, offers: Offers, mention: str) -> str:
    """Add the offers that the text does not make already."""
    lines = [line for offer in offers if (line := _offer_line(text, offer, mention))]
    return "\n\n".join((text, "\n".join(lines))) if lines else text


def _offer_line(text: str, offer: Offer, mention: str) -> str:
    if offer.url:
        return "" if offer.url in text else f"- [{offer.words}]({offer.url})"
    command = f"{mention} {offer.command}"
    # What is picked from a list or typed into a form elsewhere is an answer here.
    needs_words = offer.asks and not offer.example
    if offer.is_in_text or offer.picks_repository or needs_words or not offer.command:
        return ""
    if command in text or f"`{offer.command}`" in text:
        return ""
    return f"- {offer.words}: reply `{f'{command} {offer.example}'.strip()}`"


# https://developer.atlassian.com/server/jira/platform/jira-rest-api-for-remote-issue-links/
_MAX_CHARS: Final = 255


def attach_link(api: JiraClient, ticket: str, url: str, title: str, key: str) -> None:
    """Jira makes a link with a new key, and changes the one with a known key."""
    api.post(f"{ticket_path(ticket)}/remotelink", _link(url, title, key))


def _link(url: str, title: str, key: str) -> payloads.JsonObject:
    shown = title if len(title) <= _MAX_CHARS else f"{title[: _MAX_CHARS - 1]}…"
    return {
        "globalId": key[:_MAX_CHARS],
        "application": {"type": "io.patchwright", "name": "Patchwright"},
        "relationship": "pull request",
        "object": {
            "url": url,
            "title": shown,
            "icon": {"url16x16": urljoin(url, "/favicon.ico"), "title": "Pull request"},
        },
    }


_REFUSALS: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)
_CALL: Final = re.compile(rf"\[([^\]\n]*)\]\({re.escape(MENTION_LINK)}[^)\n]*\)")
_HTML: Final = MarkdownIt("commonmark", {"html": False})


def send_mail(api: JiraClient, key: str, actor: Actor, text: str) -> None:
    """Let Jira write to that user alone.

    Raises `InvalidRequestError` where it sends no mail, or not to them.
    https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issues/#api-rest-api-3-issue-issueidorkey-notify-post
    """
    if not actor.external_id:
        raise InvalidRequestError("Jira does not know this user")
    try:
        api.post(f"{ticket_path(key)}/notify", _mail(api, key, actor, text))
    except _REFUSALS as error:
        raise InvalidRequestError(f"the e-mail could not be sent: {error}") from error


def mail_notice(actor: Actor) -> str:
    """Return the public words beside the mail: what it says is not among them."""
    whom = mention_link(actor.login, actor.external_id)
    return f"{whom} I emailed you a private message."


def _mail(api: JiraClient, key: str, actor: Actor, text: str) -> payloads.JsonObject:
    words = _CALL.sub(r"\1", split_marks(text).text)
    return {
        "subject": f"Patchwright needs your answer for {key}",
        "textBody": words,
        "htmlBody": _HTML.render(words),
        "to": {
            "reporter": False,
            "assignee": False,
            "watchers": False,
            "voters": False,
            "users": [api.deployment.person(actor.external_id)],
        },
    }


_OWN_FIELD: Final = re.compile(r"customfield_\d+")


class _StatusFields(payloads.JiraModel):
    status: payloads.NamedValue = payloads.NamedValue()


class _StatusAnswer(payloads.JiraModel):
    fields: _StatusFields = _StatusFields()


def move_ticket(api: JiraClient, key: str, status: str) -> None:
    """Take the way there, unless it is there already."""
    if _is_same_name(_fetch_status(api, key), status):
        return
    path = f"{ticket_path(key)}/transitions"
    answer = api.get(path, {"expand": "transitions.fields"})
    ways = payloads.parse_answer(payloads.Transitions, answer).transitions
    way = choose_transition(ways, status)
    try:
        api.post(path, {"transition": {"id": way.id}})
    except InvalidRequestError as error:
        # What a workflow's own check wants, the way does not tell beforehand.
        raise InvalidRequestError(_with_field_names(api, way, str(error))) from None


def choose_transition(
    ways: Sequence[payloads.Transition], status: str
) -> payloads.Transition:
    """Return the way that leads there, or is called so, and wants nothing filled in."""
    leading = [way for way in ways if _is_same_name(way.to.name, status)]
    called = [way for way in ways if _is_same_name(way.name, status)]
    fitting = leading or called
    if not fitting:
        there = ", ".join(sorted({way.to.name for way in ways})) or "nowhere"
        raise InvalidRequestError(
            f"the workflow has no transition to {status} from here, only to: {there}"
        )
    free = [way for way in fitting if not _required_fields(way)]
    if not free:
        wanted = ", ".join(_required_fields(fitting[0]))
        raise InvalidRequestError(
            f"the transition to {status} needs the field: {wanted}"
        )
    return free[0]


def _with_field_names(api: JiraClient, way: payloads.Transition, refusal: str) -> str:
    """Return a refusal with the names of fields, where Jira tells their ids."""
    ids = set(_OWN_FIELD.findall(refusal))
    if not ids:
        return refusal
    names = {one: field.name for one, field in way.fields.items() if field.name}
    if not ids <= names.keys():
        known = payloads.parse_answer(payloads.FieldDefinitions, api.get("field")).root
        names = {one.id: one.name for one in known} | names
    return _OWN_FIELD.sub(lambda found: names.get(found[0]) or found[0], refusal)


def _required_fields(way: payloads.Transition) -> list[str]:
    return [
        field.name or field_id
        for field_id, field in way.fields.items()
        if field.required and not field.has_default_value
    ]


def _fetch_status(api: JiraClient, key: str) -> str:
    answer = api.get(ticket_path(key), {"fields": "status"})
    return payloads.parse_answer(_StatusAnswer, answer).fields.status.name


def _is_same_name(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()


class JiraChannel(Tracker):
    """A `Tracker`. The posts of a thread are a ticket's text, files and comments."""

    def __init__(self, api: JiraClient, settings: JiraSettings) -> None:
        self._api = api
        self._settings = settings

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
            raise InvalidRequestError(f"{trigger.thread} is not a ticket")
        return trigger.thread

    def name_people(self, trigger: Trigger) -> Trigger:
        """Leave it as it is: a delivery of Jira's has names."""
        return trigger

    def attach_link(self, ref: TalkThread, url: str, title: str, key: str) -> None:
        attach_link(self._api, ref.id, url, title, key)

    def move(self, ref: TalkThread, status: str) -> None:
        move_ticket(self._api, ref.id, status)

    def find_repository(self, ref: TalkThread) -> str:  # noqa: ARG002 - of none of them
        """Return nothing: Jira ties no ticket to a repository."""
        return ""

    @cached_property
    def _site_fields(self) -> SiteFields:
        return fetch_site_fields(self._api, self._settings.criteria_fields)

    def _with_offers(self, text: str, offers: Offers) -> str:
        return with_offers(text, offers, self._settings.mention)
