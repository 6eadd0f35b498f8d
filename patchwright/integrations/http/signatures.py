"""Tell whether a delivery was signed by a secret we hold."""

import hashlib
import hmac
from collections.abc import Sequence

from pydantic import SecretStr

from patchwright.core.types.errors import SignatureError


def verify_sha256(body: bytes, signature: str, secrets: Sequence[SecretStr]) -> None:
    """Raise SignatureError unless `signature` is `sha256=` and the HMAC of the bytes.

    Any of the secrets will do, so that one can be replaced while deliveries signed
    with the old one still arrive. An empty secret signs nothing.
    """
    # https://docs.github.com/en/webhooks/using-webhooks/validating-webhook-deliveries
    sent = signature.encode("utf-8", "replace")
    usable = [secret.get_secret_value() for secret in secrets]
    matches = [
        hmac.compare_digest(sign_sha256(body, secret).encode(), sent)
        for secret in usable
        if secret
    ]
    if not any(matches):
        raise SignatureError("the signature of the webhook is wrong")


def sign_sha256(body: bytes, secret: str) -> str:
    """Return what a service sends along that signs with that secret."""
    digest = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()
    return f"sha256={digest}"
