"""Tell from a provider's refusal what can be done about it."""

import re
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from patchwright.core.llm.counts import NOTHING_REPORTED, ReportedUsage
from patchwright.core.llm.overflow import read_output_limit, read_output_budget
from patchwright.core.types.base import Value


class Fault(StrEnum):
    CREDENTIAL = "credential"
    NO_CREDIT = "no-credit"
    REQUEST = "request"
    DECLINED = "declined"
    CONTEXT = "context"
    RATE_LIMIT = "rate-limit"
    UNAVAILABLE = "unavailable"


class SendState(StrEnum):
    """How far a request came that nothing good came of.

    `REFUSED` is an answer that says so, which is not billed; of what is `LOST` nobody
    knows.
    """

    NOT = "not"
    REFUSED = "refused"
    LOST = "lost"


class ProviderRefusal(Value):
    """What came instead of a reply. Without `status` there was no answer at all."""

    sent: SendState = SendState.REFUSED
    status: int | None = None
    code: str = ""
    text: str = ""
    retry_after: str = ""


class Failure(Value):
    """A refusal, understood; `wait_s` is how long the provider asks us to wait.

    With `output_room` the prompt fits after all, if the reply may have only so many
    tokens; `output_limit` is how many the model ever gives, and `wants_new_name` says
    that it has another name for that number. What `may_be_billed` is repeated little;
    `told` is what the provider counts for it.
    """

    fault: Fault
    detail: str
    wait_s: float | None = None
    output_budget: int | None = None
    output_limit: int | None = None
    wants_new_name: bool = False
    may_be_billed: bool = False
    reported: ReportedUsage = NOTHING_REPORTED
    is_last: bool = False

    @property
    def may_pass(self) -> bool:
        passing = self.fault in (Fault.RATE_LIMIT, Fault.UNAVAILABLE)
        return passing and not self.is_last

    def as_last(self) -> "Failure":
        """Return it as one that is not worth another try."""
        return Failure(**{**dict(self), "is_last": True})


_OF_SIZE = (Fault.CONTEXT, Fault.REQUEST)
# As OpenAI, Anthropic, Google, Mistral, Bedrock, Cohere, xAI, Moonshot, Z.ai, TGI, vLLM
# and llama.cpp put it.
_CONTEXT = re.compile(
    r"(prompt|input) (is )?too long|context.?(length|limit|window|size)|tokens exceed"
    r"|maximum (number of tokens|prompt length|context)|request.?too.?large"
    r"|reduce the length|token count exceeds|too many tokens|model token limit"
    r"|prompt exceeds max|max_new_tokens.{0,20}must be",
    re.IGNORECASE,
)
_DECLINED = re.compile(
    r"content.?(policy|filter|management)|safety system|responsible.?ai", re.IGNORECASE
)
_NO_CREDIT = re.compile(
    r"insufficient_quota|exceeded your current quota|credit balance is too low",
    re.IGNORECASE,
)
_CREDENTIAL = re.compile(r"api.?key not valid|missing credentials", re.IGNORECASE)
_SECONDS = re.compile(r"\d{1,9}(\.\d+)?")
_PASSING_STATUSES = frozenset({408, 409, 425})
# Somebody in between has waited no longer for an answer that may come all the same.
_BILLED_STATUSES = frozenset({408, 504, 524})
_NEW_NAME = re.compile(
    r"max_tokens.{0,80}max_completion_tokens.{0,20}instead", re.DOTALL
)


def classify_refusal(refusal: ProviderRefusal, now: datetime) -> Failure:
    fault = _fault(refusal.status, f"{refusal.code} {refusal.text}")
    wait_s = _wait_s(refusal.retry_after, now)
    if fault is Fault.NO_CREDIT and wait_s is not None:
        # Google calls a limit per minute a quota as well, but then says when it passes.
        fault = Fault.RATE_LIMIT
    return Failure(
        fault=fault,
        detail=refusal.text,
        wait_s=wait_s,
        output_budget=read_output_budget(refusal.text) if fault in _OF_SIZE else None,
        output_limit=read_output_limit(refusal.text) if fault in _OF_SIZE else None,
        wants_new_name=bool(_NEW_NAME.search(refusal.text)),
        may_be_billed=refusal.sent is SendState.LOST or refusal.status in _BILLED_STATUSES,
    )


def _fault(status: int | None, text: str) -> Fault:
    if status in (401, 403) or _CREDENTIAL.search(text):
        return Fault.CREDENTIAL
    if status == 402 or _NO_CREDIT.search(text):  # noqa: PLR2004 - Payment Required
        return Fault.NO_CREDIT
    if status is None:
        return Fault.UNAVAILABLE
    return _fault_of_status(status, text)


def _fault_of_status(status: int, text: str) -> Fault:
    if status == 413 or _CONTEXT.search(text):  # noqa: PLR2004 - Content Too Large
        return Fault.CONTEXT
    if status == 429:  # noqa: PLR2004 - Too Many Requests
        return Fault.RATE_LIMIT
    if status in _PASSING_STATUSES or status >= 500:  # noqa: PLR2004 - server errors
        return Fault.UNAVAILABLE
    return Fault.DECLINED if _DECLINED.search(text) else Fault.REQUEST


def _wait_s(retry_after: str, now: datetime) -> float | None:
    """Read `Retry-After`: seconds, or a date.

    https://www.rfc-editor.org/rfc/rfc9110#field.retry-after
    """
    if _SECONDS.fullmatch(retry_after):
        return float(retry_after)
    try:
        until = parsedate_to_datetime(retry_after)
    except ValueError:
        return None
    if until.tzinfo is None:
        until = until.replace(tzinfo=UTC)
    return max(0.0, (until - now).total_seconds())
