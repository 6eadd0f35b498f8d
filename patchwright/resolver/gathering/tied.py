"""Read the other threads of a conversation: they are about the same work."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import structlog

from patchwright.core.channel import Channel
from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import ThreadPost, TalkThread, Thread, ThreadRef
from patchwright.resolver.context import LinkedItem, QuotedText
from patchwright.resolver.pinning import thread_as_of

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
        for one in thread.relatives
    )


def _thread_quotes(thread: Thread) -> Iterator[QuotedText]:
    opening, *said = thread.posts
    what = f"title of {thread.ref.kind}"
    yield QuotedText(what=what, text=thread.title, author=opening.author)
    for what, posts in (("opening text", [opening]), ("message", said[-NEWEST:])):
        yield from (_post_quote(what, post) for post in posts if post.text.strip())


def _post_quote(what: str, post: ThreadPost) -> QuotedText:
    label = post.label or what
    return QuotedText(what=label, text=post.text, author=post.author, role=post.role)
