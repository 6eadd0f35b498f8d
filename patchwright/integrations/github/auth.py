"""Who we are on GitHub, and the tokens that show it."""

from collections.abc import Callable
from datetime import datetime, timedelta
from functools import lru_cache
from threading import Lock
from typing import Any, Protocol

import jwt
from cryptography.hazmat.primitives.asymmetric.rsa import RSAPrivateKey
from cryptography.hazmat.primitives.serialization import load_pem_private_key
from github import Auth, Github
from pydantic import SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AuthenticationError,
    InvalidRequestError,
    NotFoundError,
    PermissionDeniedError,
    SettingsError,
)
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.github.app import (
    Granted,
    missing_permissions,
    missing_scopes,
)
from patchwright.integrations.github.connection import GitHubConnection
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.github.plugin import installation_name
from patchwright.integrations.http.limits import retry_after_limits

# An installation token lives for an hour; what is left must outlast a long push.
LEAST_LIFE = timedelta(minutes=5)
# https://docs.github.com/en/graphql/reference/queries#viewer
_VIEWER = "query { viewer { login } }"
_BOT = "[bot]"


class InstallationToken(Value):
    token: SecretStr
    expires_at: datetime


class TokenCache(Protocol):
    """The store of installation tokens; several processes may share one."""

    def fetch(self, name: str) -> InstallationToken | None: ...

    def put(self, name: str, token: InstallationToken) -> None: ...


class MemoryTokenCache:
    """Keeps the tokens of this process."""

    def __init__(self) -> None:
        self._tokens: dict[str, InstallationToken] = {}

    def fetch(self, name: str) -> InstallationToken | None:
        return self._tokens.get(name)

    def put(self, name: str, token: InstallationToken) -> None:
        self._tokens[name] = token


class RepositoryTokens(Protocol):
    """A way of authenticating. Errors are those of `core.types.errors`."""

    def fetch(self, repo: RepoRef) -> SecretStr:
        """Return a token that works in the repository now."""
        ...

    def renew(self, repo: RepoRef) -> SecretStr:
        """Return a new token; raises AuthenticationError if there can be none."""
        ...

    def fetch_lasting(self, repo: RepoRef) -> SecretStr:
        """Return the token that will work longest."""
        ...

    def fetch_login(self) -> str:
        """Return the login our texts appear under, or '' if the token cannot say."""
        ...

    def fetch_missing(self) -> tuple[str, ...]:
        """Return a line for everything that we need and were not given."""
        ...

    def close(self) -> None: ...


class StaticToken:
    """A token that somebody made: of a person, of a machine user, of Actions.

    It is never tried out beforehand: tokens of Actions and of installations may not
    ask REST who they are, and work all the same.
    """

    def __init__(
        self, token: SecretStr, connection: GitHubConnection, clock: Clock
    ) -> None:
        if not token.get_secret_value():
            raise SettingsError("github.token is empty")
        self._token = token
        self._connection = connection
        self._clock = clock

    def fetch(self, repo: RepoRef) -> SecretStr:  # noqa: ARG002 - serves them all
        return self._token

    fetch_lasting = fetch

    def renew(self, repo: RepoRef) -> SecretStr:
        raise AuthenticationError(f"GitHub does not accept the token for {repo}")

    def fetch_login(self) -> str:
        client = self._connection.open_client(self._auth())
        try:
            with translate_errors(self._clock):
                return client.get_user().login
        except PermissionDeniedError:
            return _login_of_bot(client, self._clock)
        finally:
            client.close()

    def fetch_missing(self) -> tuple[str, ...]:
        """Tell it of a classic token: GitHub says nothing about the others."""
        client = self._connection.open_client(self._auth())
        try:
            with translate_errors(self._clock):
                client.requester.requestJsonAndCheck("GET", "/user")
        except PermissionDeniedError:
            return ()
        finally:
            client.close()
        scopes = frozenset(client.oauth_scopes or ()) - {""}
        return missing_scopes(scopes or None)

    def close(self) -> None:
        pass

    def _auth(self) -> Auth.Token:
        return Auth.Token(self._token.get_secret_value())


class AppTokens:
    """The tokens of a GitHub App, one for each account that installed it."""

    def __init__(
        self,
        app_id: str,
        private_key: SecretStr,
        *,
        connection: GitHubConnection,
        cache: TokenCache,
        clock: Clock,
    ) -> None:
        auth = Auth.AppAuth(app_id, sign_func=_signer(private_key))
        self._app = connection.open_app(auth)
        self._cache = cache
        self._clock = clock
        self._installations: dict[str, int] = {}
        # PyGithub's client may be used by one thread at a time.
        self._lock = Lock()

    def fetch(self, repo: RepoRef) -> SecretStr:
        known = self._cache.fetch(installation_name(self._find_installation(repo)))
        if known is None or known.expires_at - self._clock.now() < LEAST_LIFE:
            return self.renew(repo)
        return known.token

    def renew(self, repo: RepoRef) -> SecretStr:
        installation = self._find_installation(repo)
        try:
            token = self._mint(installation)
        except NotFoundError:
            # It was removed; a new installation of the App has another number.
            self._installations.pop(repo.full_name, None)
            raise
        self._cache.put(installation_name(installation), token)
        return token.token

    def fetch_lasting(self, repo: RepoRef) -> SecretStr:
        return retry_after_limits(lambda: self.renew(repo), self._clock)

    def fetch_login(self) -> str:
        with self._lock, translate_errors(self._clock):
            return f"{self._app.get_app().slug}[bot]"

    def fetch_missing(self) -> tuple[str, ...]:
        with self._lock, translate_errors(self._clock):
            app = self._app.get_app()
            granted = Granted(permissions=app.permissions, events=tuple(app.events))
        return missing_permissions(granted)

    def call(
        self, method: str, path: str, query: dict[str, str]
    ) -> tuple[dict[str, Any], Any]:
        """Make a request in the App's own name; return its headers and its JSON."""
        with self._lock, translate_errors(self._clock):
            return self._app.requester.requestJsonAndCheck(method, path, query)

    def is_installed(self, installation: str) -> bool:
        """Tell whether an account lets the App do anything there now."""
        return self._is_active(f"/app/installations/{installation}", installation)

    def reaches(self, installation: str, repo: RepoRef) -> bool:
        """Tell whether the repository is one of those of the installation now."""
        return self._is_active(f"/repos/{repo.full_name}/installation", installation)

    def close(self) -> None:
        self._app.close()

    def _is_active(self, path: str, installation: str) -> bool:
        try:
            _, found = self.call("GET", path, {})
        except NotFoundError:
            return False
        is_same = str(found.get("id")) == installation
        return is_same and found.get("suspended_at") is None

    def _mint(self, installation: int) -> InstallationToken:
        with self._lock, translate_errors(self._clock):
            minted = self._app.get_access_token(installation)
            return InstallationToken(
                token=SecretStr(minted.token), expires_at=minted.expires_at
            )

    def _find_installation(self, repo: RepoRef) -> int:
        known = self._installations.get(repo.full_name)
        if known is not None:
            return known
        owner, _, name = repo.full_name.partition("/")
        with self._lock, translate_errors(self._clock):
            found = self._app.get_repo_installation(owner, name).id
        self._installations[repo.full_name] = found
        return found


def _signer(private_key: SecretStr) -> Callable[[dict[str, Any]], str]:
    """Return what signs with a key; reading it takes ten times as long as signing."""
    key = _read_key(private_key.get_secret_value())
    return lambda payload: jwt.encode(payload, key, algorithm="RS256")


@lru_cache(maxsize=4)
def _read_key(pem: str) -> RSAPrivateKey:
    try:
        key = load_pem_private_key(pem.encode(), password=None)
    except (TypeError, ValueError) as error:
        raise SettingsError(
            "github.private_key is not the PEM text of a private key"
        ) from error
    if not isinstance(key, RSAPrivateKey):
        raise SettingsError(
            "github.private_key is not an RSA key, as GitHub makes them"
        )
    return key


def _login_of_bot(client: Github, clock: Clock) -> str:
    """Ask as an installation's token can, which is no person's; '' if it is refused."""
    try:
        with translate_errors(clock):
            _, answer = client.requester.graphql_query(_VIEWER, {})
    except (InvalidRequestError, NotFoundError, PermissionDeniedError):
        return ""
    login = str(((answer.get("data") or {}).get("viewer") or {}).get("login") or "")
    return login if not login or login.endswith(_BOT) else f"{login}{_BOT}"
