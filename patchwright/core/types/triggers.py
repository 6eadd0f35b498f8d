"""What a delivery turned out to be."""

from enum import StrEnum

from patchwright.core.types.base import Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ThreadRef


class TriggerKind(StrEnum):
    BODY_MENTION = "body-mention"
    COMMENT_MENTION = "comment-mention"
    LABEL = "label"


class Trigger(Value):
    """Somebody asked for something.

    `key` names the request by meaning, so that a second delivery of it is known for
    what it is. `title` and `body` of the thread and `text`, the comment that asked, are
    what the asker saw when they asked; later edits do not reach the model. `post_id`
    is that comment, or empty when the thread's own body or a label did.
    `installation` is the App installation the delivery came from, or empty.
    """

    key: str
    kind: TriggerKind
    actor: Actor
    thread: ThreadRef
    request: str
    title: str = ""
    body: str = ""
    text: str = ""
    post_id: str = ""
    installation: str = ""


class Ignored(Value):
    """A delivery that asks for nothing; `reason` is a short code."""

    reason: str


Reading = Trigger | Ignored
