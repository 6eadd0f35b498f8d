"""Read what a ticket is tied to: links, its epic or parent, its sub-tasks."""

from collections.abc import Iterable, Iterator
from typing import Final

from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import LinkedIssue
from patchwright.integrations.jira.answers import IssueFields, JiraIssue, IssueLink, IssueReference, parse_answer
from patchwright.integrations.jira.api import JiraClient, ticket_path
from patchwright.integrations.jira.people import actor_of

MAX_NAMED: Final = 20
MAX_READ: Final = 8
_EPIC: Final = "epic"
_LINKED_ISSUE_FIELDS: Final = "summary,description,creator,created,security"


def fetch_linked_issues(
    api: JiraClient, fields: IssueFields, epic: str, projects: frozenset[str]
) -> tuple[LinkedIssue, ...]:
    """Return them, the nearest first, with their own words as far as they are read.

    Of projects that are not ours the key alone is told: who asks may not see more.
    """
    near = [one for one in _list_linked(fields, epic) if one[0].key][:MAX_NAMED]
    ours = [issue.key for issue, _ in near if project_of(issue.key) in projects]
    texts = {key: found for key in ours[:MAX_READ] if (found := _fetch_linked_issue(api, key))}
    return tuple(
        texts[issue.key].replace(relation=relation)
        if issue.key in texts
        else _name_only(issue, relation, is_ours=issue.key in ours)
        for issue, relation in near
    )


def project_of(key: str) -> str:
    return key.rpartition("-")[0].upper()


def _list_linked(fields: IssueFields, epic: str) -> Iterator[tuple[IssueReference, str]]:
    if fields.parent is not None:
        yield fields.parent, _relation_to(fields.parent)
    if epic and (fields.parent is None or fields.parent.key != epic):
        yield IssueReference(key=epic), _EPIC
    yield from _list_links(fields.issuelinks)
    for task in fields.subtasks:
        yield task, "sub-task"


def _relation_to(parent: IssueReference) -> str:
    kind = parent.fields.issuetype
    is_epic = kind is not None and kind.name.casefold() == _EPIC
    return _EPIC if is_epic else "parent"


def _list_links(links: Iterable[IssueLink]) -> Iterator[tuple[IssueReference, str]]:
    """Yield the other end of each link, in the words that are read from this one."""
    for link in links:
        if link.outward_issue is not None:
            yield link.outward_issue, link.type.outward
        elif link.inward_issue is not None:
            yield link.inward_issue, link.type.inward


def _name_only(issue: IssueReference, relation: str, *, is_ours: bool) -> LinkedIssue:
    title = issue.fields.summary if is_ours else ""
    return LinkedIssue(name=issue.key, relation=relation, title=title)


def _fetch_linked_issue(api: JiraClient, key: str) -> LinkedIssue | None:
    """Read it; what we or others may not see is left with its name."""
    try:
        answer = api.get(ticket_path(key), {"fields": _LINKED_ISSUE_FIELDS})
    except ServiceError:
        return None
    fields = parse_answer(IssueFields, parse_answer(JiraIssue, answer).raw_fields)
    if fields.security is not None:
        return LinkedIssue(name=key, relation="", title="")
    return LinkedIssue(
        name=key,
        relation="",
        title=fields.summary,
        text=api.deployment.read(fields.description),
        author=actor_of(fields.creator or fields.reporter, api.host, api.own_id),
    )
