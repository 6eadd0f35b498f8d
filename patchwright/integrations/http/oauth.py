"""Sign people in at a service by OAuth 2, and renew and revoke what that brings."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import parsedate_to_datetime
from typing import Final
from urllib.parse import urlencode

import requests
from pydantic import SecretStr, ValidationError
from requests.exceptions import SSLError

from patchwright.core.system.clock import Clock, start_call
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AuthenticationError,
    RateLimitedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import PersonalToken

USER_AGENT: Final = "patchwright"
TIMEOUT_S: Final = 15
# Others wait for who renews, and take over if it lasts: so long for the whole answer,
# and so long for any part of it.
RENEWAL_S: Final = 10.0
_RENEWAL_TIMEOUT_S: Final = 5
DEFAULT_WAIT: Final = timedelta(minutes=1)

_TOO_MANY, _BROKEN = 429, 500
# A code or a refresh token that has run out, was used, or was taken back.
# https://www.rfc-editor.org/rfc/rfc6749#section-5.2
_REFUSED_GRANT: Final = "invalid_grant"
_REFUSED_APP: Final = frozenset({"invalid_client", "unauthorized_client"})


@dataclass(frozen=True, slots=True)
class OAuthAddresses:
    """Where a browser goes to agree, and where tokens are handed out and taken back."""

    authorize: str
    token: str
    revoke: str


class _GrantAnswer(Value):
    """A token, or why there is none."""

    access_token: SecretStr = SecretStr("")
    expires_in: int | None = None
    refresh_token: SecretStr | None = None
    error: str = ""
    error_description: str = ""

    @property
    def refusal(self) -> str:
        parts = (self.error, self.error_description)
        return ": ".join(part for part in parts if part) or "no explanation"


@dataclass(frozen=True)
class OAuthClient:
    """Our application at a service; errors are those of `core.types.errors`.

    `title` is the service's in messages, and `section` that of its settings, which have
    `client_id` and `client_secret`. `scope` is written as the service wants it, `extra`
    is sent along when somebody is asked to agree. `verify` says whom to trust, in the
    words of `requests`, and `authorities_setting` is where that is set, if it can be.
    """

    title: str
    section: str
    addresses: OAuthAddresses
    client_id: str
    client_secret: SecretStr
    scope: str
    clock: Clock
    extra: Mapping[str, str] = field(default_factory=dict)
    verify: str | bool = True
    authorities_setting: str = ""
    renewal_s: float = RENEWAL_S

    def address(self, state: str, verifier: str, redirect_uri: str) -> str:
        """Return where a browser goes to agree.

        `state` comes back with it, and only who knows `verifier` can use the code.
        """
        query = {
            "client_id": self.client_id,
            "redirect_uri": redirect_uri,
            "response_type": "code",
            "scope": self.scope,
            "state": state,
            "code_challenge": challenge(verifier),
            "code_challenge_method": "S256",
            **self.extra,
        }
        return f"{self.addresses.authorize}?{urlencode(query)}"

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> PersonalToken:
        """Exchange the code that a person came back with; it counts once.

        Raises `AuthenticationError` if the service does not take it.
        """
        fields = {
            "grant_type": "authorization_code",
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        }
        answer = self._ask(fields, TIMEOUT_S)
        if answer.error == _REFUSED_GRANT:
            raise AuthenticationError(
                f"{self.title} does not accept the code: {answer.refusal}"
            )
        return self._grant(answer)

    def renew(self, refresh_token: SecretStr) -> PersonalToken:
        """Return a new grant; the old one, with both its tokens, is no use any more.

        Raises `AuthenticationError` where only the person can help, by signing in, and
        `ServiceUnavailableError` where it takes more time than there is.
        """
        fields = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token.get_secret_value(),
        }
        asked = start_call(lambda: self._ask(fields, _RENEWAL_TIMEOUT_S))
        if not wait((asked,), self.renewal_s).done:
            raise ServiceUnavailableError(
                f"{self.title} did not renew the token within {self.renewal_s:g} s"
            )
        answer = asked.result()
        if answer.error == _REFUSED_GRANT:
            raise AuthenticationError(
                f"{self.title} does not renew the token: {answer.refusal}"
            )
        return self._grant(answer)

    def fetch_app_token(self) -> PersonalToken:
        """Return a token of the application's own, where a service hands one out.

        https://www.rfc-editor.org/rfc/rfc6749#section-4.4
        """
        fields = {"grant_type": "client_credentials", "scope": self.scope}
        return self._grant(self._ask(fields, TIMEOUT_S))

    def revoke(self, token: SecretStr) -> None:
        """Take a token back; one that counts no more is no error.

        https://www.rfc-editor.org/rfc/rfc7009#section-2
        """
        fields = {"token": token.get_secret_value()}
        self._post(self.addresses.revoke, fields, TIMEOUT_S)

    def _grant(self, answer: _GrantAnswer) -> PersonalToken:
        if answer.error in _REFUSED_APP:
            raise ServiceError(
                f"{self.title} does not accept {self.section}.client_id with "
                f"{self.section}.client_secret: {answer.refusal}"
            )
        if not answer.access_token.get_secret_value():
            raise ServiceError(f"{self.title} gave no token: {answer.refusal}")
        life = answer.expires_in
        return PersonalToken(
            access_token=answer.access_token,
            expires_at=self.clock.now() + timedelta(seconds=life) if life else None,
            refresh_token=answer.refresh_token,
        )

    def _ask(self, fields: Mapping[str, str], timeout_s: float) -> _GrantAnswer:
        response = self._post(self.addresses.token, fields, timeout_s)
        words = f"{self.title} answered {response.status_code} to a request for a token"
        try:
            answer = _GrantAnswer.model_validate_json(response.content)
        except ValidationError as error:
            raise ServiceError(words) from error
        if response.ok or answer.error:
            return answer
        raise ServiceError(words)

    def _post(
        self, address: str, fields: Mapping[str, str], timeout_s: float
    ) -> requests.Response:
        with self._translate_errors():
            response = requests.post(
                address,
                data={
                    "client_id": self.client_id,
                    "client_secret": self.client_secret.get_secret_value(),
                    **fields,
                },
                headers={"Accept": "application/json", "User-Agent": USER_AGENT},
                # Not those of a .netrc file.
                auth=lambda request: request,
                timeout=timeout_s,
                verify=self.verify,
                allow_redirects=False,
            )
        words = f"{self.title} answered {response.status_code} to a request for a token"
        if response.status_code == _TOO_MANY:
            raise RateLimitedError(words, self._end_of_wait(response))
        if response.status_code >= _BROKEN:
            raise ServiceUnavailableError(words)
        return response

    def _end_of_wait(self, response: requests.Response) -> datetime:
        text = response.headers.get("retry-after", "")
        now = self.clock.now()
        if text.isdecimal():
            return now + timedelta(seconds=int(text))
        try:
            return parsedate_to_datetime(text).astimezone(UTC)
        except ValueError:
            return now + DEFAULT_WAIT

    @contextmanager
    def _translate_errors(self) -> Iterator[None]:
        try:
            yield
        except SSLError as error:
            setting = self.authorities_setting
            fix = f"; set {setting} to the file of that authority" if setting else ""
            raise ServiceError(
                f"{self.title}'s certificate comes from an authority that is not "
                f"trusted here{fix}"
            ) from error
        except requests.RequestException as error:
            raise ServiceUnavailableError(
                f"{self.title} did not answer ({type(error).__name__})"
            ) from error


def challenge(verifier: str) -> str:
    """Return what is shown of a verifier before it is used.

    https://www.rfc-editor.org/rfc/rfc7636#section-4.2
    """
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
