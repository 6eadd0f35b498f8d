"""Errors are sentences for people, without the key."""

import pytest
from pydantic import SecretStr

from patchwright.core.llm.failures import Failure, Fault
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.llm.provider_errors import empty_reply_error, error_for_failure
from patchwright.core.types.work import NO_USAGE

CONFIG = ModelConfig(
    model="openai/x",
    api_key=SecretStr("very-secret-value"),
    base_url="https://user:password@llm.example:8443/v1",
)


def text_of(fault: Fault, detail: str = "", wait_s: float | None = None) -> str:
    failure = Failure(fault=fault, detail=detail, wait_s=wait_s)
    return str(error_for_failure(failure, CONFIG, NO_USAGE, waited_s=95.0))


SENTENCES = {
    Fault.CREDENTIAL: "did not accept the API key: no. Check `llm.api_key`.",
    Fault.NO_CREDIT: "says that the account has no credit left: no. Top it up.",
    Fault.REQUEST: "refused the request: no. Check `llm.model`.",
    Fault.DECLINED: "declined to answer: no.",
    Fault.CONTEXT: "has too small a window for this conversation: no.",
    Fault.RATE_LIMIT: "is rate-limited, and 95 s of waiting did not help: no.",
    Fault.UNAVAILABLE: "gave no usable answer in 95 s: no. Check `llm.base_url`.",
}


@pytest.mark.parametrize("fault", Fault)
def test_each_fault_has_its_sentence(fault: Fault) -> None:
    model = "The model openai/x at llm.example:8443"
    assert text_of(fault, "no.") == f"{model} {SENTENCES[fault]}"


def test_a_wait_past_the_deadline_is_named() -> None:
    assert text_of(Fault.RATE_LIMIT, wait_s=900.0) == (
        "The model openai/x at llm.example:8443 is rate-limited, and asks for 900 s "
        "more, which is past the deadline."
    )


def test_the_key_is_never_quoted() -> None:
    text = text_of(
        Fault.CREDENTIAL, "Incorrect: very-secret-value, or sk-proj-ab***yz9."
    )
    assert text.endswith(
        "the API key: Incorrect: [key], or [key]. Check `llm.api_key`."
    )


def test_a_long_body_is_cut() -> None:
    assert len(text_of(Fault.UNAVAILABLE, "<html> " * 1000)) < 420


def test_without_a_base_url_only_the_model_is_named() -> None:
    error = empty_reply_error(ModelConfig(model="openai/x"), NO_USAGE, tries=3)
    assert str(error) == "The model openai/x answered with nothing (tries: 3)."
