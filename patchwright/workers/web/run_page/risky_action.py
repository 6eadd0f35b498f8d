"""An action that a person is to allow, shown whole: a yes to a part is no yes."""

import json
from typing import Final

from pydantic import TypeAdapter, ValidationError

from patchwright.core.agent.approval import action_text
from patchwright.core.events.observations import ConfirmationAsked
from patchwright.core.events.types import AgentStep
from patchwright.core.text.strings import strip_invisible
from patchwright.core.types.base import Value

_ACTION: Final[TypeAdapter[AgentStep]] = TypeAdapter(AgentStep)
_DIGEST_CHARS: Final = 12


class RiskyAction(Value):
    """`text` is all of it that can be seen; `digest` tells it from any other.

    `hidden` counts the characters that nobody sees, which may turn a text around.
    """

    name: str
    risk: str
    why: tuple[str, ...]
    text: str
    digest: str
    hidden: int = 0


def risky_action(asked: ConfirmationAsked) -> RiskyAction:
    text, hidden = strip_invisible(_text(asked))
    kind = str(asked.action.get("kind", "an action"))
    return RiskyAction(
        name=kind.replace("_", " "),
        risk=asked.risk,
        why=asked.why,
        text=text,
        digest=asked.digest[:_DIGEST_CHARS],
        hidden=hidden,
    )


def _text(asked: ConfirmationAsked) -> str:
    try:
        return action_text(_ACTION.validate_python(asked.action))
    except ValidationError:
        # Another version has asked: nothing of it is left out.
        return json.dumps(asked.action, indent=2, ensure_ascii=False)
