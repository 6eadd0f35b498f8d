"""Take a delivery of Jira as bytes: verify it first, read it then."""

from collections.abc import Mapping, Sequence
from typing import Final

from pydantic import SecretStr

from patchwright.core.errors import SettingsError
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.integrations.jira.listening import JiraTriggerRules
from patchwright.integrations.jira.webhook import read_delivery
from patchwright.integrations.signatures import verify_sha256

# The same when a delivery is tried again.
# https://developer.atlassian.com/cloud/jira/platform/webhooks/#delivery-headers
ID_HEADER: Final = "x-atlassian-webhook-identifier"
# https://confluence.atlassian.com/adminjiraserver/managing-webhooks-938846912.html
_SIGNATURE: Final = "x-hub-signature"


class JiraReceiver:
    """What the web edge needs of Jira; it holds the secrets of the webhook."""

    def __init__(self, secrets: Sequence[SecretStr], listening: JiraTriggerRules) -> None:
        if not secrets or not all(secret.get_secret_value() for secret in secrets):
            raise SettingsError(
                "jira.webhook_secret is empty: without it anybody could send "
                "deliveries; set the secret that the webhook in Jira has"
            )
        self._secrets = tuple(secrets)
        self._listening = listening

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError, TenantError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good. A
        signature made by another method than SHA-256 is none.
        """
        signature = _header(headers, _SIGNATURE)
        verify_sha256(body, signature, self._secrets)
        return read_delivery(body, self._listening)


def _header(headers: Mapping[str, str], name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name:
            return value
    return ""
