"""Look at how the agent finishes: at what it hands over, and what it leaves behind."""

import json
from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from patchwright.core.agent.result_schema import ResultSchema
from patchwright.core.events.types import (
    ErrorObservation,
    Event,
    Finish,
    SandboxAction,
    ToolCall,
)
from patchwright.core.llm.model import ToolSpec

MAX_TRIES: Final = 3
_FINISH: Final = "finish"
_RESULT: Final = "result"
_REASON: Final = "bad-result"
LEFT_OUT: Final = "left-out"
_ABOUT: Final = "What was asked for besides your words; it must fit this schema."


class FinishCheck:
    """Judges how the agent finishes; knows from its events how often it has tried.

    Without a schema any result is right. What `look` has to say, the agent hears once.
    """

    def __init__(
        self, schema: ResultSchema | None, look: Callable[[Finish], str]
    ) -> None:
        self._schema, self._look = schema, look
        self._tries, self._was_told = 0, False
        self._held_back: Finish | None = None

    @property
    def held_back(self) -> Finish | None:
        """Return the finish that did not count, if the agent has done nothing since."""
        return self._held_back

    def follow(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ErrorObservation) and payload.reason == _REASON:
            self._tries += 1
        if isinstance(payload, ErrorObservation) and payload.reason == LEFT_OUT:
            self._was_told = True
        if isinstance(payload, SandboxAction):
            self._held_back = None

    def judge(
        self, finish: Finish, *, is_last_word: bool = False
    ) -> Finish | ErrorObservation:
        """Return it if it may count, or what the agent is to hear first.

        With `is_last_word` the agent could not answer to what is left behind.
        """
        judged = self._judge_result(finish)
        if isinstance(judged, ErrorObservation) or self._was_told or is_last_word:
            return judged
        if not (said := self._look(judged)):
            return judged
        self._held_back = judged
        return ErrorObservation(reason=LEFT_OUT, text=said, call_id=finish.call_id)

    def _judge_result(self, finish: Finish) -> Finish | ErrorObservation:
        """Return it if it fits, or what is wrong; after some tries, it without that."""
        if self._schema is None:
            return finish
        faults = self._schema.faults(finish.result)
        if not faults:
            return finish
        if self._tries + 1 >= MAX_TRIES:
            return finish.replace(result=None)
        lines = "\n".join(f"- {fault}" for fault in faults)
        text = f"{_FINISH} was not run: `{_RESULT}` does not fit its schema.\n{lines}"
        return ErrorObservation(reason=_REASON, text=text, call_id=finish.call_id)


def with_result(spec: ToolSpec, schema: ResultSchema) -> ToolSpec:
    """Return the tool that ends the work with one argument more, others as they are."""
    if spec.name != _FINISH:
        return spec
    properties = spec.parameters.get("properties")
    named = properties if isinstance(properties, dict) else {}
    shown: dict[str, JsonValue] = {"description": _ABOUT, **schema.shown}
    parameters = {**spec.parameters, "properties": {**named, _RESULT: shown}}
    return spec.replace(parameters=parameters)


def split_result(call: ToolCall) -> tuple[ToolCall, JsonValue]:
    """Take the result out of the arguments of `finish`."""
    if call.name != _FINISH:
        return call, None
    arguments = json.loads(call.arguments)
    if not isinstance(arguments, dict):
        return call, None
    result: JsonValue = arguments.pop(_RESULT, None)
    return call.replace(arguments=json.dumps(arguments)), result
