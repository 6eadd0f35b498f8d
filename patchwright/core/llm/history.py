"""Repair a chat so that no provider refuses it."""

import json
from collections.abc import Sequence

from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    ToolResult,
    UserText,
)

MISSING_RESULT = "(No result of this call was recorded.)"
ORPHAN_RESULT = "(The result of an earlier call that is not shown any more:)\n"


def with_all_results(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Return the messages with exactly one result, in order, after each tool call.

    Providers refuse any other history, and with it the rest of the run.
    """
    repaired: list[ChatMessage] = []
    at = 0
    while at < len(messages):
        message = messages[at]
        at += 1
        if isinstance(message, ToolResult):
            repaired.append(_orphan(message))
            continue
        repaired.append(message)
        if isinstance(message, AssistantTurn) and message.tool_calls:
            results = _results_at(messages, at)
            at += len(results)
            repaired.extend(_pair(message, results))
    return repaired


def without_duplicate_calls(messages: Sequence[ChatMessage]) -> list[ChatMessage]:
    """Join the calls of one reply that are the same, and their results.

    For Gemini before 3, litellm leaves such calls out, and the results would be too
    many. The messages must be `answered`.
    """
    joined: list[ChatMessage] = []
    twins: dict[str, str] = {}
    places: dict[str, int] = {}
    for message in messages:
        if isinstance(message, AssistantTurn):
            twins = _twins(message)
            kept = tuple(call for call in message.tool_calls if call.id not in twins)
            joined.append(message.replace(tool_calls=kept))
        elif isinstance(message, ToolResult) and message.call_id in twins:
            at = places[twins[message.call_id]]
            joined[at] = _both(joined[at], message)
        else:
            if isinstance(message, ToolResult):
                places[message.call_id] = len(joined)
            joined.append(message)
    return joined


def _twins(turn: AssistantTurn) -> dict[str, str]:
    """Return the ids of calls that an earlier one equals, and the earlier one's."""
    first: dict[tuple[str, str], str] = {}
    twins: dict[str, str] = {}
    for call in turn.tool_calls:
        arguments = json.dumps(json.loads(call.arguments), sort_keys=True)
        same = first.setdefault((call.name, arguments), call.id)
        if same != call.id:
            twins[call.id] = same
    return twins


def _both(first: ChatMessage, second: ToolResult) -> ChatMessage:
    text = f"{first.text}\n\n(And once more:)\n{second.text}"
    return first.replace(text=text)


def _results_at(messages: Sequence[ChatMessage], start: int) -> list[ToolResult]:
    results: list[ToolResult] = []
    for message in messages[start:]:
        if not isinstance(message, ToolResult):
            break
        results.append(message)
    return results


def _pair(turn: AssistantTurn, results: list[ToolResult]) -> list[ChatMessage]:
    first: dict[str, ToolResult] = {}
    extra: list[ChatMessage] = []
    called = {call.id for call in turn.tool_calls}
    for result in results:
        if result.call_id in called and result.call_id not in first:
            first[result.call_id] = result
        else:
            extra.append(_orphan(result))
    paired = [
        first.get(call.id) or ToolResult(call_id=call.id, text=MISSING_RESULT)
        for call in turn.tool_calls
    ]
    return [*paired, *extra]


def _orphan(result: ToolResult) -> UserText:
    return UserText(text=ORPHAN_RESULT + result.text)
