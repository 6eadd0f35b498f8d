"""Read a text that may ask: a body, a comment, the words of a review."""

import hashlib
from dataclasses import dataclass

from patchwright.core.text.mentions import find_request
from patchwright.core.types.triggers import Ignored, Reading, TriggerKind
from patchwright.integrations.github.payloads import (
    Comment,
    Delivery,
    Slugged,
    Thread,
    User,
)
from patchwright.integrations.github.reading.listening import Listening
from patchwright.integrations.github.reading.scene import Scene


@dataclass(frozen=True, slots=True, kw_only=True)
class Words:
    """A text, who wrote it, and what to call it within its thread.

    `app` is the App it was written with, if it was. Only a comment has a `post_id`.
    """

    name: str
    kind: TriggerKind
    text: str
    author: User | None
    app: Slugged | None = None
    post_id: str = ""
    review_id: str = ""


def body_of(thread: Thread) -> Words:
    return Words(
        name="body",
        kind=TriggerKind.BODY_MENTION,
        text=thread.body,
        author=thread.user,
        app=thread.performed_via_github_app,
    )


def comment_of(
    comment: Comment, *, name: str, post_id: str, review_id: str = ""
) -> Words:
    return Words(
        name=name,
        kind=TriggerKind.COMMENT_MENTION,
        text=comment.body,
        author=comment.user,
        app=comment.performed_via_github_app,
        post_id=post_id,
        review_id=review_id,
    )


def read_words(scene: Scene, words: Words, listening: Listening) -> Reading:
    """Find a request in a new text, or in an edited one that did not ask before."""
    request = _find_new_request(scene.delivery, words.text, listening)
    if isinstance(request, Ignored):
        return request
    if is_own_text(scene.delivery, words, listening):
        return Ignored(reason="own-text")
    return scene.trigger(
        f"{words.name}{_edition(scene.delivery, words.text)}",
        words.kind,
        writer_of(scene.delivery, words.author),
        request=request,
        # A body is told as the body of its thread.
        text=words.text if words.post_id else "",
        post_id=words.post_id,
        review_id=words.review_id,
    )


def is_own_text(delivery: Delivery, words: Words, listening: Listening) -> bool:
    """Tell whether we wrote the text, or sent it: then it never asks.

    A text that an App writes in a person's name is still the App's.
    """
    people = (delivery.sender, words.author)
    names = [user.login for user in people if user is not None]
    return any(map(listening.is_own, [*names, words.app.slug if words.app else ""]))


def writer_of(delivery: Delivery, author: User | None) -> User:
    """Return who put the words there: of an edited text that is who edited it."""
    if delivery.action == "edited" or author is None:
        return delivery.sender
    return author


def _find_new_request(
    delivery: Delivery, text: str, listening: Listening
) -> str | Ignored:
    request = find_request(text, listening.mention)
    if request is None:
        return Ignored(reason="no-mention")
    if delivery.action != "edited":
        return request
    before = delivery.changes.body
    if before is None or find_request(before.from_, listening.mention) is not None:
        return Ignored(reason="no-new-mention")
    return request


def _edition(delivery: Delivery, text: str) -> str:
    if delivery.action != "edited":
        return ""
    return f":edit:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
