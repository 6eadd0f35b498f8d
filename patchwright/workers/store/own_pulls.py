"""The pull requests that our runs have opened or changed, as the threads they are."""

from collections.abc import Sequence
from typing import Final

from sqlalchemy import ColumnElement, Connection, select

from patchwright.core.types.base import Value
from patchwright.core.types.ids import ConversationId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.workers.db.tables import jobs, threads

_AUTOMATIC: Final = [kind for kind in TriggerKind if kind.is_automatic]
_OPEN: Final = threads.c.base_branch.is_not(None) & threads.c.closed_at.is_(None)


class OwnPull(Value):
    thread: ForgeThread
    conversation_id: ConversationId


def find_own_pull(connection: Connection, thread: ForgeThread) -> OwnPull | None:
    query = select(threads.c.conversation_id).where(_OPEN, threads.c.key == str(thread))
    found = connection.scalars(query).one_or_none()
    return found and OwnPull(thread=thread, conversation_id=found)


def list_own_pulls(
    connection: Connection, repo: RepoRef, base_branch: str, limit: int
) -> tuple[OwnPull, ...]:
    """Return the open ones for a branch, in the order in which they are locked."""
    return _list_open(connection, repo, threads.c.base_branch == base_branch, limit)


def _list_open(
    connection: Connection, repo: RepoRef, wanted: ColumnElement[bool], limit: int
) -> tuple[OwnPull, ...]:
    query = (
        select(threads.c.key, threads.c.conversation_id)
        .where(
            _OPEN,
            wanted,
            threads.c.key.startswith(f"{repo}#", autoescape=True),
        )
        .order_by(threads.c.conversation_id)
        .limit(limit)
    )
    return tuple(
        OwnPull(thread=_pull_of(repo, row.key), conversation_id=row.conversation_id)
        for row in connection.execute(query)
    )


def list_pulls_from(
    connection: Connection, repo: RepoRef, branches: Sequence[str], limit: int
) -> tuple[OwnPull, ...]:
    """Return the open ones whose head is one of the branches, as they are locked.

    Of those from before their head was kept, each may be meant.
    """
    head = threads.c.head_branch
    return _list_open(connection, repo, head.in_(branches) | head.is_(None), limit)


def find_asker(connection: Connection, conversation_id: ConversationId) -> Actor | None:
    """Return who was the last to start a run in a conversation."""
    query = (
        select(jobs.c.trigger)
        .where(
            jobs.c.conversation_id == conversation_id,
            jobs.c.kind.not_in(_AUTOMATIC),
            # Whoever was refused, or asked a question only, has started nothing.
            jobs.c.is_counted,
        )
        .order_by(jobs.c.created_at.desc())
        .limit(1)
    )
    found = connection.scalars(query).one_or_none()
    return Trigger.model_validate_json(found).asker if found else None


def is_known_trigger(
    connection: Connection, conversation_id: ConversationId, trigger: Trigger
) -> bool:
    """Tell whether there was a job for the same occasion already."""
    query = select(jobs.c.trigger).where(
        jobs.c.conversation_id == conversation_id, jobs.c.kind == trigger.kind
    )
    earlier = map(Trigger.model_validate_json, connection.scalars(query))
    return any(one.key == trigger.key for one in earlier)


def was_postponed(
    connection: Connection, conversation_id: ConversationId, sha: str, reason: str
) -> bool:
    """Tell whether a look at the checks of a commit came to nothing for a reason."""
    query = select(jobs.c.trigger, jobs.c.outcome).where(
        jobs.c.conversation_id == conversation_id,
        jobs.c.kind == TriggerKind.CHECKS,
        jobs.c.outcome.is_not(None),
    )
    return any(
        Trigger.model_validate_json(row.trigger).head_sha == sha
        and Outcome.model_validate_json(row.outcome).reason == reason
        for row in connection.execute(query)
    )


def _pull_of(repo: RepoRef, key: str) -> ForgeThread:
    number = int(key.rpartition("#")[2])
    return ForgeThread(repo=repo, kind=ThreadKind.PULL_REQUEST, number=number)
