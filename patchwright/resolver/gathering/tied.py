"""Read the other threads of a conversation: they are about the same work."""

from collections.abc import Iterable, Iterator
from datetime import datetime
from typing import Final

import structlog

from patchwright.core.channel import Channel
from patchwright.core.errors import ServiceError
from patchwright.core.types.threads import Post, TalkThread, Thread, ThreadRef
from patchwright.resolver.context import Mentioned, Quote
from patchwright.resolver.pinning import as_of

NEWEST: Final = 20

log = structlog.get_logger(__name__)


def read_tied(
    channel: Channel, refs: Iterable[ThreadRef], asked_at: datetime
) -> tuple[Thread, ...]:
    """Return them as they were at that moment; what cannot be read is left out.

    Beside the code it is the opening text alone that counts.
    """
    return tuple(_read(channel, refs, asked_at))


def _read(
    channel: Channel, refs: Iterable[ThreadRef], asked_at: datetime
) -> Iterator[Thread]:
    for ref in refs:
        fetch = (
            channel.fetch_thread
            if isinstance(ref, TalkThread)
            else channel.fetch_opening
        )
        try:
            yield as_of(fetch(ref), asked_at)
        except ServiceError as error:
            log.warning("tied_thread_not_read", thread=str(ref), reason=error.reason)


def quote_tied(threads: Iterable[Thread]) -> tuple[Mentioned, ...]:
    return tuple(
        Mentioned(name=thread.ref.name, quotes=tuple(_quotes(thread)))
        for thread in threads
    )


def quote_relatives(thread: Thread) -> tuple[Mentioned, ...]:
    """Return what the thread's service ties it to, such as the epic of a ticket."""
    return tuple(
        Mentioned(
            name=one.name,
            quotes=(
                Quote(
                    what=one.relation,
                    text=f"{one.title}\n\n{one.text}".strip(),
                    author=one.author,
                ),
            ),
        )
        for one in thread.relatives
    )


def _quotes(thread: Thread) -> Iterator[Quote]:
    opening, *said = thread.posts
    what = f"title of {thread.ref.kind}"
    yield Quote(what=what, text=thread.title, author=opening.author)
    for what, posts in (("opening text", [opening]), ("message", said[-NEWEST:])):
        yield from (_quote(what, post) for post in posts if post.text.strip())


def _quote(what: str, post: Post) -> Quote:
    label = post.label or what
    return Quote(what=label, text=post.text, author=post.author, role=post.role)
