"""What GitHub knows of Apps besides their rights, and of people who sign in to them."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Registration:
    """How an App signs people in, and where it wants them sent back to."""

    app_id: int
    client_id: str
    client_secret: str
    callback_urls: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Unclaimed:
    """An App that was made from a manifest, and not handed over yet."""

    app_id: int
    private_key: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Approval:
    """Somebody let an App know who they are; `challenge` is what it sent before."""

    client_id: str
    login: str
    redirect_uri: str
    challenge: str
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Renewal:
    """What a refresh token is worth, and which token goes when it is used."""

    client_id: str
    login: str
    token: str
    expires_at: datetime


@dataclass(kw_only=True)
class Registry:
    """Which Apps there are for people, and what they were given.

    `unclaimed` and `approvals` are by code, `scopes` by token, `renewals` by refresh
    token, the rest by App. `at_the_browser` is who uses it; nobody says no to every
    App. An App without `events` hears of everything, and `setup_urls` are where people
    go who have installed one. OAuth apps have no installations, and their tokens don't
    run out.
    """

    registrations: dict[int, Registration] = field(default_factory=dict)
    events: dict[int, frozenset[str]] = field(default_factory=dict)
    setup_urls: dict[int, str] = field(default_factory=dict)
    unclaimed: dict[str, Unclaimed] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    renewals: dict[str, Renewal] = field(default_factory=dict)
    oauth_apps: set[int] = field(default_factory=set)
    scopes: dict[str, str] = field(default_factory=dict)
    at_the_browser: str = ""

    def listens(self, app_id: int, event: str) -> bool:
        return app_id not in self.events or event in self.events[app_id]

    def find_client(self, client_id: str) -> Registration | None:
        known = self.registrations.values()
        return next((one for one in known if one.client_id == client_id), None)
