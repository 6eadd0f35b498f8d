"""Say in words for people why a model call failed, and what they can do about it."""

import re
from typing import assert_never

from patchwright.core.llm.config import ModelConfig
from patchwright.core.llm.errors import (
    ContextWindowError,
    EmptyReplyError,
    ModelCredentialError,
    ModelDeclinedError,
    ModelError,
    ModelRateLimitError,
    ModelRequestError,
    ModelUnavailableError,
)
from patchwright.core.llm.failures import Failure, Fault
from patchwright.core.types.work import Usage

MAX_DETAIL_CHARACTERS = 300
# Providers quote a wrong key, partly or in whole.
_KEY = re.compile(r"\b(sk|pk|key|AIza)[-_][\w*.-]{4,}")


_ERRORS: dict[Fault, type[ModelError]] = {
    Fault.CREDENTIAL: ModelCredentialError,
    Fault.NO_CREDIT: ModelCredentialError,
    Fault.REQUEST: ModelRequestError,
    Fault.DECLINED: ModelDeclinedError,
    Fault.CONTEXT: ContextWindowError,
    Fault.RATE_LIMIT: ModelRateLimitError,
    Fault.UNAVAILABLE: ModelUnavailableError,
}


def error_for_failure(
    failure: Failure, config: ModelConfig, usage: Usage, waited_s: float
) -> ModelError:
    """Return the error to raise for a failure that waiting did not or cannot cure."""
    text = _sentences(failure, config, waited_s)
    return _ERRORS[failure.fault](text, usage)


def _sentences(failure: Failure, config: ModelConfig, waited_s: float) -> str:
    model = f"The model {config.place}"
    said = _said(failure.detail, config)
    match failure.fault:
        case Fault.CREDENTIAL:
            return f"{model} did not accept the API key{said} Check `llm.api_key`."
        case Fault.NO_CREDIT:
            return f"{model} says that the account has no credit left{said} Top it up."
        case Fault.REQUEST:
            return f"{model} refused the request{said} Check `llm.model`."
        case Fault.DECLINED:
            return f"{model} declined to answer{said}"
        case Fault.CONTEXT:
            return f"{model} has too small a window for this conversation{said}"
        case Fault.RATE_LIMIT:
            return f"{model} is rate-limited, and {_waited(failure, waited_s)}{said}"
        case Fault.UNAVAILABLE:
            text = f"{model} gave no usable answer in {waited_s:.0f} s{said}"
            return f"{text} Check `llm.base_url`."
        case _:
            assert_never(failure.fault)


def declined_error(reason: str, config: ModelConfig, usage: Usage) -> ModelDeclinedError:
    text = f"The model {config.place} declined to answer{_said(reason, config)}"
    return ModelDeclinedError(text, usage)


def empty_reply_error(config: ModelConfig, usage: Usage, tries: int) -> EmptyReplyError:
    text = f"The model {config.place} answered with nothing (tries: {tries})."
    return EmptyReplyError(text, usage)


def _waited(failure: Failure, waited_s: float) -> str:
    if failure.wait_s is None:
        return f"{waited_s:.0f} s of waiting did not help"
    return f"asks for {failure.wait_s:.0f} s more, which is past the deadline"


def _said(detail: str, config: ModelConfig) -> str:
    """Quote the provider, shortly and without the key; always ends the sentence."""
    text = " ".join(detail.split())
    if config.api_key and (key := config.api_key.get_secret_value()):
        text = text.replace(key, "[key]")
    text = _KEY.sub("[key]", text)
    if len(text) > MAX_DETAIL_CHARACTERS:
        text = text[:MAX_DETAIL_CHARACTERS] + "…"
    return f": {text.rstrip('.')}." if text else "."
