"""Verify a delivery of Slack, then read it: a request, a notice, or nothing."""

import hashlib
import hmac
import json
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from typing import Final
from urllib.parse import parse_qsl

from pydantic import SecretStr, TypeAdapter, ValidationError
from slack_sdk.signature import SignatureVerifier

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import PayloadError, SettingsError, SignatureError
from patchwright.core.types.triggers import (
    Challenge,
    HomeRequest,
    Ignored,
    InstallationChanged,
    ParsedWebhook,
)
from patchwright.integrations.slack.text.actions import SERVICE
from patchwright.integrations.slack.webhooks.interactions import (
    read_message_shortcut,
    read_press,
    read_search,
    read_shortcut,
    read_submission,
)
from patchwright.integrations.slack.webhooks.payloads import (
    DeliveryHead,
    EventEnvelope,
    HomeOpened,
    TokensRevoked,
)
from patchwright.integrations.slack.webhooks.triggers import (
    SlackTriggerRules,
    origin_of_event,
    read_command,
    read_mention,
    read_message,
    read_reaction,
)

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
    return HomeRequest(
        actor=origin.actor(opened.user), installation=origin.installation
    )


def _read_revoked(envelope: EventEnvelope) -> ParsedWebhook:
    # We hold no tokens of users.
    if not _REVOKED.validate_python(envelope.event).tokens.bot:
        return Ignored(reason="tokens-of-users")
    return _read_uninstalled(envelope)


def _read_uninstalled(envelope: EventEnvelope) -> ParsedWebhook:
    installation = origin_of_event(envelope).installation
    event_time = envelope.event_time
    return InstallationChanged(
        service=SERVICE,
        installation=installation,
        gone=True,
        at=datetime.fromtimestamp(event_time, UTC) if event_time else None,
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


__all__ = ["EVENTS", "SlackTriggerRules", "name_delivery", "read_delivery"]

_HEAD = TypeAdapter(DeliveryHead)


def read_delivery(body: bytes, rules: SlackTriggerRules) -> ParsedWebhook:
    """Read a verified delivery as JSON; raises PayloadError if it makes no sense."""
    try:
        head = _HEAD.validate_json(body)
        return _read(head, body, rules)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the delivery is malformed at {where!r}") from None


def name_delivery(body: bytes) -> str:
    """Return Slack's own name of a delivery, the same when it is sent again.

    Slack sends events again, up to three times; what people press and type comes once,
    and the id of that lasts as long as they may wait for an answer. Empty where there
    is no name.
    https://docs.slack.dev/apis/events-api/#retries
    """
    try:
        head = _HEAD.validate_json(body)
    except ValidationError:
        return ""
    return head.event_id or head.trigger_id


def _read(head: DeliveryHead, body: bytes, rules: SlackTriggerRules) -> ParsedWebhook:
    if head.ssl_check:
        return Ignored(reason="ssl-check")
    if head.command:
        return read_command(body, rules)
    if head.type == "url_verification":
        return Challenge(word=head.challenge)
    reader = _READERS.get(head.type)
    return reader(body) if reader else Ignored(reason="type-not-read")


_READERS: Mapping[str, Callable[[bytes], ParsedWebhook]] = {
    "block_actions": read_press,
    "block_suggestion": read_search,
    "event_callback": read_event,
    "message_action": read_message_shortcut,
    "shortcut": read_shortcut,
    "view_submission": read_submission,
}


# https://docs.slack.dev/authentication/verifying-requests-from-slack
_REPLAY_WINDOW_S: Final = 5 * 60
_LONGEST_TIMESTAMP: Final = 12

_FORM: Final = "application/x-www-form-urlencoded"


class SlackReceiver:
    """What the web edge needs of Slack; it holds the signing secrets."""

    def __init__(
        self, secrets: Sequence[SecretStr], rules: SlackTriggerRules, clock: Clock
    ) -> None:
        if not secrets or not all(
            secret.get_secret_value().strip() for secret in secrets
        ):
            raise SettingsError(
                "slack.signing_secret is empty: without it anybody could send "
                "webhooks; set it to the signing secret in the app's Basic Information"
            )
        self._verifiers = [
            SignatureVerifier(secret.get_secret_value()) for secret in secrets
        ]
        self._rules = rules
        self._clock = clock

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good.
        """
        self._verify(_in_lower_case(headers), body)
        return read_delivery(json_of(headers, body), self._rules)

    def _verify(self, headers: Mapping[str, str], body: bytes) -> None:
        stamp = headers.get("x-slack-request-timestamp", "")
        sent = headers.get("x-slack-signature", "").encode("utf-8", "replace")
        # Each secret is tried, so that one can be replaced while deliveries signed with
        # the old one still arrive.
        matches = [
            _is_signed(verifier, stamp, body, sent) for verifier in self._verifiers
        ]
        if not any(matches):
            raise SignatureError("the signature of the webhook is wrong")
        if not self._is_recent(stamp):
            raise SignatureError("the webhook was signed too long ago")

    def _is_recent(self, stamp: str) -> bool:
        if not (stamp.isascii() and stamp.isdigit()) or len(stamp) > _LONGEST_TIMESTAMP:
            return False
        age = self._clock.now().timestamp() - int(stamp)
        return abs(age) <= _REPLAY_WINDOW_S


class SocketReceiver:
    """Reads what comes through a connection of ours to Slack, which nobody signs."""

    def __init__(self, rules: SlackTriggerRules) -> None:
        self._rules = rules

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises PayloadError."""
        return read_delivery(json_of(headers, body), self._rules)


def _is_signed(
    verifier: SignatureVerifier, stamp: str, body: bytes, sent: bytes
) -> bool:
    # The verifier's own `is_valid` raises for some of what a stranger may send.
    with suppress(UnicodeError):
        expected = verifier.generate_signature(timestamp=stamp, body=body)
        return hmac.compare_digest(str(expected).encode(), sent)
    return False


def delivery_id(headers: Mapping[str, str], body: bytes) -> str:
    """Return the name by which a delivery is known when it comes again."""
    return name_delivery(json_of(headers, body)) or hashlib.sha256(body).hexdigest()


def json_of(headers: Mapping[str, str], body: bytes) -> bytes:
    """Return a delivery as JSON.

    Events come as such; slash commands as the fields of a form; all else as JSON in
    one field of a form.
    """
    if not _in_lower_case(headers).get("content-type", "").startswith(_FORM):
        return body
    text = body.decode("utf-8", "replace")
    fields = dict(parse_qsl(text, keep_blank_values=True))
    return (fields.get("payload") or json.dumps(fields)).encode("utf-8", "replace")


def _in_lower_case(headers: Mapping[str, str]) -> Mapping[str, str]:
    return {name.lower(): value for name, value in headers.items()}
