"""Scripts for the model that look at what it is asked before it answers."""

from collections.abc import Callable
from typing import Any

from tests.fakes.llm.turns import Script, TurnLike

Request = dict[str, Any]
Step = TurnLike | Callable[[Request], TurnLike]


def in_turn(*steps: Step) -> Script:
    """Play one step for each request; a function gets the request."""
    pending = iter(steps)

    def answer(request: Request) -> TurnLike:
        step = next(pending)
        return step(request) if callable(step) else step

    return answer


def always(turn: TurnLike) -> Script:
    return lambda _request: turn


def results(request: Request) -> list[str]:
    """Return what the tools have said so far, oldest first."""
    return [text_of(one) for one in request["messages"] if one["role"] == "tool"]


def asked(request: Request) -> str:
    """Return everything the model is told that no tool has said."""
    told = [one for one in request["messages"] if one["role"] in {"system", "user"}]
    return "\n\n".join(text_of(one) for one in told)


def text_of(message: dict[str, Any]) -> str:
    content = message["content"]
    if isinstance(content, str):
        return content
    return "".join(part["text"] for part in content)
