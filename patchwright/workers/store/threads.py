"""Which conversation a thread belongs to."""

from collections.abc import Sequence
from datetime import datetime
from typing import Final

from sqlalchemy import Connection, bindparam, delete, func, insert, select, update

from patchwright.core.types.base import Value
from patchwright.core.types.ids import ConversationId, Ids
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    ThreadKind,
    ThreadRef,
    read_thread,
)
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import conversations, threads
from patchwright.workers.db.upsert import insert_once

MAX_LISTED: Final = 50
_FIND: Final = select(threads.c.conversation_id).where(
    threads.c.key == bindparam("thread")
)


class LinkedThread(Value):
    """A thread of a conversation; with `is_own_pull` its work is what we made."""

    ref: ThreadRef
    is_own_pull: bool


class ThreadStore:
    def __init__(self, database: Database) -> None:
        self._database = database

    def conversation_of(self, thread: ThreadRef) -> ConversationId | None:
        with self._database.reading() as connection:
            return find_conversation(connection, thread)

    def threads_of(self, conversation_id: ConversationId) -> tuple[LinkedThread, ...]:
        """Return the conversation's threads, the newest first."""
        query = (
            select(
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
        query = select(conversations.c.repo).where(
            conversations.c.id == conversation_id
        )
        with self._database.reading() as connection:
            forge, _, name = connection.scalars(query).one().partition(":")
        return RepoRef(forge=forge, full_name=name) if name else None

    def newest_repositories(self, forge: str) -> tuple[RepoRef, ...]:
        """Return where conversations have begun lately, at most `MAX_LISTED`."""
        query = (
            select(conversations.c.repo)
            .where(conversations.c.repo.startswith(f"{forge}:", autoescape=True))
            .group_by(conversations.c.repo)
            .order_by(func.max(conversations.c.created_at).desc())
            .limit(MAX_LISTED)
        )
        with self._database.reading() as connection:
            names = [text.partition(":")[2] for text in connection.scalars(query)]
        return tuple(RepoRef(forge=forge, full_name=name) for name in names)

    def closed_at(self, thread: ThreadRef) -> datetime | None:
        """Return when it was closed, None for one that is open or not ours to know."""
        query = select(threads.c.closed_at).where(threads.c.key == str(thread))
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
                    update(threads)
                    .where(threads.c.key == str(thread))
                    .values(base_branch=base_branch, head_branch=head_branch or None)
                )
            return is_linked


def find_conversation(
    connection: Connection, thread: ThreadRef
) -> ConversationId | None:
    return connection.scalars(_FIND, {"thread": str(thread)}).one_or_none()


def follow_thread(connection: Connection, thread: ThreadRef) -> None:
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
        connection.execute(update(threads).where(moved).values(key=key))
    unnamed = (threads.c.key == key) & threads.c.lasting_key.is_(None)
    connection.execute(update(threads).where(unnamed).values(lasting_key=lasting))


def keep_audience(connection: Connection, thread: ThreadRef) -> None:
    """Note who may read our answers there, if not everybody may.

    It stays so for runs that are asked for in other threads of the conversation.
    """
    if isinstance(thread, TalkThread) and thread.audience:
        own = threads.c.key == str(thread)
        connection.execute(update(threads).where(own).values(audience=thread.audience))


def has_tickets(connection: Connection, conversation_id: ConversationId) -> bool:
    query = select(threads.c.key).where(
        threads.c.conversation_id == conversation_id,
        threads.c.kind == ThreadKind.TICKET,
    )
    return connection.scalars(query.limit(1)).first() is not None


def start_conversation(
    connection: Connection, ids: Ids, thread: ThreadRef, title: str, now: datetime
) -> ConversationId | None:
    """Make a conversation of a thread; None if another process was faster."""
    conversation_id = ConversationId(ids.new())
    row = {
        "id": conversation_id,
        "repo": str(thread.repo) if isinstance(thread, ForgeThread) else "",
        "title": title,
        "created_at": now,
    }
    connection.execute(insert(conversations), row)
    if insert_once(connection, threads, thread_row(conversation_id, thread, now)):
        return conversation_id
    connection.execute(
        delete(conversations).where(conversations.c.id == conversation_id)
    )
    return None


def note_event_time(connection: Connection, thread: ThreadRef, at: datetime | None) -> bool:
    """Note what the forge's clock said of a thread; False if more is known already.

    A forge does not keep its deliveries in order, and one that is sent again may be
    days old. The conversation must be locked.
    """
    this = threads.c.key == str(thread)
    known = connection.scalar(select(threads.c.told_at).where(this))
    if at is None or (known is not None and at < known):
        return at is None
    connection.execute(update(threads).where(this).values(told_at=at))
    return True


def list_conversations(
    connection: Connection, repo: RepoRef
) -> Sequence[ConversationId]:
    """Return those that are about a repository, or have a thread in it."""
    inside = select(threads.c.conversation_id).where(
        threads.c.key.startswith(f"{repo}#", autoescape=True)
    )
    about = select(conversations.c.id).where(
        (conversations.c.repo == str(repo)) | conversations.c.id.in_(inside)
    )
    return [ConversationId(one) for one in connection.scalars(about)]


def move_repository(connection: Connection, old: RepoRef, new: RepoRef) -> None:
    """Let everything that belongs to a repository follow its new name.

    A thread that is known under the new name already stays apart.
    """
    theirs = threads.c.key.startswith(f"{old}#", autoescape=True)
    known = set(
        connection.scalars(
            select(threads.c.key).where(
                threads.c.key.startswith(f"{new}#", autoescape=True)
            )
        )
    )
    for key in connection.scalars(select(threads.c.key).where(theirs)).all():
        moved = f"{new}#{key.rpartition('#')[2]}"
        if moved not in known:
            connection.execute(
                update(threads).where(threads.c.key == key).values(key=moved)
            )
    connection.execute(
        update(conversations)
        .where(conversations.c.repo == str(old))
        .values(repo=str(new))
    )


def thread_row(
    conversation_id: ConversationId, thread: ThreadRef, now: datetime
) -> dict[str, object]:
    return {
        "key": str(thread),
        "kind": thread.kind,
        "conversation_id": conversation_id,
        "linked_at": now,
        **(_noted(thread) if isinstance(thread, TalkThread) else {}),
    }


def _noted(thread: TalkThread) -> dict[str, object]:
    return {
        "lasting_key": thread.lasting_key or None,
        "audience": thread.audience or None,
    }


def _linked(
    key: str, kind: str | None, base_branch: str | None, audience: str | None
) -> LinkedThread:
    is_own_pull = base_branch is not None
    usual = ThreadKind.PULL_REQUEST if is_own_pull else ThreadKind.ISSUE
    ref = read_thread(key, ThreadKind(kind) if kind else usual)
    if audience and isinstance(ref, TalkThread):
        ref = TalkThread(
            service=ref.service,
            place=ref.place,
            kind=ref.kind,
            id=ref.id,
            audience=audience,
        )
    return LinkedThread(ref=ref, is_own_pull=is_own_pull)
