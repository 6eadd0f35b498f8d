"""Find the trigger: what the workflow's event, or the inputs, ask for."""

import re
from collections.abc import Mapping
from typing import Any, Final

from patchwright.core.ci.inputs import Inputs
from patchwright.core.ci.system import ActionRequest, NoTrigger
from patchwright.core.ci.triggers import (
    RunTriggers,
    is_same_login,
    with_mode,
)
from patchwright.core.text.mentions import find_request
from patchwright.core.types.errors import SettingsError
from patchwright.core.types.threads import ForgeThread, Thread, ThreadKind
from patchwright.core.types.triggers import (
    Ignored,
    ParsedWebhook,
    StatusReported,
    Trigger,
    TriggerKind,
)
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.ci.workflow import WorkflowJob
from patchwright.integrations.github.repository import (
    FoundComment,
    fetch_comment,
    fetch_review_texts,
)
from patchwright.integrations.github.webhooks.reader import read_delivery
from patchwright.integrations.github.webhooks.triggers import GitHubTriggerRules

_THREAD_PARTS: Final = ("issue", "pull_request", "discussion")
_CHECK_PARTS: Final = ("workflow_run", "check_suite", "check_run")


def number_of_thread(event: Mapping[str, Any]) -> int:
    """Return the number of the thread that it is about; 0 where there is none."""
    found = (number_in(event, kind, "number") for kind in _THREAD_PARTS)
    return next(filter(None, found), 0)


def number_of_checks(event: Mapping[str, Any]) -> int:
    """Return the pull request whose checks have ended, 0 if none have."""
    for kind in _CHECK_PARTS:
        part = event.get(kind)
        pulls = part.get("pull_requests") if isinstance(part, dict) else None
        for pull in pulls if isinstance(pulls, list) else ():
            if _is_here(pull, event):
                return number_in({"pull": pull}, "pull", "number")
    return 0


def _is_here(pull: object, event: Mapping[str, Any]) -> bool:
    """Tell whether a pull request is one of this repository.

    GitHub lists all that have the branch, those in forks too, where somebody else
    chooses the number.
    """
    base = pull.get("base") if isinstance(pull, dict) else None
    home = number_in(base, "repo", "id") if isinstance(base, dict) else 0
    return home > 0 and home == number_in(event, "repository", "id")


def number_in(event: Mapping[str, Any], part: str, key: str) -> int:
    found = event.get(part)
    number = found.get(key) if isinstance(found, dict) else None
    return number if isinstance(number, int) else 0


def payload_in(event: Mapping[str, Any], event_name: str) -> Mapping[str, Any]:
    """Return what a dispatch has brought along; no other event brings anything."""
    if event_name != "repository_dispatch":
        return {}
    found = event.get("client_payload")
    return found if isinstance(found, dict) else {}


# Events that people cause by what they write or do in a thread. One of a pull request
# comes under another name where the workflow may see secrets.
_THREAD_EVENTS: Final[Mapping[str, str]] = {
    **{
        name: name
        for name in (
            "discussion",
            "discussion_comment",
            "issue_comment",
            "issues",
            "pull_request",
            "pull_request_review",
            "pull_request_review_comment",
        )
    },
    "pull_request_target": "pull_request",
}
_REVIEWS: Final = ("pull_request_review", "pull_request_review_comment")


class TriggerReader:
    """Reads what one workflow run was asked for."""

    def __init__(
        self,
        workflow_job: WorkflowJob,
        inputs: Inputs,
        rules: GitHubTriggerRules,
        github: GitHub,
    ) -> None:
        self._workflow_job, self._inputs = workflow_job, inputs
        self._rules, self._github = rules, github
        self._repo = workflow_job.repo
        self._run = RunTriggers(workflow_job, github.channel)
        self._payload = payload_in(workflow_job.event, workflow_job.event_name)

    def find(self, task: str) -> ActionRequest | NoTrigger:
        """Return what is asked, `task` being the text of the inputs.

        Raises `SettingsError`, `PayloadError`, or a `ServiceError`.
        """
        found = self._find(task or str(self._payload.get("task") or "").strip())
        if isinstance(found, NoTrigger):
            return found
        trigger = with_mode(found.trigger, self._inputs.text("mode"))
        return ActionRequest(self._run.with_rerunner(trigger), found.task)

    def _find(self, task: str) -> ActionRequest | NoTrigger:
        if task:
            return self._run.by_task(task)
        comment = self._number("comment-id")
        if comment and comment != number_in(self._workflow_job.event, "comment", "id"):
            return self._by_comment(comment)
        number, own = (
            self._number("issue-number"),
            number_of_thread(self._workflow_job.event),
        )
        is_read = self._workflow_job.event_name in _THREAD_EVENTS
        if number and (not is_read or number != own):
            return ActionRequest(self._by_number(number))
        if is_read:
            return self._by_event()
        if number := number_of_checks(self._workflow_job.event):
            return ActionRequest(self._by_number(number))
        if self._workflow_job.event_name == "status":
            return self._by_status()
        raise SettingsError(
            f"the event `{self._workflow_job.event_name}` has no thread: set one of "
            "the inputs `issue-number`, `comment-id`, `task` and `task-file`"
        )

    def _number(self, name: str) -> int:
        """Return a number of the inputs, or of what a dispatch has brought along."""
        given = self._inputs.text(name) or str(
            self._payload.get(name) or self._payload.get(name.replace("-", "_")) or ""
        )
        if given and not re.fullmatch(r"[1-9][0-9]{0,17}", given):
            raise SettingsError(f"client_payload: `{name}` is not a number")
        return int(given or 0)

    def _by_event(self) -> ActionRequest | NoTrigger:
        event = _THREAD_EVENTS[self._workflow_job.event_name]
        found = _without_reply(
            read_delivery(event, self._workflow_job.event_bytes, self._rules)
        )
        if event in _REVIEWS and self._inputs.text("mode") == "review-feedback":
            return self._by_review(found)
        if isinstance(found, Trigger) and event == "pull_request_review_comment":
            return self._once_per_review(found)
        return _as_read(found)

    def _once_per_review(self, found: Trigger) -> ActionRequest | NoTrigger:
        """Take a comment of a review only if no other text of the review asks first.

        GitHub raises an event for the review and for each of its comments. A service
        knows them for one request; here each is a workflow run that knows of no other.
        """
        number = found.forge_thread.number
        if not found.review_id or self._workflow_job.event.get("action") != "created":
            return ActionRequest(found)
        texts = fetch_review_texts(
            self._github.api, self._repo, number, found.review_id
        )
        asking = (post for post, text in texts.items() if self._mentions(text))
        is_first = next(asking, found.post_id) == found.post_id
        return ActionRequest(found) if is_first else NoTrigger("asked-by-review")

    def _mentions(self, text: str) -> bool:
        return find_request(text, self._rules.mention) is not None

    def _by_review(self, found: ParsedWebhook) -> ActionRequest | NoTrigger:
        """Take any review for a request: the workflow says that they are."""
        if isinstance(found, Trigger):
            return ActionRequest(found.replace(kind=TriggerKind.COMMENT_MENTION))
        if found != Ignored(reason="no-mention"):
            return _as_read(found)
        if self._rules.is_own(self._workflow_job.actor):
            return NoTrigger("own-text")
        return ActionRequest(
            self._by_number(number_of_thread(self._workflow_job.event))
        )

    def _by_status(self) -> ActionRequest | NoTrigger:
        """Find the pull request that ends in a commit whose checks have failed.

        An event of this kind names branches alone; those of forks are not among them.
        """
        found = read_delivery("status", self._workflow_job.event_bytes, self._rules)
        if not isinstance(found, StatusReported):
            return _as_read(found)
        if found.has_passed:
            return NoTrigger("checks-passed")
        for branch in found.branches:
            pull = self._github.forge.find_pull_request(self._repo, branch)
            if pull is not None and pull.head_sha == found.sha:
                return ActionRequest(self._by_number(pull.number))
        return NoTrigger("no-pull-request")

    def _by_number(self, number: int) -> Trigger:
        return self._run.by_thread(self._ref(number))

    def _by_comment(self, comment_id: int) -> ActionRequest | NoTrigger:
        comment = fetch_comment(self._github.api, self._repo, comment_id)
        if any(map(self._rules.is_own, (comment.author.login, comment.app))):
            return NoTrigger("own-text")
        thread = self._github.channel.fetch_opening(self._ref(comment.number))
        return ActionRequest(self._comment_trigger(comment, thread))

    def _comment_trigger(self, comment: FoundComment, thread: Thread) -> Trigger:
        """Make a request of a comment; who has it followed counts as taking part."""
        actor, request = (
            self._run.actor(),
            find_request(comment.text, self._rules.mention),
        )
        return Trigger(
            key=f"{thread.ref}:comment:{comment.post_id}",
            kind=TriggerKind.COMMENT_MENTION,
            actor=comment.author,
            thread=thread.ref,
            request=comment.text if request is None else request,
            title=thread.title,
            body=thread.posts[0].text,
            text=comment.text,
            post_id=comment.post_id,
            review_id=comment.review_id,
            others=() if is_same_login(actor, comment.author) else (actor,),
        )

    def _ref(self, number: int) -> ForgeThread:
        return ForgeThread(repo=self._repo, kind=ThreadKind.ISSUE, number=number)


def _without_reply(found: ParsedWebhook) -> ParsedWebhook:
    """Ignore a comment without a mention: no run of a workflow waits for an answer."""
    is_reply = isinstance(found, Trigger) and found.kind is TriggerKind.REPLY
    return Ignored(reason="no-mention") if is_reply else found


def _as_read(found: ParsedWebhook) -> ActionRequest | NoTrigger:
    if isinstance(found, Trigger):
        # No workflow knows what an earlier one has proven.
        is_push = found.kind is TriggerKind.PUSHED
        return NoTrigger("action-not-read") if is_push else ActionRequest(found)
    # What only tells us something, as that a thread was closed, asks for nothing.
    return NoTrigger(found.reason if isinstance(found, Ignored) else "action-not-read")
