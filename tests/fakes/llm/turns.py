"""What the fake provider answers: one turn for each request."""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from patchwright.resolver.proof.advice import HELD_BACK

USAGE = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}


@dataclass(frozen=True)
class Call:
    """A tool call; `arguments` is sent as it is, broken or not.

    Without an `id` the provider makes one up; None leaves it out.
    """

    name: str
    arguments: str | None
    id: str | None = ""


@dataclass(frozen=True)
class Turn:
    """One answer of the model.

    `extra` is merged into the assistant's message. With `body` the answer is exactly
    those bytes. `hangs` keeps the client waiting until the provider closes, `drops`
    ends the connection without an answer.
    """

    text: str | None = None
    calls: tuple[Call, ...] = ()
    finish_reason: str | None = None
    usage: Mapping[str, Any] | None = field(default_factory=lambda: USAGE)
    extra: Mapping[str, Any] = field(default_factory=dict)
    empty: bool = False
    status: int = 200
    headers: Mapping[str, str] = field(default_factory=dict)
    body: bytes | None = None
    hangs: bool = False
    drops: bool = False


TurnLike = Turn | Call | Sequence[Call] | str
Script = Sequence[TurnLike] | Callable[[dict[str, Any]], TurnLike]


def call(name: str, /, **arguments: Any) -> Call:
    """Call a tool: `call("shell", command="ls")`."""
    return Call(name, json.dumps(arguments))


def broken_call(name: str, arguments: str | None, *, id: str | None = "") -> Call:  # noqa: A002 - the protocol's word
    return Call(name, arguments, id)


def say(text: str, *calls: Call, **fields: Any) -> Turn:
    """Answer with text, and calls if there are any; `fields` are those of `Turn`."""
    return Turn(text=text, calls=calls, **fields)


def status(
    code: int, message: str = "", *, code_name: str = "", **headers: str
) -> Turn:
    """Refuse, in the protocol's form; `Retry_After="3"` is a header."""
    error = {"message": message or f"status {code}", "code": code_name or None}
    return Turn(
        status=code,
        body=json.dumps({"error": error}).encode(),
        headers={name.replace("_", "-"): value for name, value in headers.items()},
    )


def raw(body: bytes, code: int = 200, content_type: str = "application/json") -> Turn:
    return Turn(body=body, status=code, headers={"Content-Type": content_type})


def no_choices(**usage: int) -> Turn:
    """Answer 200 with `choices: []`, billed as `usage` says."""
    return Turn(empty=True, usage=usage or USAGE)


def drop() -> Turn:
    return Turn(drops=True)


def hang() -> Turn:
    return Turn(hangs=True)


def as_turn(turn: TurnLike) -> Turn:
    if isinstance(turn, Turn):
        return turn
    if isinstance(turn, str):
        return say(turn)
    return Turn(calls=(turn,) if isinstance(turn, Call) else tuple(turn))


def with_usage(turn: TurnLike, **usage: Any) -> Turn:
    """Bill a turn: `with_usage("hi", prompt_tokens=9, cost=0.3)`."""
    return replace(as_turn(turn), usage={**USAGE, **usage})


def repeated_finish(request: Mapping[str, Any]) -> Turn | None:
    """Call finish as before, if that was held back since its proof falls short."""
    messages = request["messages"]
    results = [one for one in messages if one["role"] == "tool"]
    if not results or not str(results[-1]["content"]).startswith(HELD_BACK):
        return None
    replies = [one for one in messages if one["role"] == "assistant"]
    calls = (one["function"] for one in replies[-1].get("tool_calls", ()))
    finishes = (one for one in calls if one["name"] == "finish")
    return next((Turn(calls=(Call(**one),)) for one in finishes), None)
