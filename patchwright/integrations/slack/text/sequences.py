"""Read what Slack puts between `<` and `>`.

https://docs.slack.dev/messaging/formatting-message-text/#retrieving-messages
"""

import re
from collections.abc import Mapping
from typing import Final

SEQUENCE: Final = re.compile(r"<([^<>|\n\0][^<>\n\0]*)>")
_PERSON: Final = re.compile(r"<@([UW][A-Z0-9]+)(?:\|[^<>\n]*)?>")
_ENTITIES: Final = {"&lt;": "<", "&gt;": ">", "&amp;": "&"}
_ENTITY: Final = re.compile("|".join(_ENTITIES))
# What Slack puts before an address that somebody typed without it.
_ADDED: Final = ("", "http://", "https://", "mailto:", "tel:")


def decode(text: str) -> str:
    """Put the three characters back that Slack writes as entities, and no others."""
    return _ENTITY.sub(lambda found: _ENTITIES[found[0]], text)


def people_in(text: str) -> frozenset[str]:
    """Return the ids of those whose names are needed to show a text."""
    return frozenset(_PERSON.findall(text))


def mention_of(person_id: str) -> re.Pattern[str]:
    return re.compile(rf"<@{re.escape(person_id)}(?:\|[^<>\n]*)?>")


def sequence_text(sequence: str, names: Mapping[str, str]) -> str:
    """Return what people see of a sequence, and the address behind other words."""
    target, _, label = map(decode, sequence.partition("|"))
    match target[0]:
        case "@":
            return f"@{names.get(target[1:]) or label or target[1:]}"
        case "#":
            return f"#{label or target[1:]}"
        case "!":
            return _special(target[1:], label)
        case _:
            return _address(target, label)


def sequence_as_typed(sequence: str, names: Mapping[str, str]) -> str:
    """Return it as it was typed, for code: nobody has put a link there."""
    target, _, label = map(decode, sequence.partition("|"))
    if target[0] in "@#!":
        return sequence_text(sequence, names)
    return label if _is_same(target, label) else target


def _special(name: str, label: str) -> str:
    # `here` calls everybody, `subteam^S1` a group; `date^…` is a moment.
    kind, _, rest = name.partition("^")
    if kind == "date":
        return label or rest
    if kind == "subteam":
        return label or f"@{rest}"
    return f"@{kind}"


def _address(url: str, label: str) -> str:
    if _is_same(url, label):
        return label
    return f"{url} ({label})" if label else url.removeprefix("mailto:")


def _is_same(url: str, label: str) -> bool:
    ends = ("", "/")
    return any(url == f"{scheme}{label}{end}" for scheme in _ADDED for end in ends)
