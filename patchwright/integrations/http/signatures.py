"""Tell whether a delivery comes from somebody who has a secret that we hold."""

import base64
import hashlib
import hmac
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta
from typing import Final

from pydantic import SecretStr

from patchwright.core.types.errors import SignatureError

# A delivery that was recorded is worth nothing after this time.
# https://github.com/standard-webhooks/standard-webhooks/blob/main/spec/standard-webhooks.md
STANDARD_TOLERANCE: Final = timedelta(minutes=5)
_STANDARD_VERSION: Final = "v1"


def verify_sha256(body: bytes, signature: str, secrets: Sequence[SecretStr]) -> None:
    """Raise SignatureError unless `signature` is `sha256=` and the HMAC of the bytes.

    Any of the secrets will do, so that one can be replaced while deliveries signed
    with the old one still arrive. An empty secret signs nothing.
    """
    # https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    usable = [secret.get_secret_value() for secret in secrets]
    good = [sign_sha256(body, secret) for secret in usable if secret]
    if not _is_any(signature, good):
        raise SignatureError("the signature of the webhook is wrong")


def sign_sha256(body: bytes, secret: str) -> str:
    """Return what a service sends along that signs with that secret."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"


def verify_token(token: str, secrets: Sequence[SecretStr]) -> None:
    """Raise SignatureError unless a secret that was sent along is one of ours.

    https://docs.gitlab.com/user/project/integrations/webhooks/#secret-tokens
    """
    usable = [secret.get_secret_value() for secret in secrets]
    if not _is_any(token, [secret for secret in usable if secret]):
        raise SignatureError("the secret token of the webhook is wrong")


def verify_standard_webhook(
    headers: Mapping[str, str], body: bytes, keys: Sequence[bytes], now: datetime
) -> None:
    """Raise SignatureError unless a delivery was signed as a Standard Webhook, lately.

    Names of headers are in lower case. Of several signatures one must be right.
    """
    names = ("webhook-id", "webhook-timestamp", "webhook-signature")
    identifier, timestamp, signatures = (headers.get(name, "") for name in names)
    if not (identifier and timestamp.isdecimal() and signatures):
        raise SignatureError("the webhook is not signed")
    age = now - _moment(timestamp)
    if not -STANDARD_TOLERANCE <= age <= STANDARD_TOLERANCE:
        raise SignatureError(
            "the webhook was signed more than five minutes ago, or a clock is wrong"
        )
    good = [
        sign_standard_webhook(identifier, timestamp, body, key) for key in keys if key
    ]
    # All are compared, so that the time tells nothing.
    matches = [_is_any(one, good) for one in signatures.split(" ")]
    if not any(matches):
        raise SignatureError("the signature of the webhook is wrong")


def sign_standard_webhook(
    identifier: str, timestamp: str, body: bytes, key: bytes
) -> str:
    """Return what a service sends along as `webhook-signature`."""
    signed = f"{identifier}.{timestamp}.".encode() + body
    digest = hmac.new(key, signed, hashlib.sha256).digest()
    return f"{_STANDARD_VERSION},{base64.b64encode(digest).decode()}"


def _moment(timestamp: str) -> datetime:
    try:
        return datetime.fromtimestamp(int(timestamp), UTC)
    except (OverflowError, ValueError, OSError):
        return datetime.min.replace(tzinfo=UTC)


def _is_any(sent: str, good: Sequence[str]) -> bool:
    """Compare with each, in a time that tells nothing of what is right."""
    found = sent.encode("utf-8", "replace")
    matches = [hmac.compare_digest(one.encode(), found) for one in good]
    return any(matches)
