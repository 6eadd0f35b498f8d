"""Read the threads, commits and code that a request is linked to."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final, assert_never

import structlog

from patchwright.core.channel import Channel
from patchwright.core.forge import Forge
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    TalkThread,
    Thread,
    ThreadPost,
    ThreadRef,
)
from patchwright.resolver.context.context import LinkedItem, QuotedText
from patchwright.resolver.context.links import (
    CodeLink,
    CommitLink,
    LinkTarget,
    TextLink,
    ThreadLink,
)
from patchwright.resolver.context.thread_history import opening_as_of, thread_as_of

MAX_LINES: Final = 60
LINES_AROUND: Final = 5


class LinkReader:
    """Reads for one request, made in `home` by `requester` at `asked_at`.

    `accounts` are those of the requester on all services, `requester` among them: what
    somebody calls themselves is no account.

    What is private elsewhere is read only if the requester may read it, and if it
    stays among people who might: `home` is private too, or the requester has named it
    themselves. A stranger's link would else carry it into a public thread.
    """

    def __init__(
        self,
        channel: Channel,
        forge: Forge,
        *,
        home: RepoRef,
        home_is_private: bool,
        requester: Actor,
        accounts: tuple[Actor, ...],
        asked_at: datetime,
    ) -> None:
        self._channel, self._forge = channel, forge
        self._home, self._home_is_private = home, home_is_private
        self._requester, self._asked_at = requester, asked_at
        self._accounts = accounts
        self._readable: dict[tuple[RepoRef, bool], bool] = {}
        self._private: set[RepoRef] = set()

    def read(self, links: Iterable[TextLink]) -> tuple[LinkedItem, ...]:
        return tuple(map(self._mentioned, links))

    def _mentioned(self, link: TextLink) -> LinkedItem:
        quotes = self._read(link)
        is_private = bool(quotes) and link.target.repo in self._private
        return LinkedItem(name=link.name, quotes=quotes, is_private=is_private)

    def _read(self, link: TextLink) -> tuple[QuotedText, ...]:
        try:
            return self._fetch(link.target) if self._may_read(link) else ()
        except ServiceError:
            return ()

    def _is_one(self, by: Actor, own: Actor) -> bool:
        """Tell whether both are one account; a name counts for one on the forge alone.

        There it is nobody else's, and an administrator's list of people has no ids.
        """
        if by.is_same(own):
            return True
        is_known_by_name = own.service == self._home.forge and not own.external_id
        same_name = by.login.casefold() == own.login.casefold()
        return is_known_by_name and by.service == own.service and same_name

    def _may_read(self, link: TextLink) -> bool:
        repo = link.target.repo
        if repo == self._home:
            return True
        is_named = any(
            self._is_one(by, own) for by in link.by for own in self._accounts
        )
        known = self._readable.get((repo, is_named))
        if known is None:
            known = self._judge(repo, is_named=is_named)
            self._readable[repo, is_named] = known
        return known

    def _judge(self, repo: RepoRef, *, is_named: bool) -> bool:
        if not self._forge.fetch_repository(repo).private:
            return True
        self._private.add(repo)
        if not (self._home_is_private or is_named):
            return False
        may = self._forge.fetch_permission(repo, self._requester)
        return may.allows(Permission.READ)

    def _fetch(self, target: LinkTarget) -> tuple[QuotedText, ...]:
        match target:
            case ThreadLink():
                return self._fetch_thread(target)
            case CommitLink():
                return self._fetch_commit(target)
            case CodeLink():
                return self._fetch_code(target)
            case _:
                assert_never(target)

    def _fetch_thread(self, target: ThreadLink) -> tuple[QuotedText, ...]:
        ref = ForgeThread(repo=target.repo, kind=target.kind, number=target.number)
        thread = self._channel.fetch_opening(ref)
        opening = opening_as_of(thread, self._asked_at)
        if opening is None:
            return ()
        what = thread.ref.kind.words
        texts = (("title", thread.title), ("opening text", opening.text))
        return tuple(
            QuotedText(
                what=f"{part} of {what}",
                text=text,
                author=opening.author,
                role=opening.role,
            )
            for part, text in texts
            if text.strip()
        )

    def _fetch_commit(self, target: CommitLink) -> tuple[QuotedText, ...]:
        commits = self._forge.commits
        if commits is None:
            return ()
        message = commits.fetch_commit_message(target.repo, target.sha)
        return (QuotedText(what="message of commit", text=message),) if message else ()

    def _fetch_code(self, target: CodeLink) -> tuple[QuotedText, ...]:
        """Read the lines of a permalink; those of a branch may be others by now."""
        if not target.sha:
            return ()
        found = self._forge.fetch_file(target.repo, target.path, target.sha)
        if found is None or b"\0" in found:
            return ()
        text, first, last = _lines_of(found.decode("utf-8", "replace"), target)
        return (QuotedText(what=f"lines {first}-{last} of code", text=text),)


def _lines_of(text: str, target: CodeLink) -> tuple[str, int, int]:
    lines = text.split("\n")
    begin = max(1, (target.first or 1) - LINES_AROUND)
    wanted = (target.last or target.first or MAX_LINES) + LINES_AROUND
    end = min(len(lines), wanted, begin + MAX_LINES - 1)
    return "\n".join(lines[begin - 1 : end]), begin, end


NEWEST: Final = 20

log = structlog.get_logger(__name__)


def read_linked_threads(
    channel: Channel, refs: Iterable[ThreadRef], asked_at: datetime
) -> tuple[Thread, ...]:
    """Return them as they were at that moment; what cannot be read is left out.

    Beside the code it is the opening text alone that counts.
    """
    return tuple(_read_threads(channel, refs, asked_at))


def _read_threads(
    channel: Channel, refs: Iterable[ThreadRef], asked_at: datetime
) -> Iterator[Thread]:
    for ref in refs:
        fetch = (
            channel.fetch_thread
            if isinstance(ref, TalkThread)
            else channel.fetch_opening
        )
        try:
            yield thread_as_of(fetch(ref), asked_at)
        except ServiceError as error:
            log.warning("tied_thread_not_read", thread=str(ref), reason=error.reason)


def quote_linked_threads(threads: Iterable[Thread]) -> tuple[LinkedItem, ...]:
    return tuple(
        LinkedItem(name=thread.ref.name, quotes=tuple(_thread_quotes(thread)))
        for thread in threads
    )


def quote_related_issues(thread: Thread) -> tuple[LinkedItem, ...]:
    """Return what the thread's service ties it to, such as the epic of a ticket."""
    return tuple(
        LinkedItem(
            name=one.name,
            quotes=(
                QuotedText(
                    what=one.relation,
                    text=f"{one.title}\n\n{one.text}".strip(),
                    author=one.author,
                ),
            ),
        )
        for one in thread.linked_issues
    )


def _thread_quotes(thread: Thread) -> Iterator[QuotedText]:
    opening, *comments = thread.posts
    what = f"title of {thread.ref.kind}"
    yield QuotedText(what=what, text=thread.title, author=opening.author)
    for what, posts in (("opening text", [opening]), ("message", comments[-NEWEST:])):
        yield from (_post_quote(what, post) for post in posts if post.text.strip())


def _post_quote(what: str, post: ThreadPost) -> QuotedText:
    label = post.label or what
    return QuotedText(what=label, text=post.text, author=post.author, role=post.role)
