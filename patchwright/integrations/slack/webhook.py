"""Read a delivery of Slack: somebody asks for something, or nobody does."""

from collections.abc import Callable, Mapping

from pydantic import TypeAdapter, ValidationError

from patchwright.core.errors import PayloadError
from patchwright.core.types.triggers import Challenge, Ignored, ParsedWebhook
from patchwright.integrations.slack.reading.commands import SlackTriggerRules, read_command
from patchwright.integrations.slack.reading.events import EVENTS, read_event
from patchwright.integrations.slack.reading.forms import read_submission
from patchwright.integrations.slack.reading.payloads import DeliveryHead
from patchwright.integrations.slack.reading.presses import read_press, read_search
from patchwright.integrations.slack.reading.shortcuts import (
    read_message_shortcut,
    read_shortcut,
)

__all__ = ["EVENTS", "Listening", "name_delivery", "read"]

_HEAD = TypeAdapter(DeliveryHead)


def read_delivery(body: bytes, listening: SlackTriggerRules) -> ParsedWebhook:
    """Read a verified delivery as JSON; raises PayloadError if it makes no sense."""
    try:
        head = _HEAD.validate_json(body)
        return _read(head, body, listening)
    except ValidationError as error:
        where = ".".join(str(part) for part in error.errors()[0]["loc"])
        raise PayloadError(f"the delivery is malformed at {where!r}") from None


def name_delivery(body: bytes) -> str:
    """Return Slack's own name of a delivery, the same when it is sent again.

    Slack sends events again, up to three times; what people press and type comes once,
    and the id of that lasts as long as they may wait for an answer. Empty where there
    is no name.
    https://docs.slack.dev/apis/events-api/#retries
    """
    try:
        head = _HEAD.validate_json(body)
    except ValidationError:
        return ""
    return head.event_id or head.trigger_id


def _read(head: DeliveryHead, body: bytes, listening: SlackTriggerRules) -> ParsedWebhook:
    if head.ssl_check:
        return Ignored(reason="ssl-check")
    if head.command:
        return read_command(body, listening)
    if head.type == "url_verification":
        return Challenge(word=head.challenge)
    reader = _READERS.get(head.type)
    return reader(body) if reader else Ignored(reason="type-not-read")


_READERS: Mapping[str, Callable[[bytes], ParsedWebhook]] = {
    "block_actions": read_press,
    "block_suggestion": read_search,
    "event_callback": read_event,
    "message_action": read_message_shortcut,
    "shortcut": read_shortcut,
    "view_submission": read_submission,
}
