"""One try of a model call: its time limit, its answer, and when it is repeated."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import TypeVar

import structlog
from pydantic import JsonValue

from patchwright.core.llm.errors import CallWatch
from patchwright.core.llm.failures import Failure, Fault, classify_refusal
from patchwright.core.llm.library import load_litellm
from patchwright.core.llm.model import ModelRequest
from patchwright.core.llm.provider_errors import read_error_in_reply, read_refusal
from patchwright.core.llm.replies import (
    NOTHING_REPORTED,
    Reply,
    read_reply,
    read_reported_usage,
)
from patchwright.core.llm.retry import (
    UNREACHABLE,
    RetryLimit,
    describe_wait,
    plan_wait,
)
from patchwright.core.system.clock import Clock, start_call

T = TypeVar("T")


def call_within(seconds: float, call: Callable[[], T]) -> T:
    """Return what `call` returns or raises, or raise `TimeoutError` after `seconds`.

    An HTTP client's time limit starts again with each byte, so a server that keeps
    sending blanks can hold it for ever. Here the call is abandoned.
    """
    return start_call(call).result(timeout=seconds)


@dataclass(frozen=True)
class RetryPolicy:
    """Asks `model` on `host` again while it may help.

    The clock's `sleep` may raise to end the wait; that passes through.
    """

    clock: Clock
    jitter: Callable[[], float]
    model: str = ""
    host: str = ""

    def ask(
        self,
        once: Callable[[float], T | Failure],
        deadline_at: float,
        watch: CallWatch | None = None,
        unreachable: RetryLimit = UNREACHABLE,
    ) -> T | Failure:
        """Call `once` with the seconds left, until it succeeds or fails for good.

        `deadline_at` is a reading of the clock's monotonic counter; `watch` is called
        before each wait.
        """
        started_at = self.clock.monotonic()
        tries = 0
        while True:
            answer = once(deadline_at - self.clock.monotonic())
            if not isinstance(answer, Failure):
                return answer
            tries += 1
            now = self.clock.monotonic()
            wait_s = plan_wait(
                answer,
                tries=tries,
                waited_s=now - started_at,
                left_s=deadline_at - now,
                jitter=self.jitter(),
                unreachable=unreachable,
            )
            if wait_s is None:
                return answer
            if watch is not None:
                wait = describe_wait(answer, wait_s, tries=tries, limit=unreachable)
                watch.waits(wait.replace(model=self.model, host=self.host))
            self.clock.sleep(wait_s)


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
        """Receive what litellm reports to its loggers."""
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
    answer = (
        read_reported_usage(body.get("usage"))
        if failure.may_be_billed
        else NOTHING_REPORTED
    )
    return failure.replace(reported=answer)


def _reply_in(body: Mapping[str, JsonValue], request: ModelRequest) -> Reply | None:
    """Read an answer in OpenAI's form; one that says nothing is none."""
    if not isinstance(body.get("choices"), list):
        return None
    reply = read_reply(body, request)
    return reply if not reply.is_empty or reply.is_declined else None
