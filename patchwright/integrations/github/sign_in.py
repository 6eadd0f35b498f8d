"""Sign people in, renew the tokens that act for them, and list what these can read."""

import base64
import hashlib
from collections.abc import Iterator, Mapping
from concurrent.futures import wait
from dataclasses import dataclass
from datetime import timedelta
from itertools import islice
from typing import Final
from urllib.parse import urlencode

import requests
from github import Auth, Github
from github.PaginatedList import PaginatedList
from github.Repository import Repository
from pydantic import SecretStr

from patchwright.core.system.clock import Clock, start_call
from patchwright.core.text.strings import rank_names
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AuthenticationError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.github.connection import (
    LARGEST_PAGE,
    TIMEOUT_S,
    USER_AGENT,
    GitHubConnection,
)
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.github.webhooks.triggers import SERVICE

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
    """The sign-in of the App or OAuth app `client_id`."""

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
            words = f"GitHub does not accept the code: {answer.error}"
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
            raise AuthenticationError(
                f"GitHub does not renew the token: {answer.error}"
            )
        if not answer.access_token.get_secret_value():
            raise ServiceError(f"GitHub did not renew the token: {answer.error}")
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
        """Send a request with a time limit for the whole answer."""
        asked = start_call(lambda: self._ask(fields, _RENEWAL_TIMEOUT_S))
        if not wait((asked,), self.renewal_s).done:
            raise ServiceUnavailableError(
                f"GitHub did not renew the token within {self.renewal_s:g} s"
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
        """Return the person of the code, which works once.

        Raises `AuthenticationError` if GitHub does not take it. The person's token is
        used only for this question, and not stored.
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


# A person waits for the answer: at most ten pages are read.
_MOST_READ: Final = 10 * LARGEST_PAGE


def fetch_readable_repositories(
    connection: GitHubConnection,
    token: SecretStr,
    query: str,
    *,
    clock: Clock,
    most: int = LARGEST_PAGE,
) -> tuple[str, ...]:
    """Return full names that contain `query`, the likeliest first.

    Of an App's token these are the repositories that both the person and the App can
    reach, of an OAuth app's all of the person's. Raises `AuthenticationError` if the
    token does not count any more.
    """
    client = connection.open_client(Auth.Token(token.get_secret_value()))
    try:
        with translate_errors(clock):
            names = set(islice(_names(client, clock), _MOST_READ))
    finally:
        client.close()
    return rank_names(names, query)[:most]


def _names(client: Github, clock: Clock) -> Iterator[str]:
    """List what the token reaches; an OAuth app's has no installations to list.

    https://docs.github.com/en/rest/apps/installations#list-app-installations-accessible-to-the-user-access-token
    """
    try:
        with translate_errors(clock):
            installations = [each.id for each in client.get_user().get_installations()]
    except PermissionDeniedError:
        yield from (repo.full_name for repo in client.get_user().get_repos())
        return
    for installation in installations:
        yield from (repo.full_name for repo in _of_installation(client, installation))


def _of_installation(client: Github, number: int) -> PaginatedList[Repository]:
    # PyGithub lists them as the App itself alone.
    return PaginatedList(
        Repository,
        client.requester,
        f"/user/installations/{number}/repositories",
        list_item="repositories",
    )
