"""Who we are on GitLab, and what the token may do, as GitLab says."""

from datetime import date
from typing import Final

from gitlab import Gitlab
from pydantic import SecretStr

from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AuthenticationError,
    NotFoundError,
    PermissionDeniedError,
    SettingsError,
)
from patchwright.core.types.people import Actor
from patchwright.integrations.gitlab.connection import GitLabConnection
from patchwright.integrations.gitlab.errors import translate_errors
from patchwright.integrations.gitlab.settings import SERVICE

# Reads, comments, merge requests and pushes: there is no smaller scope for all of it.
# https://docs.gitlab.com/user/profile/personal_access_tokens/#personal-access-token-scopes
NEEDED_SCOPE: Final = "api"


class OwnUser(Value):
    """The user whose token it is: a person, a service account, or a token's own bot."""

    id: int
    username: str
    name: str = ""
    bot: bool = False
    is_admin: bool = False

    @property
    def actor(self) -> Actor:
        return Actor(
            service=SERVICE,
            login=self.username,
            external_id=str(self.id),
            is_bot=self.bot,
        )


class TokenDetails(Value):
    """What GitLab tells of an access token; one of a sign-in has no such page."""

    name: str = ""
    scopes: tuple[str, ...] = ()
    expires_at: date | None = None
    active: bool = True
    revoked: bool = False


class GitLabToken:
    """The access token that we were given, of a user, a group or a project."""

    def __init__(self, token: SecretStr, connection: GitLabConnection) -> None:
        if not token.get_secret_value():
            raise SettingsError("gitlab.token is empty")
        self.secret = token
        self._connection = connection

    def fetch_user(self) -> OwnUser:
        """Return whose it is; raises the errors of `core.types.errors`."""
        with self._open_client() as client, translate_errors():
            return OwnUser.model_validate(client.http_get("/user"))

    def fetch_details(self) -> TokenDetails | None:
        """Return what it may do and until when, None if GitLab does not tell.

        https://docs.gitlab.com/api/personal_access_tokens/#self-inform
        """
        path = "/personal_access_tokens/self"
        with self._open_client() as client, translate_errors():
            try:
                return TokenDetails.model_validate(client.http_get(path))
            except (AuthenticationError, NotFoundError, PermissionDeniedError):
                return None

    def fetch_missing(self) -> tuple[str, ...]:
        """Return a line for everything that we need and were not given."""
        details = self.fetch_details()
        if details is None or NEEDED_SCOPE in details.scopes:
            return ()
        return (f"the scope `{NEEDED_SCOPE}`",)

    def _open_client(self) -> Gitlab:
        return self._connection.open_client(self.secret.get_secret_value())
