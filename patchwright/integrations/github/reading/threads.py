"""Read what happens to a whole thread: issue, pull request, discussion."""

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import (
    Ignored,
    ParsedWebhook,
    ThreadClosed,
    TriggerKind,
)
from patchwright.integrations.github.payloads import (
    DiscussionDelivery,
    IssueDelivery,
    PullRequestDelivery,
)
from patchwright.integrations.github.reading.listening import GitHubTriggerRules
from patchwright.integrations.github.reading.scene import ThreadContext
from patchwright.integrations.github.reading.words import thread_text, read_text

_ISSUE = TypeAdapter(IssueDelivery)
_PULL_REQUEST = TypeAdapter(PullRequestDelivery)
_DISCUSSION = TypeAdapter(DiscussionDelivery)


def read_issue(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _ISSUE.validate_json(body)
    return _read_thread_event(ThreadContext(delivery, delivery.issue, ThreadKind.ISSUE), listening)


def read_pull_request(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _PULL_REQUEST.validate_json(body)
    scene = ThreadContext(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    return _read_thread_event(scene, listening)


def read_discussion(body: bytes, listening: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _DISCUSSION.validate_json(body)
    return _read_thread_event(ThreadContext(delivery, delivery.discussion, ThreadKind.DISCUSSION), listening)


def _read_thread_event(scene: ThreadContext, listening: GitHubTriggerRules) -> ParsedWebhook:
    match scene.delivery.action:
        # A new discussion is created, the others are opened.
        case "opened" | "created" | "edited":
            return read_text(scene, thread_text(scene.thread), listening)
        case "labeled":
            return _read_label(scene, listening)
        case "assigned":
            return _read_assignment(scene, listening)
        case "closed" | "reopened" as action:
            return ThreadClosed(
                thread=scene.ref,
                is_open=action == "reopened",
                is_merged=bool(scene.thread.merged),
                at=scene.at,
            )
        case _:
            return Ignored(reason="action-not-read")


def _read_label(scene: ThreadContext, listening: GitHubTriggerRules) -> ParsedWebhook:
    if not listening.label or scene.delivery.label.name != listening.label:
        return Ignored(reason="other-label")
    return _read_repeatable(scene, TriggerKind.LABEL, listening)


def _read_assignment(scene: ThreadContext, listening: GitHubTriggerRules) -> ParsedWebhook:
    assignee = scene.delivery.assignee
    if assignee is None or not listening.is_assignee(assignee.login):
        return Ignored(reason="other-assignee")
    return _read_repeatable(scene, TriggerKind.ASSIGNMENT, listening)


def _read_repeatable(scene: ThreadContext, kind: TriggerKind, listening: GitHubTriggerRules) -> ParsedWebhook:
    """Make a request of what can be taken back and done anew, which asks anew."""
    sender = scene.delivery.sender
    if listening.is_own(sender.login):
        return Ignored(reason="own-act")
    # Only the time tells the second label from the first.
    return scene.trigger(f"{kind}:{scene.thread.updated_at}", kind, sender)
