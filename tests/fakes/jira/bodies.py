"""What a text must be so that Jira takes it."""

import json
import re
from typing import Any

from tests.fakes.jira.adf import fits
from tests.fakes.jira.exchange import Call, RefusedError
from tests.fakes.jira.state import Body
from tests.fakes.jira.texts import nodes, wiki_of

MAX_CHARS = 32_767
MAX_PROPERTY_CHARS = 32_768
_NOT_VALID = "Comment body is not valid!"
_TOO_LONG = (
    "The entered text is too long. It exceeds the allowed limit of 32,767 characters."
)
_MENTION = re.compile(r"(?<!\\)\[~([^\]\n]+)\]")


def read_body(call: Call, body: object) -> Body:
    """Take a document (v3) or a string (v2), and nothing else."""
    if call.version == "3":
        return _read_document(call, body)
    if not isinstance(body, str):
        raise RefusedError(400, "Operation value must be a string")
    if not body.strip():
        raise RefusedError(400, comment="Comment body can not be empty!")
    _check_length(body)
    for name in _MENTION.findall(body):
        _check_person(call, name.removeprefix("accountid:"))
    return Body(wiki=body)


def read_properties(found: object) -> dict[str, Any]:
    if not isinstance(found, list):
        raise RefusedError(400, properties="It is not a list.")
    for one in found:
        if not isinstance(one, dict) or set(one) != {"key", "value"}:
            raise RefusedError(400, properties="It has a key and a value.")
        if len(json.dumps(one["value"])) > MAX_PROPERTY_CHARS:
            raise RefusedError(400, "The property value is too long.")
    return {one["key"]: one["value"] for one in found}


def _read_document(call: Call, body: object) -> Body:
    if not isinstance(body, dict) or body.get("type") != "doc":
        raise RefusedError(400, comment=_NOT_VALID)
    if body.get("version") != 1 or not body.get("content"):
        raise RefusedError(400, comment=_NOT_VALID)
    if not fits(body):
        raise RefusedError(400, "INVALID_INPUT")
    for node in nodes(body):
        if node.get("type") == "text" and not node.get("text"):
            raise RefusedError(400, "INVALID_INPUT")
        if node.get("type") == "mention":
            _check_person(call, node["attrs"]["id"])
    _check_length("".join(node.get("text", "") for node in nodes(body)))
    return Body(wiki=wiki_of(body), adf=body)


def _check_length(text: str) -> None:
    if len(text) > MAX_CHARS:
        raise RefusedError(400, comment=_TOO_LONG)


def _check_person(call: Call, person_id: str) -> None:
    if person_id not in call.world.users:
        raise RefusedError(400, comment=f"There is no user {person_id}.")
