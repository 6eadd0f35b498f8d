"""What a failed model call means: its cause, and what can be done about it."""

import re
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from email.utils import parsedate_to_datetime
from enum import StrEnum

from patchwright.core.events.observations import WaitCause
from patchwright.core.llm.model import LEAST_OUTPUT
from patchwright.core.llm.replies import NOTHING_REPORTED, ReportedUsage
from patchwright.core.types.base import Value

# Begins at a number's first digit only: a row of digits is read once.
_NUMBER = r"(?<![\d,_])(\d[\d,_]{0,19})"
# Sums that Anthropic and vLLM write out, each with what it leaves for the reply.
_SUMS: tuple[tuple[re.Pattern[str], Callable[..., int]], ...] = (
    (
        re.compile(rf"exceed context limit: {_NUMBER} \+ \d+ > {_NUMBER}"),
        lambda prompt, window: window - prompt,
    ),
    (
        re.compile(rf"\({_NUMBER} > {_NUMBER} - {_NUMBER}\)"),
        lambda _, window, prompt: window - prompt,
    ),
)
# Others name the window, and what the prompt is made of, in words of many kinds.
_WINDOWS = (
    re.compile(
        r"(?:context|sequence)[ _-]?(?:length|limit|window|size)"
        rf"(?: is| of|:| \(|=)* ?{_NUMBER}",
        re.IGNORECASE,
    ),
    re.compile(rf"`?max_new_tokens`? must be <= {_NUMBER}", re.IGNORECASE),
)
_PROMPT_PARTS = (
    re.compile(
        rf"{_NUMBER} (?:tokens )?(?:in|of|from|for) (?:the |your )?"
        r"(?:messages|prompt|functions|tools|(?:\w+ )?input)\b",
        re.IGNORECASE,
    ),
    re.compile(
        rf"{_NUMBER} (?:`?inputs?`?|prompt) tokens|prompt contains {_NUMBER} tokens",
        re.IGNORECASE,
    ),
)
_OUTPUT = re.compile(r"completion|output|max_(?:new_)?tokens|response", re.IGNORECASE)
_NAME = r"max_?(?:completion_|output_?)?tokens\b"
_AT_MOST = (
    "less than or equal to|at most|not exceed|cannot exceed|no more than|must be <="
)
# How many tokens a model ever gives, as OpenAI, Anthropic, Bedrock, Google, Groq,
# DeepSeek, Qwen and Cohere put it; what ends with a bracket is one too many.
_LIMITS = tuple(
    re.compile(pattern, re.IGNORECASE | re.DOTALL)
    for pattern in (
        rf"supports at most {_NUMBER} (?:completion|output) tokens",
        rf"max_tokens: \d+ > {_NUMBER}, which is the maximum",
        rf"tokens you requested exceeds the model limit of {_NUMBER}",
        rf"range is from 1 \(inclusive\) to {_NUMBER} (\(exclusive\))",
        rf"{_NAME}.{{0,60}}?\b(?:range|be|is)\b.{{0,10}}?[\[(][01], ?{_NUMBER}([\])])",
        rf"{_NAME}.{{0,60}}?(?:{_AT_MOST}) [`'\"]?{_NUMBER}",
    )
)
_EXCLUSIVE = frozenset({")", "(exclusive)"})


def read_output_budget(text: str) -> int | None:
    """Return for how many tokens there was room; None if for too few, or not said."""
    left = next(_rooms(text), None)
    return left if left is not None and left >= LEAST_OUTPUT else None


def read_output_limit(text: str) -> int | None:
    """Return how many tokens the model gives at most, if that was too many asked."""
    for pattern in _LIMITS:
        if found := pattern.search(text):
            is_beyond = found[found.lastindex or 0] in _EXCLUSIVE
            limit = _whole(found[1]) - is_beyond
            return limit if limit > 0 else None
    return None


def _rooms(text: str) -> Iterator[int]:
    for shape, room in _SUMS:
        if found := shape.search(text):
            yield room(*map(_whole, found.groups()))
    windows = (found for one in _WINDOWS if (found := one.search(text)))
    window = next(windows, None)
    parts = [_whole(number) for part in _PROMPT_PARTS for number in _found(part, text)]
    # Without a word on the reply it is the prompt alone that is too long.
    if window is not None and parts and _OUTPUT.search(text):
        yield _whole(window[1]) - sum(parts)


def _found(pattern: re.Pattern[str], text: str) -> Iterator[str]:
    for found in pattern.finditer(text):
        yield from filter(None, found.groups())


def _whole(number: str) -> int:
    return int(re.sub(r"\D", "", number))


class Fault(StrEnum):
    CREDENTIAL = "credential"
    NO_CREDIT = "no-credit"
    REQUEST = "request"
    DECLINED = "declined"
    CONTEXT = "context"
    RATE_LIMIT = "rate-limit"
    UNAVAILABLE = "unavailable"


class SendState(StrEnum):
    """How far a failed request came.

    `REFUSED` is an error response, which is not billed; for `LOST` it is unknown.
    """

    NOT = "not"
    REFUSED = "refused"
    LOST = "lost"


class ProviderRefusal(Value):
    """What came instead of a reply. Without `status` there was no answer at all.

    If it `is_unreachable` there was not even a connection.
    """

    sent: SendState = SendState.REFUSED
    is_unreachable: bool = False
    status: int | None = None
    code: str = ""
    text: str = ""
    retry_after: str = ""


class Failure(Value):
    """A refusal, understood; `wait_s` is how long the provider asks us to wait.

    With `output_budget` the prompt fits after all, if the reply may have only so many
    tokens; `output_limit` is how many the model ever gives, and `wants_new_name` says
    that it has another name for that number. What `may_be_billed` is repeated little;
    `told` is the provider's count for it. `cause` is what a wait is for, and `status`
    the one of its answer, if there was any.
    """

    fault: Fault
    detail: str
    cause: WaitCause = WaitCause.NO_ANSWER
    status: int | None = None
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

    @property
    def short_detail(self) -> str:
        """Return our own words on a missing answer; a provider's are not ours."""
        return "" if self.status else self.detail

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
# Anthropic has a status of its own.
# https://docs.anthropic.com/en/api/errors
_OVERLOADED_STATUSES = frozenset({503, 529})
_OVERLOADED_CODE = "overloaded_error"
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
        cause=_cause(fault, refusal),
        status=refusal.status,
        wait_s=wait_s,
        output_budget=read_output_budget(refusal.text) if fault in _OF_SIZE else None,
        output_limit=read_output_limit(refusal.text) if fault in _OF_SIZE else None,
        wants_new_name=bool(_NEW_NAME.search(refusal.text)),
        may_be_billed=refusal.sent is SendState.LOST
        or refusal.status in _BILLED_STATUSES,
    )


def _cause(fault: Fault, refusal: ProviderRefusal) -> WaitCause:
    if refusal.is_unreachable:
        return WaitCause.UNREACHABLE
    if fault is Fault.RATE_LIMIT:
        return WaitCause.RATE_LIMITED
    is_overloaded = refusal.status in _OVERLOADED_STATUSES
    if is_overloaded or refusal.code == _OVERLOADED_CODE:
        return WaitCause.OVERLOADED
    return WaitCause.NO_ANSWER


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
