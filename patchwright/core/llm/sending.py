"""Send one try of a call through litellm, and read whatever comes back."""

import json
from collections.abc import Mapping
from datetime import datetime

import structlog
from pydantic import JsonValue

from patchwright.core.llm.bounded import call_within
from patchwright.core.llm.counts import NOTHING_REPORTED, read_reported_usage
from patchwright.core.llm.failures import Failure, Fault, classify_refusal
from patchwright.core.llm.library import load_litellm
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.refusals import read_refusal, read_error_in_reply
from patchwright.core.llm.replies import Reply, read_reply

Arguments = Mapping[str, object]

log = structlog.get_logger(__name__)


def send(
    arguments: Arguments, request: ModelRequest, *, limit_s: float, now: datetime
) -> Reply | Failure:
    """Return what a try brings within a time.

    An answer that arrived is read even where litellm cannot: it is paid for.
    """
    received = _Received()
    timed = {**arguments, "timeout": limit_s}
    try:
        return call_within(limit_s, lambda: _complete(timed, request, received, now))
    except TimeoutError:
        return Failure(
            fault=Fault.UNAVAILABLE,
            detail=f"no answer within {limit_s:.0f} s",
            may_be_billed=True,
        )


class _Received:
    """Keeps the first answer that litellm says it got, before it makes sense of it."""

    def __init__(self) -> None:
        self.was_sent = False
        self._text = ""

    def note(self, details: Mapping[str, object]) -> None:
        """Hear what litellm tells whoever logs its calls."""
        match details.get("log_event_type"):
            case "pre_api_call":
                self.was_sent = True
            case "post_api_call" if not self._text:
                self._text = str(details.get("original_response") or "")
            case _:
                pass

    def body(self) -> Mapping[str, JsonValue]:
        """Return the answer if it was a JSON object, else an empty one."""
        try:
            found: JsonValue = json.loads(self._text)
        except (ValueError, RecursionError):
            return {}
        return found if isinstance(found, dict) else {}


def _complete(
    arguments: Arguments, request: ModelRequest, received: _Received, now: datetime
) -> Reply | Failure:
    try:
        completion = load_litellm().litellm.completion(
            **arguments,
            num_retries=0,
            max_retries=0,
            drop_params=True,
            logger_fn=received.note,
        )
        return read_reply(completion.model_dump(), request)
    except Exception as error:  # noqa: BLE001 - litellm lets errors of any kind through
        log.info("model_try_failed", error=type(error).__name__)
        return _make_sense(error, received, request, now)


def _make_sense(
    error: Exception, received: _Received, request: ModelRequest, now: datetime
) -> Reply | Failure:
    refusal = read_refusal(error, was_sent=received.was_sent)
    body = received.body()
    if refusal.status is None and body:
        if refused := read_error_in_reply(body):
            return classify_refusal(refused, now)
        if (reply := _reply_in(body, request)) is not None:
            return reply
    failure = classify_refusal(refusal, now)
    told = read_reported_usage(body.get("usage")) if failure.may_be_billed else NOTHING_REPORTED
    return Failure(**{**dict(failure), "told": told})


def _reply_in(body: Mapping[str, JsonValue], request: ModelRequest) -> Reply | None:
    """Read an answer in OpenAI's form; one that says nothing is none."""
    if not isinstance(body.get("choices"), list):
        return None
    reply = read_reply(body, request)
    return reply if not reply.is_empty or reply.is_declined else None
