"""Connect to one Jira: what our user may do there, and which tickets changed lately."""

import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from jira import JIRA
from pydantic import JsonValue

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import NotFoundError
from patchwright.core.types.people import Actor
from patchwright.integrations.jira.channel import JiraChannel
from patchwright.integrations.jira.client import (
    CLOUD,
    DATA_CENTER,
    TIMEOUT_S,
    Deployment,
    JiraClient,
    ticket_path,
)
from patchwright.integrations.jira.comments import PAGE, comments_path
from patchwright.integrations.jira.settings import JiraSettings
from patchwright.integrations.jira.webhooks.payloads import (
    JiraModel,
    JiraUser,
    JsonObject,
    parse_answer,
)
from patchwright.integrations.jira.webhooks.triggers import actor_of

# Deliveries carry wiki markup on both flavours, and this version of the API does too.
VERSION: Final = "2"
_FIELDS: Final = (
    "summary,description,labels,assignee,reporter,creator,project,created,updated"
)


class _SearchPage(JiraModel):
    """One page; a data center counts, Cloud names the next page by a token."""

    issues: tuple[JsonObject, ...] = ()
    total: int = 0
    next_page_token: str | None = None


def search_updated(
    api: JiraClient, since: datetime, projects: Iterable[str]
) -> Iterator[JsonObject]:
    """Yield the tickets changed since then, those first that changed first.

    Each is as a delivery has it under `issue`, with its newest comments as
    `fields.comment.comments`, oldest first, and the changelog as Jira tells it. The
    search looks some seconds further back than asked. Raises `ServiceError`.
    """
    names = sorted(projects)
    if not names:
        return
    for key in _keys(api, _query(names, _minutes(api, since))):
        found = _fetch(api, key)
        if found is not None:
            yield found


def _minutes(api: JiraClient, since: datetime) -> int:
    """Return a bound that is the same in every time zone, and in whole minutes.

    A date in a query is read in the time zone of the user who asks.
    https://support.atlassian.com/jira-software-cloud/docs/jql-fields/
    """
    ago_s = (api.clock.now() - since).total_seconds()
    return max(1, math.ceil(ago_s / 60))


def _query(projects: Iterable[str], minutes: int) -> str:
    names = ", ".join(map(quote_jql, projects))
    return f'project in ({names}) AND updated >= "-{minutes}m" ORDER BY updated ASC'


def quote_jql(word: str) -> str:
    """Return a word that is nothing but a word in a query."""
    # https://support.atlassian.com/jira-software-cloud/docs/search-for-issues-using-the-text-field/
    escaped = word.replace("\\", "\\\\").replace('"', '\\"')
    return f'"{escaped}"'


def _keys(api: JiraClient, jql: str) -> Iterator[str]:
    query = {"jql": jql, "fields": "updated", "maxResults": str(PAGE)}
    place = {} if api.deployment.has_tokens else {"startAt": "0"}
    count = 0
    while True:
        answer = api.get(api.deployment.search, {**query, **place}, VERSION)
        page = parse_answer(_SearchPage, answer)
        yield from (str(issue["key"]) for issue in page.issues)
        count += len(page.issues)
        if page.next_page_token:
            place = {"nextPageToken": page.next_page_token}
        elif api.deployment.has_tokens or not page.issues or count >= page.total:
            return
        else:
            place = {"startAt": str(count)}


def _fetch(api: JiraClient, key: str) -> JsonObject | None:
    """Return a ticket whole; a search tells only some of the comments and changes."""
    try:
        query = {"fields": _FIELDS, "expand": "changelog"}
        issue = api.get(ticket_path(key), query, VERSION)
        newest = {"orderBy": "-created", "maxResults": str(PAGE)}
        page = api.get(comments_path(key), newest, VERSION)
    except NotFoundError:
        return None
    return _with_comments(issue, page)


def _with_comments(issue: JsonValue, page: JsonValue) -> JsonObject | None:
    if not isinstance(issue, dict) or not isinstance(page, dict):
        return None
    fields, comments = issue.get("fields"), page.get("comments")
    if not isinstance(fields, dict) or not isinstance(comments, list):
        return None
    oldest_first: JsonValue = sorted(comments, key=_age)
    comment: JsonValue = {**page, "comments": oldest_first}
    return {**issue, "fields": {**fields, "comment": comment}}


def _age(comment: JsonValue) -> tuple[str, int]:
    """Order comments of one moment as Jira counts them; its times sort as texts."""
    facts = comment if isinstance(comment, dict) else {}
    number = str(facts.get("id"))
    return str(facts.get("created")), int(number) if number.isdecimal() else 0


# https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-permissions/
NEEDED_PERMISSIONS: Final[Mapping[str, str]] = {
    "BROWSE_PROJECTS": "reading tickets",
    "ADD_COMMENTS": "answering",
    "EDIT_OWN_COMMENTS": "updating the status comment of a run",
    "LINK_ISSUES": "linking the pull request",
}
LABEL_PERMISSIONS: Final[Mapping[str, str]] = {"EDIT_ISSUES": "changing labels"}
TRANSITION_PERMISSIONS: Final[Mapping[str, str]] = {
    "TRANSITION_ISSUES": "moving tickets"
}


class _Permission(JiraModel):
    have_permission: bool = False


class _OwnPermissions(JiraModel):
    permissions: dict[str, _Permission]


def fetch_missing_permissions(
    api: JiraClient, project: str, needed: Mapping[str, str]
) -> tuple[str, ...]:
    """Return a line for every permission that is needed there and was not given.

    Raises `NotFoundError` where there is no such project, or we may not see it.
    """
    query = {"projectKey": project, "permissions": ",".join(needed)}
    mine = parse_answer(_OwnPermissions, api.get("mypermissions", query)).permissions
    return tuple(
        f"permission {name}: needed for {use}"
        for name, use in needed.items()
        if not mine.get(name, _Permission()).have_permission
    )


USER_AGENT = "patchwright"


@dataclass(frozen=True, slots=True)
class Jira:
    """One Jira, as a channel; close it when done."""

    api: JiraClient
    channel: JiraChannel

    def fetch_identity(self) -> Actor:
        """Return who we are there. Raises `ServiceError`."""
        person = parse_answer(JiraUser, self.api.get("myself"))
        return actor_of(person, self.api.host, person.id)

    def search_updated(
        self, since: datetime, projects: Iterable[str]
    ) -> Iterator[JsonObject]:
        """Yield the tickets changed since then, as deliveries would show them."""
        return search_updated(self.api, since, projects)

    def close(self) -> None:
        self.api.close()


def connect_jira(settings: JiraSettings, clock: Clock) -> Jira:
    """Act as the user whom the token belongs to; nothing is asked yet."""
    deployment = CLOUD if settings.type == "cloud" else DATA_CENTER
    api = JiraClient(_open(settings, deployment), deployment, settings.host, clock)
    return Jira(api, JiraChannel(api, settings))


def _open(settings: JiraSettings, deployment: Deployment) -> JIRA:
    token = settings.token.get_secret_value() if settings.token else ""
    return JIRA(
        options={
            "server": settings.base_url,
            "rest_api_version": deployment.version,
            "verify": settings.ca_bundle or True,
            "headers": {"User-Agent": USER_AGENT},
        },
        # A personal access token is nobody's password.
        # https://confluence.atlassian.com/enterprise/using-personal-access-tokens-1026032365.html
        basic_auth=(settings.user, token) if settings.user else None,
        token_auth=None if settings.user else token,
        get_server_info=False,
        # It waits between tries, by a clock of its own.
        max_retries=0,
        timeout=TIMEOUT_S,
    )
