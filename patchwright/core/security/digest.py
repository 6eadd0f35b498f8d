"""Name an action by what it does, so that a yes to it is a yes to nothing else."""

import hashlib
import json

from patchwright.core.events.types import AgentAction


def digest_of(action: AgentAction) -> str:
    """Return the SHA-256 of the action's canonical JSON, in hexadecimal.

    Which call asked for it, and how risky it was found, is no part of what it does.
    """
    done = action.model_dump(mode="json", exclude={"call_id", "agent", "risk"})
    text = json.dumps(done, sort_keys=True, separators=(",", ":"), ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
