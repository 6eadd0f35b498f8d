"""Bring a ticket to a status, by a way that its workflow has."""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.core.errors import InvalidRequestError
from patchwright.integrations.jira.answers import (
    KnownFields,
    Named,
    Part,
    Transition,
    Transitions,
    read,
)
from patchwright.integrations.jira.api import Api, ticket_path

_OWN_FIELD: Final = re.compile(r"customfield_\d+")


class _StandingFields(Part):
    status: Named = Named()


class _Standing(Part):
    fields: _StandingFields = _StandingFields()


def move(api: Api, key: str, status: str) -> None:
    """Take the way there, unless it is there already."""
    if _same(_fetch_status(api, key), status):
        return
    path = f"{ticket_path(key)}/transitions"
    answer = api.get(path, {"expand": "transitions.fields"})
    ways = read(Transitions, answer).transitions
    way = choose_way(ways, status)
    try:
        api.post(path, {"transition": {"id": way.id}})
    except InvalidRequestError as error:
        # What a workflow's own check wants, the way does not tell beforehand.
        raise InvalidRequestError(_in_names(api, way, str(error))) from None


def choose_way(ways: Sequence[Transition], status: str) -> Transition:
    """Return the way that leads there, or is called so, and wants nothing filled in."""
    leading = [way for way in ways if _same(way.to.name, status)]
    called = [way for way in ways if _same(way.name, status)]
    fitting = leading or called
    if not fitting:
        there = ", ".join(sorted({way.to.name for way in ways})) or "nowhere"
        raise InvalidRequestError(f"no way leads to {status} from here, only: {there}")
    free = [way for way in fitting if not _wanted(way)]
    if not free:
        wanted = ", ".join(_wanted(fitting[0]))
        raise InvalidRequestError(f"the way to {status} wants to know: {wanted}")
    return free[0]


def _in_names(api: Api, way: Transition, refusal: str) -> str:
    """Return a refusal with the names of fields, where Jira tells their ids."""
    ids = set(_OWN_FIELD.findall(refusal))
    if not ids:
        return refusal
    names = {one: field.name for one, field in way.fields.items() if field.name}
    if not ids <= names.keys():
        known = read(KnownFields, api.get("field")).root
        names = {one.id: one.name for one in known} | names
    return _OWN_FIELD.sub(lambda found: names.get(found[0]) or found[0], refusal)


def _wanted(way: Transition) -> list[str]:
    return [
        field.name or field_id
        for field_id, field in way.fields.items()
        if field.required and not field.has_default_value
    ]


def _fetch_status(api: Api, key: str) -> str:
    answer = api.get(ticket_path(key), {"fields": "status"})
    return read(_Standing, answer).fields.status.name


def _same(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()
