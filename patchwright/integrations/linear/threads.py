"""Read an issue as a thread: its text, comments, links, and issues beside it."""

import re
from collections.abc import Iterator
from datetime import datetime
from typing import Final

from patchwright.core.types.threads import LinkedIssue, TalkThread, Thread, ThreadPost
from patchwright.integrations.linear.client import LinearClient, url_key_of
from patchwright.integrations.linear.webhooks.payloads import (
    LinearModel,
    LinearPerson,
    LinearWorkspace,
    NamedNode,
    PageEnd,
    TeamPayload,
    Text,
)

OPENING: Final = "body"
PAGE: Final = 100
MAX_PAGES: Final = 5
PERSON_FRAGMENT: Final = """
fragment person on User { id name displayName app url }
"""
OPENING_QUERY: Final = (
    """
query Opening($id: String!) {
  issue(id: $id) {
    id identifier title description url createdAt
    creator { ...person }
    history(first: 50) {
      nodes { createdAt updatedDescription descriptionUpdatedBy { ...person } }
    }
  }
}
"""
    + PERSON_FRAGMENT
)
THREAD_QUERY: Final = (
    """
query Thread($id: String!) {
  issue(id: $id) {
    id identifier title description url createdAt
    creator { ...person }
    history(first: 50) {
      nodes { createdAt updatedDescription descriptionUpdatedBy { ...person } }
    }
    team { id key name }
    project { id name }
    labels(first: 50) { nodes { id name } }
    parent { ...linked }
    children(first: 20) { nodes { ...linked } }
    relations(first: 20) { nodes { type relatedIssue { ...linked } } }
    inverseRelations(first: 20) { nodes { type issue { ...linked } } }
    attachments(first: 50) {
      nodes { id title subtitle url sourceType createdAt creator { ...person } }
    }
  }
}
fragment linked on Issue {
  identifier title description
  team { id key name }
  creator { ...person }
}
"""
    + PERSON_FRAGMENT
)
COMMENTS_QUERY: Final = (
    """
query Comments($id: String!, $first: Int!, $after: String) {
  issue(id: $id) {
    comments(first: $first, after: $after, orderBy: createdAt) {
      nodes {
        id body createdAt editedAt quotedText resolvedAt
        parent { id }
        user { ...person }
      }
      pageInfo { hasNextPage endCursor }
    }
  }
}
"""
    + PERSON_FRAGMENT
)

# How a relation is called from its two ends.
_RELATIONS: Final = {
    "blocks": ("blocks", "is blocked by"),
    "duplicate": ("duplicates", "is duplicated by"),
    "related": ("relates to", "relates to"),
    "similar": ("is similar to", "is similar to"),
}
_UNSAFE: Final = re.compile(r"[\\\[\]`<>\n]")


class _Description(LinearModel):
    created_at: datetime
    updated_description: bool | None = None
    description_updated_by: tuple[LinearPerson, ...] | None = None


class _Descriptions(LinearModel):
    nodes: tuple[_Description, ...] = ()


class _Opening(LinearModel):
    id: str
    identifier: str
    title: str
    description: Text = ""
    url: str
    created_at: datetime
    creator: LinearPerson | None = None
    history: _Descriptions = _Descriptions()

    @property
    def last_change(self) -> _Description | None:
        """Return who last wrote the description, None if it is as it was begun."""
        wrote = [one for one in self.history.nodes if one.updated_description]
        return max(wrote, key=lambda one: one.created_at, default=None)


class _Linked(LinearModel):
    identifier: str
    title: str
    description: Text = ""
    team: TeamPayload = TeamPayload()
    creator: LinearPerson | None = None


class _LinkedNodes(LinearModel):
    nodes: tuple[_Linked, ...] = ()


class _Relation(LinearModel):
    type: str
    related_issue: _Linked | None = None
    issue: _Linked | None = None


class _Relations(LinearModel):
    nodes: tuple[_Relation, ...] = ()


class _Attachment(LinearModel):
    id: str
    title: str
    subtitle: Text = ""
    url: str
    source_type: Text = ""
    created_at: datetime
    creator: LinearPerson | None = None


class _Attachments(LinearModel):
    nodes: tuple[_Attachment, ...] = ()


class _LabelNames(LinearModel):
    nodes: tuple[NamedNode, ...] = ()


class _Issue(_Opening):
    team: TeamPayload
    project: NamedNode | None = None
    labels: _LabelNames = _LabelNames()
    parent: _Linked | None = None
    children: _LinkedNodes = _LinkedNodes()
    relations: _Relations = _Relations()
    inverse_relations: _Relations = _Relations()
    attachments: _Attachments = _Attachments()


class _OpeningAnswer(LinearModel):
    issue: _Opening


class _ThreadAnswer(LinearModel):
    issue: _Issue


class _Parent(LinearModel):
    id: str


class _Comment(LinearModel):
    id: str
    body: Text = ""
    created_at: datetime
    edited_at: datetime | None = None
    quoted_text: Text = ""
    resolved_at: datetime | None = None
    parent: _Parent | None = None
    user: LinearPerson | None = None


class _Comments(LinearModel):
    nodes: tuple[_Comment, ...] = ()
    page_info: PageEnd = PageEnd()


class _CommentsOfIssue(LinearModel):
    comments: _Comments


class _CommentsAnswer(LinearModel):
    issue: _CommentsOfIssue


def issue_id(ref: TalkThread) -> str:
    """Return the id that stays, or the key where the other is not known."""
    return ref.lasting_id or ref.id


def fetch_opening(api: LinearClient, ref: TalkThread) -> Thread:
    """Read the title and the description alone."""
    url_key = url_key_of(ref)
    answer = api.read(url_key, _OpeningAnswer, OPENING_QUERY, {"id": issue_id(ref)})
    return _opening_thread(ref, answer.issue, api.identity(url_key))


def fetch_thread(api: LinearClient, ref: TalkThread) -> Thread:
    url_key = url_key_of(ref)
    own = api.identity(url_key)
    issue = api.read(url_key, _ThreadAnswer, THREAD_QUERY, {"id": issue_id(ref)}).issue
    comments, unread = _fetch_comments(api, ref)
    posts = (
        *(_attachment_post(one, own) for one in issue.attachments.nodes),
        *_in_threads(comments, own),
    )
    thread = _opening_thread(ref, issue, own)
    return thread.replace(
        posts=(*thread.posts, *_facts(issue, own), *posts),
        linked_issues=tuple(_linked_issues(issue, own)),
        unread=unread,
    )


def _opening_thread(ref: TalkThread, issue: _Opening, own: LinearWorkspace) -> Thread:
    change = issue.last_change
    writers = (change.description_updated_by if change else None) or ()
    author = writers[-1] if writers else issue.creator or LinearPerson()
    opening = ThreadPost(
        id=OPENING,
        author=author.actor(own.url_key, own.own_id),
        text=issue.description,
        at=issue.created_at,
        edited_at=change.created_at if change else None,
    )
    return Thread(ref=ref, title=issue.title, url=issue.url, posts=(opening,))


def _facts(issue: _Issue, own: LinearWorkspace) -> Iterator[ThreadPost]:
    """Yield the project and the labels, which may say which part is meant."""
    labels = ", ".join(one.name for one in issue.labels.nodes)
    project = issue.project.name if issue.project else ""
    lines = [
        f"Project: {project}" if project else "",
        f"Labels: {labels}" if labels else "",
    ]
    if text := "\n".join(filter(None, lines)):
        yield ThreadPost(
            id="fields",
            author=(issue.creator or LinearPerson()).actor(own.url_key, own.own_id),
            text=text,
            at=issue.created_at,
            label="fields of the issue",
        )


def _fetch_comments(
    api: LinearClient, ref: TalkThread
) -> tuple[tuple[_Comment, ...], int]:
    """Return the newest comments, oldest first, and at least how many are missing."""
    found: dict[str, _Comment] = {}
    after: str | None = None
    for _ in range(MAX_PAGES):
        page = api.read(
            url_key_of(ref),
            _CommentsAnswer,
            COMMENTS_QUERY,
            {"id": issue_id(ref), "first": PAGE, "after": after},
        ).issue.comments
        found |= {one.id: one for one in page.nodes}
        after = page.page_info.end_cursor
        if not page.page_info.has_next_page or after is None:
            break
    else:
        return _oldest_first(found), 1
    return _oldest_first(found), 0


def _oldest_first(found: dict[str, _Comment]) -> tuple[_Comment, ...]:
    # The newest come first; of two of one moment the place tells which is older.
    as_written = [*found.values()][::-1]
    return tuple(sorted(as_written, key=lambda one: one.created_at))


def _in_threads(
    comments: tuple[_Comment, ...], own: LinearWorkspace
) -> Iterator[ThreadPost]:
    """Yield each comment, with its answers after it."""
    known = {one.id for one in comments}
    answers: dict[str, list[_Comment]] = {}
    for one in comments:
        if one.parent is not None:
            answers.setdefault(one.parent.id, []).append(one)
    for one in comments:
        if one.parent is not None and one.parent.id in known:
            continue
        label = "" if one.parent is None else "reply"
        yield _comment_post(one, own, "resolved thread" if one.resolved_at else label)
        for answer in answers.get(one.id, ()):
            yield _comment_post(answer, own, "reply")


def _comment_post(comment: _Comment, own: LinearWorkspace, label: str) -> ThreadPost:
    quoted = "\n".join(f"> {line}" for line in comment.quoted_text.splitlines())
    person = comment.user or LinearPerson(type="integration")
    return ThreadPost(
        id=comment.id,
        author=person.actor(own.url_key, own.own_id),
        text="\n\n".join(filter(None, (quoted, comment.body))),
        at=comment.created_at,
        edited_at=comment.edited_at,
        label=label,
    )


def _attachment_post(link: _Attachment, own: LinearWorkspace) -> ThreadPost:
    name = _UNSAFE.sub("_", link.title)
    words = f"[{name}]({link.url})"
    person = link.creator or LinearPerson(type="integration")
    return ThreadPost(
        id=f"attachment-{link.id}",
        author=person.actor(own.url_key, own.own_id),
        text=f"{words}: {link.subtitle}" if link.subtitle else words,
        at=link.created_at,
        label="attached link",
    )


def _linked_issues(issue: _Issue, own: LinearWorkspace) -> Iterator[LinkedIssue]:
    """Yield the issues beside this one, the nearest first.

    Of other teams only the key is shown: whoever asks may not see more of them.
    """
    for other, relation in _list_linked(issue):
        is_ours = other.team.id == issue.team.id
        author = other.creator or LinearPerson()
        yield LinkedIssue(
            name=other.identifier,
            relation=relation,
            title=other.title if is_ours else "",
            text=other.description if is_ours else "",
            author=author.actor(own.url_key, own.own_id) if is_ours else None,
        )


def _list_linked(issue: _Issue) -> Iterator[tuple[_Linked, str]]:
    if issue.parent is not None:
        yield issue.parent, "parent"
    for relation in issue.relations.nodes:
        if relation.related_issue is not None:
            yield relation.related_issue, _words(relation.type, 0)
    for relation in issue.inverse_relations.nodes:
        if relation.issue is not None:
            yield relation.issue, _words(relation.type, 1)
    for child in issue.children.nodes:
        yield child, "sub-issue"


def _words(relation: str, end: int) -> str:
    return _RELATIONS.get(relation, (relation, relation))[end]
