"""Ask for a part of a log at a cost that does not grow with the log."""

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Final, TypeAlias, TypeVarTuple

from sqlalchemy import (
    BindParameter,
    Integer,
    Select,
    String,
    bindparam,
    false,
    select,
    union_all,
)

from patchwright.core.types.ids import ConversationId
from patchwright.workers.db.tables import events

# The largest number that fits the column stands for no limit.
_ALL: Final = 2**31 - 1
_COLUMNS: Final = (
    events.c.id,
    events.c.at,
    events.c.source,
    events.c.cause,
    events.c.payload,
)
_OF_CONVERSATION: Final = events.c.conversation_id == bindparam("of", type_=String())
_IN_RANGE: Final = events.c.id.between(
    bindparam("first", type_=Integer()), bindparam("last", type_=Integer())
)

_Columns = TypeVarTuple("_Columns")
Row: TypeAlias = tuple[int, datetime, str, int | None, str]
Page: TypeAlias = Select[int, datetime, str, int | None, str]


@dataclass(frozen=True)
class EventRange:
    """Which events are wanted: ids from `start_id` to `end_id`, and of these `kinds`.

    `limit` counts from the end when `reverse` is set.
    """

    start_id: int = 1
    end_id: int | None = None
    limit: int | None = None
    reverse: bool = False
    kinds: frozenset[str] | None = None


def make_page_query(
    conversation_id: ConversationId, part: EventRange
) -> tuple[Page, Mapping[str, object]]:
    """Return a statement for the part, and its values."""
    kinds = sorted(part.kinds or ())
    values: dict[str, object] = {
        "of": conversation_id,
        "first": part.start_id,
        "last": _ALL if part.end_id is None else part.end_id,
        "most": _ALL if part.limit is None else part.limit,
    }
    values |= {_name(number): kind for number, kind in enumerate(kinds)}
    if part.kinds is None:
        return _page(reverse=part.reverse), values
    return _page_of_kinds(len(kinds), reverse=part.reverse), values


@cache
def _page(*, reverse: bool) -> Page:
    return _cut(select(*_COLUMNS).where(_OF_CONVERSATION, _IN_RANGE), reverse=reverse)


@cache
def _page_of_kinds(count: int, *, reverse: bool) -> Page:
    """Take each kind from its own place in the index.

    With all kinds in one condition, a database sorts every event of these kinds or goes
    through those of all others.
    """
    ids = select(events.c.id).where(_OF_CONVERSATION, _IN_RANGE)
    of_kinds = [
        _cut(ids.where(events.c.kind == _kind(number)), reverse=reverse).subquery()
        for number in range(count)
    ]
    if not of_kinds:
        return select(*_COLUMNS).where(false())
    chosen = union_all(*(select(one.c.id) for one in of_kinds))
    page = select(*_COLUMNS).where(_OF_CONVERSATION, events.c.id.in_(chosen))
    return _cut(page, reverse=reverse)


def _cut(query: Select[*_Columns], *, reverse: bool) -> Select[*_Columns]:
    order = events.c.id.desc() if reverse else events.c.id.asc()
    return query.order_by(order).limit(bindparam("most", type_=Integer()))


def _kind(number: int) -> BindParameter[str]:
    return bindparam(_name(number), type_=String())


def _name(number: int) -> str:
    return f"kind_{number}"
