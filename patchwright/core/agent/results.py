"""The result of an agent: its JSON schema, and what it hands over at the end."""

import json
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from typing import Final, cast

from pydantic import JsonValue

from patchwright.core.events.actions import Finish
from patchwright.core.events.observations import ErrorObservation
from patchwright.core.events.payload import ToolCall
from patchwright.core.events.types import Event, SandboxAction
from patchwright.core.llm.model import ToolSpec
from patchwright.core.types.errors import SettingsError

MAX_CHARS: Final = 100_000
_MAX_PARTS: Final = 5_000
_CHECK: Final = "patchwright.core.agent.schema_check"
# What could lead elsewhere than to a place in the same text.
_ELSEWHERE: Final = ("$dynamicRef", "$recursiveRef", "$id")
_NOT_SHOWN: Final = frozenset({"$schema", "$id", "$defs", "definitions"})

Schema = dict[str, JsonValue]


@dataclass(frozen=True)
class ResultSchema:
    """A schema that holds, and how it is `shown` to a model: without references."""

    schema: Schema
    shown: Schema

    def faults(self, value: JsonValue) -> tuple[str, ...]:
        """Say why a value does not fit, a line for each of the first reasons."""
        return _find_faults()(self.schema, value)


def read_schema(text: str) -> ResultSchema:
    """Return what the text says; raises `SettingsError` where that is no schema.

    Nothing is fetched: every reference must lead to a place in the text itself.
    """
    if len(text) > MAX_CHARS:
        raise _wrong(f"it is longer than {MAX_CHARS} characters")
    try:
        found: JsonValue = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise _wrong(f"it is not JSON: {error}") from error
    if not isinstance(found, dict):
        raise _wrong("it must be a JSON object")
    if mistake := _find_mistake()(found):
        raise _wrong(mistake)
    _check_references(found)
    shown = _ReferenceResolver(found).show(found)
    return ResultSchema(found, shown if isinstance(shown, dict) else {})


def _wrong(why: str) -> SettingsError:
    return SettingsError(f"the JSON schema of the result cannot be used: {why}")


@cache
def _find_mistake() -> Callable[[Schema], str]:
    return cast("Callable[[Schema], str]", import_module(_CHECK).find_mistake)


@cache
def _find_faults() -> Callable[[Schema, JsonValue], tuple[str, ...]]:
    found = import_module(_CHECK).find_faults
    return cast("Callable[[Schema, JsonValue], tuple[str, ...]]", found)


def _check_references(schema: Schema) -> None:
    for part in _parts(schema):
        reference = part.get("$ref")
        if isinstance(reference, str) and _place(schema, reference) is None:
            raise _wrong(f"{reference!r} leads to no place in it")
        for key in _ELSEWHERE:
            if isinstance(part.get(key), str) and part is not schema:
                raise _wrong(f"{key!r} is not understood; use `#/$defs/NAME`")


def _parts(value: JsonValue) -> Iterator[Schema]:
    waiting = [value]
    while waiting:
        one = waiting.pop()
        if isinstance(one, dict):
            yield one
            waiting += one.values()
        elif isinstance(one, list):
            waiting += one


def _place(schema: Schema, reference: str) -> JsonValue:
    """Follow a JSON pointer; None if it leads nowhere.

    https://www.rfc-editor.org/rfc/rfc6901#section-4
    """
    if reference != "#" and not reference.startswith("#/"):
        return None
    at: JsonValue = schema
    for step in reference.split("/")[1:]:
        key = step.replace("~1", "/").replace("~0", "~")
        if isinstance(at, list) and key.isdecimal() and int(key) < len(at):
            at = at[int(key)]
        else:
            at = at.get(key) if isinstance(at, dict) else None
    return at


class _ReferenceResolver:
    """Puts what is referred to in the place of references, for providers without them.

    One that leads in a circle stands for anything there, and holds all the same.
    """

    def __init__(self, schema: Schema) -> None:
        self._schema, self._parts = schema, 0

    def show(self, value: JsonValue, within: tuple[str, ...] = ()) -> JsonValue:
        self._parts += 1
        if self._parts > _MAX_PARTS:
            raise _wrong(f"it has more than {_MAX_PARTS} parts")
        if isinstance(value, list):
            return [self.show(one, within) for one in value]
        if not isinstance(value, dict):
            return value
        shown = {
            key: self.show(part, within)
            for key, part in value.items()
            if key not in _NOT_SHOWN | {"$ref"}
        }
        return {**self._referred(value.get("$ref"), within), **shown}

    def _referred(self, reference: JsonValue, within: tuple[str, ...]) -> Schema:
        if not isinstance(reference, str) or reference in within:
            return {}
        there = _place(self._schema, reference)
        shown = self.show(there, (*within, reference))
        return shown if isinstance(shown, dict) else {}


MAX_TRIES: Final = 3
_FINISH: Final = "finish"
_RESULT: Final = "result"
_REASON: Final = "bad-result"
LEFT_OUT: Final = "left-out"
PROOF_SHORT: Final = "proof-short"
_ABOUT: Final = "What was asked for besides your words; it must fit this schema."


@dataclass(frozen=True)
class HeldBack:
    """Why a finish does not count yet, and what the agent is told about it.

    `reason` is `LEFT_OUT` or `PROOF_SHORT`.
    """

    reason: str
    text: str


@dataclass(frozen=True)
class FinishTry:
    """A finish that could count, and what the agent was told about earlier ones.

    `was_told_lacks` says that it knows what its change lacks, and `rounds` how often it
    was told that the proof falls short. After one that `is_last` it cannot answer.
    """

    finish: Finish
    was_told_lacks: bool = False
    rounds: int = 0
    is_last: bool = False


FinishReview = Callable[[FinishTry], HeldBack | None]


class FinishCheck:
    """Judges how the agent finishes; knows from its events how often it has tried.

    Without a schema any result is right. What `review` returns is told to the agent,
    whose finish does not count then.
    """

    def __init__(self, schema: ResultSchema | None, review: FinishReview) -> None:
        self._schema, self._review = schema, review
        self._told = Counter[str]()
        self._held_back: tuple[Finish, str] | None = None

    @property
    def held_back(self) -> Finish | None:
        """Return the finish that did not count, if the run may still end with it.

        What lacks a part is no longer meant as soon as the agent has done something.
        """
        return self._held_back[0] if self._held_back else None

    def follow(self, event: Event) -> None:
        payload = event.payload
        if isinstance(payload, ErrorObservation):
            self._told[payload.reason] += 1
        if isinstance(payload, SandboxAction) and self._held_back is not None:
            _, reason = self._held_back
            self._held_back = None if reason == LEFT_OUT else self._held_back

    def judge(
        self, finish: Finish, is_last: Callable[[], bool]
    ) -> Finish | ErrorObservation:
        """Return it if it may count, or what the agent is told.

        With `is_last` the agent could not answer. It is asked again after the review,
        which takes its time.
        """
        judged = self._judge_result(finish)
        if isinstance(judged, ErrorObservation):
            return judged
        held_back = self._review(
            FinishTry(
                judged,
                was_told_lacks=bool(self._told[LEFT_OUT]),
                rounds=self._told[PROOF_SHORT],
                is_last=is_last(),
            )
        )
        if held_back is None or is_last():
            return judged
        self._held_back = judged, held_back.reason
        return ErrorObservation(
            reason=held_back.reason, text=held_back.text, call_id=finish.call_id
        )

    def _judge_result(self, finish: Finish) -> Finish | ErrorObservation:
        """Return it if it fits, or what is wrong; after some tries, it without that."""
        if self._schema is None:
            return finish
        faults = self._schema.faults(finish.result)
        if not faults:
            return finish
        if self._told[_REASON] + 1 >= MAX_TRIES:
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
