"""Read what people write under a thread."""

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Ignored, Reading
from patchwright.integrations.github.payloads import (
    CommentDelivery,
    DiscussionCommentDelivery,
)
from patchwright.integrations.github.reading.listening import Listening
from patchwright.integrations.github.reading.scene import Scene
from patchwright.integrations.github.reading.words import comment_of, read_words

WRITTEN = frozenset({"created", "edited"})

_COMMENT = TypeAdapter(CommentDelivery)
_DISCUSSION_COMMENT = TypeAdapter(DiscussionCommentDelivery)


def read_comment(body: bytes, listening: Listening) -> Reading:
    delivery = _COMMENT.validate_json(body)
    if delivery.action not in WRITTEN:
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    # A comment on a pull request comes as one on an issue that has this field.
    is_pull = delivery.issue.pull_request is not None
    kind = ThreadKind.PULL_REQUEST if is_pull else ThreadKind.ISSUE
    words = comment_of(comment, name=f"comment:{comment.id}", post_id=str(comment.id))
    return read_words(Scene(delivery, delivery.issue, kind), words, listening)


def read_discussion_comment(body: bytes, listening: Listening) -> Reading:
    delivery = _DISCUSSION_COMMENT.validate_json(body)
    if delivery.action not in WRITTEN:
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    scene = Scene(delivery, delivery.discussion, ThreadKind.DISCUSSION)
    # Only GraphQL knows discussions, and its name of a comment is the node's.
    words = comment_of(comment, name=f"comment:{comment.id}", post_id=comment.node_id)
    return read_words(scene, words, listening)
