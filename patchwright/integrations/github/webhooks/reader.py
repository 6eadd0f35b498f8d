"""Verify a delivery of GitHub, then read it: a request, a notice, or nothing."""

from collections.abc import Callable, Mapping, Sequence
from urllib.parse import parse_qs

from pydantic import SecretStr, ValidationError

from patchwright.core.types.errors import PayloadError, SettingsError
from patchwright.core.types.triggers import Ignored, ParsedWebhook
from patchwright.integrations.github.webhooks.repository import (
    read_app_authorization,
    read_check_suite,
    read_installation,
    read_installation_repositories,
    read_push,
    read_repository,
    read_status,
)
from patchwright.integrations.github.webhooks.threads import (
    read_comment,
    read_discussion,
    read_discussion_comment,
    read_issue,
    read_pull_request,
    read_review,
    read_review_comment,
)
from patchwright.integrations.github.webhooks.triggers import (
    SERVICE,
    GitHubTriggerRules,
)
from patchwright.integrations.http.signatures import verify_sha256

__all__ = ["EVENTS", "SERVICE", "GitHubTriggerRules", "read_delivery"]


def read_delivery(event: str, body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    """Read a verified delivery; raises PayloadError if it is not what `event` is."""
    reader = _READERS.get(event)
    if reader is None:
        return Ignored(reason="event-not-read")
    try:
        return reader(body, rules)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the {event} delivery is malformed at {where!r}") from None


# `workflow_run` is not among them: what it would tell, the run's check suite tells.
_READERS: Mapping[str, Callable[[bytes, GitHubTriggerRules], ParsedWebhook]] = {
    "check_suite": read_check_suite,
    "discussion": read_discussion,
    "discussion_comment": read_discussion_comment,
    "github_app_authorization": read_app_authorization,
    "installation": read_installation,
    "installation_repositories": read_installation_repositories,
    "issue_comment": read_comment,
    "issues": read_issue,
    "pull_request": read_pull_request,
    "pull_request_review": read_review,
    "pull_request_review_comment": read_review_comment,
    "push": read_push,
    "repository": read_repository,
    "status": read_status,
}

EVENTS = frozenset(_READERS)


_FORM = "application/x-www-form-urlencoded"


class GitHubReceiver:
    """What the web edge needs of GitHub; it holds the secrets of the webhook."""

    def __init__(self, secrets: Sequence[SecretStr], rules: GitHubTriggerRules) -> None:
        if not secrets or not all(secret.get_secret_value() for secret in secrets):
            raise SettingsError(
                "github.webhook_secret is empty: without it anybody could send "
                "webhooks; set it to the secret of the webhook on GitHub"
            )
        self._secrets = tuple(secrets)
        self._rules = rules

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good.
        """
        signature = _header(headers, "x-hub-signature-256")
        verify_sha256(body, signature, self._secrets)
        event = _header(headers, "x-github-event")
        if not event:
            raise PayloadError("the delivery names no event")
        return read_delivery(event, _json_of(headers, body), self._rules)


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
