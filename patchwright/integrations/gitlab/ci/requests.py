"""Find what a pipeline is asked for, by variables or by a webhook's payload."""

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import structlog

from patchwright.core.ci.inputs import Inputs
from patchwright.core.ci.result import (
    Result,
    not_asked_result,
    start_words,
)
from patchwright.core.ci.system import ActionRequest, CiJob, NoTrigger
from patchwright.core.ci.triggers import (
    RunTriggers,
    is_same_login,
    with_mode,
)
from patchwright.core.plugin import ForgeConnection
from patchwright.core.settings.model import Settings
from patchwright.core.types.errors import ServiceError, SettingsError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    ThreadKind,
    ThreadPost,
    ThreadRef,
)
from patchwright.core.types.triggers import Ignored, Trigger, TriggerKind
from patchwright.integrations.gitlab.settings import GitLabSettings
from patchwright.integrations.gitlab.webhooks.reader import read_delivery
from patchwright.integrations.gitlab.webhooks.triggers import GitLabTriggerRules

log = structlog.get_logger(__name__)


def is_of_project(payload: Mapping[str, Any], project_id: str) -> bool:
    """Tell whether it is about this project: a webhook of a group is about many."""
    project = payload.get("project")
    number = project.get("id") if isinstance(project, dict) else None
    return str(number) == project_id


def merge_request_in(payload: Mapping[str, Any], project_id: str) -> int:
    """Return the merge request of a project that a payload is about, or 0."""
    if not is_of_project(payload, project_id):
        return 0
    is_own = payload.get("object_kind") == "merge_request"
    found = payload.get("object_attributes" if is_own else "merge_request")
    number = found.get("iid") if isinstance(found, dict) else None
    return number if isinstance(number, int) else 0


def has_failed(payload: Mapping[str, Any]) -> bool:
    """Tell whether it says that a pipeline has failed."""
    found = payload.get("object_attributes")
    status = found.get("status") if isinstance(found, dict) else ""
    return payload.get("object_kind") == "pipeline" and status == "failed"


@dataclass(frozen=True)
class PipelineRequests:
    """The `JobRequests` of a pipeline.

    What a webhook says is believed only as far as GitLab says the same: who knows the
    trigger's token can send any payload.
    """

    connection: ForgeConnection
    settings: Settings
    job: CiJob
    inputs: Inputs
    project_id: str
    notices: tuple[str, ...] = ()

    def find(self, task: str) -> ActionRequest | NoTrigger:
        found = self._find(task)
        if isinstance(found, NoTrigger):
            return found
        return ActionRequest(
            with_mode(found.trigger, self.inputs.text("mode")), found.task
        )

    def refuse(self, reason: str) -> Result:
        rules = self._rules
        log.info("not_asked", reason=reason, listens_for=rules.mention)
        kind = str(self.job.event.get("object_kind") or "")
        source = f"{self.job.event_name} ({kind})" if kind else self.job.event_name
        starts = start_words(rules.mention, rules.label, rules.own_login)
        return not_asked_result(
            f"There is no request ({reason}): a pipeline by {source}, of "
            f"{self.job.actor or 'somebody'}. This job starts on {starts}. The webhook "
            "must send the events for it, and the `rules:` of the job must let them in."
        )

    def own_text(self, thread: ThreadRef, post: ThreadPost) -> str | None:
        del thread
        own = self._rules.own_login
        is_own = bool(own) and post.author.login.casefold() == own.casefold()
        return post.text if is_own else None

    def post_url(self, thread: ForgeThread, post_id: str) -> str:
        url = self.connection.channel.fetch_opening(thread).url
        return f"{url}#note_{post_id}"

    def fetch_head(self, repo: RepoRef, branch: str) -> str:
        """Return nothing: only a merge request tells the head of its branch."""
        del repo, branch
        return ""

    def _find(self, task: str) -> ActionRequest | NoTrigger:
        triggers = RunTriggers(self.job, self.connection.channel)
        if task:
            return triggers.by_task(task)
        for name, kind in (
            ("issue-number", ThreadKind.ISSUE),
            ("merge-request-number", ThreadKind.MERGE_REQUEST),
        ):
            if number := int(self.inputs.text(name) or 0):
                return ActionRequest(triggers.by_thread(self._thread(kind, number)))
        if self.job.event.get("object_kind"):
            return self._by_payload(triggers)
        raise SettingsError(
            f"the pipeline (`{self.job.event_name}`) has no thread: set one of "
            "PATCHWRIGHT_ISSUE_NUMBER, PATCHWRIGHT_MERGE_REQUEST_NUMBER and "
            "PATCHWRIGHT_TASK, or start it by a webhook"
        )

    def _by_payload(self, triggers: RunTriggers) -> ActionRequest | NoTrigger:
        payload = self.job.event
        if not is_of_project(payload, self.project_id):
            return NoTrigger("other-project")
        if self.inputs.text("mode") == "ci-fix" and has_failed(payload):
            return self._by_pipeline(triggers)
        found = read_delivery(self.job.event_bytes, self._rules)
        if not isinstance(found, Trigger) or found.kind is TriggerKind.REPLY:
            reason = found.reason if isinstance(found, Ignored) else "no-mention"
            return NoTrigger(reason)
        if found.kind.is_automatic:
            return NoTrigger("action-not-read")
        return self._confirmed(found, triggers.actor())

    def _by_pipeline(self, triggers: RunTriggers) -> ActionRequest | NoTrigger:
        number = merge_request_in(self.job.event, self.project_id)
        if not number:
            return NoTrigger("no-merge-request")
        pull = self.connection.forge.fetch_pull_request(self.job.repo, number)
        if not pull.same_repository:
            return NoTrigger("fork")
        thread = self._thread(ThreadKind.MERGE_REQUEST, number)
        return ActionRequest(triggers.by_thread(thread))

    def _confirmed(self, found: Trigger, starter: Actor) -> ActionRequest | NoTrigger:
        """Take a request that GitLab knows of: the note has this author and this text.

        Nothing there says who has set a label. So whoever owns the trigger's token
        counts as taking part in it, and needs permission as well.
        """
        if not found.post_id:
            others = () if is_same_login(found.actor, starter) else (starter,)
            return ActionRequest(found.replace(others=(*found.others, *others)))
        thread = self.connection.channel.fetch_thread(found.forge_thread)
        for post in thread.posts:
            is_same = post.author.subject == found.actor.subject
            is_said = post.text.split() == found.text.split()
            if post.id == found.post_id and is_same and is_said:
                return ActionRequest(found)
        log.warning("payload_not_confirmed", post_id=found.post_id)
        return NoTrigger("not-confirmed")

    def _thread(self, kind: ThreadKind, number: int) -> ForgeThread:
        return ForgeThread(repo=self.job.repo, kind=kind, number=number)

    @cached_property
    def _rules(self) -> GitLabTriggerRules:
        """Listen as the user of the token; no note counts as ours if that is hidden."""
        settings, own = GitLabSettings.of(self.settings), None
        try:
            own = self.connection.fetch_identity()
        except ServiceError as error:
            log.warning("own_identity_unknown", reason=error.reason)
        return GitLabTriggerRules(
            mention=settings.mention,
            label=settings.label,
            own_id=int(own.external_id or 0) if own else 0,
            own_login=own.login if own else "",
        )
