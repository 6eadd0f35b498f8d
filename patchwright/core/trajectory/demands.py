"""What a recorded run needs in order to be run again."""

import json
from collections.abc import Sequence
from typing import Final

from patchwright.core.errors import SettingsError
from patchwright.core.events.types import (
    CallMcpTool,
    ConfirmationAsked,
    Delegate,
    Event,
    Message,
    ModelReply,
    OutcomeReached,
    Recall,
    Source,
)
from patchwright.core.security.policy import ConfirmPolicy
from patchwright.core.trajectory.document import find_outcome, find_start
from patchwright.core.types.work import Limits, Task

_SERVED: Final = (
    (CallMcpTool, "what MCP tools answered"),
    (Recall, "what was recalled of the repository's own texts"),
)


def find_task(recorded: Sequence[Event]) -> tuple[Task, Limits]:
    """Return what was to be done; an older log tells it less directly.

    Raises `SettingsError` for one that does not say it at all.
    """
    if started := find_start(recorded):
        return started.task, started.limits
    outcome = find_outcome(recorded)
    texts = (
        event.payload.text
        for event in recorded
        if isinstance(event.payload, Message) and event.source is Source.SYSTEM
    )
    text = next(texts, None)
    if outcome is None or text is None:
        raise SettingsError(
            "the log says neither the task nor its commit; only a run with "
            "`run_started`, or with an outcome, can be run again"
        )
    return Task(
        text=text, base_sha=outcome.base_sha, base_branch=outcome.base_branch
    ), Limits()


def find_policy(recorded: Sequence[Event]) -> ConfirmPolicy:
    """Return a policy under which the model's calls are read as they were then.

    A plan is asked about under every policy.
    """
    was_asked = any(
        isinstance(one.payload, ConfirmationAsked)
        and one.payload.action.get("kind") != "finish"
        for one in recorded
    )
    return "risky" if was_asked or _states_risks(recorded) else "never"


def find_depth(recorded: Sequence[Event]) -> int:
    """Return how deep delegates delegated."""
    depths = {"": 0}
    for event in recorded:
        if isinstance(event.payload, Delegate):
            depths[str(event.id)] = depths.get(event.payload.agent, 0) + 1
    return max(depths.values())


def has_waited(recorded: Sequence[Event]) -> bool:
    """Tell whether the run has waited for a person, to be taken up again."""
    payloads = (event.payload for event in recorded)
    return any(
        isinstance(one, OutcomeReached) and one.outcome.waits for one in payloads
    )


def find_recorded_inputs(recorded: Sequence[Event]) -> tuple[str, ...]:
    """Name what will come from the recording instead of being done again."""
    payloads = [event.payload for event in recorded]
    return tuple(
        text
        for kind, text in _SERVED
        if any(isinstance(payload, kind) for payload in payloads)
    )


def _states_risks(recorded: Sequence[Event]) -> bool:
    """Tell whether the model was told to judge its calls itself."""
    return any(
        "risk" in json.loads(call.arguments)
        for event in recorded
        if isinstance(event.payload, ModelReply)
        for call in event.payload.tool_calls
    )
