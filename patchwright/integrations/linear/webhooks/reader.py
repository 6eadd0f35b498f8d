"""Verify a delivery of Linear, then read it: a request, or nothing."""

import json
from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from typing import Final, TypeVar

from pydantic import JsonValue, SecretStr, ValidationError

from patchwright.core.system.clock import Clock
from patchwright.core.types.errors import (
    PayloadError,
    SettingsError,
    SignatureError,
    TenantError,
)
from patchwright.core.types.triggers import Ignored, InstallationChanged, ParsedWebhook
from patchwright.integrations.http.signatures import verify_sha256
from patchwright.integrations.linear.webhooks.payloads import (
    SERVICE,
    DataPayload,
    IssuePayload,
    LinearComment,
    LinearDelivery,
    LinearModel,
    LinearWorkspace,
    SessionEventPayload,
    without_nulls,
)
from patchwright.integrations.linear.webhooks.triggers import (
    IssueContext,
    LinearTriggerRules,
    issue_key,
    read_comment,
    read_issue,
    read_prompt,
    read_session,
)

# https://linear.app/developers/webhooks#securing-webhooks
SIGNATURE_HEADER: Final = "linear-signature"
ID_HEADER: Final = "linear-delivery"
KEPT_HEADERS: Final = ("linear-event", "linear-timestamp")
# Linear's advice is a minute; our own clock may be wrong besides.
REPLAY_WINDOW: Final = timedelta(seconds=60)
CLOCK_SKEW: Final = timedelta(seconds=30)

FindWorkspace = Callable[[str], LinearWorkspace | None]
Model = TypeVar("Model", bound=LinearModel)
_Json = Mapping[str, JsonValue]


class LinearReceiver:
    """What the web edge needs of Linear; it holds the secrets of the webhook.

    `find_workspace` returns a workspace that is served, by its id, and may raise
    `NotReadyError`.
    """

    def __init__(
        self,
        secrets: Sequence[SecretStr],
        find_workspace: FindWorkspace,
        clock: Clock,
        *,
        mention: str,
        label: str,
    ) -> None:
        if not secrets or not all(secret.get_secret_value() for secret in secrets):
            raise SettingsError(
                "linear.webhook_secret is empty: without it anybody could send "
                "webhooks; set it to the secret of the webhook in Linear"
            )
        self._secrets, self._clock = tuple(secrets), clock
        self._find_workspace = find_workspace
        self._mention, self._label = mention, label

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError, TenantError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good.
        """
        signature = headers.get(SIGNATURE_HEADER, "").lower()
        verify_sha256(body, f"sha256={signature}", self._secrets)
        data = _read_json(body)
        delivery = _parse(LinearDelivery, data)
        self._check_time(delivery)
        workspace = self._find_workspace(delivery.organization_id)
        if workspace is None:
            raise TenantError("the webhook comes from a workspace that is not served")
        rules = LinearTriggerRules(
            workspace=workspace, mention=self._mention, label=self._label
        )
        return read_delivery(delivery, data, rules)

    def _check_time(self, delivery: LinearDelivery) -> None:
        """Refuse a replay: Linear signs the time with the rest, for each try anew."""
        sent_ms = delivery.webhook_timestamp
        if sent_ms is None:
            raise SignatureError("the webhook does not say when it was sent")
        away_s = abs(self._clock.now().timestamp() - sent_ms / 1000)
        if away_s > (REPLAY_WINDOW + CLOCK_SKEW).total_seconds():
            raise SignatureError(
                "the webhook was sent more than a minute ago, or a clock is wrong"
            )


def read_delivery(
    delivery: LinearDelivery, data: _Json, rules: LinearTriggerRules
) -> ParsedWebhook:
    """Read a verified delivery; raises PayloadError."""
    reader = _READERS.get((delivery.type, delivery.action))
    if reader is None:
        reason = _IGNORED.get((delivery.type, delivery.action))
        reason = reason or _IGNORED.get((delivery.type, ""), "event-not-read")
        return Ignored(reason=reason)
    return reader(delivery, data, rules)


# What is known and asks for nothing; an empty action stands for all others.
_IGNORED: Final[Mapping[tuple[str, str], str]] = {
    ("Issue", "remove"): "issue-removed",
    ("Comment", "remove"): "comment-removed",
    # A mention or delegation comes as a session too, and a session says more.
    ("AppUserNotification", ""): "notification",
    ("AppUserNotification", "issueUnassignedFromYou"): "unassigned",
    ("PermissionChange", ""): "team-access-changed",
    ("AgentSession", ""): "own-session",
    ("AgentActivity", ""): "own-session",
    ("Attachment", ""): "attachment",
    ("Reaction", ""): "reaction",
    ("IssueLabel", ""): "label-changed",
}


def _read_issue(
    delivery: LinearDelivery, data: _Json, rules: LinearTriggerRules
) -> ParsedWebhook:
    event = _parse(DataPayload, data)
    issue = _parse(IssuePayload, event.data)
    context = _context(issue, delivery, rules)
    if context is None:
        return Ignored(reason="no-issue")
    return read_issue(context, event.replace(updated_from=_before(delivery, event)))


def _read_comment(
    delivery: LinearDelivery, data: _Json, rules: LinearTriggerRules
) -> ParsedWebhook:
    event = _parse(DataPayload, data)
    comment = _parse(LinearComment, event.data)
    context = _context(comment.issue, delivery, rules)
    if context is None:
        return Ignored(reason="no-issue")
    event = event.replace(updated_from=_before(delivery, event))
    return read_comment(context, comment, event)


def _before(
    delivery: LinearDelivery, event: DataPayload
) -> dict[str, JsonValue] | None:
    """Return what was there before; what is new had nothing before."""
    return None if delivery.action == "create" else event.updated_from or {}


def _read_session(
    delivery: LinearDelivery, data: _Json, rules: LinearTriggerRules
) -> ParsedWebhook:
    event = _parse(SessionEventPayload, data)
    # It tells who we are there, even before we have asked.
    own_id = delivery.app_user_id or event.agent_session.app_user_id
    if own_id and rules.workspace.own_id and own_id != rules.workspace.own_id:
        return Ignored(reason="session-of-another-app")
    context = _context(event.agent_session.issue, delivery, rules)
    if context is None:
        return Ignored(reason="no-issue")
    context = IssueContext(context.issue, context.key, rules, event.guidance)
    if delivery.action == "created":
        return read_session(context, event)
    if event.agent_activity is None:
        return Ignored(reason="no-words")
    return read_prompt(context, event.agent_activity)


def _read_revoked(
    delivery: LinearDelivery, _data: _Json, _rules: LinearTriggerRules
) -> ParsedWebhook:
    return InstallationChanged(
        installation=delivery.organization_id,
        gone=True,
        service=SERVICE,
        at=delivery.created_at,
    )


_Reader = Callable[[LinearDelivery, _Json, LinearTriggerRules], ParsedWebhook]
_READERS: Final[Mapping[tuple[str, str], _Reader]] = {
    ("Issue", "create"): _read_issue,
    ("Issue", "update"): _read_issue,
    ("Comment", "create"): _read_comment,
    ("Comment", "update"): _read_comment,
    ("AgentSessionEvent", "created"): _read_session,
    ("AgentSessionEvent", "prompted"): _read_session,
    ("OAuthApp", "revoked"): _read_revoked,
}


def _context(
    issue: IssuePayload | None, delivery: LinearDelivery, rules: LinearTriggerRules
) -> IssueContext | None:
    key = issue_key(issue, delivery.url) if issue else ""
    return IssueContext(issue, key, rules) if issue and key else None


def _read_json(body: bytes) -> dict[str, JsonValue]:
    try:
        data = json.loads(body)
        found = without_nulls(data)
    except (ValueError, RecursionError):
        raise PayloadError("the delivery is not JSON") from None
    if not isinstance(found, dict):
        raise PayloadError("the delivery is not an object")
    # There, null says that a field was empty.
    before = data.get("updatedFrom")
    return {**found, "updatedFrom": before} if isinstance(before, dict) else found


def _parse(kind: type[Model], data: _Json) -> Model:
    try:
        return kind.model_validate(data)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the delivery is malformed at {where!r}") from None
