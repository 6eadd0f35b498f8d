"""Read a ticket: its words, files, comments, and what it is tied to."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from patchwright.core.types.threads import ThreadPost, TalkThread, Thread
from patchwright.integrations.jira.answers import (
    JiraAttachment,
    IssueFields,
    ChangeHistory,
    JiraIssue,
    JiraUser,
    parse_answer,
)
from patchwright.integrations.jira.api import JiraClient, ticket_path
from patchwright.integrations.jira.comments import fetch_comments
from patchwright.integrations.jira.fields import FieldName, SiteFields, field_text
from patchwright.integrations.jira.people import actor_of
from patchwright.integrations.jira.relatives import fetch_linked_issues, project_of

OPENING: Final = "body"
MAX_FILES: Final = 50
_OPENING_FIELDS: Final = ("summary", "description", "creator", "reporter", "created")
_FIELDS: Final = (*_OPENING_FIELDS, "attachment", "issuelinks", "parent", "subtasks")
_ODD: Final = re.compile(r"[\s()<>]")


@dataclass(frozen=True, slots=True)
class FetchedTicket:
    """A ticket as it was fetched, with who changed what in it."""

    issue: JiraIssue
    fields: IssueFields

    def last_change(self, field_id: str, name: str) -> ChangeHistory | None:
        """Return who last wrote a field, or None if it is as it was begun."""
        wrote = (
            history
            for history in self.issue.changelog.histories
            for item in history.items
            if item.field_id == field_id or (not item.field_id and item.field == name)
        )
        return max(wrote, key=lambda history: history.created, default=None)

    @property
    def creator(self) -> JiraUser | None:
        # Anybody may name another person as the reporter.
        return self.fields.creator or self.fields.reporter


def fetch_thread(
    api: JiraClient, ref: TalkThread, own: SiteFields, projects: frozenset[str]
) -> Thread:
    ticket = _fetch(api, ref, (*_FIELDS, *own.ids))
    comments = fetch_comments(api, ref.id)
    files = sorted(ticket.fields.attachment, key=lambda file: file.created)
    said = (*(_file_post(api, file) for file in files[-MAX_FILES:]), *comments.posts)
    epic = ticket.issue.raw_fields.get(own.epic)
    thread = _opening_thread(api, ref, ticket)
    return thread.replace(
        posts=(
            *thread.posts,
            *_criteria(api, ticket, own),
            *sorted(said, key=lambda post: post.at),
        ),
        relatives=fetch_linked_issues(
            api,
            ticket.fields,
            epic if isinstance(epic, str) else "",
            projects | {project_of(ref.id)},
        ),
        unread=comments.unread,
    )


def fetch_opening(api: JiraClient, ref: TalkThread) -> Thread:
    return _opening_thread(api, ref, _fetch(api, ref, _OPENING_FIELDS))


def _fetch(api: JiraClient, ref: TalkThread, fields: tuple[str, ...]) -> FetchedTicket:
    query = {"fields": ",".join(fields), "expand": "changelog"}
    issue = parse_answer(JiraIssue, api.get(ticket_path(ref.id), query))
    return FetchedTicket(issue, parse_answer(IssueFields, issue.raw_fields))


def _opening_thread(api: JiraClient, ref: TalkThread, ticket: FetchedTicket) -> Thread:
    text = api.deployment.read(ticket.fields.description)
    opening = _field_as_post(api, ticket, ("description", "description"), text)
    return Thread(
        ref=ref,
        title=ticket.fields.summary,
        url=f"{api.base_url}/browse/{quote(ref.id, safe='')}",
        posts=(opening.replace(id=OPENING),),
    )


def _criteria(api: JiraClient, ticket: FetchedTicket, own: SiteFields) -> Iterator[ThreadPost]:
    """Yield a post for each field that says more about what is asked for."""
    for field in own.criteria:
        if words := field_text(api, ticket.issue.raw_fields.get(field.id)):
            yield _field_post(api, ticket, field, words)


def _field_post(api: JiraClient, ticket: FetchedTicket, field: FieldName, words: str) -> ThreadPost:
    post = _field_as_post(api, ticket, (field.id, field.name), words)
    return post.replace(label=f"field: {field.name}")


def _field_as_post(api: JiraClient, ticket: FetchedTicket, field: tuple[str, str], text: str) -> ThreadPost:
    """Return a field's text as a post of who wrote it last."""
    change = ticket.last_change(*field)
    author = ticket.creator if change is None else change.author
    return ThreadPost(
        id=field[0],
        author=actor_of(author, api.host, api.own_id),
        text=text,
        at=ticket.fields.created,
        edited_at=None if change is None else change.created,
    )


def _file_post(api: JiraClient, file: JiraAttachment) -> ThreadPost:
    """Return a file as its owner's post: a picture, or a link to what it is."""
    name = re.sub(r"[\\\[\]`<>\n]", "_", file.filename)
    url = _ODD.sub(lambda odd: quote(odd[0], safe=""), file.content)
    sign = "!" if file.mime_type.startswith("image/") else ""
    return ThreadPost(
        id=f"attachment-{file.id}",
        author=actor_of(file.author, api.host, api.own_id),
        text=f"{sign}[{name}]({url})",
        at=file.created,
        label="attached file",
    )
