"""Get a token that acts for a person, and renew it.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
"""

from collections.abc import Mapping
from concurrent.futures import wait
from dataclasses import dataclass
from datetime import timedelta
from typing import Final

import requests
from github import Auth
from pydantic import SecretStr

from patchwright.core.background import start_call
from patchwright.core.clock import Clock
from patchwright.core.errors import (
    AuthenticationError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.base import Value
from patchwright.core.types.grants import PersonalToken
from patchwright.integrations.github.connection import (
    TIMEOUT_S,
    USER_AGENT,
    GitHubConnection,
)
from patchwright.integrations.github.errors import translate_errors

_BROKEN: Final = 500
# Others wait for who renews, and take over if it lasts: so long for the whole answer,
# and so long for any part of it.
RENEWAL_S: Final = 10.0
_RENEWAL_TIMEOUT_S: Final = 5
# The words for a refresh token that has run out, was used, or was taken back.
# https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/refreshing-user-access-tokens
# https://www.rfc-editor.org/rfc/rfc6749#section-5.2
_REFUSED_TOKENS: Final = frozenset({"bad_refresh_token", "invalid_grant"})


class _TokenAnswer(Value):
    """A token, or why there is none: a refusal may come with status 200."""

    access_token: SecretStr = SecretStr("")
    expires_in: int | None = None
    refresh_token: SecretStr | None = None
    error: str = ""


@dataclass(frozen=True)
class UserTokens:
    """Speaks as the App or OAuth app `client_id`."""

    connection: GitHubConnection
    client_id: str
    client_secret: SecretStr
    clock: Clock
    renewal_s: float = RENEWAL_S

    def exchange(self, code: str, verifier: str, redirect_uri: str) -> PersonalToken:
        """Exchange the code that a person came back with; it counts once.

        Raises `AuthenticationError` if GitHub does not take it.
        """
        fields = {
            "code": code,
            "code_verifier": verifier,
            "redirect_uri": redirect_uri,
        }
        answer = self._ask(fields, TIMEOUT_S)
        if not answer.access_token.get_secret_value():
            words = f"GitHub does not take the code: {answer.error}"
            raise AuthenticationError(words)
        return self._grant(answer)

    def renew(self, refresh_token: SecretStr) -> PersonalToken:
        """Return a new grant; the old one, with both its tokens, is no use any more.

        Raises `AuthenticationError` where only the person can help, by signing in, and
        `ServiceUnavailableError` where GitHub takes more time than there is.
        """
        fields = {
            "grant_type": "refresh_token",
            "refresh_token": refresh_token.get_secret_value(),
        }
        answer = self._ask_in_time(fields)
        if answer.error in _REFUSED_TOKENS:
            raise AuthenticationError(f"GitHub renews no token: {answer.error}")
        if not answer.access_token.get_secret_value():
            raise ServiceError(f"GitHub renewed no token: {answer.error}")
        return self._grant(answer)

    def is_valid(self, token: SecretStr) -> bool:
        """Tell whether GitHub still lets the person's token do anything."""
        client = self.connection.open_client(Auth.Token(token.get_secret_value()))
        try:
            with translate_errors(self.clock):
                client.requester.requestJsonAndCheck("GET", "/user")
        except AuthenticationError:
            return False
        finally:
            client.close()
        return True

    def _grant(self, answer: _TokenAnswer) -> PersonalToken:
        life = answer.expires_in
        return PersonalToken(
            access_token=answer.access_token,
            expires_at=self.clock.now() + timedelta(seconds=life) if life else None,
            refresh_token=answer.refresh_token,
        )

    def _ask_in_time(self, fields: Mapping[str, str]) -> _TokenAnswer:
        """Ask, and wait for no more than the whole time, however slowly words come."""
        asked = start_call(lambda: self._ask(fields, _RENEWAL_TIMEOUT_S))
        if not wait((asked,), self.renewal_s).done:
            raise ServiceUnavailableError(
                f"GitHub has renewed no token in {self.renewal_s:g} s"
            )
        return asked.result()

    def _ask(self, fields: Mapping[str, str], timeout_s: float) -> _TokenAnswer:
        with translate_errors(self.clock):
            response = requests.post(
                f"{self.connection.addresses.web_url}/login/oauth/access_token",
                data={
                    "client_id": self.client_id,
                    "client_secret": self.client_secret.get_secret_value(),
                    **fields,
                },
                headers={"Accept": "application/json", "User-Agent": USER_AGENT},
                timeout=timeout_s,
                verify=self.connection.verify,
                allow_redirects=False,
            )
            return _read(response)


def _read(response: requests.Response) -> _TokenAnswer:
    words = f"GitHub answered {response.status_code} to a request for a token"
    if response.status_code >= _BROKEN:
        raise ServiceUnavailableError(words)
    if response.ok or "json" in response.headers.get("content-type", ""):
        answer = _TokenAnswer.model_validate_json(response.content)
        if response.ok or answer.error:
            return answer
    raise ServiceError(words)
