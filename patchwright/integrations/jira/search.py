"""Find the tickets in which something happened lately, as deliveries have them."""

import math
from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

from pydantic import JsonValue

from patchwright.core.types.errors import NotFoundError
from patchwright.integrations.jira.client import JiraClient, ticket_path
from patchwright.integrations.jira.comments import PAGE, comments_path
from patchwright.integrations.jira.webhooks.payloads import (
    JiraModel,
    JsonObject,
    parse_answer,
)

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
