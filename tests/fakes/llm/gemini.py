"""A model provider that speaks Gemini's protocol on loopback."""

import json
from collections.abc import Mapping, Sequence
from typing import Any, Self

from tests.fakes.llm.gemini_rules import find_fault
from tests.fakes.llm.server import Answer, LoopbackServer, json_answer

Part = dict[str, Any]

USAGE = {
    "promptTokenCount": 1000,
    "candidatesTokenCount": 20,
    "thoughtsTokenCount": 30,
    "cachedContentTokenCount": 600,
    "totalTokenCount": 1050,
}


class FakeGemini:
    """Answers with the given parts of a message, or with a given error.

    Like the real one it wants each signature of the current turn back, on a part of the
    same kind. `requests` holds the accepted bodies, `refused` the reasons for others.
    """

    def __init__(self, turns: Sequence[list[Part] | Answer]) -> None:
        self.requests: list[dict[str, Any]] = []
        self.refused: list[str] = []
        self._turns = iter(turns)
        self._signatures: set[str] = set()
        self._server = LoopbackServer(self._answer)

    @property
    def base_url(self) -> str:
        return f"{self._server.url}/v1beta"

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(self, *exc_info: object) -> None:
        self._server.__exit__(*exc_info)

    def _answer(self, path: str, headers: Mapping[str, str], body: bytes) -> Answer:
        head, _, action = path.removeprefix("/v1beta/models/").partition(":")
        if not path.startswith("/v1beta/models/") or action != "generateContent":
            return error(404, f"models/{head} is not found for API version v1beta")
        if headers.get("x-goog-api-key") != "sk-test":
            return error(400, "API key not valid. Please pass a valid API key.")
        request = json.loads(body)
        if fault := find_fault(request, self._signatures):
            self.refused.append(fault)
            return error(400, fault)
        self.requests.append(request)
        turn = next(self._turns, None)
        if turn is None:
            return error(400, "The script of this fake provider has run out")
        if isinstance(turn, Answer):
            return turn
        self._signatures |= {
            part["thoughtSignature"]
            for part in turn
            if "functionCall" in part and "thoughtSignature" in part
        }
        return json_answer(200, _completion(turn))


def error(
    status: int, message: str, name: str = "INVALID_ARGUMENT", retry_delay: str = ""
) -> Answer:
    """Refuse in Google's form.

    https://cloud.google.com/apis/design/errors#http_mapping
    """
    told: dict[str, Any] = {"code": status, "message": message, "status": name}
    if retry_delay:
        kind = "type.googleapis.com/google.rpc.RetryInfo"
        told["details"] = [{"@type": kind, "retryDelay": retry_delay}]
    return json_answer(status, {"error": told})


def blocked(reason: str) -> Answer:
    """Decline to answer the prompt: there are no candidates then."""
    return json_answer(
        200, {"promptFeedback": {"blockReason": reason}, "usageMetadata": USAGE}
    )


def finished(reason: str, *parts: Part) -> Answer:
    return json_answer(200, _completion(list(parts), reason))


def _completion(parts: list[Part], reason: str = "STOP") -> dict[str, Any]:
    content = {"role": "model", "parts": parts}
    candidate = {"content": content, "finishReason": reason, "index": 0}
    return {
        "candidates": [candidate],
        "usageMetadata": USAGE,
        "modelVersion": "gemini",
        "responseId": "r1",
    }
