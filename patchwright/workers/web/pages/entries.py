"""One event as an entry of a run's page."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.core.agent.loop_finder import describe_step
from patchwright.core.agent.view import observation_text
from patchwright.core.events import types as ev
from patchwright.core.events.state import ModelCall, read_call
from patchwright.core.replay.story import (
    Phrase,
    Tone,
    first_line,
    note_phrase,
    observation_phrase,
)
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.base import Value

# A page has hundreds of these; the whole of it is in the exported log.
MAX_BLOCK_CHARS: Final = 8_000
# What fits into a title whole.
_TITLE_CHARS: Final = 80


class BlockForm(StrEnum):
    PROSE = "prose"
    CODE = "code"
    DIFF = "diff"


class Block(Value):
    """A text of several lines; `is_open` says that it is not folded."""

    text: str
    form: BlockForm = BlockForm.CODE
    is_open: bool = False

    @property
    def size(self) -> str:
        lines = self.text.count("\n") + 1
        return "1 line" if lines == 1 else f"{lines:,} lines"


class EventEntry(Value):
    """What the page shows of an event; `figures` is what a model call took."""

    id: int
    at: datetime
    kind: str
    who: str
    title: str
    tone: Tone = Tone.PLAIN
    figures: str = ""
    block: Block | None = None
    is_delegates: bool = False


def event_entry(event: ev.Event) -> EventEntry | None:
    """Return the entry for an event, or None where there is nothing to see."""
    words = _words(event)
    if words is None:
        return None
    call = read_call(event)
    return EventEntry(
        id=event.id,
        at=event.at,
        kind=event.payload.kind,
        who=event.source.value,
        title=words.text,
        tone=words.tone,
        figures=figures(call) if call else "",
        block=_bounded(_block(event)),
        is_delegates=bool(event.payload.agent),
    )


def figures(call: ModelCall) -> str:
    tokens = call.usage.tokens_in + call.usage.tokens_out
    cost_usd = call.usage.cost_usd
    price = "price unknown" if cost_usd is None else f"${cost_usd:.4f}"
    return f"{tokens:,} tokens · {price} · {call.latency_ms / 1000:.1f} s"


def _words(event: ev.Event) -> Phrase | None:
    payload = event.payload
    match payload:
        case ev.Null() | ev.CheckpointTaken():
            return None
        case ev.ModelReply():
            return _reply_words(payload)
        case ev.RunStarted(task=task):
            return Phrase(text=f"The run starts: {task.title or 'no title'}")
        case ev.OutcomeReached(outcome=outcome):
            return Phrase(text=f"The run ends: {outcome.kind} {outcome.reason}".strip())
        case ev.StateChanged():
            return observation_phrase(payload)
        case _ if isinstance(payload, ev.Observation):
            return observation_phrase(payload)
        case _ if isinstance(payload, ev.AgentStep):
            return Phrase(text=describe_step(payload))
        case _:
            return note_phrase(event)


def _reply_words(reply: ev.ModelReply) -> Phrase:
    if reply.text.strip():
        return Phrase(text=first_line(reply.text))
    if reply.tool_calls:
        names = ", ".join(call.name for call in reply.tool_calls)
        return Phrase(text=f"calls {names}")
    return Phrase(text=f"no answer: {reply.stop_reason}", tone=Tone.BAD)


def _block(event: ev.Event) -> Block | None:
    payload = event.payload
    if isinstance(payload, ev.ModelReply | ev.ModelCalled | ev.Message):
        return Block(text=payload.text, form=BlockForm.PROSE)
    if isinstance(payload, ev.FileEdited):
        return Block(text=payload.diff, form=BlockForm.DIFF, is_open=True)
    if isinstance(payload, ev.StateChanged):
        return None
    if isinstance(payload, ev.Observation):
        return Block(text=observation_text(payload))
    if isinstance(payload, ev.AgentStep):
        return _step_block(payload)
    if isinstance(payload, ev.RunStarted):
        return Block(text=payload.task.text)
    if isinstance(payload, ev.OutcomeReached):
        return Block(text=payload.outcome.summary, form=BlockForm.PROSE)
    return None


def _step_block(step: ev.AgentStep) -> Block | None:
    match step:
        case ev.RunCommand(command=command):
            return Block(text=command)
        case ev.RunIpython(code=code):
            return Block(text=code)
        case ev.WriteFile(content=content):
            return Block(text=content)
        case ev.CallMcpTool():
            return Block(text=step.model_dump_json(include={"arguments"}, indent=2))
        case ev.Think(thought=text) | ev.Delegate(task=text) | ev.Finish(summary=text):
            return Block(text=text, form=BlockForm.PROSE)
        case ev.WriteTodos(todos=todos):
            marks = {"done": "✓", "doing": "→"}
            lines = [f"{marks.get(one.state, '·')} {one.text}" for one in todos]
            return Block(text="\n".join(lines), form=BlockForm.PROSE, is_open=True)
        case _:
            return None


def _bounded(block: Block | None) -> Block | None:
    """Leave out what says nothing more than the title does."""
    text = block.text.strip("\n") if block else ""
    if block is None or ("\n" not in text and len(text) <= _TITLE_CHARS):
        return None
    return block.replace(text=truncate_middle(text, MAX_BLOCK_CHARS))
