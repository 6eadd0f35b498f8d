"""Refusals of every shape are understood."""

import pytest

from patchwright.core.llm.failures import (
    Fault,
    ProviderRefusal,
    classify_refusal,
)
from tests.fakes.clock import START


def fault_of(status: int | None, text: str = "", code: str = "") -> Fault:
    return classify_refusal(
        ProviderRefusal(status=status, text=text, code=code), START
    ).fault


@pytest.mark.parametrize(
    ("status", "text", "code"),
    [
        (400, "prompt is too long: 210543 tokens > 200000 maximum", ""),
        (400, "This model's maximum context length is 8192 tokens.", ""),
        (400, "Too big", "context_length_exceeded"),
        (413, "Payload", ""),
        (400, "input length and `max_tokens` exceed context limit: 196973 + 8192", ""),
        (400, "Input is too long for requested model.", ""),
        (400, "The input token count exceeds the maximum number of tokens", ""),
        (500, "the request exceeds the available context size", ""),
        (429, "Request too large for gpt-x: Limit 30000, Requested 40000", ""),
        (400, "Please reduce the length of the messages", ""),
        (400, "Your input exceeds the context window of this model.", ""),
        (400, "The input token count (12) exceeds the maximum number of tokens", ""),
        (400, "This model's maximum prompt length is 131072 but the request", ""),
        (400, "Invalid request: Your request exceeded model token limit: 8192", ""),
        (400, "too many tokens: size limit exceeded by 4 tokens", ""),
        (400, "Prompt exceeds max length", "1261"),
        (422, "`inputs` tokens + `max_new_tokens` must be <= 4097. Given: 5000", ""),
        (400, "Prompt contains 40000 tokens, too large for 32768 maximum context", ""),
        (400, "the request exceeds the available size", "exceed_context_size_error"),
        (400, "'max_tokens' is too large: 99. This model's maximum context length", ""),
    ],
)
def test_s62_s63_every_shape_of_too_long_is_one_fault(
    status: int, text: str, code: str
) -> None:
    assert fault_of(status, text, code) is Fault.CONTEXT


@pytest.mark.parametrize(
    ("status", "text", "fault"),
    [
        (401, "", Fault.CREDENTIAL),
        (403, "", Fault.CREDENTIAL),
        (400, "API key not valid. Please pass a valid API key.", Fault.CREDENTIAL),
        (402, "", Fault.NO_CREDIT),
        (429, "You exceeded your current quota", Fault.NO_CREDIT),
        (400, "Your credit balance is too low", Fault.NO_CREDIT),
        (400, "bad", Fault.REQUEST),
        (404, "no such model", Fault.REQUEST),
        (422, "bad", Fault.REQUEST),
        (400, "blocked by our content policy", Fault.DECLINED),
        (400, "rejected as a result of our safety system", Fault.DECLINED),
        (429, "slow down", Fault.RATE_LIMIT),
        (408, "", Fault.UNAVAILABLE),
        (500, "", Fault.UNAVAILABLE),
        (529, "overloaded", Fault.UNAVAILABLE),
        (None, "Connection refused", Fault.UNAVAILABLE),
    ],
)
def test_other_refusals_are_told_apart(
    status: int | None, text: str, fault: Fault
) -> None:
    assert fault_of(status, text) is fault


@pytest.mark.parametrize(
    ("header", "wait_s"),
    [
        ("3", 3.0),
        ("0.5", 0.5),
        ("-1", None),
        ("Tue, 01 Jan 2030 12:00:40 GMT", 40.0),
        ("Tue, 01 Jan 2030 11:00:00 GMT", 0.0),
        ("Tue, 01 Jan 2030 12:00:40", 40.0),
        ("", None),
        ("soon", None),
        ("nan", None),
        ("inf", None),
    ],
)
def test_retry_after_is_seconds_or_a_date(header: str, wait_s: float | None) -> None:
    refusal = ProviderRefusal(status=429, retry_after=header)
    failure = classify_refusal(refusal, START)
    assert (failure.fault, failure.wait_s) == (Fault.RATE_LIMIT, wait_s)


def test_s58_a_quota_for_some_seconds_is_a_rate_limit() -> None:
    refusal = ProviderRefusal(
        status=429, text="You exceeded your current quota", retry_after="26"
    )
    failure = classify_refusal(refusal, START)
    assert (failure.fault, failure.wait_s) == (Fault.RATE_LIMIT, 26.0)
