"""Find out who is in front of a browser: GitHub's web flow for people.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import base64
import hashlib
from dataclasses import dataclass
from urllib.parse import urlencode

import requests
from github import Auth
from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.errors import (
    AuthenticationError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.integrations.github.connection import (
    TIMEOUT_S,
    USER_AGENT,
    Connection,
)
from patchwright.integrations.github.errors import translated
from patchwright.integrations.github.webhook import SERVICE

_BROKEN = 500


class _Exchange(Value):
    """What the code was exchanged for; a refusal comes with status 200 as well."""

    access_token: SecretStr = SecretStr("")
    error: str = ""


@dataclass(frozen=True)
class SignIn:
    """Signs people in at one GitHub, as the App or OAuth app `client_id`.

    `redirect_uri` is the address to which GitHub sends them back; the app must have it
    among its callback URLs.
    """

    connection: Connection
    client_id: str
    client_secret: SecretStr
    redirect_uri: str
    clock: Clock

    def address(self, state: str, verifier: str) -> str:
        """Return where a browser goes to sign in.

        GitHub takes a challenge since July 2025; a server that is older overlooks it.
        https://github.blog/changelog/2025-07-14-pkce-support-for-oauth-and-github-app-authentication
        """
        query = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "state": state,
            "code_challenge": _challenge(verifier),
            "code_challenge_method": "S256",
        }
        web_url = self.connection.addresses.web_url
        return f"{web_url}/login/oauth/authorize?{urlencode(query)}"

    def fetch_person(self, code: str, verifier: str) -> Actor:
        """Return who came back with the code, which counts once.

        Raises `AuthenticationError` if GitHub does not take it. The person's token is
        used for this question alone, and kept nowhere.
        """
        token = self._exchange(code, verifier)
        client = self.connection.open_client(Auth.Token(token.get_secret_value()))
        try:
            with translated(self.clock):
                user = client.get_user()
                return Actor(
                    service=SERVICE, login=user.login, external_id=str(user.id)
                )
        finally:
            client.close()

    def _exchange(self, code: str, verifier: str) -> SecretStr:
        with translated(self.clock):
            answer = self._ask(code, verifier)
        if not answer.access_token.get_secret_value():
            raise AuthenticationError(f"GitHub does not take the code: {answer.error}")
        return answer.access_token

    def _ask(self, code: str, verifier: str) -> _Exchange:
        response = requests.post(
            f"{self.connection.addresses.web_url}/login/oauth/access_token",
            data={
                "client_id": self.client_id,
                "client_secret": self.client_secret.get_secret_value(),
                "code": code,
                "redirect_uri": self.redirect_uri,
                "code_verifier": verifier,
            },
            headers={"Accept": "application/json", "User-Agent": USER_AGENT},
            timeout=TIMEOUT_S,
            verify=self.connection.verify,
            allow_redirects=False,
        )
        if response.status_code >= _BROKEN:
            words = f"GitHub answered {response.status_code} to a sign-in"
            raise ServiceUnavailableError(words)
        if not response.ok:
            raise ServiceError(f"GitHub answered {response.status_code} to a sign-in")
        return _Exchange.model_validate_json(response.content)


def _challenge(verifier: str) -> str:
    """https://www.rfc-editor.org/rfc/rfc7636#section-4.2."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
