"""Read what people write: with a mention, in a thread, in a direct message."""

import re
from typing import Final

from pydantic import TypeAdapter

from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.slack.reading.asking import make_trigger
from patchwright.integrations.slack.reading.payloads import EventEnvelope, MessageEvent
from patchwright.integrations.slack.reading.said import ReceivedMessage
from patchwright.integrations.slack.text.incoming import mentions_us, request_in

_MESSAGE: Final = TypeAdapter(MessageEvent)
_FIRST_MENTION: Final = re.compile(r"<@([A-Z0-9]+)(?:\|[^>]*)?>")

# Messages of these kinds are what somebody says; all others tell of an edit, of one who
# joined, and so on. https://docs.slack.dev/reference/events/message#subtypes
_SAID: Final = frozenset(
    {"", "bot_message", "file_share", "me_message", "thread_broadcast"}
)
_DIRECT: Final = frozenset({"im", "app_home"})


def read_mention(envelope: EventEnvelope) -> ParsedWebhook:
    """Read a message that mentions us in a channel.

    Slack sends it when it is written, and again at each edit: the key is the same, so
    that a text asks once, be it from the first or because of an edit.
    """
    said = ReceivedMessage(envelope, _MESSAGE.validate_python(envelope.event))
    if reason := _ignored_reason(said):
        return Ignored(reason=reason)
    own_id = said.own_id or _first_mentioned(said.message.text)
    if not mentions_us(said.message.text, own_id):
        return Ignored(reason="no-mention")
    return _request(said, request_in(said.message.text, own_id))


def read_message(envelope: EventEnvelope) -> ParsedWebhook:
    said = ReceivedMessage(envelope, _MESSAGE.validate_python(envelope.event))
    if reason := _ignored_reason(said):
        return Ignored(reason=reason)
    if said.is_by_bot:
        return Ignored(reason="bot-text")
    if said.message.channel_type in _DIRECT:
        # Nobody else is meant there, with or without a mention.
        return _request(said, request_in(said.message.text, said.own_id))
    if said.own_id and said.message.subtype and _is_mentioned(said):
        # A file that is shared with a mention may come as this alone; where
        # `app_mention` brings it as well, the key is the same.
        return _request(said, request_in(said.message.text, said.own_id))
    if said.message.is_root:
        return Ignored(reason="no-mention")
    if _is_mentioned(said):
        return Ignored(reason="comes-as-mention")
    return _trigger(said, "reply", TriggerKind.REPLY, said.markdown)


def _request(said: ReceivedMessage, request: str) -> ParsedWebhook:
    opens = said.message.is_root
    kind = TriggerKind.BODY_MENTION if opens else TriggerKind.COMMENT_MENTION
    return _trigger(said, "message", kind, request)


def _trigger(said: ReceivedMessage, name: str, kind: TriggerKind, request: str) -> ParsedWebhook:
    if said.author is None:
        return Ignored(reason="author-unknown")
    ts = said.message.ts
    return make_trigger(
        said.origin,
        said.thread,
        # A reply that an edit turns into a request is another thing to answer.
        f"{name}:{ts}",
        said.author,
        request=request,
        kind=kind,
        said=said.markdown,
        post_id="" if kind is TriggerKind.BODY_MENTION else ts,
    )


def _ignored_reason(said: ReceivedMessage) -> str:
    """Say why it is no message that may ask, in a short code."""
    if said.message.subtype == "message_changed":
        return "edited"
    if said.is_own:
        return "own-text"
    if said.message.subtype not in _SAID:
        return "subtype-not-read"
    return "" if said.message.channel and said.message.ts else "not-a-message"


def _is_mentioned(said: ReceivedMessage) -> bool:
    """Tell whether the message mentions us, or may do so where our id is not told."""
    if not said.own_id:
        return bool(_first_mentioned(said.message.text))
    return mentions_us(said.message.text, said.own_id)


def _first_mentioned(text: str) -> str:
    found = _FIRST_MENTION.search(text)
    return found[1] if found else ""
