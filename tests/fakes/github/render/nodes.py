"""What GraphQL shows of every kind of post, and how its pages are read backwards."""

import re
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from tests.fakes.github.exchange import Json
from tests.fakes.github.render.issues import association
from tests.fakes.github.render.users import instant
from tests.fakes.github.state import AccountKind, World

_MOST = 100


def written(
    world: World, full_name: str, author: str | None, *, node_id: str, body: str | None
) -> Json:
    return {
        "id": node_id,
        "body": body or "",
        "authorAssociation": association(world, full_name, author)
        if author
        else "NONE",
        "author": None if author is None else _author(world, author),
    }


def times(created_at: datetime, edited_at: datetime | None) -> Json:
    """Tell when a text was begun and last changed; one moment means never."""
    is_edited = edited_at is not None and edited_at != created_at
    return {
        "createdAt": instant(created_at),
        "lastEditedAt": instant(edited_at) if edited_at and is_edited else None,
    }


def last_page(nodes: Sequence[Any], before: str | None, size: int = _MOST) -> Json:
    """Return a connection's last nodes before a cursor; cursors are places."""
    end = len(nodes) if before is None else int(before)
    begin = max(0, end - size)
    return {
        "totalCount": len(nodes),
        "pageInfo": {"hasPreviousPage": begin > 0, "startCursor": str(begin)},
        "nodes": list(nodes[begin:end]),
    }


def only_asked(query: str, answer: Mapping[str, object]) -> object:
    """Leave out what the query does not name, as GraphQL does."""
    return _prune(answer, frozenset(re.findall(r"\w+", query)))


def _author(world: World, login: str) -> Json:
    user = world.user(login)
    is_bot = user.kind is AccountKind.BOT
    return {
        "__typename": user.kind.value,
        "login": user.login.removesuffix("[bot]") if is_bot else user.login,
        "databaseId": user.id,
    }


def _prune(value: object, wanted: frozenset[str]) -> object:
    if isinstance(value, list):
        return [_prune(one, wanted) for one in value]
    if isinstance(value, dict):
        return {k: _prune(v, wanted) for k, v in value.items() if k in wanted}
    return value
