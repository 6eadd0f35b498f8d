"""The errors of a provider: read from its exceptions, explained to people."""

import json
import re
import socket
import ssl
from collections.abc import Iterator, Mapping
from typing import assert_never

from pydantic import JsonValue

from patchwright.core.events.observations import WaitCause
from patchwright.core.llm import errors
from patchwright.core.llm.failures import Failure, Fault, ProviderRefusal, SendState
from patchwright.core.llm.prices import ModelConfig
from patchwright.core.types.work import Usage

# litellm and openai put their class names and the status in front of the text.
_PREFIX = re.compile(
    r"^(?:litellm\.)?(?:\w+(?:Error|Exception)\b\s*[:-]\s*|Error code: \d+\s*-?\s*)"
)
_ADVICE = re.compile(r"\.? Handle with `[\w.]+`.*", re.DOTALL)
# Google tells how long to wait in the body alone.
# https://cloud.google.com/apis/design/errors#retry_info
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_QUOTED_MESSAGE = re.compile(r'"message"\s*:\s*("(?:[^"\\]|\\.)*")')
_LEAST_ERROR_STATUS = 400
_SERVER_ERROR = 500
_NOT_SENT = frozenset(
    {
        "ConnectError",
        "ConnectTimeout",
        "PoolTimeout",
        "ProxyError",
        "UnsupportedProtocol",
        "LocalProtocolError",
        "InvalidURL",
    }
)
_TIMEOUTS = frozenset({"ReadTimeout", "WriteTimeout", "APITimeoutError", "Timeout"})
_BROKEN_OFF = frozenset(
    {"RemoteProtocolError", "ReadError", "WriteError", "CloseError"}
)


def read_refusal(error: BaseException, *, was_sent: bool = True) -> ProviderRefusal:
    """Read an error of litellm.

    litellm reports 413 as 429, an unreachable host as 500, and an answer that it cannot
    read as 500 as well. So what counts is the innermost HTTP answer; without one these
    are its words and not the provider's.
    """
    source = _answer_in(error)
    if source is None:
        return _without_answer(error, was_sent=was_sent)
    body = getattr(source, "body", None)
    details = body if isinstance(body, Mapping) else {}
    headers = getattr(getattr(source, "response", None), "headers", {})
    return ProviderRefusal(
        status=_status_of(source),
        code=str(details.get("code") or details.get("type") or ""),
        text=str(details.get("message") or _plain(str(error))),
        retry_after=headers.get("retry-after", "") or _retry_delay(str(error)),
    )


def read_error_in_reply(body: Mapping[str, JsonValue]) -> ProviderRefusal | None:
    """Read an error that came with a status of success, as some gateways send it."""
    error = body.get("error")
    if not error or body.get("choices"):
        return None
    details: Mapping[str, JsonValue] = error if isinstance(error, dict) else {}
    code = details.get("code")
    is_status = isinstance(code, int) and code >= _LEAST_ERROR_STATUS
    message = details.get("message") or (error if isinstance(error, str) else "")
    return ProviderRefusal(
        status=code if is_status and isinstance(code, int) else _SERVER_ERROR,
        code="" if is_status else str(code or details.get("type") or ""),
        text=str(message),
    )


def _without_answer(error: BaseException, *, was_sent: bool) -> ProviderRefusal:
    """Say in our words why there was no answer: a library's are for programmers."""
    names = {type(inner).__name__ for inner in _chain(error)}
    status = getattr(error, "status_code", None)
    is_local = isinstance(status, int) and _LEAST_ERROR_STATUS <= status < _SERVER_ERROR
    if names & _NOT_SENT:
        text = _missing_connection(error)
        return ProviderRefusal(sent=SendState.NOT, is_unreachable=True, text=text)
    if names & _TIMEOUTS:
        return ProviderRefusal(sent=SendState.LOST, text="it did not answer in time")
    if names & _BROKEN_OFF:
        return ProviderRefusal(
            sent=SendState.LOST, text="the connection broke before its answer"
        )
    if is_local or not was_sent:
        # By its words the kind of trouble is found; nobody is shown them.
        return ProviderRefusal(
            sent=SendState.NOT, status=status if is_local else None, code=str(error)
        )
    return ProviderRefusal(
        sent=SendState.LOST, text="its answer has a form that cannot be read"
    )


def _missing_connection(error: BaseException) -> str:
    """Say in a few words why there was no connection."""
    for inner in _chain(error):
        match inner:
            case socket.gaierror():
                return "the host name cannot be resolved"
            case ConnectionRefusedError():
                return "connection refused"
            case ssl.SSLError():
                return "the TLS handshake failed"
            case TimeoutError():
                return "no connection in time"
            case _:
                pass
    return "no connection"


def _retry_delay(text: str) -> str:
    found = _RETRY_DELAY.search(text)
    return found[1] if found else ""


def _answer_in(error: BaseException) -> BaseException | None:
    """Return the innermost error that stands for an answer over HTTP, if there is one.

    litellm makes up answers; those of the HTTP client are real.
    """
    found: BaseException | None = None
    is_real = False
    for inner in _chain(error):
        if isinstance(getattr(inner, "status_code", None), int):
            found = inner
        is_real = is_real or type(inner).__name__ == "HTTPStatusError"
    return found if is_real else None


def _status_of(source: BaseException) -> int | None:
    status = getattr(source, "status_code", None)
    return status if isinstance(status, int) else None


def _chain(error: BaseException) -> Iterator[BaseException]:
    seen: BaseException | None = error
    while seen is not None:
        yield seen
        seen = seen.__cause__ or seen.__context__


def _plain(text: str) -> str:
    if quoted := _QUOTED_MESSAGE.search(text):
        return str(json.loads(quoted[1], strict=False))
    while (shorter := _PREFIX.sub("", text)) != text:
        text = shorter
    return _ADVICE.sub("", text)


MAX_DETAIL_CHARACTERS = 300
# Providers quote a wrong key, partly or in whole.
_KEY = re.compile(r"\b(sk|pk|key|AIza)[-_][\w*.-]{4,}")


_ERRORS: dict[Fault, type[errors.ModelError]] = {
    Fault.CREDENTIAL: errors.ModelCredentialError,
    Fault.NO_CREDIT: errors.ModelCredentialError,
    Fault.REQUEST: errors.ModelRequestError,
    Fault.DECLINED: errors.ModelDeclinedError,
    Fault.CONTEXT: errors.ContextWindowError,
    Fault.RATE_LIMIT: errors.ModelRateLimitError,
    Fault.UNAVAILABLE: errors.ModelUnavailableError,
}


def error_for_failure(
    failure: Failure, config: ModelConfig, usage: Usage, waited_s: float
) -> errors.ModelError:
    """Return the error to raise for a failure that waiting did not or cannot cure."""
    text = _sentences(failure, config, waited_s)
    return _ERRORS[failure.fault](text, usage)


def _sentences(failure: Failure, config: ModelConfig, waited_s: float) -> str:
    model = f"The model {config.place}"
    detail = _said(failure.detail, config)
    match failure.fault:
        case Fault.CREDENTIAL:
            return f"{model} did not accept the API key{detail} Check `llm.api_key`."
        case Fault.NO_CREDIT:
            return (
                f"{model} says that the account has no credit left{detail} Top it up."
            )
        case Fault.REQUEST:
            return f"{model} refused the request{detail} Check `llm.model`."
        case Fault.DECLINED:
            return f"{model} declined to answer{detail}"
        case Fault.CONTEXT:
            return f"{model} has too small a window for this conversation{detail}"
        case Fault.RATE_LIMIT:
            return f"{model} is rate-limited, and {_waited(failure, waited_s)}{detail}"
        case Fault.UNAVAILABLE:
            if failure.cause is WaitCause.UNREACHABLE:
                return _unreachable(failure, config, waited_s)
            text = f"{model} gave no usable answer in {waited_s:.0f} s{detail}"
            return f"{text} Check `llm.base_url`."
        case _:
            assert_never(failure.fault)


def _unreachable(failure: Failure, config: ModelConfig, waited_s: float) -> str:
    text = f"Cannot reach the model {config.place} ({failure.detail})"
    tried = f"; gave up after {waited_s:.0f} s"
    advice = "`llm.base_url`" if config.base_url else "the network of this machine"
    return f"{text}{tried}. Check {advice}."


def declined_error(
    reason: str, config: ModelConfig, usage: Usage
) -> errors.ModelDeclinedError:
    text = f"The model {config.place} declined to answer{_said(reason, config)}"
    return errors.ModelDeclinedError(text, usage)


def empty_reply_error(
    config: ModelConfig, usage: Usage, tries: int
) -> errors.EmptyReplyError:
    text = f"The model {config.place} answered with nothing (tries: {tries})."
    return errors.EmptyReplyError(text, usage)


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
