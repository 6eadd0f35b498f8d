"""Fold the events of a run into its story."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from patchwright.core.agent.stuck import describe_step
from patchwright.core.events.metrics import ModelCall, measure, read_call
from patchwright.core.events.types import (
    Action,
    Delegate,
    Event,
    ModelReply,
    Observation,
    ToolCall,
)
from patchwright.core.trajectory.document import facts_of, find_outcome
from patchwright.core.trajectory.remarks import note_phrase
from patchwright.core.trajectory.story import CallSummary, StoryNote, Step, Story
from patchwright.core.trajectory.words import first_line, observation_phrase


def tell_story(events: Sequence[Event]) -> Story:
    """Return the story of one run."""
    teller = _Teller()
    for event in events:
        teller.add(event)
    return Story(
        facts=facts_of(events),
        parts=teller.parts(),
        metrics=measure(events),
        outcome=find_outcome(events),
    )


@dataclass
class _OpenStep:
    """A step while its acts come in, by the id of the call."""

    step: Step
    acts: dict[str, CallSummary] = field(default_factory=dict)

    def close(self) -> Step:
        return self.step.replace(acts=tuple(self.acts.values()))


class _Teller:
    """Reads events in order; what comes in later completes what is there."""

    def __init__(self) -> None:
        self._parts: list[_OpenStep | StoryNote] = []
        self._newest: dict[str, _OpenStep] = {}
        self._depths: dict[str, int] = {"": 0}
        self._steps = 0

    def parts(self) -> tuple[Step | StoryNote, ...]:
        return tuple(
            part.close() if isinstance(part, _OpenStep) else part
            for part in self._parts
        )

    def add(self, event: Event) -> None:
        payload = event.payload
        step = self._newest.get(payload.agent)
        act = step.acts.get(payload.call_id) if step else None
        if isinstance(payload, ModelReply):
            self._begin_step(event, payload)
        elif step and act and isinstance(payload, Action):
            self._note_delegate(event.id, payload)
            step.acts[act.call_id] = _sent_off(act, payload, event.id)
        elif step and act and isinstance(payload, Observation):
            step.acts[act.call_id] = act.replace(
                result=observation_phrase(payload), result_id=event.id
            )
        elif words := note_phrase(event):
            self._parts.append(
                StoryNote(
                    event_id=event.id,
                    at=event.at,
                    kind=payload.kind,
                    agent=payload.agent,
                    depth=self._depth(payload.agent),
                    text=words.text,
                    tone=words.tone,
                    call=read_call(event),
                )
            )

    def _note_delegate(self, event_id: int, action: Action) -> None:
        if isinstance(action, Delegate):
            self._depths[str(event_id)] = self._depth(action.agent) + 1

    def _depth(self, agent: str) -> int:
        return self._depths.get(agent, 1)

    def _begin_step(self, event: Event, reply: ModelReply) -> None:
        self._steps += 1
        call = read_call(event)
        assert isinstance(call, ModelCall)  # noqa: S101 - a reply always is one
        step = Step(
            number=self._steps,
            event_id=event.id,
            at=event.at,
            agent=reply.agent,
            depth=self._depth(reply.agent),
            said=first_line(reply.text),
            call=call,
        )
        acts = {call.id: _asked(call, reply.malformed) for call in reply.tool_calls}
        self._newest[reply.agent] = _OpenStep(step, acts)
        self._parts.append(self._newest[reply.agent])


def _asked(call: ToolCall, malformed: dict[str, str]) -> CallSummary:
    broken = " (broken arguments)" if call.id in malformed else ""
    return CallSummary(call_id=call.id, kind=call.name, text=f"{call.name}{broken}")


def _sent_off(act: CallSummary, action: Action, action_id: int) -> CallSummary:
    return act.replace(kind=action.kind, text=describe_step(action), action_id=action_id)
