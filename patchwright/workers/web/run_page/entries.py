"""One event as an entry of a run's page."""

from datetime import datetime
from enum import StrEnum
from typing import Final

from patchwright.core.agent.loop_finder import describe_step
from patchwright.core.agent.view import observation_text
from patchwright.core.events import types as ev
from patchwright.core.events.payload import AgentState
from patchwright.core.events.state import ModelCall, read_call
from patchwright.core.replay.story import (
    Phrase,
    Tone,
    evidence_phrase,
    first_line,
    note_phrase,
    observation_phrase,
    state_phrase,
)
from patchwright.core.text.strings import truncate_middle
from patchwright.core.types.base import Value
from patchwright.core.types.work import ASKED
from patchwright.resolver.messages.outcome_kinds import outcome_title
from patchwright.workers.web.run_page.prose import first_words

# A page has hundreds of these; the whole of it is in the exported log.
MAX_BLOCK_CHARS: Final = 8_000
# What fits into a title whole.
_TITLE_CHARS: Final = 80
# What is read at a glance.
_UNFOLDED_LINES: Final = 12


class BlockForm(StrEnum):
    PROSE = "prose"
    CODE = "code"
    DIFF = "diff"
    TERMINAL = "terminal"


class Block(Value):
    """A text of several lines; `is_open` says that it is not folded.

    With `is_cut` the page of its event has more of it.
    """

    text: str
    form: BlockForm = BlockForm.CODE
    is_open: bool = False
    is_cut: bool = False

    def within(self, max_chars: int) -> "Block":
        """Return it with its middle left out where it is longer."""
        if len(self.text) <= max_chars:
            return self
        return self.replace(text=truncate_middle(self.text, max_chars), is_cut=True)

    @property
    def lines(self) -> int:
        return self.text.count("\n") + 1

    @property
    def size(self) -> str:
        return "1 line" if self.lines == 1 else f"{self.lines:,} lines"

    @property
    def is_folded(self) -> bool:
        return not self.is_open and self.lines > _UNFOLDED_LINES


class EventEntry(Value):
    """What the page shows of an event; `figures` is what a model call took.

    `subject` is a command, a path or a name: it is shown as code after the title.
    `price` is the part of the figures that a summary shows.
    """

    id: int
    at: datetime
    kind: str
    who: str
    title: str
    subject: str = ""
    tone: Tone = Tone.PLAIN
    figures: str = ""
    price: str = ""
    block: Block | None = None
    is_delegates: bool = False


# What begins with no name of anybody, and stands on a line of its own.
_SENTENCES: Final = (ev.ConfirmationAsked, ev.PlanApproved, ev.UserRejected)


def event_entry(event: ev.Event, max_chars: int = MAX_BLOCK_CHARS) -> EventEntry | None:
    """Return the entry for an event, or None where there is nothing to see."""
    payload = event.payload
    subject = ""
    if isinstance(payload, ev.AgentStep):
        title, subject = _step_title(payload)
        words: Phrase | None = Phrase(text=title)
    else:
        words = _words(event)
    if words is None:
        return None
    if isinstance(payload, _SENTENCES):
        words = words.replace(text=f"{words.text[:1].upper()}{words.text[1:]}")
    call = read_call(event)
    return EventEntry(
        id=event.id,
        at=event.at,
        kind=payload.kind,
        who=event.source.value,
        title=words.text,
        subject=subject,
        tone=words.tone,
        figures=figures(call) if call else "",
        price=_price(call) if call else "",
        block=_bounded(_block(event), max_chars),
        is_delegates=bool(payload.agent),
    )


def figures(call: ModelCall) -> str:
    tokens = call.usage.tokens_in + call.usage.tokens_out
    price = _price(call) or "price unknown"
    return f"{tokens:,} tokens · {price} · {call.latency_ms / 1000:.1f} s"


def _price(call: ModelCall) -> str:
    cost_usd = call.usage.cost_usd
    return "" if cost_usd is None else f"${cost_usd:.4f}"


def _words(event: ev.Event) -> Phrase | None:
    payload = event.payload
    match payload:
        case ev.Null() | ev.CheckpointTaken():
            return None
        case ev.ModelReply():
            return _reply_words(payload)
        case ev.RunStarted(task=task):
            return Phrase(text=f"Run started: {task.title or 'no title'}")
        case ev.OutcomeReached(outcome=outcome):
            verb = "waits" if outcome.waits else "ended"
            return Phrase(text=f"Run {verb}: {outcome_title(outcome)}")
        case ev.EvidenceRecorded(evidence=evidence):
            # The color of the result itself, as in the table of the proof.
            tone = Tone.GOOD if evidence.exit_code == 0 else Tone.BAD
            return evidence_phrase(evidence).replace(tone=tone)
        case ev.StateChanged():
            return _state_words(payload)
        case ev.Message(text=text):
            return Phrase(text=f"{_SPEAKERS[event.source]}: {first_words(text)}")
        case _ if isinstance(payload, ev.Observation):
            return observation_phrase(payload)
        case _:
            return note_phrase(event)


def _reply_words(reply: ev.ModelReply) -> Phrase:
    if reply.text.strip():
        return Phrase(text=first_words(reply.text))
    if reply.tool_calls:
        names = ", ".join(call.name for call in reply.tool_calls)
        return Phrase(text=f"Calls {names}")
    return Phrase(text=f"No answer: {reply.stop_reason}", tone=Tone.BAD)


_SPEAKERS: Final = {
    ev.Source.USER: "Comment",
    ev.Source.AGENT: "Agent",
    ev.Source.ENVIRONMENT: "Sandbox",
    ev.Source.SYSTEM: "Patchwright",
}
_STATES: Final = {
    AgentState.LOADING: "Starting",
    AgentState.RUNNING: "Working",
    AgentState.PAUSED: "Paused",
    AgentState.AWAITING_USER_INPUT: "Waiting for an answer",
    AgentState.AWAITING_USER_CONFIRMATION: "Waiting for an approval",
    AgentState.USER_CONFIRMED: "Approved",
    AgentState.USER_REJECTED: "Rejected",
    AgentState.RATE_LIMITED: "Rate-limited by the provider",
    AgentState.FINISHED: "Agent finished",
    AgentState.REJECTED: "Agent declined",
    AgentState.STOPPED: "Stopped",
    AgentState.ERROR: "Failed",
}


def _state_words(changed: ev.StateChanged) -> Phrase:
    """Say it without the id of the run, which is at the top of the page."""
    phrase = state_phrase(changed)
    words = _STATES[changed.state]
    if changed.state is AgentState.LOADING:
        number = changed.attempt.number if changed.attempt else 1
        return phrase.replace(text=words if number == 1 else f"{words}, try {number}")
    # Who asked is said before.
    rest = phrase.text.removeprefix(changed.state).removesuffix(f" ({ASKED})")
    return phrase.replace(text=f"{words}{rest}")


# What the agent does, and the field that says with what.
_WITH_CODE: Final[dict[type[ev.AgentStep], tuple[str, str]]] = {
    ev.RunCommand: ("Run", "command"),
    ev.ControlCommand: ("Running command", "handle"),
    ev.RunIpython: ("Run Python", "code"),
    ev.ReadFile: ("Read", "path"),
    ev.WriteFile: ("Write", "path"),
    ev.EditFile: ("Edit", "path"),
    ev.SearchFiles: ("Search for", "pattern"),
    ev.Browse: ("Open", "url"),
    ev.CallMcpTool: ("Call", "tool"),
    ev.Recall: ("Look up", "query"),
}
_WITH_TEXT: Final[dict[type[ev.AgentStep], tuple[str, str]]] = {
    ev.Think: ("Think", "thought"),
    ev.Delegate: ("Delegate", "task"),
    ev.AskQuestion: ("Ask", "question"),
    ev.Finish: ("Finish", "summary"),
    ev.Reject: ("Decline", "reason"),
}


def _step_title(step: ev.AgentStep) -> tuple[str, str]:
    """Return what the agent does, and with what, empty where that is no code."""
    kind = type(step)
    if kind in _WITH_CODE:
        title, field = _WITH_CODE[kind]
        return title, first_line(getattr(step, field))
    if kind in _WITH_TEXT:
        title, field = _WITH_TEXT[kind]
        return f"{title}: {first_words(getattr(step, field))}", ""
    return ("Plan" if isinstance(step, ev.WriteTodos) else describe_step(step)), ""


def _block(event: ev.Event) -> Block | None:
    payload = event.payload
    if isinstance(payload, ev.ModelReply | ev.ModelCalled | ev.Message):
        return Block(text=payload.text, form=BlockForm.PROSE)
    if isinstance(payload, ev.FileEdited):
        return Block(text=payload.diff, form=BlockForm.DIFF, is_open=True)
    if isinstance(payload, ev.StateChanged):
        return None
    if isinstance(payload, ev.CommandOutput | ev.IpythonOutput):
        text = observation_text(payload)
        return Block(text=text, form=BlockForm.TERMINAL)
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


def _bounded(block: Block | None, max_chars: int) -> Block | None:
    """Leave out what says nothing more than the title does."""
    text = block.text.strip("\n") if block else ""
    if block is None or ("\n" not in text and len(text) <= _TITLE_CHARS):
        return None
    return block.replace(text=text).within(max_chars)
