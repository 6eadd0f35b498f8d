"""Find what was asked in Linear and came with no webhook."""

from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, TypeVar

import structlog
from pydantic import JsonValue

from patchwright.core.plugin_host import PollingPositions
from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.triggers import ParsedWebhook, Trigger, TriggerKind
from patchwright.core.webhook import (
    Delivery,
    InboxResult,
    InboxUnavailableError,
    make_polled_delivery,
)
from patchwright.integrations.linear.client import LinearClient
from patchwright.integrations.linear.threads import PERSON_FRAGMENT
from patchwright.integrations.linear.webhooks.payloads import (
    SERVICE,
    ActivityContent,
    ActivityPayload,
    DataPayload,
    IssuePayload,
    LinearComment,
    LinearModel,
    LinearPerson,
    NamedNode,
    PageEnd,
    SessionEventPayload,
    SessionPayload,
    TeamPayload,
    Text,
)
from patchwright.integrations.linear.webhooks.triggers import (
    IssueContext,
    LinearTriggerRules,
    issue_key,
    read_comment,
    read_issue,
    read_prompt,
    read_session,
)

_ISSUE_FRAGMENT: Final = """
fragment issue on Issue {
  id identifier title description url createdAt updatedAt
  creator { ...person }
  team { id key name }
}
"""
CHANGED_ISSUES_QUERY: Final = (
    """
query ChangedIssues($since: DateTimeOrDuration!, $after: String) {
  issues(
    first: 20, after: $after, orderBy: updatedAt, filter: { updatedAt: { gte: $since } }
  ) {
    nodes {
      ...issue
      assignee { id }
      delegate { id }
      labels(first: 50) { nodes { id name } }
      reactions { createdAt user { id } }
      comments(first: 20) { nodes { createdAt user { id } } }
      history(first: 20) {
        nodes {
          id createdAt
          actor { ...person }
          addedLabels { id name }
          toAssignee { id }
          updatedDescription
        }
      }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""
    + _ISSUE_FRAGMENT
    + PERSON_FRAGMENT
)
CHANGED_COMMENTS_QUERY: Final = (
    """
query ChangedComments($since: DateTimeOrDuration!, $after: String) {
  comments(
    first: 50, after: $after, orderBy: updatedAt, filter: { updatedAt: { gte: $since } }
  ) {
    nodes {
      id body createdAt updatedAt
      user { ...person }
      parent { id body user { id } }
      issue { ...issue }
    }
    pageInfo { hasNextPage endCursor }
  }
}
"""
    + _ISSUE_FRAGMENT
    + PERSON_FRAGMENT
)
SESSIONS_QUERY: Final = (
    """
query NewestSessions {
  agentSessions(first: 20, orderBy: updatedAt) {
    nodes {
      id createdAt updatedAt
      appUser { id }
      creator { ...person }
      comment { id body user { ...person } }
      sourceComment { id body user { ...person } }
      issue { ...issue }
      activities(first: 20, orderBy: createdAt) {
        nodes {
          id createdAt signal
          user { ...person }
          sourceComment { id }
          content { ... on AgentActivityPromptContent { type body } }
        }
      }
    }
  }
}
"""
    + _ISSUE_FRAGMENT
    + PERSON_FRAGMENT
)

# Linear's clock may differ from ours.
POLLING_OVERLAP: Final = timedelta(minutes=3)
# What is older is given up: nobody waits for it any more.
MAX_BACK: Final = timedelta(days=3)
# By then a webhook has come, or has not, and was answered.
GRACE: Final = timedelta(minutes=2)
STORED_WITHIN_S: Final = 60.0
MAX_PAGES: Final = 50

log = structlog.get_logger(__name__)


class _Id(LinearModel):
    id: str = ""


class _Mine(LinearModel):
    """Something that somebody left on an issue."""

    created_at: datetime
    user: _Id | None = None


class _MineNodes(LinearModel):
    nodes: tuple[_Mine, ...] = ()


class _WornLabels(LinearModel):
    nodes: tuple[NamedNode, ...] = ()


class _HistoryEntry(LinearModel):
    id: str
    created_at: datetime
    actor: LinearPerson | None = None
    added_labels: tuple[NamedNode, ...] | None = None
    to_assignee: _Id | None = None
    updated_description: bool | None = None


class _History(LinearModel):
    nodes: tuple[_HistoryEntry, ...] = ()


class _IssueNode(LinearModel):
    id: str
    identifier: str
    title: str
    description: Text = ""
    url: str
    created_at: datetime
    updated_at: datetime
    creator: LinearPerson | None = None
    team: TeamPayload = TeamPayload()

    def payload(self) -> IssuePayload:
        return IssuePayload(
            id=self.id,
            identifier=self.identifier,
            title=self.title,
            description=self.description,
            url=self.url,
            team=self.team,
            creator=self.creator,
            created_at=self.created_at,
            updated_at=self.updated_at,
        )


class _ChangedIssue(_IssueNode):
    assignee: _Id | None = None
    labels: _WornLabels = _WornLabels()
    reactions: tuple[_Mine, ...] = ()
    comments: _MineNodes = _MineNodes()
    history: _History = _History()

    def is_answered(self, own_id: str, since: datetime) -> bool:
        """Tell whether we have left anything there since then."""
        ours = (one for one in (*self.reactions, *self.comments.nodes))
        return any(
            one.user is not None and one.user.id == own_id and one.created_at >= since
            for one in ours
        )


class _Issues(LinearModel):
    nodes: tuple[_ChangedIssue, ...] = ()
    page_info: PageEnd = PageEnd()


class _IssuesAnswer(LinearModel):
    issues: _Issues


class _ParentNode(LinearModel):
    id: str
    body: Text = ""
    user: LinearPerson | None = None


class _FoundComment(LinearModel):
    id: str
    body: Text = ""
    created_at: datetime | None = None
    user: LinearPerson | None = None
    parent: _ParentNode | None = None
    issue: _IssueNode | None = None

    def payload(self) -> LinearComment:
        parent = self.parent
        return LinearComment(
            id=self.id,
            body=self.body,
            user=self.user,
            parent_id=parent.id if parent else "",
            parent=LinearComment(id=parent.id, body=parent.body, user=parent.user)
            if parent
            else None,
        )


class _FoundComments(LinearModel):
    nodes: tuple[_FoundComment, ...] = ()
    page_info: PageEnd = PageEnd()


class _FoundCommentsAnswer(LinearModel):
    comments: _FoundComments


class _ContentNode(LinearModel):
    type: Text = ""
    body: Text = ""


class _ActivityNode(LinearModel):
    id: str
    created_at: datetime
    signal: Text = ""
    user: LinearPerson | None = None
    source_comment: _Id | None = None
    content: _ContentNode = _ContentNode()

    def payload(self) -> ActivityPayload:
        source = self.source_comment
        return ActivityPayload(
            id=self.id,
            content=ActivityContent(type=self.content.type, body=self.content.body),
            signal=self.signal,
            source_comment_id=source.id if source else "",
            user=self.user,
        )


class _Activities(LinearModel):
    nodes: tuple[_ActivityNode, ...] = ()


class _FoundSession(LinearModel):
    id: str
    created_at: datetime
    app_user: _Id = _Id()
    creator: LinearPerson | None = None
    comment: _FoundComment | None = None
    source_comment: _FoundComment | None = None
    issue: _IssueNode | None = None
    activities: _Activities = _Activities()

    def payload(self) -> SessionEventPayload:
        source = self.source_comment
        session = SessionPayload(
            id=self.id,
            comment=self.comment.payload() if self.comment else None,
            source_comment_id=source.id if source else "",
            creator=self.creator,
        )
        return SessionEventPayload(
            agent_session=session,
            previous_comments=(source.payload(),) if source else (),
        )


class _Sessions(LinearModel):
    nodes: tuple[_FoundSession, ...] = ()


class _FoundSessionsAnswer(LinearModel):
    agent_sessions: _Sessions


_Dated = tuple[datetime, ParsedWebhook]
Answer = TypeVar("Answer", bound=LinearModel)


@dataclass(frozen=True)
class LinearSearch:
    """Finds what was asked in one workspace since a moment."""

    api: LinearClient
    rules: LinearTriggerRules

    def find_requests(self, since: datetime, now: datetime) -> tuple[Trigger, ...]:
        """Return the requests, oldest first; raises `ServiceError`."""
        dated = [*self._in_issues(since, now), *self._in_comments(since)]
        if self.rules.workspace.is_app:
            dated += self._in_sessions(since)
        in_order = sorted(dated, key=lambda one: one[0])
        return tuple(found for _, found in in_order if isinstance(found, Trigger))

    def _in_issues(self, since: datetime, now: datetime) -> Iterator[_Dated]:
        for issue in self._changed_issues(since):
            context = _context(issue, self.rules)
            if context is None:
                continue
            if issue.created_at >= since:
                created = DataPayload(actor=issue.creator, created_at=issue.created_at)
                yield issue.created_at, read_issue(context, created)
            for entry in issue.history.nodes:
                if since <= entry.created_at <= now - GRACE:
                    yield from self._in_entry(context, issue, entry)

    def _in_entry(
        self, context: IssueContext, issue: _ChangedIssue, entry: _HistoryEntry
    ) -> Iterator[_Dated]:
        """Read a change that nobody has answered, and that still holds."""
        at = entry.created_at
        if entry.updated_description:
            # What stood there before, nobody tells; the description asks only once.
            before: dict[str, JsonValue] = {"description": None}
            change = DataPayload(actor=entry.actor, updated_from=before)
            yield at, read_issue(context, change)
        if issue.is_answered(self.rules.workspace.own_id, at):
            return
        payload = context.issue.replace(updated_at=at)
        wanted = {one.id for one in issue.labels.nodes}
        added = tuple(one for one in entry.added_labels or () if one.id in wanted)
        own = self.rules.workspace.own_id
        is_ours = issue.assignee is not None and issue.assignee.id == own
        is_assigned = entry.to_assignee is not None and entry.to_assignee.id == own
        if added:
            labelled = IssueContext(
                payload.replace(labels=added), context.key, self.rules
            )
            change = DataPayload(actor=entry.actor, updated_from={"labelIds": []})
            yield at, read_issue(labelled, change)
        if is_ours and is_assigned:
            assigned = IssueContext(
                payload.replace(assignee_id=own), context.key, self.rules
            )
            change = DataPayload(actor=entry.actor, updated_from={"assigneeId": None})
            yield at, read_issue(assigned, change)

    def _in_comments(self, since: datetime) -> Iterator[_Dated]:
        for comment in self._changed_comments(since):
            context = _context(comment.issue, self.rules)
            at = comment.created_at
            if context is None or at is None:
                continue
            reading = read_comment(context, comment.payload(), DataPayload())
            # An older comment was changed: only a mention in it may be new.
            if at >= since or _calls(reading):
                yield at, reading

    def _in_sessions(self, since: datetime) -> Iterator[_Dated]:
        answer = self._read(_FoundSessionsAnswer, SESSIONS_QUERY, {})
        for session in answer.agent_sessions.nodes:
            context = _context(session.issue, self.rules)
            if context is None or session.app_user.id != self.rules.workspace.own_id:
                continue
            if session.created_at >= since:
                yield session.created_at, read_session(context, session.payload())
            for activity in session.activities.nodes:
                if activity.created_at >= since and activity.content.type == "prompt":
                    yield activity.created_at, read_prompt(context, activity.payload())

    def _changed_issues(self, since: datetime) -> Iterator[_ChangedIssue]:
        after: str | None = None
        for _ in range(MAX_PAGES):
            page = self._read(
                _IssuesAnswer,
                CHANGED_ISSUES_QUERY,
                {"since": since.isoformat(), "after": after},
            ).issues
            yield from page.nodes
            after = page.page_info.end_cursor
            if not page.page_info.has_next_page or after is None:
                return

    def _changed_comments(self, since: datetime) -> Iterator[_FoundComment]:
        after: str | None = None
        for _ in range(MAX_PAGES):
            page = self._read(
                _FoundCommentsAnswer,
                CHANGED_COMMENTS_QUERY,
                {"since": since.isoformat(), "after": after},
            ).comments
            yield from page.nodes
            after = page.page_info.end_cursor
            if not page.page_info.has_next_page or after is None:
                return

    def _read(
        self, kind: type[Answer], document: str, variables: dict[str, JsonValue]
    ) -> Answer:
        return self.api.read(self.rules.workspace.url_key, kind, document, variables)


def _calls(reading: ParsedWebhook) -> bool:
    if not isinstance(reading, Trigger):
        return False
    return reading.kind is TriggerKind.COMMENT_MENTION


def _context(
    issue: _IssueNode | None, rules: LinearTriggerRules
) -> IssueContext | None:
    if issue is None:
        return None
    payload = issue.payload()
    return IssueContext(payload, issue_key(payload), rules)


@dataclass(frozen=True)
class LinearPolling:
    """Called now and then, where there is an intake; the first look starts at now.

    `searches` returns one for each workspace. What comes twice, or was delivered as
    well, is known for what it is by the intake.
    """

    searches: Callable[[], Iterable[LinearSearch]]
    submit: Callable[[Delivery], Future[InboxResult]]
    marks: PollingPositions
    clock: Clock

    def __call__(self) -> None:
        for search in self.searches():
            now = self.clock.now()
            source = f"{SERVICE}:{search.rules.workspace.id}"
            read_up_to = self.marks.read_up_to(source)
            if read_up_to is None or self._look(search, read_up_to, now):
                self.marks.put(source, now)

    def _look(self, search: LinearSearch, read_up_to: datetime, now: datetime) -> bool:
        """Bring what is new to the intake, and tell whether that was done."""
        since = max(read_up_to, now - MAX_BACK) - POLLING_OVERLAP - GRACE
        try:
            found = search.find_requests(since, now)
            waiting = [
                self.submit(make_polled_delivery(SERVICE, one, now)) for one in found
            ]
            for stored in waiting:
                stored.result(STORED_WITHIN_S)
        except (ServiceError, InboxUnavailableError) as error:
            log.warning("not_polled", reason=error.reason, error=str(error))
            return False
        except TimeoutError:
            log.warning("not_polled", reason=InboxUnavailableError.reason)
            return False
        return True
