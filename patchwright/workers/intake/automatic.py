"""Start jobs that nobody asks for: something became of a pull request of ours."""

from collections.abc import Iterator
from datetime import datetime
from typing import Final

from sqlalchemy import Connection

from patchwright.core.types.ids import Ids, JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import (
    BaseMoved,
    Ignored,
    StatusReported,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.resolver.rounds import PENDING
from patchwright.workers.intake.delivery import InboxResult, DeliveryVerdict
from patchwright.workers.store.active import find_active_state
from patchwright.workers.store.fencing import lock_conversation
from patchwright.workers.store.own_pulls import (
    find_asker,
    find_own_pull,
    is_known_trigger,
    list_own_pulls,
    list_pulls_from,
    was_postponed,
)
from patchwright.workers.store.requests import insert_job
from patchwright.workers.store.threads import find_conversation, has_tickets

MAX_CONFLICTS: Final = 50
MAX_CHECKED: Final = 50


def start_automatic(
    connection: Connection, ids: Ids, trigger: Trigger, now: datetime
) -> InboxResult | Ignored:
    """Start a job in the name of who asked last, unless one is at work already."""
    pull = find_own_pull(connection, trigger.forge_thread)
    if pull is None:
        return Ignored(reason="not-ours")
    conversation_id = pull.conversation_id
    lock_conversation(connection, conversation_id)
    if find_active_state(connection, conversation_id) is not None:
        return Ignored(reason="busy")
    if is_known_trigger(connection, conversation_id, trigger):
        return Ignored(reason="known")
    asker = find_asker(connection, conversation_id)
    if asker is None:
        return Ignored(reason="not-ours")
    job_id = JobId(ids.new())
    theirs = trigger.replace(actor=asker)
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
