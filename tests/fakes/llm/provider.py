"""A model provider that speaks the OpenAI chat-completions protocol on loopback."""

import hmac
import json
import threading
from collections.abc import Mapping
from itertools import count
from types import TracebackType
from typing import Any, Self

from tests.fakes.llm.rules import find_fault
from tests.fakes.llm.server import Answer, LoopbackServer, json_answer
from tests.fakes.llm.turns import Call, Script, Turn, as_turn, repeated_finish


class FakeProvider:
    """Plays a script, one turn for each accepted request, or asks a function.

    It refuses what a strict provider refuses, and that costs no turn. `requests` holds
    the accepted bodies, `refused` the reasons for the others. What a function asserts
    of a request in vain, the block ends with. A finish that was held back since its
    proof falls short is repeated, which costs no turn; with `takes_advice` the script
    says what to do then.
    """

    def __init__(
        self,
        turns: Script = (),
        *,
        api_key: str = "sk-test",
        models: frozenset[str] = frozenset(),
        host: str = "127.0.0.1",
        takes_advice: bool = False,
    ) -> None:
        self.requests: list[dict[str, Any]] = []
        self.raw_requests: list[bytes] = []
        self.refused: list[str] = []
        self._objections: list[AssertionError] = []
        self._turns = turns
        self._played = 0
        self._takes_advice = takes_advice
        self._api_key = api_key
        self._models = models
        self._numbers = count(1)
        self._lock = threading.Lock()
        self._closing = threading.Event()
        self._server = LoopbackServer(self._answer, host)

    @property
    def base_url(self) -> str:
        return f"{self._server.url}/v1"

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._closing.set()
        self._server.__exit__(kind, problem, trace)
        if problem is None and self._objections:
            raise self._objections[0]

    def _answer(
        self, path: str, headers: Mapping[str, str], body: bytes
    ) -> Answer | None:
        if path != "/v1/chat/completions":
            return self._refuse(404, f"Unknown request URL: POST {path}")
        if not self._accepts_key(headers.get("authorization", "")):
            return self._refuse(401, "Incorrect API key provided", "invalid_api_key")
        try:
            request = json.loads(body)
        except ValueError:
            return self._refuse(400, "Could not parse the JSON body of your request")
        if fault := find_fault(request, self._models):
            return self._refuse(fault.status, fault.message, fault.code)
        with self._lock:
            self.requests.append(request)
            self.raw_requests.append(body)
            turn = self._next_turn(request)
        if turn is None:
            return self._refuse(400, "The script of this fake provider has run out")
        return self._perform(turn, request["model"])

    def _accepts_key(self, authorization: str) -> bool:
        expected = f"Bearer {self._api_key}"
        return hmac.compare_digest(authorization.encode(), expected.encode())

    def _next_turn(self, request: dict[str, Any]) -> Turn | None:
        if not self._takes_advice and (finish := repeated_finish(request)):
            return finish
        if callable(self._turns):
            try:
                return as_turn(self._turns(request))
            except AssertionError as objection:
                # The client would only ask again, and get the turn after this one.
                self._objections.append(objection)
                raise
        self._played += 1
        if self._played > len(self._turns):
            return None
        return as_turn(self._turns[self._played - 1])

    def _perform(self, turn: Turn, model: str) -> Answer | None:
        if turn.hangs:
            self._closing.wait()
            return None
        if turn.drops:
            return None
        body = turn.body
        if body is None:
            body = json.dumps(self._completion(turn, model)).encode()
        return Answer(turn.status, body, turn.headers)

    def _completion(self, turn: Turn, model: str) -> dict[str, Any]:
        completion: dict[str, Any] = {
            "id": f"chatcmpl-{next(self._numbers)}",
            "object": "chat.completion",
            "created": 1_900_000_000,
            "model": model,
            "choices": [] if turn.empty else [self._choice(turn)],
        }
        if turn.usage is not None:
            completion["usage"] = dict(turn.usage)
        return completion

    def _choice(self, turn: Turn) -> dict[str, Any]:
        message: dict[str, Any] = {"role": "assistant", "content": turn.text}
        if turn.calls:
            message["tool_calls"] = [self._tool_call(call) for call in turn.calls]
        reason = turn.finish_reason or ("tool_calls" if turn.calls else "stop")
        return {
            "index": 0,
            "message": {**message, **turn.extra},
            "finish_reason": reason,
        }

    def _tool_call(self, call: Call) -> dict[str, Any]:
        function = {"name": call.name, "arguments": call.arguments}
        call_id = f"call_{next(self._numbers)}" if call.id == "" else call.id
        named = {} if call_id is None else {"id": call_id}
        return {**named, "type": "function", "function": function}

    def _refuse(self, status: int, message: str, code: str = "") -> Answer:
        self.refused.append(message)
        error = {
            "message": message,
            "type": "invalid_request_error",
            "code": code or None,
        }
        return json_answer(status, {"error": error})
