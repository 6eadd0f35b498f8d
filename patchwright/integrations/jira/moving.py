"""Bring a ticket to a status, by a way that its workflow has."""

import re
from collections.abc import Sequence
from typing import Final

from patchwright.core.errors import InvalidRequestError
from patchwright.integrations.jira.answers import (
    FieldDefinitions,
    NamedValue,
    JiraModel,
    Transition,
    Transitions,
    parse_answer,
)
from patchwright.integrations.jira.api import JiraClient, ticket_path

_OWN_FIELD: Final = re.compile(r"customfield_\d+")


class _StatusFields(JiraModel):
    status: NamedValue = NamedValue()


class _StatusAnswer(JiraModel):
    fields: _StatusFields = _StatusFields()


def move_ticket(api: JiraClient, key: str, status: str) -> None:
    """Take the way there, unless it is there already."""
    if _is_same_name(_fetch_status(api, key), status):
        return
    path = f"{ticket_path(key)}/transitions"
    answer = api.get(path, {"expand": "transitions.fields"})
    ways = parse_answer(Transitions, answer).transitions
    way = choose_transition(ways, status)
    try:
        api.post(path, {"transition": {"id": way.id}})
    except InvalidRequestError as error:
        # What a workflow's own check wants, the way does not tell beforehand.
        raise InvalidRequestError(_with_field_names(api, way, str(error))) from None


def choose_transition(ways: Sequence[Transition], status: str) -> Transition:
    """Return the way that leads there, or is called so, and wants nothing filled in."""
    leading = [way for way in ways if _is_same_name(way.to.name, status)]
    called = [way for way in ways if _is_same_name(way.name, status)]
    fitting = leading or called
    if not fitting:
        there = ", ".join(sorted({way.to.name for way in ways})) or "nowhere"
        raise InvalidRequestError(f"no way leads to {status} from here, only: {there}")
    free = [way for way in fitting if not _required_fields(way)]
    if not free:
        wanted = ", ".join(_required_fields(fitting[0]))
        raise InvalidRequestError(f"the way to {status} wants to know: {wanted}")
    return free[0]


def _with_field_names(api: JiraClient, way: Transition, refusal: str) -> str:
    """Return a refusal with the names of fields, where Jira tells their ids."""
    ids = set(_OWN_FIELD.findall(refusal))
    if not ids:
        return refusal
    names = {one: field.name for one, field in way.fields.items() if field.name}
    if not ids <= names.keys():
        known = parse_answer(FieldDefinitions, api.get("field")).root
        names = {one.id: one.name for one in known} | names
    return _OWN_FIELD.sub(lambda found: names.get(found[0]) or found[0], refusal)


def _required_fields(way: Transition) -> list[str]:
    return [
        field.name or field_id
        for field_id, field in way.fields.items()
        if field.required and not field.has_default_value
    ]


def _fetch_status(api: JiraClient, key: str) -> str:
    answer = api.get(ticket_path(key), {"fields": "status"})
    return parse_answer(_StatusAnswer, answer).fields.status.name


def _is_same_name(one: str, other: str) -> bool:
    return one.strip().casefold() == other.strip().casefold()
