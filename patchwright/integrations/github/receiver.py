"""Take a delivery of GitHub as bytes: verify it first, read it then."""

from collections.abc import Mapping, Sequence
from urllib.parse import parse_qs

from pydantic import SecretStr

from patchwright.core.errors import PayloadError, SettingsError
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.integrations.github.webhook import GitHubTriggerRules, read_delivery
from patchwright.integrations.signatures import verify_sha256

_FORM = "application/x-www-form-urlencoded"


class GitHubReceiver:
    """What the web edge needs of GitHub; it holds the secrets of the webhook."""

    def __init__(self, secrets: Sequence[SecretStr], listening: GitHubTriggerRules) -> None:
        if not secrets or not all(secret.get_secret_value() for secret in secrets):
            raise SettingsError(
                "github.webhook_secret is empty: without it anybody could send "
                "deliveries; set the secret that the webhook on GitHub has"
            )
        self._secrets = tuple(secrets)
        self._listening = listening

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good.
        """
        signature = _header(headers, "x-hub-signature-256")
        verify_sha256(body, signature, self._secrets)
        event = _header(headers, "x-github-event")
        if not event:
            raise PayloadError("the delivery names no event")
        return read_delivery(event, _json_of(headers, body), self._listening)


def _json_of(headers: Mapping[str, str], body: bytes) -> bytes:
    # A repository's webhook sends a form unless it is set to send JSON.
    # https://docs.github.com/en/webhooks/using-webhooks/creating-webhooks
    if not _header(headers, "content-type").startswith(_FORM):
        return body
    fields = parse_qs(body.decode("utf-8", "replace"))
    return fields.get("payload", [""])[0].encode()


def _header(headers: Mapping[str, str], name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name:
            return value
    return ""
