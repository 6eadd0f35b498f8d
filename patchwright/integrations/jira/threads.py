"""Read a ticket as a thread: its text, fields, files, comments and linked issues."""

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final
from urllib.parse import quote

from pydantic import JsonValue

from patchwright.core.types.base import Value
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.threads import LinkedIssue, TalkThread, Thread, ThreadPost
from patchwright.integrations.jira.client import JiraClient, ticket_path
from patchwright.integrations.jira.comments import fetch_comments
from patchwright.integrations.jira.webhooks import payloads
from patchwright.integrations.jira.webhooks.triggers import actor_of

# In a data center a ticket names its epic in a field of Jira Software's.
# https://support.atlassian.com/jira-software-cloud/docs/what-is-an-epic/
_EPIC_LINK: Final = "com.pyxis.greenhopper.jira:gh-epic-link"


class FieldName(Value):
    id: str
    name: str


class SiteFields(Value):
    """Fields with words in them, and the one that names an epic, if there is one."""

    criteria: tuple[FieldName, ...] = ()
    epic: str = ""

    @property
    def ids(self) -> tuple[str, ...]:
        epic = (self.epic,) if self.epic else ()
        return (*(field.id for field in self.criteria), *epic)


def fetch_site_fields(api: JiraClient, wanted: Iterable[str]) -> SiteFields:
    """Look the names up, once for a site; what it does not have is passed over."""
    known = payloads.parse_answer(payloads.FieldDefinitions, api.get("field")).root
    names = {name.casefold() for name in wanted}
    criteria = (
        FieldName(id=field.id, name=field.name or field.id)
        for field in known
        if field.id.casefold() in names or field.name.casefold() in names
    )
    epics = (field.id for field in known if field.kind.custom == _EPIC_LINK)
    return SiteFields(criteria=tuple(criteria), epic=next(epics, ""))


def field_text(api: JiraClient, value: JsonValue) -> str:
    """Return what a field says: text, a choice, or a list of them."""
    if isinstance(value, list):
        parts = (field_text(api, part) for part in value)
        return "\n".join(f"- {part}" for part in parts if part)
    if not isinstance(value, dict):
        return api.deployment.read(value) if isinstance(value, str) else ""
    if value.get("type") == "doc":
        return api.deployment.read(value)
    chosen = value.get("value") or value.get("name")
    return chosen if isinstance(chosen, str) else ""


MAX_NAMED: Final = 20
MAX_READ: Final = 8
_EPIC: Final = "epic"
_LINKED_ISSUE_FIELDS: Final = "summary,description,creator,created,security"


def fetch_linked_issues(
    api: JiraClient, fields: payloads.IssueFields, epic: str, projects: frozenset[str]
) -> tuple[LinkedIssue, ...]:
    """Return them, the nearest first, with their own words as far as they are read.

    For projects that are not served only the key is shown: who asks may not see more.
    """
    near = [one for one in _list_linked(fields, epic) if one[0].key][:MAX_NAMED]
    ours = [issue.key for issue, _ in near if project_of(issue.key) in projects]
    texts = {
        key: found
        for key in ours[:MAX_READ]
        if (found := _fetch_linked_issue(api, key))
    }
    return tuple(
        texts[issue.key].replace(relation=relation)
        if issue.key in texts
        else _name_only(issue, relation, is_ours=issue.key in ours)
        for issue, relation in near
    )


def project_of(key: str) -> str:
    return key.rpartition("-")[0].upper()


def _list_linked(
    fields: payloads.IssueFields, epic: str
) -> Iterator[tuple[payloads.IssueReference, str]]:
    if fields.parent is not None:
        yield fields.parent, _relation_to(fields.parent)
    if epic and (fields.parent is None or fields.parent.key != epic):
        yield payloads.IssueReference(key=epic), _EPIC
    yield from _list_links(fields.issuelinks)
    for task in fields.subtasks:
        yield task, "sub-task"


def _relation_to(parent: payloads.IssueReference) -> str:
    kind = parent.fields.issuetype
    is_epic = kind is not None and kind.name.casefold() == _EPIC
    return _EPIC if is_epic else "parent"


def _list_links(
    links: Iterable[payloads.IssueLink],
) -> Iterator[tuple[payloads.IssueReference, str]]:
    """Yield the other end of each link, in the words that are read from this one."""
    for link in links:
        if link.outward_issue is not None:
            yield link.outward_issue, link.type.outward
        elif link.inward_issue is not None:
            yield link.inward_issue, link.type.inward


def _name_only(
    issue: payloads.IssueReference, relation: str, *, is_ours: bool
) -> LinkedIssue:
    title = issue.fields.summary if is_ours else ""
    return LinkedIssue(name=issue.key, relation=relation, title=title)


def _fetch_linked_issue(api: JiraClient, key: str) -> LinkedIssue | None:
    """Read it; what we or others may not see is left with its name."""
    try:
        answer = api.get(ticket_path(key), {"fields": _LINKED_ISSUE_FIELDS})
    except ServiceError:
        return None
    fields = payloads.parse_answer(
        payloads.IssueFields,
        payloads.parse_answer(payloads.JiraIssue, answer).raw_fields,
    )
    if fields.security is not None:
        return LinkedIssue(name=key, relation="", title="")
    return LinkedIssue(
        name=key,
        relation="",
        title=fields.summary,
        text=api.deployment.read(fields.description),
        author=actor_of(fields.creator or fields.reporter, api.host, api.own_id),
    )


OPENING: Final = "body"
MAX_FILES: Final = 50
_OPENING_FIELDS: Final = ("summary", "description", "creator", "reporter", "created")
_FIELDS: Final = (*_OPENING_FIELDS, "attachment", "issuelinks", "parent", "subtasks")
_ODD: Final = re.compile(r"[\s()<>]")


@dataclass(frozen=True, slots=True)
class FetchedTicket:
    """A ticket as it was fetched, with who changed what in it."""

    issue: payloads.JiraIssue
    fields: payloads.IssueFields

    def last_change(self, field_id: str, name: str) -> payloads.ChangeHistory | None:
        """Return who last wrote a field, or None if it is as it was begun."""
        wrote = (
            history
            for history in self.issue.changelog.histories
            for item in history.items
            if item.field_id == field_id or (not item.field_id and item.field == name)
        )
        return max(wrote, key=lambda history: history.created, default=None)

    @property
    def creator(self) -> payloads.JiraUser | None:
        # Anybody may name another person as the reporter.
        return self.fields.creator or self.fields.reporter


def fetch_thread(
    api: JiraClient, ref: TalkThread, own: SiteFields, projects: frozenset[str]
) -> Thread:
    ticket = _fetch(api, ref, (*_FIELDS, *own.ids))
    comments = fetch_comments(api, ref.id)
    files = sorted(ticket.fields.attachment, key=lambda file: file.created)
    posts = (*(_file_post(api, file) for file in files[-MAX_FILES:]), *comments.posts)
    epic = ticket.issue.raw_fields.get(own.epic)
    thread = _opening_thread(api, ref, ticket)
    return thread.replace(
        posts=(
            *thread.posts,
            *_criteria(api, ticket, own),
            *sorted(posts, key=lambda post: post.at),
        ),
        linked_issues=fetch_linked_issues(
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
    issue = payloads.parse_answer(
        payloads.JiraIssue, api.get(ticket_path(ref.id), query)
    )
    return FetchedTicket(
        issue, payloads.parse_answer(payloads.IssueFields, issue.raw_fields)
    )


def _opening_thread(api: JiraClient, ref: TalkThread, ticket: FetchedTicket) -> Thread:
    text = api.deployment.read(ticket.fields.description)
    opening = _field_as_post(api, ticket, ("description", "description"), text)
    return Thread(
        ref=ref,
        title=ticket.fields.summary,
        url=f"{api.base_url}/browse/{quote(ref.id, safe='')}",
        posts=(opening.replace(id=OPENING),),
    )


def _criteria(
    api: JiraClient, ticket: FetchedTicket, own: SiteFields
) -> Iterator[ThreadPost]:
    """Yield a post for each field that says more about what is asked for."""
    for field in own.criteria:
        if words := field_text(api, ticket.issue.raw_fields.get(field.id)):
            yield _field_post(api, ticket, field, words)


def _field_post(
    api: JiraClient, ticket: FetchedTicket, field: FieldName, words: str
) -> ThreadPost:
    post = _field_as_post(api, ticket, (field.id, field.name), words)
    return post.replace(label=f"field: {field.name}")


def _field_as_post(
    api: JiraClient, ticket: FetchedTicket, field: tuple[str, str], text: str
) -> ThreadPost:
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


def _file_post(api: JiraClient, file: payloads.JiraAttachment) -> ThreadPost:
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
