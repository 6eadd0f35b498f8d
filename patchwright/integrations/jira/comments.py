"""Read a ticket's comments, the newest first, and the marks of ours in them."""

import re
from collections.abc import Iterator
from contextlib import suppress
from datetime import datetime
from itertools import islice
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue

from patchwright.core.text.escape import Marked, split_marks
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
)
from patchwright.core.types.threads import ThreadPost
from patchwright.integrations.jira.client import Body, JiraClient, ticket_path
from patchwright.integrations.jira.webhooks import payloads
from patchwright.integrations.jira.webhooks.triggers import actor_of

PAGE: Final = 100
MAX_PAGES: Final = 5
# What people do not see: our marks are kept beside the text.
# https://developer.atlassian.com/cloud/jira/platform/jira-entity-properties/
PROPERTY: Final = "patchwright"
# https://developer.atlassian.com/cloud/jira/service-desk/public-rest-api/
_INTERNAL_PROPERTY: Final[payloads.JsonObject] = {
    "key": "sd.public.comment",
    "value": {"internal": True},
}
# How Jira calls the limit where it refuses one.
_LIMITS: Final = frozenset({"commentLevel", "visibility"})
_VISIBILITY_WORDS: Final = re.compile(
    r"\b(role|group|visibility|comment level|internal|sd\.public\.comment)\b",
    re.IGNORECASE,
)
# What we write on a ticket, all its readers see.
HIDDEN_TEXT: Final = "[left out: only some readers of the ticket may read this]"
# The mark of a run's status.
_RUN: Final = re.compile(r"run=(\S+) -->")


class TicketComments(Value):
    """Comments, oldest first; `unread` older ones are missing."""

    posts: tuple[ThreadPost, ...] = ()
    unread: int = 0


class _CommentId(payloads.JiraModel):
    id: str


def fetch_comments(api: JiraClient, key: str) -> TicketComments:
    """Return the comments, those before the newest 500 left out."""
    pages = _pages(api, key)
    found: dict[str, payloads.JiraComment] = {}
    total = 0
    for page in islice(pages, MAX_PAGES):
        total = page.total
        found |= {comment.id: comment for comment in page.comments}
    oldest_first = sorted(found.values(), key=_age)
    return TicketComments(
        posts=tuple(_post(api, comment) for comment in oldest_first),
        unread=max(0, total - len(found)),
    )


def find_own_comment(api: JiraClient, key: str, mark: str) -> str | None:
    """Return the id of our first comment that has the mark."""
    found = {
        comment.id: comment
        for page in _pages(api, key)
        for comment in page.comments
        if _is_own(api, comment) and _has(api, comment, mark)
    }
    return min(found.values(), key=_age).id if found else None


def add_comment(api: JiraClient, key: str, text: str, audience: str = "") -> str:
    """Post it for that audience and return its id.

    Where we may not write for them alone, a comment that all may read says so in place
    of the text. What Jira refuses for another reason is not said by us at all.
    """
    path = comments_path(key)
    try:
        answer = api.post(path, _body(api, text, audience))
    except (InvalidRequestError, PermissionDeniedError) as error:
        if not (audience and _is_about_visibility(error)):
            raise
        answer = api.post(path, _body(api, _withheld(text, audience)))
    return payloads.parse_answer(_CommentId, answer).id


def edit_comment(
    api: JiraClient, key: str, comment_id: str, text: str, audience: str = ""
) -> None:
    """Replace it without a mail to everybody who watches the ticket.

    Jira shows a comment to all readers of the ticket where a change does not say again
    who may read it.
    """
    path = f"{comments_path(key)}/{quote(comment_id, safe='')}"
    quietly = {"notifyUsers": "false"}
    try:
        api.put(path, _body(api, text, audience), quietly)
    except (InvalidRequestError, PermissionDeniedError) as error:
        if not (audience and _is_about_visibility(error)):
            raise
        api.put(path, _body(api, _withheld(text, audience)), quietly)


def delete_comment(api: JiraClient, key: str, comment_id: str) -> None:
    """Take it back; one that is gone already stays so."""
    with suppress(NotFoundError):
        api.delete(f"{comments_path(key)}/{quote(comment_id, safe='')}")


def _is_about_visibility(error: InvalidRequestError | PermissionDeniedError) -> bool:
    """Tell whether Jira may have refused to limit the comment, and not the comment.

    What it forbids altogether it forbids without the limit too.
    """
    if isinstance(error, PermissionDeniedError):
        return True
    return bool(error.fields & _LIMITS) or bool(_VISIBILITY_WORDS.search(str(error)))


def comments_path(key: str) -> str:
    return f"{ticket_path(key)}/comment"


def _body(api: JiraClient, text: str, audience: str = "") -> Body:
    """Return a comment as it is sent: what people read, and our marks beside it."""
    marked = split_marks(text)
    properties: list[JsonValue] = [{"key": PROPERTY, "value": _property_value(marked)}]
    if audience == payloads.INTERNAL:
        properties.append(_INTERNAL_PROPERTY)
    limit = payloads.visibility_for(audience)
    return {
        "body": api.deployment.write(marked.text),
        "properties": properties,
        **({"visibility": limit} if limit else {}),
    }


def _withheld(text: str, audience: str) -> str:
    """Return what all may read in place of a text for some, with the same marks."""
    kind, _, name = audience.partition(":")
    whom = f"the {kind} {name}" if name else "colleagues"
    refusal = (
        f"Only {whom} may read the answer, and the bot cannot write for them. Add "
        "the bot to this group or role, or ask in a comment that everybody can read."
    )
    return "\n".join((refusal, *split_marks(text).marks))


def _property_value(marked: Marked) -> payloads.JsonObject:
    marks: list[JsonValue] = list(marked.marks)
    return {"state": marked.state, "run": marked.run_id, "marks": marks}


def _age(comment: payloads.JiraComment) -> tuple[datetime, int]:
    """Order comments of one moment as Jira counts them."""
    return comment.created, int(comment.id) if comment.id.isdecimal() else 0


def _pages(api: JiraClient, key: str) -> Iterator[payloads.CommentPage]:
    """Yield the pages, the newest comments first; new ones shift those that follow."""
    start, seen = 0, set[str]()
    while True:
        page = payloads.parse_answer(
            payloads.CommentPage,
            api.get(
                comments_path(key),
                {
                    "startAt": str(start),
                    "maxResults": str(PAGE),
                    "orderBy": "-created",
                    "expand": "properties",
                },
            ),
        )
        yield page
        new = {comment.id for comment in page.comments} - seen
        seen |= new
        start += len(page.comments)
        if not new or start >= page.total:
            return


def _post(api: JiraClient, comment: payloads.JiraComment) -> ThreadPost:
    is_own = _is_own(api, comment)
    label = _label(comment)
    is_open = is_own or not label
    text = api.deployment.read(comment.body) if is_open else HIDDEN_TEXT
    marks = _marks(comment) if is_own else ()
    return ThreadPost(
        id=comment.id,
        author=actor_of(comment.author, api.host, api.own_id),
        text="\n\n".join((text, *marks)),
        at=comment.created,
        edited_at=_edited_at(comment),
        label=label,
    )


def _edited_at(comment: payloads.JiraComment) -> datetime | None:
    is_edited = comment.updated is not None and comment.updated > comment.created
    return comment.updated if is_edited else None


def _label(comment: payloads.JiraComment) -> str:
    """Say that not everybody may read it who may read the ticket."""
    audience = payloads.audience_of(
        comment.visibility, for_customers=comment.for_customers
    )
    kind, _, name = audience.partition(":")
    if not audience:
        return ""
    return f"comment for {f'the {kind} {name}' if name else 'colleagues'} alone"


def _is_own(api: JiraClient, comment: payloads.JiraComment) -> bool:
    return comment.author is not None and comment.author.id == api.own_id


def _marks(comment: payloads.JiraComment) -> tuple[str, ...]:
    values = (one.value for one in comment.properties if one.key == PROPERTY)
    value = next(values, None)
    marks = value.get("marks") if isinstance(value, dict) else None
    if not isinstance(marks, list):
        return ()
    return tuple(mark for mark in marks if isinstance(mark, str))


def _has(api: JiraClient, comment: payloads.JiraComment, mark: str) -> bool:
    marks, run = _marks(comment), _RUN.fullmatch(mark)
    if marks or run is None:
        return any(mark in one for one in marks)
    # Where the property was lost, the link to the run still has its id.
    return run[1] in api.deployment.read(comment.body)
