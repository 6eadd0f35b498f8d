"""Pages of a list: opaque cursors, and the link to the next page."""

import base64
import binascii
from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Final
from urllib.parse import urlencode

from pydantic import Field, ValidationError

from patchwright.core.types.base import Value
from patchwright.workers.api.problems import ApiError, invalid_input

MOST_PER_PAGE: Final = 200
_LONGEST_CURSOR: Final = 400


class PageQuery(Value):
    """Which part of a list is wanted."""

    limit: int = Field(
        50, ge=1, le=MOST_PER_PAGE, description="The most that a page may have."
    )
    cursor: str = Field(
        "",
        max_length=_LONGEST_CURSOR,
        description="`next` of the page before; without it the list begins.",
    )


class Page(Value):
    """A part of a list."""

    next: str | None = Field(
        None, description="Cursor of the next page; null on the last one."
    )


class Position(Value):
    """Where a page of something that has a time begins: after this one."""

    at: datetime
    id: str = Field(pattern=r"^[0-9A-Za-z-]{1,64}$")


class NamePosition(Value):
    """Where a page of names begins: after this one."""

    name: str = Field(pattern=r"^[^\x00-\x1f]{1,300}$")


def write_cursor(position: Position | NamePosition) -> str:
    text = position.model_dump_json().encode()
    return base64.urlsafe_b64encode(text).rstrip(b"=").decode()


def read_position(cursor: str) -> Position | None:
    """Return where the page begins, None for the first. Raises `ApiError`."""
    if not cursor:
        return None
    try:
        read = Position.model_validate_json(_decoded(cursor))
    except ValidationError as error:
        raise no_cursor() from error
    return read.replace(at=_in_utc(read.at))


def read_name(cursor: str) -> str:
    """Return after which name the page begins. Raises `ApiError`."""
    if not cursor:
        return ""
    try:
        return NamePosition.model_validate_json(_decoded(cursor)).name
    except ValidationError as error:
        raise no_cursor() from error


def _in_utc(at: datetime) -> datetime:
    try:
        return at.astimezone(UTC) if at.tzinfo else at.replace(tzinfo=UTC)
    except OverflowError as error:
        raise no_cursor() from error


def _decoded(cursor: str) -> bytes:
    try:
        return base64.b64decode(cursor + "=" * (-len(cursor) % 4), b"-_", validate=True)
    except (ValueError, binascii.Error) as error:
        raise no_cursor() from error


def no_cursor() -> ApiError:
    return invalid_input(
        "cursor", "this is not a cursor; use `next` of the page before it"
    )


def link_to_next(path: str, query: Mapping[str, str], cursor: str) -> str:
    """Return the header that names the next page, by the address relative to ours.

    https://www.rfc-editor.org/rfc/rfc8288
    """
    return f'<{path}?{urlencode({**query, "cursor": cursor})}>; rel="next"'
