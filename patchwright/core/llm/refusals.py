"""Find out what the provider really said, under the errors wrapped around it."""

import json
import re
from collections.abc import Iterator, Mapping

from patchwright.core.llm.failures import Refusal

# litellm and openai put their class names and the status in front of the text.
_PREFIX = re.compile(
    r"^(?:litellm\.)?(?:\w+(?:Error|Exception)\b\s*[:-]\s*|Error code: \d+\s*-?\s*)"
)
_ADVICE = re.compile(r"\.? Handle with `[\w.]+`.*", re.DOTALL)
# Google tells how long to wait in the body alone.
# https://cloud.google.com/apis/design/errors#retry_info
_RETRY_DELAY = re.compile(r'"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"')
_QUOTED_MESSAGE = re.compile(r'"message"\s*:\s*("(?:[^"\\]|\\.)*")')


def read_refusal(error: BaseException) -> Refusal:
    """Read an error of litellm.

    litellm reports 413 as 429 and an unreachable host as 500, so what counts is the
    innermost error with a status, and there must have been a response.
    """
    source = _innermost(error)
    body = getattr(source, "body", None)
    details = body if isinstance(body, Mapping) else {}
    headers = getattr(getattr(source, "response", None), "headers", {})
    return Refusal(
        status=getattr(source, "status_code", None),
        code=str(details.get("code") or details.get("type") or ""),
        text=str(details.get("message") or _plain(str(error))),
        retry_after=headers.get("retry-after", "") or _retry_delay(str(error)),
    )


def _retry_delay(text: str) -> str:
    found = _RETRY_DELAY.search(text)
    return found[1] if found else ""


def _innermost(error: BaseException) -> BaseException:
    with_status = error
    for inner in _chain(error):
        if isinstance(getattr(inner, "status_code", None), int):
            with_status = inner
    return with_status


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
