"""What a replayed run takes from the recording: its inputs, and what people said."""

import json
import threading
from bisect import bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Final

from patchwright.core.agent.results import LEFT_OUT, PROOF_SHORT, HeldBack
from patchwright.core.condense.condenser import Ask, History
from patchwright.core.events import types as ev
from patchwright.core.events.log import EventLog
from patchwright.core.mcp import McpTool
from patchwright.core.replay.models import ModelRecording, first_text
from patchwright.core.replay.trajectory import find_outcome, find_start, payloads_of
from patchwright.core.security.analyzer import ConfirmPolicy, Verdict, digest_of
from patchwright.core.types.errors import SettingsError
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


class RecordedReviews:
    """What the agent of a recorded run was told each time that it finished."""

    def __init__(self, recorded: Sequence[ev.Event]) -> None:
        own = (event.payload for event in recorded if not event.payload.agent)
        self._reviews = deque(
            HeldBack(one.reason, one.text)
            if isinstance(one, ev.ErrorObservation)
            else None
            for one in own
            if isinstance(one, ev.Finish) or _is_held_back(one)
        )

    def next(self) -> HeldBack | None:
        """Return what came of the next finish; None where it counted."""
        return self._reviews.popleft() if self._reviews else None


def _is_held_back(payload: ev.AnyPayload) -> bool:
    return isinstance(payload, ev.ErrorObservation) and payload.reason in (
        LEFT_OUT,
        PROOF_SHORT,
    )


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


def is_steering(event: ev.Event) -> bool:
    """Return whether a person said or asked for this, in any name."""
    payload = event.payload
    if isinstance(payload, ev.Message):
        return event.source is ev.Source.USER
    return isinstance(payload, ev.Steering) and event.cause is None


def accepted_steering(events: Sequence[ev.Event]) -> dict[int, ev.Event]:
    """Return how each message was handled, by the id of its event."""
    return {
        event.cause: event
        for event in events
        if event.source is ev.Source.SYSTEM
        and event.cause is not None
        and isinstance(event.payload, ev.Steering)
    }


def in_order_noticed(events: Sequence[ev.Event]) -> list[ev.Event]:
    """Put messages that came during a model call after its reply, unless handled.

    Which of the two came first is chance then, and changed nothing.
    """
    places = {event.id: (event.id, 0) for event in events}
    steering = accepted_steering(events)
    messages: list[ev.Event] = []
    for event in events:
        if is_steering(event):
            messages.append(event)
        elif isinstance(event.payload, ev.ModelReply):
            seen_id = event.cause or 0
            for one in messages:
                is_heard = one.id in steering and steering[one.id].id < event.id
                if one.id > seen_id and not is_heard:
                    places[one.id] = (event.id, one.id)
            messages.clear()
    return sorted(events, key=lambda event: places[event.id])


AcceptedSteering = ev.Message | ev.ChangeState | ev.RaiseLimits
# Handling takes milliseconds; later it will not happen any more.
WAIT_LIMIT_S: Final = 5.0
_CANCELLING_KINDS: Final = frozenset({ev.AgentState.STOPPED, ev.AgentState.PAUSED})


@dataclass(frozen=True)
class ScriptedInput:
    """A message that came after so many steps of the run, and how it was handled."""

    steps_before: int
    event: ev.Event
    accepted: AcceptedSteering | None


class ScriptedUser:
    """Passes on to a log what is written, and writes what people said in between.

    `was_answered` tells whether somebody has said something since the run began to
    wait for it.
    """

    def __init__(
        self,
        log: EventLog,
        recorded: Sequence[ev.Event],
        *,
        wait_limit_s: float = WAIT_LIMIT_S,
    ) -> None:
        self._log, self._answer_limit_s = log, wait_limit_s
        self.listen = log.listen
        self._inputs = deque(find_scripted_inputs(recorded))
        self._said: dict[int, ScriptedInput] = {}
        self._unjudged: set[int] = set()
        self._cancels = False
        self._steps_taken = 0
        self._changed = threading.Condition(threading.RLock())
        self.was_answered = False

    def filter_steering(self, event: ev.Event) -> AcceptedSteering | None:
        """Handle a message as it was handled in the recorded run."""
        scripted = self._said.get(event.id)
        return scripted.accepted if scripted else None

    def wait_until_accepted(self) -> bool:
        """Wait until all messages are handled; return whether the work goes on.

        A model that answers at once would otherwise now and then be faster.
        """
        with self._changed:
            cancelled = self._cancels
            self._changed.wait_for(
                lambda: not self._unjudged and not self._cancels, self._answer_limit_s
            )
        return not cancelled

    def append(
        self, source: ev.Source, payload: ev.Known, cause: int | None = None
    ) -> ev.Event:
        with self._changed:
            event = self._log.append(source, payload, cause)
            self._note(event)
            self._steps_taken += is_own_step(event)
            while self._inputs and self._inputs[0].steps_before <= self._steps_taken:
                self._say(self._inputs.popleft())
            self._changed.notify_all()
        return event

    def read(
        self,
        start_id: int = 1,
        end_id: int | None = None,
        *,
        limit: int | None = None,
        reverse: bool = False,
        kinds: frozenset[str] | None = None,
    ) -> Sequence[ev.Event]:
        return self._log.read(
            start_id, end_id, limit=limit, reverse=reverse, kinds=kinds
        )

    def subscribe(
        self, reader: Callable[[ev.Event], None], after_id: int = 0
    ) -> AbstractContextManager[None]:
        return self._log.subscribe(reader, after_id)

    def _note(self, event: ev.Event) -> None:
        if isinstance(event.payload, ev.StateChanged):
            self.was_answered = False
            self._cancels = False
        if event.source is ev.Source.SYSTEM and event.cause is not None:
            self._unjudged.discard(event.cause)
            self._cancels |= _cancels(event)

    def _say(self, scripted: ScriptedInput) -> None:
        payload = scripted.event.payload
        if not isinstance(payload, ev.Steering):
            return
        event = self._log.append(scripted.event.source, payload)
        self._said[event.id] = scripted
        self.was_answered = True
        self._cancels |= _cancels(event)
        if scripted.accepted is not None:
            self._unjudged.add(event.id)


def find_scripted_inputs(recorded: Sequence[ev.Event]) -> list[ScriptedInput]:
    steering = accepted_steering(recorded)
    cues: list[ScriptedInput] = []
    steps_before = 0
    for event in in_order_noticed(recorded):
        steps_before += is_own_step(event)
        if is_steering(event):
            answer = steering[event.id].payload if event.id in steering else None
            kept = answer if isinstance(answer, ev.Steering) else None
            cues.append(ScriptedInput(steps_before, event, kept))
    return cues


def is_own_step(event: ev.Event) -> bool:
    """Tell whether the run itself did this, and would do so again."""
    payload = event.payload
    if isinstance(payload, ev.OutcomeReached):
        return payload.outcome.waits
    if isinstance(payload, ev.StateChanged):
        return False
    if isinstance(payload, ev.Steering):
        is_message = isinstance(payload, ev.Message)
        return is_message and event.source is ev.Source.SYSTEM and event.cause is None
    return isinstance(
        payload, ev.ModelReply | ev.ModelCalled | ev.Action | ev.Observation
    )


def _cancels(event: ev.Event) -> bool:
    payload = event.payload
    return isinstance(payload, ev.ChangeState) and payload.state in _CANCELLING_KINDS
