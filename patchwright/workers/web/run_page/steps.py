"""The log of a run as steps: a reply of the agent, what it did, and what came of it."""

from collections.abc import Iterable, Sequence
from typing import Final

from patchwright.core.events import types as ev
from patchwright.core.replay.story import Tone
from patchwright.core.types.base import Value
from patchwright.workers.web.run_page.entries import (
    MAX_BLOCK_CHARS,
    Block,
    EventEntry,
    event_entry,
)

# What all texts on a page have together; after that each shows how it begins and ends.
_PAGE_CHARS: Final = 90_000
_LEAST_CHARS: Final = 300


class StepAct(Value):
    """Something that the agent did; without a `result` it is not over."""

    call_id: str
    entry: EventEntry
    result: EventEntry | None = None


class LogStep(Value):
    """A reply and its acts; `number` counts the replies of the run from 1.

    `last_id` is its newest event. The model said nothing in one that `is_silent`.
    """

    number: int
    reply: EventEntry
    last_id: int
    is_silent: bool = False
    acts: tuple[StepAct, ...] = ()
    is_open: bool = False

    @property
    def id(self) -> int:
        return self.reply.id

    @property
    def has_failed(self) -> bool:
        results = (one.result for one in self.acts if one.result)
        return self.reply.tone is Tone.BAD or any(
            one.tone is Tone.BAD for one in results
        )


class Note(Value):
    """Something that happened beside the steps."""

    entry: EventEntry

    @property
    def id(self) -> int:
        return self.entry.id

    @property
    def last_id(self) -> int:
        return self.entry.id


Part = LogStep | Note


class LogStepReader:
    """Puts events together in their order; `steps` counts the replies before them."""

    def __init__(self, steps: int) -> None:
        self._steps = steps
        self._parts: dict[int, Part] = {}
        # The newest step of each agent.
        self._newest: dict[str, int] = {}

    @property
    def parts(self) -> tuple[Part, ...]:
        return tuple(self._parts.values())

    def add(self, event: ev.Event) -> Part | None:
        """Return the part that is new or has changed, None where nothing is shown."""
        is_reply = isinstance(event.payload, ev.ModelReply)
        self._steps += is_reply
        entry = event_entry(event)
        if entry is None:
            return None
        part = self._part(event, entry)
        if is_reply:
            self._newest[event.payload.agent] = event.id
        self._parts[part.id] = part
        return part

    def _part(self, event: ev.Event, entry: EventEntry) -> Part:
        payload = event.payload
        if isinstance(payload, ev.ModelReply):
            return LogStep(
                number=self._steps,
                reply=entry,
                last_id=event.id,
                is_silent=not payload.text.strip(),
            )
        step = self._parts.get(self._newest.get(payload.agent, 0))
        if isinstance(step, LogStep):
            if isinstance(payload, ev.AgentStep):
                act = StepAct(call_id=payload.call_id, entry=entry)
                return step.replace(acts=(*step.acts, act), last_id=event.id)
            if isinstance(payload, _RESULTS):
                return _with_result(step, payload.call_id, entry) or Note(entry=entry)
        return Note(entry=entry)


_RESULTS: Final = (
    ev.SandboxObservation
    | ev.McpResult
    | ev.DelegateResult
    | ev.Recalled
    | ev.UserRejected
    | ev.PlanApproved
)


def _with_result(step: LogStep, call_id: str, result: EventEntry) -> LogStep | None:
    """Return the step with the result of one of its acts, None if none waits for it."""
    acts = list(step.acts)
    for index, act in enumerate(acts):
        if act.result is None and act.call_id == call_id:
            acts[index] = act.replace(result=result)
            return step.replace(acts=tuple(acts), last_id=result.id)
    return None


def whole_steps(events: Sequence[ev.Event]) -> Sequence[ev.Event]:
    """Leave out the end of a step that began before these events."""
    begin = next(
        (
            index
            for index, event in enumerate(events)
            if isinstance(event.payload, ev.ModelReply) and not event.payload.agent
        ),
        0,
    )
    return events[begin:]


def read_steps(
    events: Iterable[ev.Event], steps: int, *, newest_is_open: bool
) -> tuple[Part, ...]:
    """Return the parts of a page: those that failed are open, others are folded."""
    reader = LogStepReader(steps)
    for event in events:
        reader.add(event)
    parts = reader.parts
    newest = max((one.id for one in parts if isinstance(one, LogStep)), default=0)
    opened = (
        one.replace(is_open=one.has_failed or (newest_is_open and one.id == newest))
        if isinstance(one, LogStep)
        else one
        for one in parts
    )
    return _within_page(tuple(opened))


def _within_page(parts: tuple[Part, ...]) -> tuple[Part, ...]:
    """Bound what a page weighs: the newest texts come first."""
    budget = _Budget(_PAGE_CHARS)
    return tuple(_bounded(one, budget) for one in reversed(parts))[::-1]


class _Budget:
    """Characters that are left for the texts of a page."""

    def __init__(self, left: int) -> None:
        self._left = left

    def shortened(self, entry: EventEntry) -> EventEntry:
        if entry.block is None:
            return entry
        block: Block = entry.block.within(
            max(_LEAST_CHARS, min(MAX_BLOCK_CHARS, self._left))
        )
        self._left -= len(block.text)
        return entry.replace(block=block)


def _bounded(part: Part, budget: _Budget) -> Part:
    if isinstance(part, Note):
        return part.replace(entry=budget.shortened(part.entry))
    acts = tuple(
        one.replace(
            entry=budget.shortened(one.entry),
            result=budget.shortened(one.result) if one.result else None,
        )
        for one in part.acts
    )
    return part.replace(reply=budget.shortened(part.reply), acts=acts)
