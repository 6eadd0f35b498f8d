"""Remove secrets from what people wrote before it is stored; no database needed."""

from collections.abc import Callable
from typing import Final

from pydantic import JsonValue

from patchwright.core.text.strings import storable
from patchwright.core.types.threads import LinkedIssue, ReviewThread, Thread, ThreadPost
from patchwright.core.types.triggers import Trigger

Redact = Callable[[JsonValue], JsonValue]

_TOLD: Final = ("title", "text")


def clean_text(redact: Redact, text: str) -> str:
    return str(redact(storable(text)))


def clean_trigger(redact: Redact, trigger: Trigger) -> Trigger:
    """Return it with clean words; what it names and who asks stay as they are."""
    words = {
        name: clean_text(redact, getattr(trigger, name))
        for name in ("request", "title", "body", "text")
    }
    return Trigger(**(dict(trigger) | words))


def clean_thread(redact: Redact, thread: Thread) -> Thread:
    """Return a thread as clean as its trigger: names of branches are made from it."""

    def post(one: ThreadPost) -> ThreadPost:
        return ThreadPost(**(dict(one) | {"text": clean_text(redact, one.text)}))

    def review(one: ReviewThread) -> ReviewThread:
        hunk = clean_text(redact, one.hunk)
        posts = tuple(map(post, one.posts))
        return ReviewThread(**(dict(one) | {"hunk": hunk, "posts": posts}))

    def relative(one: LinkedIssue) -> LinkedIssue:
        words = {name: clean_text(redact, getattr(one, name)) for name in _TOLD}
        return LinkedIssue(**(dict(one) | words))

    words = {
        "title": clean_text(redact, thread.title),
        "posts": tuple(map(post, thread.posts)),
        "reviews": tuple(map(review, thread.reviews)),
        "linked_issues": tuple(map(relative, thread.linked_issues)),
    }
    return Thread(**(dict(thread) | words))
