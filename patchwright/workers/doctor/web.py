"""Ask an address of our own as a stranger would."""

import json
import ssl
from collections.abc import Mapping
from dataclasses import dataclass
from http.client import HTTPException
from typing import Final
from urllib.error import HTTPError, URLError
from urllib.request import (
    HTTPDefaultErrorHandler,
    HTTPErrorProcessor,
    HTTPHandler,
    HTTPSHandler,
    OpenerDirector,
    ProxyHandler,
    Request,
)

from patchwright.core.settings.addresses import is_address

_WITHIN_S: Final = 10.0
_MOST_BYTES: Final = 64 * 1024
_NO_HEADERS: Final[Mapping[str, str]] = {}
_FIX_CERTIFICATE: Final = (
    "renew the certificate, send the whole chain, and let it name this host"
)
_FIX_UNREACHABLE: Final = (
    "start `patchwright serve` and the proxy in front; check DNS and firewall"
)


class UnreachableError(Exception):
    """Nobody answered, or nobody who can be trusted; `fix` says what to do."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(message)
        self.fix = fix


@dataclass(frozen=True, slots=True)
class HttpAnswer:
    status: int
    body: bytes

    def json(self) -> object:
        """Return what was said, None if that is no JSON."""
        try:
            found: object = json.loads(self.body)
        except ValueError:
            return None
        return found


def send_request(
    url: str, headers: Mapping[str, str] = _NO_HEADERS, body: bytes | None = None
) -> HttpAnswer:
    """Send a GET, or a POST where there is a body. Raises `UnreachableError`.

    A redirect is an answer, and not followed: what is sent is for that address alone,
    and GitHub does not follow one either.
    """
    if not is_address(url):
        raise UnreachableError("not an address", "write it as https://HOST")
    request = Request(url, data=body, headers=dict(headers))  # noqa: S310 - http(s) alone, as was just checked
    try:
        with _opener().open(request, timeout=_WITHIN_S) as answer:
            return HttpAnswer(answer.status, answer.read(_MOST_BYTES))
    except HTTPError as error:
        with error:
            return HttpAnswer(error.code, error.read(_MOST_BYTES))
    except (URLError, OSError, HTTPException) as error:
        raise _unreachable(error) from error


def _opener() -> OpenerDirector:
    opener = OpenerDirector()
    for handler in (
        *(ProxyHandler(), HTTPHandler(), HTTPSHandler()),
        *(HTTPDefaultErrorHandler(), HTTPErrorProcessor()),
    ):
        opener.add_handler(handler)
    return opener


def _unreachable(error: Exception) -> UnreachableError:
    reason = error.reason if isinstance(error, URLError) else error
    if isinstance(reason, ssl.SSLCertVerificationError):
        return UnreachableError(
            f"bad certificate: {reason.verify_message}", _FIX_CERTIFICATE
        )
    told = reason.strerror if isinstance(reason, OSError) else None
    return UnreachableError((told or str(reason)).lower(), _FIX_UNREACHABLE)
