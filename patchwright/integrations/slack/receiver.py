"""Take a delivery of Slack as bytes: verify it first, read it then."""

import hashlib
import hmac
import json
from collections.abc import Mapping, Sequence
from typing import Final
from urllib.parse import parse_qsl

from pydantic import SecretStr

from patchwright.core.clock import Clock
from patchwright.core.errors import SettingsError, SignatureError
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.integrations.slack.webhook import SlackTriggerRules, name_delivery, read_delivery

# https://docs.slack.dev/authentication/verifying-requests-from-slack
_VERSION: Final = "v0"
_REPLAY_WINDOW_S: Final = 5 * 60
_LONGEST_TIMESTAMP: Final = 12

_FORM: Final = "application/x-www-form-urlencoded"


class SlackReceiver:
    """What the web edge needs of Slack; it holds the signing secrets."""

    def __init__(
        self, secrets: Sequence[SecretStr], listening: SlackTriggerRules, clock: Clock
    ) -> None:
        if not secrets or not all(secret.get_secret_value() for secret in secrets):
            raise SettingsError(
                "slack.signing_secret is empty: without it anybody could send "
                "deliveries; set the signing secret of the app's Basic Information"
            )
        self._secrets = tuple(secrets)
        self._listening = listening
        self._clock = clock

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good.
        """
        self._verify(_in_lower_case(headers), body)
        return read_delivery(json_of(headers, body), self._listening)

    def _verify(self, headers: Mapping[str, str], body: bytes) -> None:
        stamp = headers.get("x-slack-request-timestamp", "")
        sent = headers.get("x-slack-signature", "").encode("utf-8", "replace")
        # Each secret is tried, so that one can be replaced while deliveries signed with
        # the old one still arrive.
        matches = [
            hmac.compare_digest(sign(secret, stamp, body), sent)
            for secret in self._secrets
        ]
        if not any(matches):
            raise SignatureError("the delivery is not signed by a secret of ours")
        if not self._is_recent(stamp):
            raise SignatureError("the delivery was signed too long ago")

    def _is_recent(self, stamp: str) -> bool:
        if not (stamp.isascii() and stamp.isdigit()) or len(stamp) > _LONGEST_TIMESTAMP:
            return False
        age = self._clock.now().timestamp() - int(stamp)
        return abs(age) <= _REPLAY_WINDOW_S


class SocketReceiver:
    """Reads what comes through a connection of ours to Slack, which nobody signs."""

    def __init__(self, listening: SlackTriggerRules) -> None:
        self._listening = listening

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises PayloadError."""
        return read_delivery(json_of(headers, body), self._listening)


def sign(secret: SecretStr, stamp: str, body: bytes) -> bytes:
    """Return the signature of a body that is sent at a time in whole seconds."""
    signed = f"{_VERSION}:{stamp}:".encode("utf-8", "replace") + body
    key = secret.get_secret_value().encode()
    return f"{_VERSION}={hmac.new(key, signed, hashlib.sha256).hexdigest()}".encode()


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
