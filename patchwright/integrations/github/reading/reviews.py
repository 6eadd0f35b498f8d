"""Read reviews of a pull request: one is one request, with all its comments.

GitHub tells of a review and of each of its comments, in any order. All of these name
the request after the review, so that whichever asks first is the one that counts.
"""

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import Ignored, Reading, TriggerKind
from patchwright.integrations.github.payloads import (
    Review,
    ReviewCommentDelivery,
    ReviewDelivery,
    User,
)
from patchwright.integrations.github.post_ids import review_comment_post, review_post
from patchwright.integrations.github.reading.comments import WRITTEN
from patchwright.integrations.github.reading.listening import Listening
from patchwright.integrations.github.reading.scene import Scene
from patchwright.integrations.github.reading.words import (
    Words,
    comment_of,
    is_own_text,
    read_words,
    writer_of,
)

_REVIEW = TypeAdapter(ReviewDelivery)
_REVIEW_COMMENT = TypeAdapter(ReviewCommentDelivery)


def read_review(body: bytes, listening: Listening) -> Reading:
    delivery = _REVIEW.validate_json(body)
    if delivery.action not in {"submitted", "edited"}:
        return Ignored(reason="action-not-read")
    review = delivery.review
    words = comment_of(
        review,
        name=f"review:{review.id}",
        post_id=review_post(review.id),
        review_id=str(review.id),
    )
    scene = Scene(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    reading = read_words(scene, words, listening)
    if reading != Ignored(reason="no-mention"):
        return reading
    return _read_verdict(scene, review, words, listening)


def read_review_comment(body: bytes, listening: Listening) -> Reading:
    delivery = _REVIEW_COMMENT.validate_json(body)
    if delivery.action not in WRITTEN:
        return Ignored(reason="action-not-read")
    comment, review = delivery.comment, delivery.comment.pull_request_review_id
    is_part = review is not None and delivery.action == "created"
    words = comment_of(
        comment,
        name=f"review:{review}" if is_part else f"review-comment:{comment.id}",
        post_id=review_comment_post(comment.id),
        review_id="" if review is None else str(review),
    )
    scene = Scene(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    return read_words(scene, words, listening)


def _read_verdict(
    scene: Scene, review: Review, words: Words, listening: Listening
) -> Reading:
    """Read a review without a mention: changes to our own work may be a request."""
    delivery = scene.delivery
    wants_changes = review.state.lower() == "changes_requested"
    if delivery.action != "submitted" or not wants_changes:
        return Ignored(reason="no-mention")
    if not _is_ours(scene.thread.user, listening):
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


def _is_ours(author: User | None, listening: Listening) -> bool:
    return author is not None and listening.is_own(author.login)
