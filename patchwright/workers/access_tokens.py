"""Bearer tokens of requests, and signed links to the pages of runs."""

import hmac
import re
from datetime import UTC, datetime, timedelta
from typing import Final

from patchwright.core.types.base import JobId

_SCHEME: Final = "bearer"


def has_bearer_token(authorization: str, token: str) -> bool:
    """Check the header of that name; an empty token never matches.

    https://www.rfc-editor.org/rfc/rfc6750#section-2.1
    """
    scheme, _, brought = authorization.partition(" ")
    is_same = hmac.compare_digest(brought.strip().encode(), token.encode())
    return bool(token) and scheme.lower() == _SCHEME and is_same


RUN_LINK_LIFETIME: Final = timedelta(days=30)
_KEY: Final = re.compile(r"(\d{1,12})-([0-9a-f]{64})\Z")


def make_run_link(
    public_url: str, secret: bytes | None, job_id: JobId, created_at: datetime
) -> str:
    """Return the link, the same each time; empty where there can be none."""
    if not public_url or not secret:
        return ""
    expires = int((created_at + RUN_LINK_LIFETIME).timestamp())
    key = f"{expires}-{_sign(secret, job_id, expires)}"
    return f"{public_url}/runs/{job_id}?key={key}"


def link_expiry(secret: bytes, job_id: str, key: str, now: datetime) -> datetime | None:
    """Return until when a key opens the run's page, or None if it does not."""
    parts = _KEY.match(key)
    if parts is None:
        return None
    expires = int(parts[1])
    is_ours = hmac.compare_digest(_sign(secret, job_id, expires), parts[2])
    if not is_ours or expires <= now.timestamp():
        return None
    return datetime.fromtimestamp(expires, UTC)


def _sign(secret: bytes, job_id: str, expires: int) -> str:
    # A key of its own, so that nothing else that is signed passes for a link.
    key = hmac.digest(secret, b"link to a run", "sha256")
    return hmac.digest(key, f"{expires} {job_id}".encode(), "sha256").hex()
