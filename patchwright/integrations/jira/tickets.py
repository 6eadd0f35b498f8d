"""Read a ticket: its words, files, comments, and what it is tied to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from patchwright.core.types.threads import Post, TalkThread, Thread
from patchwright.integrations.jira.answers import (
    Attachment,
    Fields,
    History,
    Issue,
    Person,
    read,
)
from patchwright.integrations.jira.api import Api, ticket_path
from patchwright.integrations.jira.comments import fetch_comments
from patchwright.integrations.jira.fields import FieldName, OwnFields, words_of
from patchwright.integrations.jira.people import actor_of
from patchwright.integrations.jira.relatives import fetch_relatives, project_of

OPENING: Final = "body"
MAX_FILES: Final = 50
_OPENING_FIELDS: Final = ("summary", "description", "creator", "reporter", "created")
_FIELDS: Final = (*_OPENING_FIELDS, "attachment", "issuelinks", "parent", "subtasks")
_ODD: Final = re.compile(r"[\s()<>]")


@dataclass(frozen=True, slots=True)
class Ticket:
    """A ticket as it was fetched, with who changed what in it."""

    issue: Issue
    fields: Fields

    def last_change(self, field_id: str, name: str) -> History | None:
        """Return who last wrote a field, or None if it is as it was begun."""
        wrote = (
            history
            for history in self.issue.changelog.histories
            for item in history.items
            if item.field_id == field_id or (not item.field_id and item.field == name)
        )
        return max(wrote, key=lambda history: history.created, default=None)

    @property
    def creator(self) -> Person | None:
        # Anybody may name another person as the reporter.
        return self.fields.creator or self.fields.reporter


def fetch_thread(
    api: Api, ref: TalkThread, own: OwnFields, projects: frozenset[str]
) -> Thread:
    ticket = _fetch(api, ref, (*_FIELDS, *own.ids))
    comments = fetch_comments(api, ref.id)
    files = sorted(ticket.fields.attachment, key=lambda file: file.created)
    said = (*(_file_post(api, file) for file in files[-MAX_FILES:]), *comments.posts)
    epic = ticket.issue.raw_fields.get(own.epic)
    thread = _opened(api, ref, ticket)
    return thread.replace(
        posts=(
            *thread.posts,
            *_criteria(api, ticket, own),
            *sorted(said, key=lambda post: post.at),
        ),
        relatives=fetch_relatives(
            api,
            ticket.fields,
            epic if isinstance(epic, str) else "",
            projects | {project_of(ref.id)},
        ),
        unread=comments.unread,
    )


def fetch_opening(api: Api, ref: TalkThread) -> Thread:
    return _opened(api, ref, _fetch(api, ref, _OPENING_FIELDS))


def _fetch(api: Api, ref: TalkThread, fields: tuple[str, ...]) -> Ticket:
    query = {"fields": ",".join(fields), "expand": "changelog"}
    issue = read(Issue, api.get(ticket_path(ref.id), query))
    return Ticket(issue, read(Fields, issue.raw_fields))


def _opened(api: Api, ref: TalkThread, ticket: Ticket) -> Thread:
    text = api.deployment.read(ticket.fields.description)
    opening = _written(api, ticket, ("description", "description"), text)
    return Thread(
        ref=ref,
        title=ticket.fields.summary,
        url=f"{api.base_url}/browse/{quote(ref.id, safe='')}",
        posts=(opening.replace(id=OPENING),),
    )


def _criteria(api: Api, ticket: Ticket, own: OwnFields) -> Iterator[Post]:
    """Yield a post for each field that says more about what is asked for."""
    for field in own.criteria:
        if words := words_of(api, ticket.issue.raw_fields.get(field.id)):
            yield _field_post(api, ticket, field, words)


def _field_post(api: Api, ticket: Ticket, field: FieldName, words: str) -> Post:
    post = _written(api, ticket, (field.id, field.name), words)
    return post.replace(label=f"field: {field.name}")


def _written(api: Api, ticket: Ticket, field: tuple[str, str], text: str) -> Post:
    """Return a field's text as a post of who wrote it last."""
    change = ticket.last_change(*field)
    author = ticket.creator if change is None else change.author
    return Post(
        id=field[0],
        author=actor_of(author, api.host, api.own_id),
        text=text,
        at=ticket.fields.created,
        edited_at=None if change is None else change.created,
    )


def _file_post(api: Api, file: Attachment) -> Post:
    """Return a file as its owner's post: a picture, or a link to what it is."""
    name = re.sub(r"[\\\[\]`<>\n]", "_", file.filename)
    url = _ODD.sub(lambda odd: quote(odd[0], safe=""), file.content)
    sign = "!" if file.mime_type.startswith("image/") else ""
    return Post(
        id=f"attachment-{file.id}",
        author=actor_of(file.author, api.host, api.own_id),
        text=f"{sign}[{name}]({url})",
        at=file.created,
        label="attached file",
    )
