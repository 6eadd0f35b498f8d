"""Read an event: something happened in a workspace that has the app."""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.triggers import (
    HomeRequest,
    Ignored,
    InstallationChanged,
    ParsedWebhook,
)
from patchwright.integrations.slack.actions import SERVICE
from patchwright.integrations.slack.reading.messages import read_mention, read_message
from patchwright.integrations.slack.reading.origin import origin_of_event
from patchwright.integrations.slack.reading.payloads import (
    EventEnvelope,
    HomeOpened,
    TokensRevoked,
)
from patchwright.integrations.slack.reading.reactions import read_reaction

_ENVELOPE: Final = TypeAdapter(EventEnvelope)
_HOME_OPENED: Final = TypeAdapter(HomeOpened)
_REVOKED: Final = TypeAdapter(TokensRevoked)


def read_event(body: bytes) -> ParsedWebhook:
    envelope = _ENVELOPE.validate_json(body)
    reader = _EVENT_READERS.get(str(envelope.event.get("type")))
    return reader(envelope) if reader else Ignored(reason="event-not-read")


def _read_home(envelope: EventEnvelope) -> ParsedWebhook:
    opened = _HOME_OPENED.validate_python(envelope.event)
    if opened.tab != "home":
        return Ignored(reason="other-tab")
    origin = origin_of_event(envelope)
    return HomeRequest(actor=origin.actor(opened.user), installation=origin.installation)


def _read_revoked(envelope: EventEnvelope) -> ParsedWebhook:
    # We hold no tokens of users.
    if not _REVOKED.validate_python(envelope.event).tokens.bot:
        return Ignored(reason="tokens-of-users")
    return _read_uninstalled(envelope)


def _read_uninstalled(envelope: EventEnvelope) -> ParsedWebhook:
    installation = origin_of_event(envelope).installation
    told = envelope.event_time
    return InstallationChanged(
        service=SERVICE,
        installation=installation,
        gone=True,
        at=datetime.fromtimestamp(told, UTC) if told else None,
    )


_EVENT_READERS: Mapping[str, Callable[[EventEnvelope], ParsedWebhook]] = {
    "app_home_opened": _read_home,
    "app_mention": read_mention,
    "app_uninstalled": _read_uninstalled,
    "message": read_message,
    "reaction_added": read_reaction,
    "tokens_revoked": _read_revoked,
}

EVENTS = frozenset(_EVENT_READERS)
