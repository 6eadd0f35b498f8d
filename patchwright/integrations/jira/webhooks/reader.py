"""Verify a delivery of Jira, then read it: a request, or nothing."""

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Final
from urllib.parse import urlsplit

from pydantic import SecretStr, ValidationError

from patchwright.core.types.errors import PayloadError, SettingsError, TenantError
from patchwright.core.types.triggers import Ignored, ParsedWebhook
from patchwright.integrations.http.signatures import verify_sha256
from patchwright.integrations.jira.webhooks.payloads import JiraDelivery, JiraModel
from patchwright.integrations.jira.webhooks.tickets import (
    read_comment,
    read_created,
    read_updated,
)
from patchwright.integrations.jira.webhooks.triggers import (
    JiraTriggerRules,
    TicketContext,
)


def check_tenant(delivery: JiraModel, host: str) -> None:
    """Raise TenantError if anything in it says that it is of another site.

    A webhook of an administrator, and only these are signed, names things by the
    address of the site, in the cloud as well. What an app gets by way of
    api.atlassian.com is not signed with a secret, and does not pass for the site.
    https://developer.atlassian.com/cloud/jira/platform/webhooks/#secure-admin-webhooks
    """
    if not all(_is_below(address, host) for address in _find_addresses(delivery)):
        raise TenantError("the webhook comes from another site than jira.base_url")


def _find_addresses(part: JiraModel) -> Iterator[str]:
    for name, value in part:
        if name == "address" and value:
            yield value
        for inner in value if isinstance(value, list) else [value]:
            if isinstance(inner, JiraModel):
                yield from _find_addresses(inner)


def _is_below(address: str, host: str) -> bool:
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    # With or without TLS: a proxy in front of Jira may provide it.
    is_web = parts.scheme in {"http", "https"}
    return is_web and f"{parts.netloc}{parts.path}".lower().startswith(f"{host}/")


def read_delivery(body: bytes, rules: JiraTriggerRules) -> ParsedWebhook:
    """Read a verified delivery; raises PayloadError or TenantError."""
    try:
        delivery = JiraDelivery.model_validate_json(body)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the delivery is malformed at {where!r}") from None
    check_tenant(delivery, rules.host)
    reader = _READERS.get(delivery.event)
    if reader is None:
        return Ignored(reason="event-not-read")
    if delivery.issue is None:
        # A data center tells of comments without their ticket, and then once more as
        # a change of the ticket.
        return Ignored(reason="no-issue")
    context = TicketContext(delivery.issue, rules, delivery.user)
    if not context.is_mapped:
        return Ignored(reason="unmapped-project")
    return reader(context, delivery)


def _read_new_comment(context: TicketContext, delivery: JiraDelivery) -> ParsedWebhook:
    return _read_comment(context, delivery, is_edit=False)


def _read_edited_comment(
    context: TicketContext, delivery: JiraDelivery
) -> ParsedWebhook:
    return _read_comment(context, delivery, is_edit=True)


def _read_comment(
    context: TicketContext, delivery: JiraDelivery, *, is_edit: bool
) -> ParsedWebhook:
    if delivery.comment is None:
        raise PayloadError(f"the {delivery.event} delivery has no comment")
    return read_comment(context, delivery.comment, is_edit=is_edit)


_READERS: Mapping[str, Callable[[TicketContext, JiraDelivery], ParsedWebhook]] = {
    "comment_created": _read_new_comment,
    "comment_updated": _read_edited_comment,
    "jira:issue_created": read_created,
    "jira:issue_updated": read_updated,
}

EVENTS = frozenset(_READERS)


# The same when a delivery is tried again.
# https://developer.atlassian.com/cloud/jira/platform/webhooks/#delivery-headers
ID_HEADER: Final = "x-atlassian-webhook-identifier"
# https://confluence.atlassian.com/adminjiraserver/managing-webhooks-938846912.html
_SIGNATURE: Final = "x-hub-signature"


class JiraReceiver:
    """What the web edge needs of Jira; it holds the secrets of the webhook."""

    def __init__(self, secrets: Sequence[SecretStr], rules: JiraTriggerRules) -> None:
        if not secrets or not all(secret.get_secret_value() for secret in secrets):
            raise SettingsError(
                "jira.webhook_secret is empty: without it anybody could send "
                "webhooks; set it to the secret of the webhook in Jira"
            )
        self._secrets = tuple(secrets)
        self._rules = rules

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises SignatureError, TenantError or PayloadError.

        Nothing of the body is looked at before its signature is known to be good. A
        signature made by another method than SHA-256 is none.
        """
        signature = _header(headers, _SIGNATURE)
        verify_sha256(body, signature, self._secrets)
        return read_delivery(body, self._rules)


def _header(headers: Mapping[str, str], name: str) -> str:
    for key, value in headers.items():
        if key.lower() == name:
            return value
    return ""
