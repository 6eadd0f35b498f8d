"""Find out who is in front of a browser: GitHub's web flow for people.

https://docs.github.com/en/apps/creating-github-apps/authenticating-with-a-github-app/generating-a-user-access-token-for-a-github-app
"""

import base64
import hashlib
from dataclasses import dataclass
from urllib.parse import urlencode

from github import Auth
from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.types.grants import PersonalToken
from patchwright.core.types.people import Actor
from patchwright.integrations.github.connection import GitHubConnection
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.github.user_tokens import UserTokens
from patchwright.integrations.github.webhook import SERVICE


@dataclass(frozen=True)
class SignIn:
    """Signs people in at one GitHub, as the App or OAuth app `client_id`.

    `redirect_uri` is the address to which GitHub sends them back; the app must have it
    among its callback URLs.
    """

    connection: GitHubConnection
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
        person, _ = self.fetch_grant(code, verifier)
        return person

    def fetch_grant(self, code: str, verifier: str) -> tuple[Actor, PersonalToken]:
        """Return who came back with the code, and what they let us do."""
        grant = self.tokens.exchange(code, verifier, self.redirect_uri)
        token = Auth.Token(grant.access_token.get_secret_value())
        client = self.connection.open_client(token)
        try:
            with translate_errors(self.clock):
                user = client.get_user()
                person = Actor(
                    service=SERVICE, login=user.login, external_id=str(user.id)
                )
        finally:
            client.close()
        return person, grant

    @property
    def tokens(self) -> UserTokens:
        return UserTokens(
            self.connection, self.client_id, self.client_secret, self.clock
        )


def _challenge(verifier: str) -> str:
    """https://www.rfc-editor.org/rfc/rfc7636#section-4.2."""
    digest = hashlib.sha256(verifier.encode()).digest()
    return base64.urlsafe_b64encode(digest).rstrip(b"=").decode()
