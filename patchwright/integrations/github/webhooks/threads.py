"""Read webhooks about issues, pull requests, discussions and their comments."""

from pydantic import TypeAdapter

from patchwright.core.types.threads import ThreadKind
from patchwright.core.types.triggers import (
    Ignored,
    ParsedWebhook,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.integrations.github.webhooks import payloads
from patchwright.integrations.github.webhooks.triggers import (
    GitHubTriggerRules,
    ThreadContext,
    WrittenText,
    comment_text,
    is_own_text,
    is_reply,
    read_text,
    thread_text,
    writer_of,
)

TEXT_ACTIONS = frozenset({"created", "edited"})

_COMMENT = TypeAdapter(payloads.CommentDelivery)
_DISCUSSION_COMMENT = TypeAdapter(payloads.DiscussionCommentDelivery)


def read_comment(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _COMMENT.validate_json(body)
    if delivery.action not in TEXT_ACTIONS:
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    # A comment on a pull request comes as one on an issue that has this field.
    is_pull = delivery.issue.pull_request is not None
    kind = ThreadKind.PULL_REQUEST if is_pull else ThreadKind.ISSUE
    written = comment_text(
        comment, name=f"comment:{comment.id}", post_id=str(comment.id)
    )
    return read_text(ThreadContext(delivery, delivery.issue, kind), written, rules)


def read_discussion_comment(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _DISCUSSION_COMMENT.validate_json(body)
    if delivery.action not in TEXT_ACTIONS:
        return Ignored(reason="action-not-read")
    comment = delivery.comment
    context = ThreadContext(delivery, delivery.discussion, ThreadKind.DISCUSSION)
    # Only GraphQL knows discussions, and its name of a comment is the node's.
    written = comment_text(
        comment, name=f"comment:{comment.id}", post_id=comment.node_id
    )
    return read_text(context, written, rules)


_REVIEW = TypeAdapter(payloads.ReviewDelivery)
_REVIEW_COMMENT = TypeAdapter(payloads.ReviewCommentDelivery)


def read_review(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _REVIEW.validate_json(body)
    if delivery.action not in {"submitted", "edited"}:
        return Ignored(reason="action-not-read")
    review = delivery.review
    written = comment_text(
        review,
        name=f"review:{review.id}",
        post_id=payloads.review_post(review.id),
        review_id=str(review.id),
    )
    context = ThreadContext(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    found = read_text(context, written, rules)
    if found != Ignored(reason="no-mention") and not is_reply(found):
        return found
    changes = _read_requested_changes(context, review, written, rules)
    return changes if isinstance(changes, Trigger) else found


def read_review_comment(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _REVIEW_COMMENT.validate_json(body)
    if delivery.action not in TEXT_ACTIONS:
        return Ignored(reason="action-not-read")
    comment, review = delivery.comment, delivery.comment.pull_request_review_id
    is_part = review is not None and delivery.action == "created"
    written = comment_text(
        comment,
        name=f"review:{review}" if is_part else f"review-comment:{comment.id}",
        post_id=payloads.review_comment_post(comment.id),
        review_id="" if review is None else str(review),
    )
    context = ThreadContext(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    return read_text(context, written, rules)


def _read_requested_changes(
    context: ThreadContext,
    review: payloads.ReviewPayload,
    written: WrittenText,
    rules: GitHubTriggerRules,
) -> ParsedWebhook:
    """Read a review without a mention: changes to our own work may be a request."""
    delivery = context.delivery
    wants_changes = review.state.lower() == "changes_requested"
    if delivery.action != "submitted" or not wants_changes:
        return Ignored(reason="no-mention")
    if not _is_own_author(context.thread.user, rules):
        return Ignored(reason="no-mention")
    if is_own_text(delivery, written, rules):
        return Ignored(reason="own-text")
    # A name of its own: where repositories do not want this trigger, it must not
    # stand in the way of a mention in one of the review's comments.
    return context.trigger(
        f"changes-requested:{review.id}",
        TriggerKind.REVIEW,
        writer_of(delivery, review.user),
        request=review.body,
        text=review.body,
        post_id=written.post_id,
        review_id=written.review_id,
    )


def _is_own_author(
    author: payloads.GitHubUser | None, rules: GitHubTriggerRules
) -> bool:
    return author is not None and rules.is_own(author.login)


_ISSUE = TypeAdapter(payloads.IssueDelivery)
_PULL_REQUEST = TypeAdapter(payloads.PullRequestDelivery)
_DISCUSSION = TypeAdapter(payloads.DiscussionDelivery)


def read_issue(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _ISSUE.validate_json(body)
    return _read_thread_event(
        ThreadContext(delivery, delivery.issue, ThreadKind.ISSUE), rules
    )


def read_pull_request(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _PULL_REQUEST.validate_json(body)
    context = ThreadContext(delivery, delivery.pull_request, ThreadKind.PULL_REQUEST)
    return _read_thread_event(context, rules)


def read_discussion(body: bytes, rules: GitHubTriggerRules) -> ParsedWebhook:
    delivery = _DISCUSSION.validate_json(body)
    return _read_thread_event(
        ThreadContext(delivery, delivery.discussion, ThreadKind.DISCUSSION), rules
    )


def _read_thread_event(
    context: ThreadContext, rules: GitHubTriggerRules
) -> ParsedWebhook:
    match context.delivery.action:
        # A new discussion is created, the others are opened.
        case "opened" | "created" | "edited":
            return read_text(context, thread_text(context.thread), rules)
        case "labeled":
            return _read_label(context, rules)
        case "assigned":
            return _read_assignment(context, rules)
        case "synchronize":
            return _read_new_head(context, rules)
        case "closed" | "reopened" as action:
            return ThreadClosed(
                thread=context.ref,
                is_open=action == "reopened",
                is_merged=bool(context.thread.merged),
                at=context.at,
            )
        case _:
            return Ignored(reason="action-not-read")


def _read_new_head(context: ThreadContext, rules: GitHubTriggerRules) -> ParsedWebhook:
    """Read that a pull request ends in another commit; whose it is is not known here.

    https://docs.github.com/en/webhooks/webhook-events-and-payloads#pull_request
    """
    sender = context.delivery.sender
    if rules.is_own(sender.login):
        return Ignored(reason="own-push")
    sha = context.thread.head.sha
    # A push can bring an earlier head back, so the time tells one from the other.
    name = f"{TriggerKind.PUSHED}:{sha}:{context.thread.updated_at}"
    return context.trigger(name, TriggerKind.PUSHED, sender).replace(head_sha=sha)


def _read_label(context: ThreadContext, rules: GitHubTriggerRules) -> ParsedWebhook:
    if not rules.label or context.delivery.label.name != rules.label:
        return Ignored(reason="other-label")
    return _read_repeatable(context, TriggerKind.LABEL, rules)


def _read_assignment(
    context: ThreadContext, rules: GitHubTriggerRules
) -> ParsedWebhook:
    assignee = context.delivery.assignee
    if assignee is None or not rules.is_assignee(assignee.login):
        return Ignored(reason="other-assignee")
    return _read_repeatable(context, TriggerKind.ASSIGNMENT, rules)


def _read_repeatable(
    context: ThreadContext, kind: TriggerKind, rules: GitHubTriggerRules
) -> ParsedWebhook:
    """Make a request from an act that can be repeated; each time is a new request."""
    sender = context.delivery.sender
    if rules.is_own(sender.login):
        return Ignored(reason="own-act")
    # Only the time tells the second label from the first.
    return context.trigger(f"{kind}:{context.thread.updated_at}", kind, sender)
