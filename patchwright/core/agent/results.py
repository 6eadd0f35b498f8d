"""Ask the agent for what a schema describes, when it finishes, and take it."""

import json
from typing import Final

from pydantic import JsonValue

from patchwright.core.agent.result_schema import ResultSchema
from patchwright.core.events.types import (
    ErrorObservation,
    Event,
    Finish,
    ToolCall,
)
from patchwright.core.llm.model import ToolSpec

MAX_TRIES: Final = 3
_FINISH: Final = "finish"
_RESULT: Final = "result"
_REASON: Final = "bad-result"
_ABOUT: Final = "What was asked for besides your words; it must fit this schema."


class Handover:
    """Judges what the agent hands over; knows from its events how often it has tried.

    Without a schema everything is right as it is.
    """

    def __init__(self, schema: ResultSchema | None) -> None:
        self._schema, self._tries = schema, 0

    def follow(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ErrorObservation) and payload.reason == _REASON:
            self._tries += 1

    def judge(self, finish: Finish) -> Finish | ErrorObservation:
        """Return it if it fits, or what is wrong; after some tries, it without that."""
        if self._schema is None:
            return finish
        faults = self._schema.faults(finish.result)
        if not faults:
            return finish
        if self._tries + 1 >= MAX_TRIES:
            return finish.model_copy(update={"result": None})
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
    return spec.model_copy(update={"parameters": parameters})


def split_result(call: ToolCall) -> tuple[ToolCall, JsonValue]:
    """Take the result out of the arguments of `finish`."""
    if call.name != _FINISH:
        return call, None
    arguments = json.loads(call.arguments)
    if not isinstance(arguments, dict):
        return call, None
    result: JsonValue = arguments.pop(_RESULT, None)
    return call.model_copy(update={"arguments": json.dumps(arguments)}), result
