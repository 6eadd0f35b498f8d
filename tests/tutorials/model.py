"""A model that mends the shop of the demo, as it did when it was recorded."""

import json
from itertools import count
from typing import Any

from tests.architecture.tree import ROOT
from tests.fakes.llm.anthropic import Block

RECORDING = ROOT / "demo" / "recording.json"
NUMBERS = count(1)


def mend(request: dict[str, Any]) -> list[Block]:
    """Return what the model said at this point of its work."""
    done = sum(one["role"] == "assistant" for one in request["messages"])
    reply = json.loads(RECORDING.read_bytes())["replies"][done]
    said = [{"type": "text", "text": reply["text"]}] if "text" in reply else []
    return said + [_use(call) for call in reply["calls"]]


def _use(call: dict[str, Any]) -> Block:
    return {
        "type": "tool_use",
        "id": f"toolu_{next(NUMBERS)}",
        "name": call["name"],
        "input": call["arguments"],
    }
