"""Read a delivery of Jira: somebody asks for something, or nobody does."""

from collections.abc import Callable, Mapping

from pydantic import ValidationError

from patchwright.core.errors import PayloadError
from patchwright.core.types.triggers import Ignored, ParsedWebhook
from patchwright.integrations.jira.listening import JiraTriggerRules
from patchwright.integrations.jira.reading.comments import read_comment
from patchwright.integrations.jira.reading.payloads import JiraDelivery
from patchwright.integrations.jira.reading.scene import TicketContext
from patchwright.integrations.jira.reading.tenant import check_tenant
from patchwright.integrations.jira.reading.tickets import read_created, read_updated


def read_delivery(body: bytes, listening: JiraTriggerRules) -> ParsedWebhook:
    """Read a verified delivery; raises PayloadError or TenantError."""
    try:
        delivery = JiraDelivery.model_validate_json(body)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the delivery is malformed at {where!r}") from None
    check_tenant(delivery, listening.host)
    reader = _READERS.get(delivery.event)
    if reader is None:
        return Ignored(reason="event-not-read")
    if delivery.issue is None:
        # A data center tells of comments without their ticket, and then once more as
        # a change of the ticket.
        return Ignored(reason="no-issue")
    scene = TicketContext(delivery.issue, listening, delivery.user)
    if not scene.is_mapped:
        return Ignored(reason="unmapped-project")
    return reader(scene, delivery)


def _read_new_comment(scene: TicketContext, delivery: JiraDelivery) -> ParsedWebhook:
    return _read_comment(scene, delivery, is_edit=False)


def _read_edited_comment(scene: TicketContext, delivery: JiraDelivery) -> ParsedWebhook:
    return _read_comment(scene, delivery, is_edit=True)


def _read_comment(scene: TicketContext, delivery: JiraDelivery, *, is_edit: bool) -> ParsedWebhook:
    if delivery.comment is None:
        raise PayloadError(f"the {delivery.event} delivery has no comment")
    return read_comment(scene, delivery.comment, is_edit=is_edit)


_READERS: Mapping[str, Callable[[TicketContext, JiraDelivery], ParsedWebhook]] = {
    "comment_created": _read_new_comment,
    "comment_updated": _read_edited_comment,
    "jira:issue_created": read_created,
    "jira:issue_updated": read_updated,
}

EVENTS = frozenset(_READERS)
