"""Name an action by what it would do, so that a yes counts for that alone."""

import hashlib
import json

from patchwright.core.events.types import AgentAction

_INCIDENTAL = {"call_id", "agent", "risk"}


def digest_of(action: AgentAction) -> str:
    """Return the SHA-256, in hexadecimal, of the action's canonical JSON form."""
    tree = action.model_dump(mode="json", exclude=_INCIDENTAL)
    text = json.dumps(tree, sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(text.encode()).hexdigest()
