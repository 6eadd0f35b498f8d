"""Show a link beside a ticket, in place of the earlier one with that key."""

from typing import Final
from urllib.parse import urljoin

from patchwright.integrations.jira.answers import JsonObject
from patchwright.integrations.jira.api import JiraClient, ticket_path

# https://developer.atlassian.com/server/jira/platform/jira-rest-api-for-remote-issue-links/
_MAX_CHARS: Final = 255


def attach_link(api: JiraClient, ticket: str, url: str, title: str, key: str) -> None:
    """Jira makes a link with a new key, and changes the one with a known key."""
    api.post(f"{ticket_path(ticket)}/remotelink", _link(url, title, key))


def _link(url: str, title: str, key: str) -> JsonObject:
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
