"""Conversations: their events, what came of them, and what their readers may get."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Final

from pydantic import Field

from patchwright.core.events.observations import RunStarted
from patchwright.core.events.types import Event
from patchwright.core.replay.trajectory import payloads_of
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import ConversationId, Value
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.threads import ThreadRef
from patchwright.resolver.commands import makes_run
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.api.cursors import MOST_PER_PAGE, PageQuery, read_position
from patchwright.workers.api.operations import (
    AnyOperation,
    Call,
    NoInput,
    read_operation,
)
from patchwright.workers.api.problems import not_found
from patchwright.workers.api.queries import (
    list_job_ids,
    load_conversation,
    newest_conversations,
)
from patchwright.workers.api.runs import REPOSITORY, VisibleRuns, take_page
from patchwright.workers.api.schemas import (
    ConversationDetails,
    ConversationList,
    ConversationView,
    EventList,
    RunConfiguration,
    ThreadView,
    TrajectoryView,
    event_view,
    limits_view,
)
from patchwright.workers.runs.administration import ServiceRuns
from patchwright.workers.runs.export import events_of, export_service_run
from patchwright.workers.store.threads import ThreadStore

_PATH: Final = "/api/conversations"
_LAST_ID: Final = 2**31 - 1


class ConversationsQuery(PageQuery):
    """Which conversations are wanted."""

    repository: str = Field(
        "", pattern=REPOSITORY, description="Only those for `OWNER/NAME`."
    )


class EventsQuery(Value):
    """Which events are wanted."""

    start_id: int = Field(1, ge=1, le=_LAST_ID, description="The first id.")
    end_id: int | None = Field(None, ge=1, le=_LAST_ID, description="The last id.")
    reverse: bool = Field(False, description="Begin with the newest.")
    limit: int = Field(
        100, ge=1, le=MOST_PER_PAGE, description="The most that a page may have."
    )
    kind: tuple[str, ...] = Field(
        (),
        max_length=50,
        description="Only events of this kind; give it again for more kinds.",
    )


class RunQuery(Value):
    """Which run of the conversation is wanted."""

    run: str = Field(
        "",
        pattern=r"^[0-9A-Za-z-]{0,64}$",
        description="Its id; without it the newest one.",
    )


@dataclass(frozen=True)
class VisibleConversations:
    """The conversations of the service as far as somebody may see them."""

    runs: VisibleRuns
    service: ServiceRuns
    threads: ThreadStore
    redactor: Redactor

    def find_run(self, principal: Principal, conversation_id: str) -> Job:
        """Return its newest run. Raises `ApiError` where it is hidden or not there."""
        job = self.newest_run(ConversationId(conversation_id))
        if job is None or not self.runs.access.is_reader(principal, job):
            raise not_found("conversation")
        return job

    def choose_run(self, call: Call[RunQuery, NoInput]) -> Job:
        newest = self.find_run(call.principal, call.id)
        if not call.query.run:
            return newest
        chosen = self.runs.find(call.principal, call.query.run)
        if chosen.conversation_id != newest.conversation_id:
            raise not_found("run of this conversation")
        return chosen

    def find_view(self, principal: Principal, found: str) -> ConversationView | None:
        job = self.newest_run(ConversationId(found))
        if job is None or not self.runs.access.is_reader(principal, job):
            return None
        return self._view(job)

    def list_conversations(
        self, call: Call[ConversationsQuery, NoInput]
    ) -> ConversationList:
        """List the conversations that you can see, the newest first."""
        query = call.query
        after = read_position(query.cursor)
        rows = newest_conversations(self.runs.database, after, query.repository)
        items, following = take_page(
            rows, lambda one: self.find_view(call.principal, one), query.limit
        )
        return ConversationList(items=items, next=following)

    def read_conversation(self, call: Call[NoInput, NoInput]) -> ConversationDetails:
        """Return a conversation, its threads and its runs."""
        job = self.find_run(call.principal, call.id)
        linked = [one.ref for one in self.threads.threads_of(job.conversation_id)]
        threads = dict.fromkeys((job.trigger.thread, *linked))
        return ConversationDetails(
            **dict(self._view(job)),
            threads=tuple(map(_thread_view, threads)),
            run_ids=list_job_ids(self.runs.database, job.conversation_id),
        )

    def read_events(self, call: Call[EventsQuery, NoInput]) -> EventList:
        """Return events of a conversation."""
        job, query = self.find_run(call.principal, call.id), call.query
        found = self.service.events.open(job.conversation_id).read(
            query.start_id,
            query.end_id,
            limit=query.limit + 1,
            reverse=query.reverse,
            kinds=frozenset(query.kind) or None,
        )
        return _event_list(found, query.limit)

    def read_trajectory(self, call: Call[RunQuery, NoInput]) -> Iterator[str]:
        """Return the whole log of a run as a trajectory."""
        job = self.choose_run(call)
        try:
            return export_service_run(self.runs.reader, job, self.redactor)
        except SettingsError as error:  # it has not begun
            raise not_found("trajectory") from error

    def read_diff(self, call: Call[RunQuery, NoInput]) -> str:
        """Return the change of a run, empty while there is none."""
        return self.runs.reader.diff(self.choose_run(call))

    def read_configuration(self, call: Call[RunQuery, NoInput]) -> RunConfiguration:
        """Return the limits, the model and the commands of a run."""
        job = self.choose_run(call)
        events = events_of(self.service, job)
        started = next(payloads_of(reversed(events), RunStarted), None)
        if started is None:
            raise not_found("configuration")
        return RunConfiguration(
            run_id=job.id,
            model=started.model,
            repository=started.repository,
            base_branch=started.task.base_branch,
            base_sha=started.task.base_sha,
            limits=limits_view(started.limits),
            setup=started.task.setup,
            tests=started.task.tests,
            version=started.version,
        )

    def newest_run(self, conversation_id: ConversationId) -> Job | None:
        """Return the newest job that is more than an answer to a command, if any is."""
        newest = self.runs.reader.jobs.last_job_of(conversation_id)
        if newest is None or makes_run(newest.trigger):
            return newest
        return self.runs.reader.jobs.newest_run(conversation_id) or newest

    def _view(self, job: Job) -> ConversationView:
        row = load_conversation(self.runs.database, job.conversation_id)
        first = self.runs.reader.jobs.first_job_of(job.conversation_id) or job
        run = self.runs.view(job)
        return ConversationView(
            id=job.conversation_id,
            title=row.title if row else run.title,
            repository=run.repository,
            created_at=first.created_at,
            run=run,
        )


def _thread_view(thread: ThreadRef) -> ThreadView:
    return ThreadView(service=thread.service, kind=thread.kind, name=thread.name)


def _event_list(found: Sequence[Event], limit: int) -> EventList:
    following = found[limit].id if len(found) > limit else None
    return EventList(items=tuple(map(event_view, found[:limit])), next_id=following)


def conversation_operations(
    conversations: VisibleConversations,
) -> tuple[AnyOperation, ...]:
    own = conversations
    one = f"{_PATH}/{{id}}"
    return (
        read_operation(
            _PATH, own.list_conversations, ConversationsQuery, ConversationList
        ),
        read_operation(one, own.read_conversation, NoInput, ConversationDetails),
        read_operation(f"{one}/events", own.read_events, EventsQuery, EventList),
        read_operation(
            f"{one}/trajectory", own.read_trajectory, RunQuery, TrajectoryView
        ),
        read_operation(
            f"{one}/diff", own.read_diff, RunQuery, None, media_type="text/x-diff"
        ),
        read_operation(
            f"{one}/config", own.read_configuration, RunQuery, RunConfiguration
        ),
    )
