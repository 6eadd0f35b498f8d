"""The workspaces that are served: their tokens, how these are got, renewed and kept."""

import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Final, Protocol
from urllib.parse import urlencode

import requests
from pydantic import BaseModel, ConfigDict, JsonValue, SecretStr, ValidationError

from patchwright.core.plugin_host import SecretVault
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import (
    AuthenticationError,
    PermissionDeniedError,
    ServiceError,
    ServiceUnavailableError,
)
from patchwright.integrations.linear.errors import translate_errors
from patchwright.integrations.linear.webhooks.payloads import SERVICE, LinearWorkspace

INSTALL_PATH: Final = "/auth/linear/install"
CALLBACK_PATH: Final = "/auth/linear/callback"
# https://linear.app/developers/agents#authentication
SCOPES: Final = ("read", "write", "app:assignable", "app:mentionable")
# Keys of people are sent as they are, all other tokens as bearers'.
# https://linear.app/developers/graphql#personal-api-keys
_API_KEY: Final = "lin_api_"
TIMEOUT_S: Final = 15
_RENEW_BEFORE: Final = timedelta(minutes=5)
_BROKEN: Final = 500


class LinearTokens(Protocol):
    """A way of authenticating; any thread may ask."""

    def authorization_of(self, url_key: str) -> str:
        """Return the header for a workspace; `AuthenticationError` if none is known."""
        ...

    def renew(self, url_key: str, refused: str) -> bool:
        """Get another token in place of a refused header; tell whether there is one."""
        ...


class StaticLinearToken:
    """The token of the one workspace that is served."""

    def __init__(self, token: SecretStr) -> None:
        self._token = token

    def authorization_of(self, url_key: str) -> str:  # noqa: ARG002 - serves them all
        return authorization(self._token)

    def renew(self, url_key: str, refused: str) -> bool:  # noqa: ARG002 - there is one
        return False


def authorization(token: SecretStr) -> str:
    text = token.get_secret_value()
    return text if text.startswith(_API_KEY) else f"Bearer {text}"


class LinearInstallation(Value):
    """Our app in a workspace, with the token pair that acts for it there."""

    workspace: LinearWorkspace
    access_token: SecretStr
    refresh_token: SecretStr | None = None
    expires_at: datetime | None = None

    def is_due(self, now: datetime) -> bool:
        return self.expires_at is not None and now >= self.expires_at - _RENEW_BEFORE

    def to_secret(self) -> SecretStr:
        """Return all of it as one text, to be encrypted."""
        refresh = self.refresh_token
        shown = _StoredInstallation(
            workspace=self.workspace,
            access_token=self.access_token.get_secret_value(),
            refresh_token=refresh.get_secret_value() if refresh else None,
            expires_at=self.expires_at,
        )
        return SecretStr(shown.model_dump_json())


class _StoredInstallation(Value):
    workspace: LinearWorkspace
    access_token: str
    refresh_token: str | None = None
    expires_at: datetime | None = None


class TokenAnswer(BaseModel):
    """A token pair: https://linear.app/developers/oauth-2-0-authentication ."""

    model_config = ConfigDict(extra="ignore", hide_input_in_errors=True)

    access_token: SecretStr
    refresh_token: SecretStr | None = None
    expires_in: int | None = None
    scope: str | list[str] = ""

    @property
    def scopes(self) -> frozenset[str]:
        listed = self.scope if isinstance(self.scope, list) else [self.scope]
        words = (word for one in listed for word in one.replace(",", " ").split())
        return frozenset(words)

    def expires_at(self, now: datetime) -> datetime | None:
        return now + timedelta(seconds=self.expires_in) if self.expires_in else None


@dataclass(frozen=True)
class LinearOAuth:
    """Our OAuth application at Linear; `web_url` has the page where people agree."""

    api_url: str
    web_url: str
    client_id: str
    client_secret: SecretStr
    redirect_uri: str

    def address(self, state: str) -> str:
        """Return where an administrator of a workspace agrees that our app acts.

        https://linear.app/developers/oauth-actor-authorization
        """
        query = {
            "client_id": self.client_id,
            "redirect_uri": self.redirect_uri,
            "response_type": "code",
            "scope": ",".join(SCOPES),
            "state": state,
            "actor": "app",
            "prompt": "consent",
        }
        return f"{self.web_url}/oauth/authorize?{urlencode(query)}"

    def exchange(self, code: str) -> TokenAnswer:
        """Return what the code stands for; `AuthenticationError` if it stands for none.

        Raises `PermissionDeniedError` if some of the scopes were not granted.
        """
        answer = self._ask(
            {
                "grant_type": "authorization_code",
                "code": code,
                "redirect_uri": self.redirect_uri,
            }
        )
        if missing := set(SCOPES) - answer.scopes:
            listed = ", ".join(sorted(missing))
            raise PermissionDeniedError(f"Linear did not grant the app {listed}")
        return answer

    def refresh(self, refresh_token: SecretStr) -> TokenAnswer:
        """Return a new pair; the old refresh token ends with it."""
        return self._ask(
            {
                "grant_type": "refresh_token",
                "refresh_token": refresh_token.get_secret_value(),
            }
        )

    def _ask(self, form: Mapping[str, str]) -> TokenAnswer:
        client = {
            "client_id": self.client_id,
            "client_secret": self.client_secret.get_secret_value(),
        }
        with translate_errors():
            answer = requests.post(
                f"{self.api_url}/oauth/token",
                data={**client, **form},
                timeout=TIMEOUT_S,
                allow_redirects=False,
                auth=_without_credentials,
            )
        if answer.status_code >= _BROKEN:
            raise ServiceUnavailableError(f"Linear answered {answer.status_code}")
        try:
            data: JsonValue = answer.json()
        except ValueError as error:
            raise ServiceError("the server at linear.api_url is not Linear") from error
        if not answer.ok:
            raise AuthenticationError(f"Linear says: {_refusal(data)}")
        try:
            return TokenAnswer.model_validate(data)
        except ValidationError as error:
            raise ServiceError("Linear's answer has an unexpected shape") from error


def _refusal(data: JsonValue) -> str:
    facts = data if isinstance(data, dict) else {}
    return str(facts.get("error_description") or facts.get("error") or "no explanation")


def _without_credentials(
    request: requests.PreparedRequest,
) -> requests.PreparedRequest:
    """Stand in for credentials, which requests would else take from a .netrc file."""
    return request


class LinearInstallations:
    """Keeps each under the id of its workspace, and renews its token in time.

    Linear takes a refresh token once. Threads of this process wait for each other;
    where another process was first, its pair is found in the vault.
    """

    def __init__(
        self,
        secrets: SecretVault,
        refresh: Callable[[SecretStr], TokenAnswer],
        clock: Clock,
    ) -> None:
        self._secrets, self._refresh, self._clock = secrets, refresh, clock
        self._lock = threading.Lock()
        self._ids: dict[str, str] = {}

    def authorization_of(self, url_key: str) -> str:
        found = self._of(url_key)
        if found.is_due(self._clock.now()):
            with self._lock:
                found = self._renewed(self._of(url_key))
        return authorization(found.access_token)

    def renew(self, url_key: str, refused: str) -> bool:
        with self._lock:
            found = self._of(url_key)
            if authorization(found.access_token) != refused:
                return True
            if found.refresh_token is None:
                return False
            due = found.replace(expires_at=self._clock.now())
            return authorization(self._renewed(due).access_token) != refused

    def find(self, workspace_id: str) -> LinearWorkspace | None:
        """Return a workspace that has installed the app, by its id."""
        found = self._load(workspace_id)
        return found.workspace if found else None

    def list_all(self) -> tuple[LinearWorkspace, ...]:
        found = (self._load(one) for one in self._secrets.names(SERVICE))
        return tuple(one.workspace for one in found if one)

    def save(self, installation: LinearInstallation) -> None:
        key = installation.workspace.id
        self._secrets.put(key, installation.to_secret(), owner=SERVICE)

    def _of(self, url_key: str) -> LinearInstallation:
        workspace_id = self._ids.get(url_key)
        if workspace_id is None:
            self._ids = {one.url_key: one.id for one in self.list_all()}
            workspace_id = self._ids.get(url_key, "")
        found = self._load(workspace_id) if workspace_id else None
        if found is None:
            raise AuthenticationError(f"the app is not installed in {url_key}")
        return found

    def _load(self, workspace_id: str) -> LinearInstallation | None:
        secret = self._secrets.fetch(workspace_id, owner=SERVICE)
        if secret is None:
            return None
        stored = _StoredInstallation.model_validate_json(secret.get_secret_value())
        refresh = stored.refresh_token
        return LinearInstallation(
            workspace=stored.workspace,
            access_token=SecretStr(stored.access_token),
            refresh_token=SecretStr(refresh) if refresh else None,
            expires_at=stored.expires_at,
        )

    def _renewed(self, old: LinearInstallation) -> LinearInstallation:
        """Return it with a new pair, which is kept; the lock is held."""
        if old.refresh_token is None or not old.is_due(self._clock.now()):
            return old
        try:
            answer = self._refresh(old.refresh_token)
        except AuthenticationError:
            return self._of_other_process(old)
        new = old.replace(
            access_token=answer.access_token,
            refresh_token=answer.refresh_token or old.refresh_token,
            expires_at=answer.expires_at(self._clock.now()),
        )
        self.save(new)
        return new

    def _of_other_process(self, old: LinearInstallation) -> LinearInstallation:
        """Return the pair that was kept meanwhile; else only an administrator helps."""
        found = self._load(old.workspace.id)
        if found is None or found.refresh_token == old.refresh_token:
            raise AuthenticationError(
                f"Linear does not renew the app's token in {old.workspace.url_key}: "
                "install the app there again"
            )
        return found
