"""React to closed threads, moved branches, checks and changed installations."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Final, assert_never

from sqlalchemy import Connection, update

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.types.base import ConversationId, Ids, JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import (
    BaseMoved,
    ConsentRevoked,
    Ignored,
    InstallationChanged,
    Notice,
    RepositoryMoved,
    StatusReported,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.core.webhook import DeliveryVerdict, InboxResult
from patchwright.integrations.registry import find_plugin
from patchwright.resolver.job import JobState
from patchwright.resolver.rounds import PENDING
from patchwright.workers.db.tables import threads
from patchwright.workers.store.accounts import forget_person, unlink_host
from patchwright.workers.store.choices import move_choices
from patchwright.workers.store.events import EventStore, append_row
from patchwright.workers.store.jobs import (
    ActiveJob,
    cancel_job,
    change_trigger,
    find_active_job,
    list_active_jobs,
    wake_job,
)
from patchwright.workers.store.leases import lock_conversation
from patchwright.workers.store.requests import insert_job, postpone
from patchwright.workers.store.secrets import forget_secret, stored_since
from patchwright.workers.store.threads import (
    find_asker,
    find_conversation,
    find_own_pull,
    has_tickets,
    is_known_trigger,
    list_conversations,
    list_own_pulls,
    list_pulls_from,
    move_repository,
    note_event_time,
    was_postponed,
)

MAX_CONFLICTS: Final = 50
MAX_CHECKED: Final = 50


def start_automatic(
    connection: Connection, ids: Ids, trigger: Trigger, now: datetime
) -> InboxResult | Ignored:
    """Start a job in the name of who asked last, unless one is at work already.

    Then a push is proven after it. What happens during a proof waits for its end, too:
    nothing that the proof does would make it happen again.
    """
    pull = find_own_pull(connection, trigger.forge_thread)
    if pull is None:
        return Ignored(reason="not-ours")
    conversation_id = pull.conversation_id
    lock_conversation(connection, conversation_id)
    if is_known_trigger(connection, conversation_id, trigger):
        return Ignored(reason="known")
    asker = find_asker(connection, conversation_id)
    if asker is None:
        return Ignored(reason="not-ours")
    theirs = trigger.replace(actor=asker)
    active = find_active_job(connection, conversation_id)
    if active is not None:
        if TriggerKind.PUSHED in (trigger.kind, active.trigger.kind):
            postpone(connection, ids, conversation_id, theirs, now, until=active.id)
        return Ignored(reason="busy")
    job_id = JobId(ids.new())
    insert_job(connection, job_id, conversation_id, theirs, now)
    return InboxResult(DeliveryVerdict.ACCEPTED, job_id, conversation_id)


def start_after_merge(
    connection: Connection, ids: Ids, closed: ThreadClosed, now: datetime
) -> JobId | None:
    """Start a job if tickets are waiting for the merge of a pull request of ours."""
    conversation_id = find_conversation(connection, closed.thread)
    if conversation_id is None or not has_tickets(connection, conversation_id):
        return None
    trigger = _trigger(TriggerKind.MERGED, closed.thread, "merged")
    return _started(connection, ids, trigger, now)


def start_after_move(
    connection: Connection, ids: Ids, moved: BaseMoved, now: datetime
) -> Iterator[JobId]:
    """Start a job for each open pull request of ours for a branch that moved.

    Whether it conflicts is not known here.
    """
    pulls = list_own_pulls(connection, moved.repo, moved.branch, MAX_CONFLICTS)
    for pull in pulls:
        trigger = _trigger(
            TriggerKind.CONFLICT, pull.thread, f"conflict:{moved.sha}", moved
        )
        if job_id := _started(connection, ids, trigger, now):
            yield job_id


def start_after_status(
    connection: Connection, ids: Ids, reported: StatusReported, now: datetime
) -> Iterator[JobId]:
    """Start a look at each pull request of ours that ends in the commit, as for suites.

    One that passed may be the last that was waited for, and else is no news. Whether
    the pull request still ends there is not known here.
    """
    sha = reported.sha
    pulls = list_pulls_from(connection, reported.repo, reported.branches, MAX_CHECKED)
    for pull in pulls:
        if reported.has_passed and not was_postponed(
            connection, pull.conversation_id, sha, PENDING
        ):
            continue
        name = f"{TriggerKind.CHECKS}:{sha}:status-{reported.id}"
        trigger = _trigger(TriggerKind.CHECKS, pull.thread, name, reported)
        if job_id := _started(connection, ids, trigger, now):
            yield job_id


def _trigger(
    kind: TriggerKind,
    pull: ForgeThread,
    name: str,
    told: BaseMoved | StatusReported | None = None,
) -> Trigger:
    """Make the trigger of a run that nobody asks for.

    Who asked last is put into it before it is stored.
    """
    return Trigger(
        key=f"{pull}:{name}",
        kind=kind,
        actor=Actor(service=pull.repo.forge, login=""),
        thread=pull,
        request="",
        installation=told.installation if told else "",
        head_sha=told.sha if told else "",
    )


def _started(
    connection: Connection, ids: Ids, trigger: Trigger, now: datetime
) -> JobId | None:
    started = start_automatic(connection, ids, trigger, now)
    return started.job_id if isinstance(started, InboxResult) else None


# What follows “Stopped by” in the run's last message.
CLOSED: Final = "the service: the thread was closed"
LOST: Final = "the service: the App lost its access to the repository"


@dataclass(frozen=True)
class AfterCommit:
    """Work after the commit: jobs to submit, and runs to notify."""

    due: tuple[JobId, ...] = ()
    other_conversations: tuple[ConversationId, ...] = ()

    def __add__(self, other: "AfterCommit") -> "AfterCommit":
        return AfterCommit(
            self.due + other.due, self.other_conversations + other.other_conversations
        )


NOTHING_TO_DO: Final = AfterCommit()


@dataclass(frozen=True)
class LifecycleEvents:
    events: EventStore
    ids: Ids

    def note(
        self, connection: Connection, notice: Notice, now: datetime
    ) -> AfterCommit:
        match notice:
            case BaseMoved():
                started = start_after_move(connection, self.ids, notice, now)
                return AfterCommit(due=tuple(started))
            case StatusReported():
                looks = start_after_status(connection, self.ids, notice, now)
                return AfterCommit(due=tuple(looks))
            case ThreadClosed():
                return self._thread(connection, notice, now)
            case InstallationChanged():
                return self._installation(connection, notice, now)
            case ConsentRevoked():
                forget_person(connection, self.ids, notice.person, now)
                return NOTHING_TO_DO
            case RepositoryMoved():
                return self._repository(connection, notice)
            case _:
                assert_never(notice)

    def _thread(
        self, connection: Connection, notice: ThreadClosed, now: datetime
    ) -> AfterCommit:
        """Stop what was asked for in a thread that is closed.

        What was asked for elsewhere goes on: to merge a pull request closes the issue
        that led to it.
        """
        conversation_id = find_conversation(connection, notice.thread)
        if conversation_id is None:
            return NOTHING_TO_DO
        lock_conversation(connection, conversation_id)
        job = find_active_job(connection, conversation_id)
        # While the pull request still counts as open here; a merge is never undone.
        if notice.is_merged:
            started = start_after_merge(connection, self.ids, notice, now)
        else:
            started = None
        if not note_event_time(connection, notice.thread, notice.at):
            return AfterCommit(due=(started,) if started else ())
        connection.execute(
            update(threads)
            .where(threads.c.key == str(notice.thread))
            .values(closed_at=None if notice.is_open else now)
        )
        if started is not None:
            return AfterCommit(due=(started,))
        # Two names of a thread may differ in the kind, which the number settles.
        if (
            notice.is_open
            or job is None
            or str(job.trigger.thread) != str(notice.thread)
        ):
            return NOTHING_TO_DO
        return self._stop(connection, job, CLOSED, now)

    def _stop(
        self, connection: Connection, job: ActiveJob, reason: str, now: datetime
    ) -> AfterCommit:
        """Have a run end as it does when a person says stop; what is done stays."""
        if job.state is JobState.DELIVERING:
            return NOTHING_TO_DO
        stop = ChangeState(state=AgentState.STOPPED, reason=reason)
        event = self.events.new_event(Source.SYSTEM, stop)
        append_row(connection, job.conversation_id, event)
        after = AfterCommit(other_conversations=(job.conversation_id,))
        if job.state is not JobState.WAITING_USER:
            return after
        wake_job(connection, job.id, now)
        return after + AfterCommit(due=(job.id,))

    def _installation(
        self, connection: Connection, notice: InstallationChanged, now: datetime
    ) -> AfterCommit:
        """Remove the tokens, and end the jobs that have lost their repository.

        No message can be posted there either.
        """
        if _is_installed_since(connection, notice):
            return NOTHING_TO_DO
        plugin, installation = find_plugin(notice.service), notice.installation
        if plugin and plugin.installation_secret:
            forget_secret(connection, *plugin.installation_secret(installation))
        if plugin and plugin.connect_chat:
            unlink_host(connection, self.ids, plugin.name, installation, now)
        noted = NOTHING_TO_DO
        for job in list_active_jobs(connection):
            if has_lost_access(notice, job):
                noted += self._end(connection, job.conversation_id, now)
        return noted

    def _end(
        self, connection: Connection, conversation_id: ConversationId, now: datetime
    ) -> AfterCommit:
        lock_conversation(connection, conversation_id)
        job = find_active_job(connection, conversation_id)
        if job is None:
            return NOTHING_TO_DO
        if job.state in (JobState.RUNNING, JobState.DELIVERING):
            return self._stop(connection, job, LOST, now)
        cancel_job(connection, job.id, now)
        return NOTHING_TO_DO

    def _repository(
        self, connection: Connection, notice: RepositoryMoved
    ) -> AfterCommit:
        jobs = list_active_jobs(connection)
        theirs = [
            job.conversation_id for job in jobs if job.trigger.place == notice.old
        ]
        concerned = {*theirs, *list_conversations(connection, notice.old)}
        for conversation_id in sorted(concerned):
            lock_conversation(connection, conversation_id)
        move_repository(connection, notice.old, notice.new)
        move_choices(connection, notice.old, notice.new)
        for job in list_active_jobs(connection):
            thread = job.trigger.thread
            if isinstance(thread, ForgeThread) and thread.repo == notice.old:
                moved = thread.replace(repo=notice.new)
                trigger = job.trigger.replace(thread=moved)
                change_trigger(connection, job.id, trigger)
            elif job.trigger.repo == notice.old:
                trigger = job.trigger.replace(repo=notice.new)
                change_trigger(connection, job.id, trigger)
        return NOTHING_TO_DO


def _is_installed_since(connection: Connection, notice: InstallationChanged) -> bool:
    """Tell whether a workspace has let us in again after the notice."""
    plugin = find_plugin(notice.service)
    if notice.at is None or plugin is None or plugin.installation_secret is None:
        return False
    secret = plugin.installation_secret(notice.installation)
    stored_at = stored_since(connection, *secret)
    # Such a notice tells whole seconds: what is of the same second is over.
    return stored_at is not None and stored_at.replace(microsecond=0) > notice.at


def has_lost_access(notice: InstallationChanged, job: ActiveJob) -> bool:
    """Tell whether a job cannot reach its repository any more."""
    trigger = job.trigger
    is_theirs = trigger.thread.service == notice.service
    if not is_theirs or trigger.installation != notice.installation:
        return False
    return notice.gone or job.trigger.place in notice.repos
