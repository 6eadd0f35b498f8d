"""Read what people write under a thread."""

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook
from patchwright.integrations.github.payloads import (
    CommentDelivery,
    DiscussionCommentDelivery,
)
from patchwright.integrations.github.reading.listening import GitHubTriggerRules
from patchwright.integrations.github.reading.scene import ThreadContext
from patchwright.integrations.github.reading.words import comment_text, read_text

TEXT_ACTIONS = frozenset({"created", "edited"})

_COMMENT = TypeAdapter(CommentDelivery)
_DISCUSSION_COMMENT = TypeAdapter(DiscussionCommentDelivery)


def read_comment(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _COMMENT.validate_json(body)
    if delivery.action not in TEXT_ACTIONS:
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    # A comment on a pull request comes as one on an issue that has this field.
    is_pull = delivery.issue.pull_request is not None
    kind = ThreadKind.PULL_REQUEST if is_pull else ThreadKind.ISSUE
    words = comment_text(comment, name=f"comment:{comment.id}", post_id=str(comment.id))
    return read_text(ThreadContext(delivery, delivery.issue, kind), words, listening)


def read_discussion_comment(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _DISCUSSION_COMMENT.validate_json(body)
    if delivery.action not in TEXT_ACTIONS:
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    scene = ThreadContext(delivery, delivery.discussion, ThreadKind.DISCUSSION)
    # Only GraphQL knows discussions, and its name of a comment is the node's.
    words = comment_text(comment, name=f"comment:{comment.id}", post_id=comment.node_id)
    return read_text(scene, words, listening)
