"""Verify a delivery of GitLab, then read it: a request, a notice, or nothing."""

from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from typing import Final

from pydantic import SecretStr, TypeAdapter, ValidationError

from patchwright.core.types.errors import PayloadError, SettingsError, SignatureError
from patchwright.core.types.triggers import Ignored, ParsedWebhook
from patchwright.integrations.gitlab.webhooks import payloads
from patchwright.integrations.gitlab.webhooks.repository import (
    read_move,
    read_pipeline,
    read_push,
)
from patchwright.integrations.gitlab.webhooks.threads import (
    read_issue,
    read_merge_request,
    read_note_event,
)
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules
from patchwright.integrations.http.signatures import (
    verify_standard_webhook,
    verify_token,
)

__all__ = ["KINDS", "NOT_READ", "GitLabTriggerRules", "read_delivery"]

_ANY: Final = TypeAdapter(payloads.AnyDelivery)

_READERS: Final[Mapping[str, Callable[[bytes, GitLabTriggerRules], ParsedWebhook]]] = {
    "issue": read_issue,
    "merge_request": read_merge_request,
    "note": read_note_event,
    "pipeline": read_pipeline,
    "project_rename": read_move,
    "project_transfer": read_move,
    "push": read_push,
    "work_item": read_issue,
}
KINDS: Final = frozenset(_READERS)

# What GitLab tells besides, and why it is left alone.
NOT_READ: Final[Mapping[str, str]] = {
    "access_token": "doctor-tells-expiry",
    "build": "pipeline-tells-jobs",
    "deployment": "deployment-not-read",
    "emoji": "reaction-not-read",
    "feature_flag": "feature-flag-not-read",
    "milestone": "milestone-not-read",
    "release": "release-not-read",
    "tag_push": "no-branch",
    "vulnerability": "vulnerability-not-read",
    "wiki_page": "wiki-not-read",
}


def read_delivery(body: bytes, rules: GitLabTriggerRules) -> ParsedWebhook:
    """Read a verified delivery; raises PayloadError if it is not what it says it is.

    What it is stands in the body, which alone is signed.
    """
    try:
        kind = _ANY.validate_json(body).kind
    except ValidationError:
        raise PayloadError("the delivery is not a JSON object") from None
    if not kind:
        raise PayloadError("the delivery names no event")
    reader = _READERS.get(kind)
    if reader is None:
        return Ignored(reason=NOT_READ.get(kind, "event-not-read"))
    try:
        return reader(body, rules)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the {kind} delivery is malformed at {where!r}") from None


TOKEN_HEADER: Final = "x-gitlab-token"  # noqa: S105 - a name
SIGNATURE_HEADER: Final = "webhook-signature"


class GitLabReceiver:
    """What the web edge needs of GitLab; it holds the secrets of the webhook.

    Once there are signing keys, a secret that was merely sent along counts no more.
    """

    def __init__(
        self,
        secrets: Sequence[SecretStr],
        signing_keys: Sequence[bytes],
        rules: GitLabTriggerRules,
        now: Callable[[], datetime],
    ) -> None:
        known = (*(secret.get_secret_value() for secret in secrets), *signing_keys)
        if not known or not all(known):
            raise SettingsError(
                "gitlab.webhook_secret is empty: without it anybody could send "
                "webhooks; set it to the secret token of the webhook in GitLab"
            )
        self._secrets = tuple(secrets)
        self._signing_keys = tuple(signing_keys)
        self._rules = rules
        self._now = now

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError or PayloadError.

        Nothing of the body is looked at before it is known to come from GitLab.
        """
        self._verify({key.lower(): headers[key] for key in headers}, body)
        return read_delivery(body, self._rules)

    def _verify(self, headers: Mapping[str, str], body: bytes) -> None:
        if self._signing_keys:
            verify_standard_webhook(headers, body, self._signing_keys, self._now())
            return
        if TOKEN_HEADER not in headers:
            raise SignatureError("the webhook has no secret token")
        verify_token(headers[TOKEN_HEADER], self._secrets)
