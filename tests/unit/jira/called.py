"""Find in a document whom it calls, as Jira would tell them."""

from collections.abc import Iterator
from dataclasses import fields, is_dataclass

from patchwright.core.text.document.types import BlockQuote, Mention


def calls_in(part: object) -> Iterator[Mention]:
    """Yield every mention; a quote calls nobody."""
    if isinstance(part, BlockQuote):
        return
    if isinstance(part, Mention):
        yield part
    elif isinstance(part, tuple):
        for one in part:
            yield from calls_in(one)
    elif is_dataclass(part):
        for field in fields(part):
            yield from calls_in(getattr(part, field.name))


def called_by(part: object) -> frozenset[str]:
    return frozenset(call.person_id for call in calls_in(part))
