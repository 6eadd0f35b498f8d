"""The events as the model sees them, observations as text."""

from collections.abc import Iterable
from itertools import chain
from typing import Final, assert_never

from patchwright.core.condense.condenser import History, Turn, apply_condensation
from patchwright.core.events import types as ev
from patchwright.core.llm.model import (
    AssistantTurn,
    ChatMessage,
    Image,
    SystemText,
    ToolResult,
    UserText,
)


def observation_text(observation: ev.Observation) -> str:
    if isinstance(observation, ev.SandboxObservation):
        return _sandbox_text(observation)
    match observation:
        case ev.McpResult():
            return _mcp_text(observation)
        case ev.DelegateResult():
            return f"[{observation.outcome}]\n{observation.summary}"
        case ev.LoopDetected() | ev.Recalled() | ev.UserRejected() | ev.PlanApproved():
            return observation.text
        case ev.StateChanged():
            return f"[{observation.state}]"
        case ev.Condensed():
            return "[condensed]"
        case ev.Null():
            return "[noted]"
        case _:
            assert_never(observation)


def _sandbox_text(observation: ev.SandboxObservation) -> str:
    match observation:
        case ev.CommandOutput():
            return _command_text(observation)
        case ev.IpythonOutput():
            return _python_text(observation)
        case ev.FileContent():
            return observation.text or "[the file is empty]"
        case ev.FileEdited():
            changed = observation.excerpt or observation.diff
            return changed or "[written; nothing changed]"
        case ev.SearchResult():
            return _matches_text(observation)
        case ev.BrowserOutput():
            return _page_text(observation)
        case ev.ErrorObservation():
            return observation.text
        case _:
            assert_never(observation)


def _matches_text(result: ev.SearchResult) -> str:
    note = result.note or ("" if result.matches else "no match")
    return "\n".join(
        part for part in (result.text, f"[{note}]" if note else "") if part
    )


def _command_text(output: ev.CommandOutput) -> str:
    return "\n".join(part for part in (output.output, _ending(output)) if part)


def _ending(output: ev.CommandOutput) -> str:
    if output.still_running:
        ending = f"still running, handle {output.handle}"
    elif output.exit_code is None:
        ending = "no exit code"
    else:
        ending = f"exit code {output.exit_code}"
    parts = [ending, f"in {output.cwd}" if output.cwd else ""]
    if output.dropped_bytes:
        parts.append(
            f"{output.dropped_bytes} bytes left out; all of it is in "
            f"{output.full_output_path}"
        )
    parts.append(output.note)
    return f"[{'; '.join(part for part in parts if part)}]"


def _python_text(output: ev.IpythonOutput) -> str:
    parts = ["it raised" if output.failed else ""]
    if output.dropped_bytes:
        parts.append(f"{output.dropped_bytes} bytes left out")
    parts.append(output.note)
    ending = "; ".join(part for part in parts if part)
    shown = [output.output, f"[{ending}]" if ending else ""]
    return "\n".join(part for part in shown if part) or "[nothing printed]"


def _page_text(page: ev.BrowserOutput) -> str:
    status = f"status {page.status}" if page.status else ""
    cut = "cut off here" if page.truncated else ""
    ending = "; ".join(part for part in (status, page.url, cut) if part)
    shown = (page.title, page.text or "[the page is empty]", f"[{ending}]")
    return "\n".join(part for part in shown if part)


def _mcp_text(result: ev.McpResult) -> str:
    text = result.text or "[nothing was returned]"
    return f"[the tool failed]\n{text}" if result.failed else text


# What an image takes of the window, as bytes of text would: about 1,600 tokens.
# https://docs.anthropic.com/en/docs/build-with-claude/vision#calculate-image-costs
IMAGE_BYTES: Final = 4800
_UNKNOWN_RESULT = "[the result is unknown]"


class ChatView:
    """One agent's chat: a growing list; what is in it never changes or moves.

    Providers cache the part of a request that equals the one before, so a message that
    arrives while the model is answering goes after that answer, not before it: a
    reply's `cause` is the last event its request had shown. Words of people are shown
    once the system has judged and repeated them. Only a condensation changes what is
    there, for all later requests alike. Images belong to the first text, the task, and
    stay with it: it is never condensed.
    """

    def __init__(
        self, system: str, agent: str = "", images: Iterable[Image] = ()
    ) -> None:
        self._system = SystemText(text=system)
        self._agent = agent
        self._images = tuple(images)
        self._task_id: int | None = None
        self._turns: list[Turn] = []
        self._settled: list[ChatMessage] = [self._system]
        self._reply: tuple[int, AssistantTurn] | None = None
        self._results: dict[str, ToolResult | None] = {}
        self._waiting: list[ev.Event] = []
        self._tokens = 0
        self._bytes_counted = 0
        self._bytes = 0

    @property
    def tokens_counted(self) -> int:
        """Return the provider's own count of the chat up to the newest reply."""
        return self._tokens

    @property
    def bytes_since(self) -> int:
        """Return how much has come to the chat since that count."""
        return max(0, self.size_bytes - self._bytes_counted)

    @property
    def size_bytes(self) -> int:
        return self._bytes + sum(map(bytes_of_message, self._open()))

    def add(self, event: ev.Event) -> None:
        payload = event.payload
        if payload.agent != self._agent:
            return
        if isinstance(payload, ev.ModelReply):
            self._add_reply(event, payload)
        elif isinstance(payload, ev.Message) and event.source is ev.Source.SYSTEM:
            self._task_id = self._task_id or event.id
            self._waiting.append(event)
        elif isinstance(payload, ev.Condensed):
            self._condense(event.id, payload)
        elif isinstance(payload, ev.Observation) and payload.call_id in self._results:
            text = observation_text(payload)
            self._results[payload.call_id] = ToolResult(
                call_id=payload.call_id, text=text
            )

    def messages(self) -> tuple[ChatMessage, ...]:
        """Return the chat so far; every tool call in it has its result."""
        return (*self._settled, *self._open())

    def history(self, *, facts: str, goal_bytes: int) -> History:
        """Return the whole chat as what may be condensed."""
        waiting = map(self._turn_of, self._waiting)
        turns = (*self._turns, *self._open_turn(), *waiting)
        return History(turns=turns, facts=facts, goal_bytes=goal_bytes)

    def _add_reply(self, event: ev.Event, reply: ev.ModelReply) -> None:
        self._settle(event.cause or event.id)
        if not reply.text and not reply.tool_calls:
            return  # The call failed; nothing was said.
        turn = AssistantTurn(
            model=reply.model,
            text=reply.text,
            tool_calls=reply.tool_calls,
            reasoning=reply.reasoning,
        )
        self._reply = event.id, turn
        self._results = {call.id: None for call in reply.tool_calls}
        if reply.usage.tokens_in:
            self._tokens = reply.usage.tokens_in + reply.usage.tokens_out
            self._bytes_counted = self.size_bytes

    def _settle(self, seen_id: int) -> None:
        """Fix the place of everything that the request up to `seen_id` has shown."""
        self._keep(*self._open_turn())
        shown = [event for event in self._waiting if event.id <= seen_id]
        for event in shown:
            self._keep(self._turn_of(event))
        self._waiting = self._waiting[len(shown) :]
        self._reply, self._results = None, {}

    def _keep(self, *turns: Turn) -> None:
        for turn in turns:
            self._turns.append(turn)
            self._settled.extend(turn.messages)
            self._bytes += turn.size_bytes

    def _condense(self, event_id: int, condensed: ev.Condensed) -> None:
        self._settle(event_id)
        before = self._bytes
        self._turns = list(apply_condensation(self._turns, condensed))
        self._settled = [self._system, *chain(*(turn.messages for turn in self._turns))]
        self._bytes = sum(turn.size_bytes for turn in self._turns)
        # The provider's count shrinks with the bytes, until it counts again.
        self._tokens = round(self._tokens * self._bytes / max(before, 1))
        self._bytes_counted = self._bytes

    def _open_turn(self) -> list[Turn]:
        if self._reply is None:
            return []
        event_id, reply = self._reply
        messages: tuple[ChatMessage, ...] = (reply, *self._open_results())
        size = sum(map(bytes_of_message, messages))
        return [Turn(id=event_id, messages=messages, size_bytes=size)]

    def _open_results(self) -> list[ToolResult]:
        return [
            result or ToolResult(call_id=call_id, text=_UNKNOWN_RESULT)
            for call_id, result in self._results.items()
        ]

    def _open(self) -> list[ChatMessage]:
        reply = [self._reply[1]] if self._reply else []
        texts = map(self._text_of, self._waiting)
        return [*reply, *self._open_results(), *texts]

    def _turn_of(self, event: ev.Event) -> Turn:
        """Return a text as a turn: the task and what people say are pinned."""
        text = self._text_of(event)
        return Turn(
            id=event.id,
            messages=(text,),
            size_bytes=bytes_of_message(text),
            is_pinned=not self._turns or event.cause is not None,
        )

    def _text_of(self, event: ev.Event) -> UserText:
        assert isinstance(event.payload, ev.Message)  # noqa: S101 - only those wait
        images = self._images if event.id == self._task_id else ()
        return UserText(text=event.payload.text, images=images)


def bytes_of_message(message: ChatMessage) -> int:
    """Return the bytes of all that a message says."""
    size = len(message.text.encode(errors="replace"))
    if isinstance(message, UserText):
        size += IMAGE_BYTES * len(message.images)
    if isinstance(message, AssistantTurn):
        size += sum(len(c.name) + len(c.arguments.encode()) for c in message.tool_calls)
        size += sum(len(str(block)) for block in message.reasoning)
    return size
