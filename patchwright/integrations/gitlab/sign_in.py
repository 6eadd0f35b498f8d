"""Sign people in with GitLab, and list what they can read there."""

from dataclasses import dataclass
from typing import Any, Final

from gitlab import Gitlab
from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import rank_names
from patchwright.core.types.errors import AuthenticationError
from patchwright.core.types.people import Actor, PersonalToken
from patchwright.integrations.gitlab.answers import UserAnswer
from patchwright.integrations.gitlab.configured import (
    make_gitlab_connection,
    make_oauth_client,
)
from patchwright.integrations.gitlab.connection import LARGEST_PAGE
from patchwright.integrations.gitlab.errors import translate_errors
from patchwright.integrations.gitlab.settings import SERVICE, GitLabSettings
from patchwright.integrations.http.oauth import OAuthClient

# GitLab searches words of this length and more.
_SHORTEST_QUERY: Final = 3


@dataclass(frozen=True)
class GitLabSignIn:
    """Signs people in at one GitLab; a `SignInProvider`.

    `redirect_uri` is the address to which GitLab sends them back; the application must
    have it among its own.
    """

    oauth: OAuthClient
    accounts: "GitLabAccounts"
    redirect_uri: str

    def address(self, state: str, verifier: str) -> str:
        """Return where a browser goes to sign in."""
        return self.oauth.address(state, verifier, self.redirect_uri)

    def fetch_person(self, code: str, verifier: str) -> Actor:
        """Return the person of the code, which works once.

        Raises `AuthenticationError` if GitLab does not take it. The person's token is
        used only for this question, and not stored.
        """
        person, _ = self.fetch_grant(code, verifier)
        return person

    def fetch_grant(self, code: str, verifier: str) -> tuple[Actor, PersonalToken]:
        """Return who came back with the code, and what they let us do."""
        grant = self.oauth.exchange(code, verifier, self.redirect_uri)
        return self.accounts.fetch_person(grant.access_token), grant


@dataclass(frozen=True)
class GitLabAccounts:
    """A `ForgeAccounts`."""

    settings: GitLabSettings
    clock: Clock

    def sign_in(self, redirect_uri: str) -> GitLabSignIn:
        oauth = make_oauth_client(self.settings, self.clock)
        return GitLabSignIn(oauth, self, redirect_uri)

    def renew(self, refresh_token: SecretStr) -> PersonalToken:
        """Return a new grant; GitLab's tokens live for two hours."""
        return make_oauth_client(self.settings, self.clock).renew(refresh_token)

    def is_valid(self, token: SecretStr) -> bool:
        """Tell whether GitLab still lets the person's token do anything."""
        try:
            self.fetch_person(token)
        except AuthenticationError:
            return False
        return True

    def fetch_person(self, token: SecretStr) -> Actor:
        """Return whose token it is; raises the errors of `core.types.errors`."""
        with self._open_client(token) as client, translate_errors():
            user = UserAnswer.model_validate(client.http_get("/user"))
        return Actor(service=SERVICE, login=user.username, external_id=str(user.id))

    def fetch_readable(self, token: SecretStr, query: str) -> tuple[str, ...]:
        """Return full names that contain `query`, the likeliest first.

        They are those of projects that the person is a member of.
        """
        wanted = query.strip()
        search: dict[str, Any] = {}
        if len(wanted) >= _SHORTEST_QUERY:
            search = {"search": wanted, "search_namespaces": True}
        with self._open_client(token) as client, translate_errors():
            found = client.projects.list(
                membership=True,
                archived=False,
                simple=True,
                order_by="last_activity_at",
                page=1,
                per_page=LARGEST_PAGE,
                **search,
            )
            names = [str(one.path_with_namespace) for one in found]
        return rank_names(names, wanted)[:LARGEST_PAGE]

    def _open_client(self, token: SecretStr) -> Gitlab:
        connection = make_gitlab_connection(self.settings, self.clock)
        return connection.open_client(token.get_secret_value())
