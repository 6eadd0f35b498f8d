"""Note in a message of ours what machines read: Slack shows it to nobody.

https://docs.slack.dev/messaging/message-metadata
"""

from typing import Final

from patchwright.core.text.marks import Marked
from patchwright.integrations.slack.payloads import SlackMessage

EVENT_TYPE: Final = "patchwright_run"
# What is meant for one person's eyes, such as a link that makes somebody of them, is no
# part of what a thread says.
PRIVATE_MARK: Final = "<!-- patchwright:private -->"


def run_metadata(marked: Marked, part_of: str = "") -> dict[str, object]:
    """Return the metadata of a message.

    Values are text, numbers, booleans, or objects of such: no lists of texts, so that
    the marks are lines. `part_of` is the message that this one continues.
    https://docs.slack.dev/tools/node-slack-sdk/reference/web-api/interfaces/MessageMetadata/
    """
    facts = {"state": marked.state, "run": marked.run_id, "part_of": part_of}
    said = {key: value for key, value in facts.items() if value}
    payload = {**said, "marks": "\n".join(marked.marks)}
    return {"event_type": EVENT_TYPE, "event_payload": payload}


def marks_of(message: SlackMessage) -> tuple[str, ...]:
    noted = message.metadata
    if noted is None or noted.event_type != EVENT_TYPE:
        return ()
    return tuple(noted.event_payload.marks.splitlines())


def part_of(message: SlackMessage) -> str:
    """Return the message that this one continues, or an empty string."""
    noted = message.metadata
    if noted is None or noted.event_type != EVENT_TYPE:
        return ""
    return noted.event_payload.part_of
