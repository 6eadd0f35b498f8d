"""What we must be allowed on GitHub, why, and what of it is missing."""

from collections.abc import Iterator, Mapping
from typing import Final, NamedTuple

from patchwright.core.types.base import Value
from patchwright.integrations.github.webhook import EVENTS


class NeededPermission(NamedTuple):
    """A level of a permission, and what does not work without it."""

    level: str
    use: str


# `workflows` is not among them on purpose: GitHub itself then refuses every push that
# changes `.github/workflows`, whatever else goes wrong.
# https://docs.github.com/en/rest/authentication/permissions-required-for-github-apps
PERMISSIONS: Final[Mapping[str, NeededPermission]] = {
    "actions": NeededPermission("read", "reading the logs of failing checks"),
    "checks": NeededPermission("write", "reading checks, and reporting its own on pull requests"),
    "contents": NeededPermission("write", "fetching the code and pushing branches"),
    "discussions": NeededPermission("write", "answering in discussions"),
    "issues": NeededPermission("write", "answering in issues, and their labels"),
    "metadata": NeededPermission("read", "asking who may do what in a repository"),
    "pull_requests": NeededPermission("write", "opening pull requests and answering in them"),
    "statuses": NeededPermission("read", "hearing of and reading the older kind of checks"),
}
# Every App hears of these, and none may ask for them: a manifest that does is refused.
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
        yield f"event {name}: what it tells is not heard of"
