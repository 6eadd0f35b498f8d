"""Take note of what changed around our work, in the transaction that is given."""

from dataclasses import dataclass
from datetime import datetime
from typing import Final, assert_never

from sqlalchemy import Connection, update

from patchwright.core.events.types import AgentState, ChangeState, Source
from patchwright.core.types.ids import ConversationId, Ids, JobId
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import (
    BaseMoved,
    ConsentRevoked,
    InstallationChanged,
    Notice,
    RepositoryMoved,
    StatusReported,
    ThreadClosed,
)
from patchwright.integrations.github.auth import installation_name
from patchwright.workers.db.tables import threads
from patchwright.workers.intake.automatic import (
    start_after_merge,
    start_after_move,
    start_after_status,
)
from patchwright.workers.store.active import (
    ActiveJob,
    cancel,
    change_trigger,
    find_active,
    list_active,
    wake,
)
from patchwright.workers.store.choices import move_choices
from patchwright.workers.store.event_rows import append_row
from patchwright.workers.store.events import EventStore
from patchwright.workers.store.fencing import lock_conversation
from patchwright.workers.store.installations import OWNER as SLACK
from patchwright.workers.store.job import JobState
from patchwright.workers.store.secrets import forget_secret, stored_since
from patchwright.workers.store.threads import (
    find_conversation,
    list_conversations,
    move_repository,
    note_told,
)
from patchwright.workers.store.unlinking import forget_person, unlink_place

CLOSED: Final = "the thread was closed"
LOST: Final = "the App lost its access to the repository"


@dataclass(frozen=True)
class Noted:
    """What is to be done after the commit: jobs to submit, and who must be told."""

    due: tuple[JobId, ...] = ()
    other_conversations: tuple[ConversationId, ...] = ()

    def __add__(self, other: "Noted") -> "Noted":
        return Noted(self.due + other.due, self.other_conversations + other.other_conversations)


NOTHING: Final = Noted()


@dataclass(frozen=True)
class Noticing:
    events: EventStore
    ids: Ids

    def note(self, connection: Connection, notice: Notice, now: datetime) -> Noted:
        match notice:
            case BaseMoved():
                started = start_after_move(connection, self.ids, notice, now)
                return Noted(due=tuple(started))
            case StatusReported():
                looks = start_after_status(connection, self.ids, notice, now)
                return Noted(due=tuple(looks))
            case ThreadClosed():
                return self._thread(connection, notice, now)
            case InstallationChanged():
                return self._installation(connection, notice, now)
            case ConsentRevoked():
                forget_person(connection, self.ids, notice.person, now)
                return NOTHING
            case RepositoryMoved():
                return self._repository(connection, notice)
            case _:
                assert_never(notice)

    def _thread(
        self, connection: Connection, notice: ThreadClosed, now: datetime
    ) -> Noted:
        """Stop what was asked for in a thread that is closed.

        What was asked for elsewhere goes on: to merge a pull request closes the issue
        that led to it.
        """
        conversation_id = find_conversation(connection, notice.thread)
        if conversation_id is None:
            return NOTHING
        lock_conversation(connection, conversation_id)
        job = find_active(connection, conversation_id)
        # While the pull request still counts as open here; a merge is never undone.
        if notice.is_merged:
            started = start_after_merge(connection, self.ids, notice, now)
        else:
            started = None
        if not note_told(connection, notice.thread, notice.at):
            return Noted(due=(started,) if started else ())
        connection.execute(
            update(threads)
            .where(threads.c.key == str(notice.thread))
            .values(closed_at=None if notice.is_open else now)
        )
        if started is not None:
            return Noted(due=(started,))
        # Two names of a thread may differ in the kind, which the number settles.
        if (
            notice.is_open
            or job is None
            or str(job.trigger.thread) != str(notice.thread)
        ):
            return NOTHING
        return self._stop(connection, job, CLOSED, now)

    def _stop(
        self, connection: Connection, job: ActiveJob, reason: str, now: datetime
    ) -> Noted:
        """Have a run end as it does when a person says stop; what is done stays."""
        if job.state is JobState.DELIVERING:
            return NOTHING
        stop = ChangeState(state=AgentState.STOPPED, reason=reason)
        event = self.events.new_event(Source.SYSTEM, stop)
        append_row(connection, job.conversation_id, event)
        told = Noted(other_conversations=(job.conversation_id,))
        if job.state is not JobState.WAITING_USER:
            return told
        wake(connection, job.id, now)
        return told + Noted(due=(job.id,))

    def _installation(
        self, connection: Connection, notice: InstallationChanged, now: datetime
    ) -> Noted:
        """Forget the tokens, and end the jobs that can reach their repository no more.

        Nothing can be said there either.
        """
        if _is_installed_since(connection, notice):
            return NOTHING
        if notice.service == SLACK:
            forget_secret(connection, notice.installation, SLACK)
            unlink_place(connection, self.ids, SLACK, notice.installation, now)
        else:
            forget_secret(connection, installation_name(notice.installation))
        noted = NOTHING
        for job in list_active(connection):
            if has_lost(notice, job):
                noted += self._end(connection, job.conversation_id, now)
        return noted

    def _end(
        self, connection: Connection, conversation_id: ConversationId, now: datetime
    ) -> Noted:
        lock_conversation(connection, conversation_id)
        job = find_active(connection, conversation_id)
        if job is None:
            return NOTHING
        if job.state in (JobState.RUNNING, JobState.DELIVERING):
            return self._stop(connection, job, LOST, now)
        cancel(connection, job.id, now)
        return NOTHING

    def _repository(self, connection: Connection, notice: RepositoryMoved) -> Noted:
        jobs = list_active(connection)
        theirs = [
            job.conversation_id for job in jobs if job.trigger.place == notice.old
        ]
        concerned = {*theirs, *list_conversations(connection, notice.old)}
        for conversation_id in sorted(concerned):
            lock_conversation(connection, conversation_id)
        move_repository(connection, notice.old, notice.new)
        move_choices(connection, notice.old, notice.new)
        for job in list_active(connection):
            thread = job.trigger.thread
            if isinstance(thread, ForgeThread) and thread.repo == notice.old:
                moved = thread.replace(repo=notice.new)
                trigger = job.trigger.replace(thread=moved)
                change_trigger(connection, job.id, trigger)
            elif job.trigger.repo == notice.old:
                trigger = job.trigger.replace(repo=notice.new)
                change_trigger(connection, job.id, trigger)
        return NOTHING


def _is_installed_since(connection: Connection, notice: InstallationChanged) -> bool:
    """Tell whether a workspace has let us in again after the notice."""
    if notice.service != SLACK or notice.at is None:
        return False
    stored_at = stored_since(connection, notice.installation, SLACK)
    # Slack tells whole seconds: what is of the same second is over.
    return stored_at is not None and stored_at.replace(microsecond=0) > notice.at


def has_lost(notice: InstallationChanged, job: ActiveJob) -> bool:
    """Tell whether a job cannot reach its repository any more."""
    trigger = job.trigger
    is_theirs = trigger.thread.service == notice.service
    if not is_theirs or trigger.installation != notice.installation:
        return False
    return notice.gone or job.trigger.place in notice.repos
