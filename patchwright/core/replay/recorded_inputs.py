"""What a replayed run needs, and what it takes from the recording."""

import json
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Sequence
from typing import Final

from patchwright.core.condense.condenser import Ask, History
from patchwright.core.errors import SettingsError
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.mcp import McpTool
from patchwright.core.replay.models import ModelRecording, first_text
from patchwright.core.replay.trajectory import find_outcome, find_start, payloads_of
from patchwright.core.security.analyzer import ConfirmPolicy, Verdict, digest_of
from patchwright.core.types.work import Limits, Task

_SERVED: Final = (
    (ev.CallMcpTool, "what MCP tools answered"),
    (ev.Recall, "what was recalled of the repository's own texts"),
)


def find_task(recorded: Sequence[ev.Event]) -> tuple[Task, Limits]:
    """Return what was to be done; an older log tells it less directly.

    Raises `SettingsError` for one that does not say it at all.
    """
    if started := find_start(recorded):
        return started.task, started.limits
    outcome = find_outcome(recorded)
    texts = (
        event.payload.text
        for event in recorded
        if isinstance(event.payload, ev.Message) and event.source is ev.Source.SYSTEM
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


def find_policy(recorded: Sequence[ev.Event]) -> ConfirmPolicy:
    """Return a policy under which the model's calls are read as they were then.

    A plan is asked about under every policy.
    """
    asked = payloads_of(recorded, ev.ConfirmationAsked)
    was_asked = any(one.action.get("kind") != "finish" for one in asked)
    # If the model rates the risk of its calls, each call has its risk.
    replies = payloads_of(recorded, ev.ModelReply)
    calls = (call for reply in replies for call in reply.tool_calls)
    states_risks = any("risk" in json.loads(call.arguments) for call in calls)
    return "risky" if was_asked or states_risks else "never"


def find_depth(recorded: Sequence[ev.Event]) -> int:
    """Return how deep delegates delegated."""
    depths = {"": 0}
    for event in recorded:
        if isinstance(event.payload, ev.Delegate):
            depths[str(event.id)] = depths.get(event.payload.agent, 0) + 1
    return max(depths.values())


def has_waited(recorded: Sequence[ev.Event]) -> bool:
    """Tell whether the run has waited for a person, to be taken up again."""
    return any(one.outcome.waits for one in payloads_of(recorded, ev.OutcomeReached))


def find_recorded_inputs(recorded: Sequence[ev.Event]) -> tuple[str, ...]:
    """Name what will come from the recording instead of being done again."""
    return tuple(text for kind, text in _SERVED if any(payloads_of(recorded, kind)))


_TURN_KINDS: Final = frozenset({"message", "model_reply", "condensed"})


def results_of(recorded: Sequence[ev.Event]) -> dict[int, ev.Observation]:
    """Return the result of each action, by the id of the action's event."""
    return {
        event.cause: event.payload
        for event in recorded
        if event.source is ev.Source.ENVIRONMENT
        and event.cause is not None
        and isinstance(event.payload, ev.Observation)
    }


class RecordedKnowledge:
    """Knows what was recalled."""

    def __init__(self, recorded: Sequence[ev.Event]) -> None:
        results = results_of(recorded)
        self._answers = {
            event.payload.query: results.get(event.id)
            for event in recorded
            if isinstance(event.payload, ev.Recall)
        }

    def __bool__(self) -> bool:
        return bool(self._answers)

    def recall(self, query: str) -> ev.Recalled:
        answer = self._answers.get(query)
        if isinstance(answer, ev.Recalled):
            return answer
        return ev.Recalled(text=f"The recorded run did not recall {query!r}.")


class RecordedMcpServers:
    """Answers the calls of tools as they were answered, each as often as it was."""

    def __init__(self, recorded: Sequence[ev.Event]) -> None:
        results = results_of(recorded)
        self._tools: dict[str, McpTool] = {}
        self._answers: defaultdict[str, deque[ev.Observation]] = defaultdict(deque)
        for event in recorded:
            payload = event.payload
            if isinstance(payload, ev.CallMcpTool) and event.id in results:
                self._tools[payload.tool] = _tool(payload)
                self._answers[_key(payload)].append(results[event.id])

    def faults(self) -> tuple[str, ...]:
        return ()

    def tools(self) -> tuple[McpTool, ...]:
        return tuple(self._tools.values())

    def call(self, action: ev.CallMcpTool) -> ev.McpResult | ev.ErrorObservation:
        answers = self._answers[_key(action)]
        answer = answers.popleft() if answers else None
        if isinstance(answer, ev.McpResult | ev.ErrorObservation):
            return answer
        text = f"The recorded run has no answer of {action.tool} to this."
        return ev.ErrorObservation(reason="not-recorded", text=text)

    def close(self) -> None:
        pass


def _tool(call: ev.CallMcpTool) -> McpTool:
    schema = McpTool(server=call.server, name=call.tool, description="", parameters={})
    return schema.replace(parameters={"type": "object"})


def _key(call: ev.CallMcpTool) -> str:
    return call.model_dump_json(include={"server", "tool", "arguments"})


class RecordedCondenser:
    """Condenses the chat where it was condensed, and in the same way.

    The recorded events name turns by their ids, which may be others in `log`.
    """

    name = "recorded"

    def __init__(
        self,
        model_recording: ModelRecording,
        recorded: Sequence[ev.Event],
        log: EventLog,
    ) -> None:
        self._model_recording, self._log = model_recording, log
        self._turns_then = turn_ids(recorded)

    def condense(self, history: History, ask: Ask) -> ev.Condensed | None:
        chat = (message for turn in history.turns for message in turn.messages)
        agent = self._model_recording.find_agent(first_text(chat))
        done = self._model_recording.next_condensing(agent)
        while isinstance(done, ev.ModelCalled):
            ask("", "")
            done = self._model_recording.next_condensing(agent)
        return self._translate(done) if done else None

    def _translate(self, then: ev.Condensed) -> ev.Condensed | None:
        turns_now = turn_ids(self._log.read(kinds=_TURN_KINDS))

        def now(turn_id: int) -> int:
            place = bisect_right(self._turns_then, turn_id)
            return turns_now[min(place, len(turns_now)) - 1] if place else 0

        return then.replace(
            first_id=now(then.first_id),
            last_id=now(then.last_id),
            masked_to=now(then.masked_to),
        )


def turn_ids(events: Sequence[ev.Event]) -> list[int]:
    """Return the ids of all that is a turn in some agent's chat."""
    return [
        event.id
        for event in events
        if isinstance(event.payload, ev.ModelReply | ev.Condensed)
        or (isinstance(event.payload, ev.Message) and event.source is ev.Source.SYSTEM)
    ]


class RecordedAnalyzer:
    """Finds risky what people were asked about, and nothing else."""

    name = "recorded"

    def __init__(self, recorded: Sequence[ev.Event]) -> None:
        asked = payloads_of(recorded, ev.ConfirmationAsked)
        self._asked = {one.digest for one in asked}

    def judge(self, action: ev.AgentAction, claimed: ev.Risk) -> Verdict:
        del claimed
        was_asked = digest_of(action) in self._asked
        return Verdict(risk=ev.Risk.HIGH if was_asked else ev.Risk.LOW)
