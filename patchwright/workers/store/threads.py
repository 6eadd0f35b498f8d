"""Which conversation a thread belongs to, and our own pull requests."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

import sqlalchemy as sa

from patchwright.core.types.base import ConversationId, Ids, Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
    ThreadRef,
    read_thread,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.run_store import LinkedThread
from patchwright.workers.db.database import Database, insert_once
from patchwright.workers.db.tables import conversations, jobs, threads
from patchwright.workers.store.run_rows import move_run_rows

MAX_LISTED: Final = 50
_FIND: Final = sa.select(threads.c.conversation_id).where(
    threads.c.key == sa.bindparam("thread")
)


class ThreadStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def conversation_of(self, thread: ThreadRef) -> ConversationId | None:
        with self._database.reading() as connection:
            return find_conversation(connection, thread)

    def threads_of(self, conversation_id: ConversationId) -> tuple[LinkedThread, ...]:
        """Return the conversation's threads, the newest first."""
        query = (
            sa.select(
                threads.c.key,
                threads.c.kind,
                threads.c.base_branch,
                threads.c.audience,
            )
            .where(threads.c.conversation_id == conversation_id)
            .order_by(threads.c.linked_at.desc())
        )
        with self._database.reading() as connection:
            rows = connection.execute(query).all()
        return tuple(
            _linked(row.key, row.kind, row.base_branch, row.audience) for row in rows
        )

    def repository_of(self, conversation_id: ConversationId) -> RepoRef | None:
        """Return where the conversation's work is, None where that is not known."""
        query = sa.select(conversations.c.repo).where(
            conversations.c.id == conversation_id
        )
        with self._database.reading() as connection:
            forge, _, name = connection.scalars(query).one().partition(":")
        return RepoRef(forge=forge, full_name=name) if name else None

    def newest_repositories(self, forge: str) -> tuple[RepoRef, ...]:
        """Return where conversations have begun lately, at most `MAX_LISTED`."""
        query = (
            sa.select(conversations.c.repo)
            .where(conversations.c.repo.startswith(f"{forge}:", autoescape=True))
            .group_by(conversations.c.repo)
            .order_by(sa.func.max(conversations.c.created_at).desc())
            .limit(MAX_LISTED)
        )
        with self._database.reading() as connection:
            names = [text.partition(":")[2] for text in connection.scalars(query)]
        return tuple(RepoRef(forge=forge, full_name=name) for name in names)

    def closed_at(self, thread: ThreadRef) -> datetime | None:
        """Return when it was closed, None for one that is open or not ours to know."""
        query = sa.select(threads.c.closed_at).where(threads.c.key == str(thread))
        with self._database.reading() as connection:
            return connection.scalars(query).one_or_none()

    def link(
        self,
        conversation_id: ConversationId,
        thread: ThreadRef,
        now: datetime,
        base_branch: str = "",
        head_branch: str = "",
    ) -> bool:
        """Make a thread part of a conversation; False if it is part of another.

        With a `base_branch` it is a pull request of ours for that branch, from the
        `head_branch`. Linking it again to its own conversation changes nothing else.
        """
        with self._database.writing() as connection:
            insert_once(connection, threads, thread_row(conversation_id, thread, now))
            is_linked = find_conversation(connection, thread) == conversation_id
            if is_linked and base_branch:
                connection.execute(
                    sa.update(threads)
                    .where(threads.c.key == str(thread))
                    .values(base_branch=base_branch, head_branch=head_branch or None)
                )
            return is_linked


def find_conversation(
    connection: sa.Connection, thread: ThreadRef
) -> ConversationId | None:
    return connection.scalars(_FIND, {"thread": str(thread)}).one_or_none()


def follow_thread(connection: sa.Connection, thread: ThreadRef) -> None:
    """Let a thread that was moved be found by its new key.

    Where its new key is known already, the two stay apart.
    """
    if not isinstance(thread, TalkThread):
        return
    key, lasting = str(thread), thread.lasting_key
    if not lasting:
        return
    if find_conversation(connection, thread) is None:
        moved = threads.c.lasting_key == lasting
        connection.execute(sa.update(threads).where(moved).values(key=key))
    unnamed = (threads.c.key == key) & threads.c.lasting_key.is_(None)
    connection.execute(sa.update(threads).where(unnamed).values(lasting_key=lasting))


def keep_audience(connection: sa.Connection, thread: ThreadRef) -> None:
    """Note who may read our answers there, if not everybody may.

    It stays so for runs that are asked for in other threads of the conversation.
    """
    if thread.audience:
        own = threads.c.key == str(thread)
        connection.execute(
            sa.update(threads).where(own).values(audience=thread.audience)
        )


def has_tickets(connection: sa.Connection, conversation_id: ConversationId) -> bool:
    query = sa.select(threads.c.key).where(
        threads.c.conversation_id == conversation_id,
        threads.c.kind == ThreadKind.TICKET,
    )
    return connection.scalars(query.limit(1)).first() is not None


def start_conversation(
    connection: sa.Connection, ids: Ids, thread: ThreadRef, title: str, now: datetime
) -> ConversationId | None:
    """Make a conversation of a thread; None if another process was faster."""
    conversation_id = ConversationId(ids.new())
    row = {
        "id": conversation_id,
        "repo": str(thread.repo) if isinstance(thread, ForgeThread) else "",
        "title": title,
        "created_at": now,
    }
    connection.execute(sa.insert(conversations), row)
    if insert_once(connection, threads, thread_row(conversation_id, thread, now)):
        return conversation_id
    connection.execute(
        sa.delete(conversations).where(conversations.c.id == conversation_id)
    )
    return None


def note_event_time(
    connection: sa.Connection, thread: ThreadRef, at: datetime | None
) -> bool:
    """Note what the forge's clock said of a thread; False if more is known already.

    A forge does not keep its deliveries in order, and one that is sent again may be
    days old. The conversation must be locked.
    """
    this = threads.c.key == str(thread)
    known = connection.scalar(sa.select(threads.c.told_at).where(this))
    if at is None or (known is not None and at < known):
        return at is None
    connection.execute(sa.update(threads).where(this).values(told_at=at))
    return True


def list_conversations(
    connection: sa.Connection, repo: RepoRef
) -> Sequence[ConversationId]:
    """Return those that are about a repository, or have a thread in it."""
    inside = sa.select(threads.c.conversation_id).where(
        threads.c.key.startswith(f"{repo}#", autoescape=True)
    )
    about = sa.select(conversations.c.id).where(
        (conversations.c.repo == str(repo)) | conversations.c.id.in_(inside)
    )
    return [ConversationId(one) for one in connection.scalars(about)]


def move_repository(connection: sa.Connection, old: RepoRef, new: RepoRef) -> None:
    """Let everything that belongs to a repository follow its new name.

    A thread that is known under the new name already stays apart.
    """
    known = set(
        connection.scalars(sa.select(threads.c.key).where(_is_in(new, *_SHARED_MARKS)))
    )
    theirs = sa.select(threads.c.key).where(_is_in(old, *_SHARED_MARKS))
    for key in connection.scalars(theirs).all():
        moved = f"{new}{key.removeprefix(str(old))}"
        if moved not in known:
            connection.execute(
                sa.update(threads).where(threads.c.key == key).values(key=moved)
            )
    connection.execute(
        sa.update(conversations)
        .where(conversations.c.repo == str(old))
        .values(repo=str(new))
    )
    move_run_rows(connection, old, new)


def thread_row(
    conversation_id: ConversationId, thread: ThreadRef, now: datetime
) -> dict[str, object]:
    return {
        "key": str(thread),
        "kind": thread.kind,
        "conversation_id": conversation_id,
        "linked_at": now,
        **_noted(thread),
    }


def _noted(thread: ThreadRef) -> dict[str, object]:
    lasting = thread.lasting_key if isinstance(thread, TalkThread) else ""
    return {"lasting_key": lasting or None, "audience": thread.audience or None}


def _linked(
    key: str, kind: str | None, base_branch: str | None, audience: str | None
) -> LinkedThread:
    is_own_pull = base_branch is not None
    usual = ThreadKind.PULL_REQUEST if is_own_pull else ThreadKind.ISSUE
    ref = read_thread(key, ThreadKind(kind) if kind else usual)
    heard = ref.replace(audience=audience) if audience else ref
    return LinkedThread(ref=heard, is_own_pull=is_own_pull)


_AUTOMATIC: Final = [kind for kind in TriggerKind if kind.is_automatic]
_OPEN: Final = threads.c.base_branch.is_not(None) & threads.c.closed_at.is_(None)


class OwnPull(Value):
    thread: ForgeThread
    conversation_id: ConversationId


def find_own_pull(connection: sa.Connection, thread: ForgeThread) -> OwnPull | None:
    query = sa.select(threads.c.conversation_id).where(
        _OPEN, threads.c.key == str(thread)
    )
    found = connection.scalars(query).one_or_none()
    return found and OwnPull(thread=thread, conversation_id=found)


def list_own_pulls(
    connection: sa.Connection, repo: RepoRef, base_branch: str, limit: int
) -> tuple[OwnPull, ...]:
    """Return the open ones for a branch, in the order in which they are locked."""
    return _list_open(connection, repo, threads.c.base_branch == base_branch, limit)


def _list_open(
    connection: sa.Connection, repo: RepoRef, wanted: sa.ColumnElement[bool], limit: int
) -> tuple[OwnPull, ...]:
    query = (
        sa.select(threads.c.key, threads.c.conversation_id)
        .where(
            _OPEN,
            wanted,
            _is_in(repo, *_PULL_MARKS),
        )
        .order_by(threads.c.conversation_id)
        .limit(limit)
    )
    return tuple(
        OwnPull(thread=_pull_of(repo, row.key), conversation_id=row.conversation_id)
        for row in connection.execute(query)
    )


def list_pulls_from(
    connection: sa.Connection, repo: RepoRef, branches: Sequence[str], limit: int
) -> tuple[OwnPull, ...]:
    """Return and lock the open ones whose head is one of the branches.

    Older rows without a stored head may match any branch.
    """
    head = threads.c.head_branch
    return _list_open(connection, repo, head.in_(branches) | head.is_(None), limit)


def find_asker(
    connection: sa.Connection, conversation_id: ConversationId
) -> Actor | None:
    """Return who was the last to start a run in a conversation."""
    query = (
        sa.select(jobs.c.trigger)
        .where(
            jobs.c.conversation_id == conversation_id,
            jobs.c.kind.not_in(_AUTOMATIC),
            # A person who was refused, or only asked a question, has started no run.
            jobs.c.is_counted,
        )
        .order_by(jobs.c.created_at.desc())
        .limit(1)
    )
    found = connection.scalars(query).one_or_none()
    return Trigger.model_validate_json(found).asker if found else None


def is_known_trigger(
    connection: sa.Connection, conversation_id: ConversationId, trigger: Trigger
) -> bool:
    """Tell whether there was a job for the same occasion already."""
    query = sa.select(jobs.c.trigger).where(
        jobs.c.conversation_id == conversation_id, jobs.c.kind == trigger.kind
    )
    earlier = map(Trigger.model_validate_json, connection.scalars(query))
    return any(one.key == trigger.key for one in earlier)


def was_postponed(
    connection: sa.Connection, conversation_id: ConversationId, sha: str, reason: str
) -> bool:
    """Tell whether a look at the checks of a commit came to nothing for a reason."""
    query = sa.select(jobs.c.trigger, jobs.c.outcome).where(
        jobs.c.conversation_id == conversation_id,
        jobs.c.kind == TriggerKind.CHECKS,
        jobs.c.outcome.is_not(None),
    )
    return any(
        Trigger.model_validate_json(row.trigger).head_sha == sha
        and Outcome.model_validate_json(row.outcome).reason == reason
        for row in connection.execute(query)
    )


# Of the threads that the forge has; a request is known by our own number.
_PULL_MARKS: Final = {
    kind.mark: kind for kind in (ThreadKind.PULL_REQUEST, ThreadKind.MERGE_REQUEST)
}
_SHARED_MARKS: Final = frozenset({ThreadKind.ISSUE.mark, *_PULL_MARKS})


def _is_in(repo: RepoRef, *marks: str) -> sa.ColumnElement[bool]:
    """Select the threads of a repository whose numbers have one of these marks."""
    return sa.or_(
        *(threads.c.key.startswith(f"{repo}{mark}", autoescape=True) for mark in marks)
    )


def _pull_of(repo: RepoRef, key: str) -> ForgeThread:
    mark, number = key[len(str(repo))], key[len(str(repo)) + 1 :]
    return ForgeThread(repo=repo, kind=_PULL_MARKS[mark], number=int(number))
