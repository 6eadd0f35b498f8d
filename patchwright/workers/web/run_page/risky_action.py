"""An action that a person is to allow, shown whole: a yes to a part is no yes."""

import json
from collections.abc import Mapping
from typing import Final

from pydantic import JsonValue

from patchwright.core.events.observations import ConfirmationAsked
from patchwright.core.types.base import Value

_UNSHOWN: Final = frozenset({"kind", "call_id", "agent", "risk"})
# The part of an action that people read as it is.
_TEXTS: Final = ("command", "code")
_DIGEST_CHARS: Final = 12


class RiskyAction(Value):
    """`text` is all of it; `digest` tells it from any other."""

    name: str
    risk: str
    why: tuple[str, ...]
    text: str
    digest: str


def risky_action(asked: ConfirmationAsked) -> RiskyAction:
    kind = str(asked.action.get("kind", "action"))
    return RiskyAction(
        name=kind.replace("_", " "),
        risk=asked.risk,
        why=asked.why,
        text=_text(asked.action),
        digest=asked.digest[:_DIGEST_CHARS],
    )


def _text(action: Mapping[str, JsonValue]) -> str:
    shown = {
        name: value
        for name, value in action.items()
        if name not in _UNSHOWN and value not in (None, "", [], {}, False)
    }
    words = [str(shown.pop(name)) for name in _TEXTS if name in shown]
    rest = [json.dumps(shown, indent=2, ensure_ascii=False)] if shown else []
    return "\n".join((*words, *rest))
