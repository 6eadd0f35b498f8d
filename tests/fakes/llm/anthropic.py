"""A model provider that speaks Anthropic's messages protocol on loopback."""

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any, Self

from tests.fakes.llm.anthropic_rules import THINKING, find_fault
from tests.fakes.llm.server import Answer, LoopbackServer, json_answer

Block = dict[str, Any]
# What it says, or a status and a reason.
Content = list[Block] | tuple[int, str]


class FakeAnthropic:
    """Answers with the given content blocks, or refuses with `(status, message)`.

    A function as `turns` is asked for what to say to each accepted request. Like the
    real one it wants every `tool_use` answered in the next message, and each
    thinking block of the last turn back as it was. `requests` holds the accepted
    bodies, `refused` the reasons for the others.
    """

    def __init__(
        self,
        turns: Sequence[Content] | Callable[[dict[str, Any]], Content],
        *,
        api_key: str = "sk-test",
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self._api_key = api_key
        self._next = turns if callable(turns) else _in_turn(turns)
        self._thought: list[Block] = []
        self._server = LoopbackServer(self._answer)

    @property
    def base_url(self) -> str:
        return self._server.url

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.__exit__(*exc_info)

    def _answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        if path != "/v1/messages" or headers.get("x-api-key") != self._api_key:
            return _error(401, "invalid x-api-key")
        request = json.loads(body)
        if fault := find_fault(request, self._thought):
            self.refused.append(fault)
            return _error(400, fault)
        self.requests.append(request)
        turn = self._next(request)
        if isinstance(turn, tuple):
            return _error(*turn)
        self._thought = [block for block in turn if block["type"] in THINKING]
        return json_answer(200, _message(request["model"], turn))


def _in_turn(turns: Sequence[Content]) -> Callable[[dict[str, Any]], Content]:
    left = iter(turns)
    return lambda _: next(left, (400, "The script has run out"))


def _message(model: str, blocks: list[Block]) -> dict[str, Any]:
    used = any(block["type"] == "tool_use" for block in blocks)
    return {
        "id": "msg_1",
        "type": "message",
        "role": "assistant",
        "model": model,
        "content": blocks,
        "stop_reason": "tool_use" if used else "end_turn",
        "usage": {
            "input_tokens": 100,
            "output_tokens": 20,
            "cache_read_input_tokens": 600,
            "cache_creation_input_tokens": 300,
        },
    }


def _error(status: int, message: str) -> Answer:
    error = {"type": "invalid_request_error", "message": message}
    return json_answer(status, {"type": "error", "error": error})
