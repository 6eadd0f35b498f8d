"""Look now and then for requests that no webhook has brought."""

import re
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import takewhile
from typing import Any, Final

import structlog
from gitlab import Gitlab
from gitlab.v4.objects import Project
from pydantic import TypeAdapter

from patchwright.core.plugin_host import PollingPositions
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.threads import RepoRef, ThreadKind
from patchwright.core.types.triggers import ParsedWebhook, Trigger, TriggerKind
from patchwright.core.webhook import (
    Delivery,
    InboxResult,
    InboxUnavailableError,
    make_polled_delivery,
)
from patchwright.integrations.gitlab.answers import IssueAnswer, NoteAnswer, UserAnswer
from patchwright.integrations.gitlab.client import GitLabClient
from patchwright.integrations.gitlab.connection import LARGEST_PAGE
from patchwright.integrations.gitlab.settings import SERVICE
from patchwright.integrations.gitlab.webhooks import payloads
from patchwright.integrations.gitlab.webhooks.triggers import (
    CONFIDENTIAL,
    INTERNAL,
    GitLabTriggerRules,
    NoteContext,
    read_act,
    read_body,
    read_changes_wanted,
    read_note,
)

# The server's clock may differ from ours.
POLLING_OVERLAP: Final = timedelta(minutes=5)
# A label or an assignment has no name of its own, but its second, which its webhook may
# tell otherwise: what is younger is left to the webhook.
SETTLED_AFTER: Final = timedelta(minutes=2)
# What is older is given up: nobody waits for it any more.
MAX_BACK: Final = timedelta(days=3)
# GitLab notes activity of a project once an hour.
_ACTIVITY_LAG: Final = timedelta(hours=1)
STORED_WITHIN_S: Final = 60.0
# How GitLab notes who was given something to do; these are not translated.
_GIVEN: Final = re.compile(r"(?:assigned to|requested review from) (?P<who>.*)")
_WANTS_CHANGES: Final = "requested changes"
_NAME: Final = re.compile(r"@([\w.-]+)")

log = structlog.get_logger(__name__)


class _ListedThread(IssueAnswer):
    updated_at: datetime


class _EventLabel(Value):
    name: str


class _LabelEvent(Value):
    """A label that was put on or taken off; it is null where it is gone."""

    user: UserAnswer | None = None
    created_at: datetime
    label: _EventLabel | None = None
    action: str


_EVENTS: Final = TypeAdapter(tuple[_LabelEvent, ...])
_NOTES: Final = TypeAdapter(tuple[NoteAnswer, ...])


@dataclass(frozen=True)
class GitLabPolling:
    """Called now and then, where there is an intake; the first look starts at now.

    What comes twice of it, or was delivered as well, is known for what it is by the
    intake.
    """

    api: GitLabClient
    rules: GitLabTriggerRules
    submit: Callable[[Delivery], Future[InboxResult]]
    marks: PollingPositions
    clock: Clock

    def __call__(self) -> None:
        now = self.clock.now()
        source = f"{SERVICE}:{self.api.addresses.base_url}"
        read_up_to = self.marks.read_up_to(source)
        if read_up_to is None or self._look(read_up_to, now):
            self.marks.put(source, now)

    def _look(self, read_up_to: datetime, now: datetime) -> bool:
        """Bring what is new to the intake; tell whether that was all."""
        since = max(read_up_to, now - MAX_BACK) - POLLING_OVERLAP
        try:
            for project in _list_projects(self.api, since):
                self._take_in(project, since, now)
        except (ServiceError, InboxUnavailableError) as error:
            log.warning("not_polled", reason=error.reason, error=str(error))
            return False
        except TimeoutError:
            log.warning("not_polled", reason=InboxUnavailableError.reason)
            return False
        return True

    def _take_in(
        self, project: payloads.ProjectPayload, since: datetime, now: datetime
    ) -> None:
        repo = RepoRef(forge=SERVICE, full_name=project.path_with_namespace)
        try:
            found = self.api.ask(
                repo,
                lambda asked: tuple(
                    _find_requests(asked, project, self.rules, _Span(since, now))
                ),
            )
        except (NotFoundError, PermissionDeniedError) as error:
            # One project that we lost must not hide the others.
            log.warning("project_not_polled", repo=str(repo), reason=error.reason)
            return
        waiting = [
            self.submit(make_polled_delivery(SERVICE, one, now)) for one in found
        ]
        for stored in waiting:
            stored.result(STORED_WITHIN_S)


@dataclass(frozen=True, slots=True)
class _Span:
    since: datetime
    now: datetime

    def covers(self, at: datetime) -> bool:
        return at >= self.since

    def covers_act(self, at: datetime) -> bool:
        return self.since <= at <= self.now - SETTLED_AFTER


def _list_projects(
    api: GitLabClient, since: datetime
) -> tuple[payloads.ProjectPayload, ...]:
    """Return the projects that we are a member of where something has happened."""
    after = since - _ACTIVITY_LAG

    def ask(server: Gitlab) -> tuple[payloads.ProjectPayload, ...]:
        found = server.projects.list(
            membership=True,
            archived=False,
            simple=True,
            last_activity_after=after.isoformat(),
            get_all=True,
        )
        return tuple(
            payloads.ProjectPayload.model_validate(one.asdict()) for one in found
        )

    return api.ask_server(ask)


def _find_requests(
    project: Project,
    named: payloads.ProjectPayload,
    rules: GitLabTriggerRules,
    span: _Span,
) -> Iterator[Trigger]:
    """Yield what is asked in threads that have changed, the oldest thread first."""
    query: dict[str, Any] = {
        "updated_after": span.since.isoformat(),
        "order_by": "updated_at",
        "sort": "asc",
        "get_all": True,
    }
    threads = (
        *((ThreadKind.ISSUE, one) for one in _list(project.issues, query)),
        *(
            (ThreadKind.MERGE_REQUEST, one)
            for one in _list(project.mergerequests, query)
        ),
    )
    for kind, thread in threads:
        read = _ThreadReading(named, kind, thread, rules, span)
        yield from _triggers(read.of_thread(project))


def _list(manager: Any, query: dict[str, Any]) -> Iterator[Any]:  # noqa: ANN401 - untyped
    """List them; where issues or merge requests are switched off there are none."""
    try:
        yield from manager.list(**query)
    except (NotFoundError, PermissionDeniedError):
        return


def _triggers(readings: Iterable[ParsedWebhook]) -> Iterator[Trigger]:
    yield from (one for one in readings if isinstance(one, Trigger))


class _ThreadReading:
    """Reads one thread as its webhooks would have told it."""

    def __init__(
        self,
        project: payloads.ProjectPayload,
        kind: ThreadKind,
        thread: Any,  # noqa: ANN401 - python-gitlab's own
        rules: GitLabTriggerRules,
        span: _Span,
    ) -> None:
        self._project, self._kind, self._asked = project, kind, thread
        self._answer = _ListedThread.model_validate(thread.asdict())
        self._rules, self._span = rules, span

    def of_thread(self, project: Project) -> Iterator[ParsedWebhook]:
        answer = self._answer
        if self._span.covers(answer.created_at):
            yield read_body(self._context(answer.author), self._rules)
        if self._rules.label in answer.labels:
            yield from self._of_label(project)
        notes = takewhile(
            lambda note: self._span.covers(note.updated_at or note.created_at),
            self._notes(),
        )
        # The newest come first.
        for note in reversed(tuple(notes)):
            yield from self._of_note(note)

    def _of_label(self, project: Project) -> Iterator[ParsedWebhook]:
        kind = "issues" if self._kind is ThreadKind.ISSUE else "merge_requests"
        path = (
            f"/projects/{project.encoded_id}/{kind}/{self._answer.iid}"
            "/resource_label_events"
        )
        found = project.manager.gitlab.http_list(path, get_all=True)
        for event in _EVENTS.validate_python(list(found)):
            is_ours = event.label is not None and event.label.name == self._rules.label
            is_new = event.action == "add" and self._span.covers_act(event.created_at)
            if is_ours and is_new:
                yield self._act(TriggerKind.LABEL, event.user, event.created_at)

    def _of_note(self, note: NoteAnswer) -> Iterator[ParsedWebhook]:
        if note.system:
            if self._span.covers_act(note.created_at):
                yield from self._of_system_note(note)
            return
        yield read_note(
            self._context(note.author, is_internal=note.is_internal),
            payloads.NoteAttributes(
                id=note.id,
                note=note.body,
                noteable_type="",
                author_id=note.author.id if note.author else None,
                type=note.type,
                created_at=note.created_at.isoformat(),
            ),
            self._rules,
            is_edit=not self._span.covers(note.created_at),
        )

    def _of_system_note(self, note: NoteAnswer) -> Iterator[ParsedWebhook]:
        if self._gives_to_us(note.body):
            yield self._act(TriggerKind.ASSIGNMENT, note.author, note.created_at)
        if note.body == _WANTS_CHANGES:
            context = self._context(note.author)
            yield read_changes_wanted(context, note.created_at.isoformat(), self._rules)

    def _notes(self) -> Iterator[NoteAnswer]:
        found = self._asked.notes.list(
            order_by="updated_at", sort="desc", iterator=True, per_page=LARGEST_PAGE
        )
        for one in found:
            yield NoteAnswer.model_validate(one.asdict())

    def _gives_to_us(self, text: str) -> bool:
        given = _GIVEN.match(text)
        # What was taken away is told in the same sentence, after what was given.
        who = given["who"].partition(" and removed ")[0] if given else ""
        own = self._rules.own_login.casefold()
        return own in {name.casefold() for name in _NAME.findall(who)}

    def _act(
        self, kind: TriggerKind, user: UserAnswer | None, at: datetime
    ) -> ParsedWebhook:
        return read_act(self._context(user), kind, at.isoformat(), self._rules)

    def _context(
        self, user: UserAnswer | None, *, is_internal: bool = False
    ) -> NoteContext:
        answer = self._answer
        audience = INTERNAL if is_internal else ""
        return NoteContext(
            project=self._project,
            thread=payloads.NoteablePayload(
                iid=answer.iid,
                title=answer.title,
                description=answer.description,
                author_id=answer.author.id if answer.author else None,
                updated_at=answer.updated_at.isoformat(),
            ),
            kind=self._kind,
            user=payloads.UserPayload(
                id=user.id if user else 0, username=user.username if user else ""
            ),
            audience=CONFIDENTIAL if answer.confidential else audience,
        )
