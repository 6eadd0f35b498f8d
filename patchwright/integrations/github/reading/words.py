"""Read a text that may ask: a body, a comment, the words of a review."""

import hashlib
from dataclasses import dataclass

from patchwright.core.text.mentions import find_request
from patchwright.core.types.triggers import Ignored, ParsedWebhook, TriggerKind
from patchwright.integrations.github.payloads import (
    CommentPayload,
    GitHubDelivery,
    AppPayload,
    ThreadPayload,
    GitHubUser,
)
from patchwright.integrations.github.reading.listening import GitHubTriggerRules
from patchwright.integrations.github.reading.scene import ThreadContext


@dataclass(frozen=True, slots=True, kw_only=True)
class WrittenText:
    """A text, who wrote it, and what to call it within its thread.

    `app` is the App it was written with, if it was. Only a comment has a `post_id`.
    """

    name: str
    kind: TriggerKind
    text: str
    author: GitHubUser | None
    app: AppPayload | None = None
    post_id: str = ""
    review_id: str = ""


def thread_text(thread: ThreadPayload) -> WrittenText:
    return WrittenText(
        name="body",
        kind=TriggerKind.BODY_MENTION,
        text=thread.body,
        author=thread.user,
        app=thread.performed_via_github_app,
    )


def comment_text(
    comment: CommentPayload, *, name: str, post_id: str, review_id: str = ""
) -> WrittenText:
    return WrittenText(
        name=name,
        kind=TriggerKind.COMMENT_MENTION,
        text=comment.body,
        author=comment.user,
        app=comment.performed_via_github_app,
        post_id=post_id,
        review_id=review_id,
    )


def read_text(scene: ThreadContext, words: WrittenText, listening: GitHubTriggerRules) -> ParsedWebhook:
    """Find a request in a new text, or in an edited one that did not ask before."""
    request = _find_new_request(scene.delivery, words.text, listening)
    if isinstance(request, Ignored):
        return request
    if is_own_text(scene.delivery, words, listening):
        return Ignored(reason="own-text")
    return scene.trigger(
        f"{words.name}{_edit_suffix(scene.delivery, words.text)}",
        words.kind,
        writer_of(scene.delivery, words.author),
        request=request,
        # A body is told as the body of its thread.
        text=words.text if words.post_id else "",
        post_id=words.post_id,
        review_id=words.review_id,
    )


def is_own_text(delivery: GitHubDelivery, words: WrittenText, listening: GitHubTriggerRules) -> bool:
    """Tell whether we wrote the text, or sent it: then it never asks.

    A text that an App writes in a person's name is still the App's.
    """
    people = (delivery.sender, words.author)
    names = [user.login for user in people if user is not None]
    return any(map(listening.is_own, [*names, words.app.slug if words.app else ""]))


def writer_of(delivery: GitHubDelivery, author: GitHubUser | None) -> GitHubUser:
    """Return who put the words there: of an edited text that is who edited it."""
    if delivery.action == "edited" or author is None:
        return delivery.sender
    return author


def _find_new_request(
    delivery: GitHubDelivery, text: str, listening: GitHubTriggerRules
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


def _edit_suffix(delivery: GitHubDelivery, text: str) -> str:
    if delivery.action != "edited":
        return ""
    return f":edit:{hashlib.sha256(text.encode()).hexdigest()[:16]}"
