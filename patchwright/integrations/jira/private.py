"""Tell one person something by mail: what no other reader of a ticket sees."""

import re
from typing import Final

from markdown_it import MarkdownIt

from patchwright.core.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.text.marks import MENTION_LINK, mention_link, split_marks
from patchwright.core.types.people import Actor
from patchwright.integrations.jira.answers import JsonObject
from patchwright.integrations.jira.api import JiraClient, ticket_path

_REFUSALS: Final = (InvalidRequestError, NotFoundError, PermissionDeniedError)
_CALL: Final = re.compile(rf"\[([^\]\n]*)\]\({re.escape(MENTION_LINK)}[^)\n]*\)")
_HTML: Final = MarkdownIt("commonmark", {"html": False})


def send_mail(api: JiraClient, key: str, actor: Actor, text: str) -> None:
    """Let Jira write to that user alone.

    Raises `InvalidRequestError` where it sends no mail, or not to them.
    https://developer.atlassian.com/cloud/jira/platform/rest/v3/api-group-issues/#api-rest-api-3-issue-issueidorkey-notify-post
    """
    if not actor.external_id:
        raise InvalidRequestError("Jira does not say who that is")
    try:
        api.post(f"{ticket_path(key)}/notify", _mail(api, key, actor, text))
    except _REFUSALS as error:
        raise InvalidRequestError(f"no mail could be sent: {error}") from error


def mail_notice(actor: Actor) -> str:
    """Return the public words beside the mail: what it says is not among them."""
    whom = mention_link(actor.login, actor.external_id)
    return f"{whom} I have sent you an e-mail: what it says is for you alone."


def _mail(api: JiraClient, key: str, actor: Actor, text: str) -> JsonObject:
    words = _CALL.sub(r"\1", split_marks(text).text)
    return {
        "subject": f"Patchwright needs you for {key}",
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
