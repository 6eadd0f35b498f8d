"""A service as the web edge sees one: signed bodies that say what they ask for."""

import hashlib
import hmac
import json
from collections.abc import Mapping

from pydantic import TypeAdapter

from patchwright.core.types.errors import PayloadError, SignatureError
from patchwright.core.types.triggers import Ignored, ParsedWebhook, Trigger

SECRET = b"a secret of the webhook"
SIGNATURE = "x-hub-signature-256"
_READING: TypeAdapter[ParsedWebhook] = TypeAdapter(Ignored | Trigger)


class SignedReadings:
    """Takes the JSON of a trigger, or of why there is none."""

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        if not hmac.compare_digest(headers.get(SIGNATURE, ""), signature(body)):
            raise SignatureError("not signed by us")
        try:
            return _READING.validate_python(json.loads(body))
        except ValueError as error:
            raise PayloadError("not what it should be") from error


def signature(body: bytes) -> str:
    return "sha256=" + hmac.new(SECRET, body, hashlib.sha256).hexdigest()


def signed(body: bytes, delivery_id: str = "d1") -> dict[str, str]:
    """Return the headers of a delivery."""
    return {
        "content-type": "application/json",
        "x-github-delivery": delivery_id,
        "x-github-event": "issue_comment",
        SIGNATURE: signature(body),
    }
