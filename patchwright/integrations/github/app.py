"""The GitHub App: what it must be allowed, its manifest, and how it is made."""

import re
from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple
from urllib.parse import quote

from pydantic import Field, SecretStr

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.integrations.github.connection import GitHubConnection
from patchwright.integrations.github.errors import translate_errors
from patchwright.integrations.github.webhooks.reader import EVENTS


class NeededPermission(NamedTuple):
    """A level of a permission, and what does not work without it."""

    level: str
    use: str


# `workflows` is not among them on purpose: GitHub itself then refuses every push that
# changes `.github/workflows`, whatever else goes wrong.
# https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
PERMISSIONS: Final[Mapping[str, NeededPermission]] = {
    "actions": NeededPermission("read", "reading the logs of failing checks"),
    "checks": NeededPermission(
        "write", "reading checks, and reporting its own on pull requests"
    ),
    "contents": NeededPermission("write", "fetching the code and pushing branches"),
    "discussions": NeededPermission("write", "answering in discussions"),
    "issues": NeededPermission("write", "answering in issues, and their labels"),
    "metadata": NeededPermission(
        "read", "reading people's permissions in a repository"
    ),
    "pull_requests": NeededPermission(
        "write", "opening pull requests and answering in them"
    ),
    "statuses": NeededPermission(
        "read", "reading commit statuses, the older kind of checks"
    ),
}
# Every App receives these, and none may subscribe to them: a manifest that does is
# refused.
# https://docs.github.com/en/webhooks/webhook-events-and-payloads#installation
AUTOMATIC_EVENTS: Final = frozenset(
    {"github_app_authorization", "installation", "installation_repositories"}
)
SUBSCRIBED_EVENTS: Final = EVENTS - AUTOMATIC_EVENTS

_LEVELS = ("read", "write", "admin")


class Granted(Value):
    """What an App was given: a level for each permission, and events."""

    permissions: Mapping[str, str]
    events: tuple[str, ...]


def missing_permissions(granted: Granted) -> tuple[str, ...]:
    """Return a line for everything that an App needs, and this one was not given."""
    return (*_missing_levels(granted), *_missing_events(granted))


def missing_scopes(scopes: frozenset[str] | None) -> tuple[str, ...]:
    """Say the same of a classic token; of others GitHub does not tell: None.

    https://docs.github.com/en/apps/oauth-apps/building-oauth-apps/scopes-for-oauth-apps
    """
    if scopes is None or "repo" in scopes:
        return ()
    if "public_repo" in scopes:
        return ("scope repo: needed for private repositories",)
    return ("scope repo: needed for everything",)


def _missing_levels(granted: Granted) -> Iterator[str]:
    for name, need in PERMISSIONS.items():
        held = granted.permissions.get(name, "")
        if held not in _LEVELS or _LEVELS.index(held) < _LEVELS.index(need.level):
            yield f"permission {name}: {need.level}, needed for {need.use}"


def _missing_events(granted: Granted) -> Iterator[str]:
    for name in sorted(SUBSCRIBED_EVENTS - set(granted.events)):
        yield f"event {name}: the bot does not react to it"


WEBHOOK_PATH: Final = "/api/integration/github/events"
DONE_PATH: Final = "/setup/github/done"
INSTALLED_PATH: Final = "/setup/github/installed"
CALLBACK_PATH: Final = "/auth/github/callback"

_DESCRIPTION = "Turns a request on an issue into a proven pull request."
_ORGANIZATION = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9_-]*[A-Za-z0-9])?\Z")


class NewApp(Value):
    """An App with its credentials, which GitHub tells once."""

    id: int
    slug: str
    html_url: str
    client_id: str
    client_secret: SecretStr
    webhook_secret: SecretStr
    private_key: SecretStr = Field(alias="pem")

    @property
    def install_url(self) -> str:
        """Where people choose the repositories it works in.

        An own server has the App's page under another path than github.com.
        https://docs.github.com/en/enterprise-server@latest/apps/sharing-github-apps/sharing-your-github-app
        """
        return f"{self.html_url}/installations/new"


def manifest(name: str, public_url: str, webhook_url: str = "") -> Mapping[str, object]:
    """Describe the App of the service at that address.

    Its deliveries go to `webhook_url`, or else to the service itself.
    https://docs.github.com/en/apps/sharing-github-apps/registering-a-github-app-from-a-manifest#github-app-manifest-parameters
    """
    deliveries_url = webhook_url or public_url + WEBHOOK_PATH
    return {
        "name": name,
        "description": _DESCRIPTION,
        "url": public_url,
        "public": False,
        "hook_attributes": {"url": deliveries_url, "active": True},
        "redirect_url": public_url + DONE_PATH,
        "setup_url": public_url + INSTALLED_PATH,
        "callback_urls": [public_url + CALLBACK_PATH],
        "default_permissions": {key: need.level for key, need in PERMISSIONS.items()},
        "default_events": sorted(SUBSCRIBED_EVENTS),
    }


def is_organization(name: str) -> bool:
    """Tell whether that may be the login of an organization."""
    return bool(_ORGANIZATION.match(name))


def registration_url(web_url: str, organization: str, state: str) -> str:
    """Return where the manifest is sent to; without an organization it's a person's."""
    owner = f"/organizations/{quote(organization, safe='')}" if organization else ""
    return f"{web_url}{owner}/settings/apps/new?state={quote(state, safe='')}"


def convert(connection: GitHubConnection, code: str, clock: Clock) -> NewApp:
    """Exchange the code, which counts once and for an hour, for the App."""
    client = connection.open_client(None)
    try:
        with translate_errors(clock):
            _, answer = client.requester.requestJsonAndCheck(
                "POST", f"/app-manifests/{quote(code, safe='')}/conversions"
            )
            return NewApp.model_validate(answer)
    finally:
        client.close()
