"""Applications that people sign in to, and what they have let them do."""

from dataclasses import dataclass, field
from datetime import datetime


@dataclass(frozen=True, kw_only=True)
class Client:
    """An OAuth application."""

    client_id: str
    client_secret: str
    name: str
    redirect_uris: tuple[str, ...]
    scopes: tuple[str, ...]


@dataclass(frozen=True, kw_only=True)
class Approval:
    """A code that counts once, and what was said when it was asked for."""

    client_id: str
    user: int
    redirect_uri: str
    challenge: str
    scopes: tuple[str, ...]
    expires_at: datetime


@dataclass(frozen=True, kw_only=True)
class Renewal:
    """A refresh token: it counts once, and its successor ends the access token."""

    client_id: str
    user: int
    access_token: str
    scopes: tuple[str, ...]


@dataclass(kw_only=True)
class SignIns:
    """`at_the_browser` is who clicks; nobody there means that they say no."""

    clients: dict[str, Client] = field(default_factory=dict)
    approvals: dict[str, Approval] = field(default_factory=dict)
    renewals: dict[str, Renewal] = field(default_factory=dict)
    at_the_browser: str = ""
