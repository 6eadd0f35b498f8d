"""Read reviews of a pull request: one is one request, with all its comments.

GitHub tells of a review and of each of its comments, in any order. All of these name
the request after the review, so that whichever asks first is the one that counts.
"""

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.github.payloads import (
    ReviewPayload,
    ReviewCommentDelivery,
    ReviewDelivery,
    GitHubUser,
)
from patchwright.integrations.github.post_ids import review_comment_post, review_post
from patchwright.integrations.github.reading.comments import TEXT_ACTIONS
from patchwright.integrations.github.reading.listening import GitHubTriggerRules
from patchwright.integrations.github.reading.scene import ThreadContext
from patchwright.integrations.github.reading.words import (
    WrittenText,
    comment_text,
    is_own_text,
    read_text,
    writer_of,
)

_REVIEW = TypeAdapter(ReviewDelivery)
_REVIEW_COMMENT = TypeAdapter(ReviewCommentDelivery)


def read_review(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _REVIEW.validate_json(body)
    if delivery.action not in {"submitted", "edited"}:
        return Ignored(reason="action-not-read")
    review = delivery.review
    words = comment_text(
        review,
        name=f"review:{review.id}",
        post_id=review_post(review.id),
        review_id=str(review.id),
    )
    scene = ThreadContext(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    reading = read_text(scene, words, listening)
    if reading != Ignored(reason="no-mention"):
        return reading
    return _read_requested_changes(scene, review, words, listening)


def read_review_comment(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _REVIEW_COMMENT.validate_json(body)
    if delivery.action not in TEXT_ACTIONS:
        return Ignored(reason="action-not-read")
    comment, review = delivery.comment, delivery.comment.pull_request_review_id
    is_part = review is not None and delivery.action == "created"
    words = comment_text(
        comment,
        name=f"review:{review}" if is_part else f"review-comment:{comment.id}",
        post_id=review_comment_post(comment.id),
        review_id="" if review is None else str(review),
    )
    scene = ThreadContext(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    return read_text(scene, words, listening)


def _read_requested_changes(
    scene: ThreadContext, review: ReviewPayload, words: WrittenText, listening: GitHubTriggerRules
) -> ParsedWebhook:
    """Read a review without a mention: changes to our own work may be a request."""
    delivery = scene.delivery
    wants_changes = review.state.lower() == "changes_requested"
    if delivery.action != "submitted" or not wants_changes:
        return Ignored(reason="no-mention")
    if not _is_own_author(scene.thread.user, listening):
        return Ignored(reason="no-mention")
    if is_own_text(delivery, words, listening):
        return Ignored(reason="own-text")
    # A name of its own: where repositories do not want this trigger, it must not
    # stand in the way of a mention in one of the review's comments.
    return scene.trigger(
        f"changes-requested:{review.id}",
        TriggerKind.REVIEW,
        writer_of(delivery, review.user),
        request=review.body,
        text=review.body,
        post_id=words.post_id,
        review_id=words.review_id,
    )


def _is_own_author(author: GitHubUser | None, listening: GitHubTriggerRules) -> bool:
    return author is not None and listening.is_own(author.login)
