"""What is fixed about a run before the agent starts, and the results of its steps."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Final

from patchwright.core.channel import Offers
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.base import JobId, Value
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    Repository,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.pull_request import Provenance, RequestOrigin
from patchwright.resolver.messages.status import MessageHeader, Progress
from patchwright.resolver.publish.destination import (
    CrossPostTarget,
    Destination,
    PrivateContent,
)
from patchwright.resolver.publish.effects import AskPrivately, Effect, FinalMessage
from patchwright.resolver.publish.target import RunTarget
from patchwright.resolver.visibility import RunVisibility

PLAN_ARTIFACT = "plan"


class RunPlan(Value):
    """Stored with the outcome, so that any worker can deliver it.

    `repository` and `target` are missing when the run ended before they were known.
    `issue` is the issue that the change closes, `key` the key of the ticket, and
    `origins` are the threads that the pull request links to. The pull request must not
    repeat what `hidden` contains. `mirrors` are the other threads of the conversation
    that get the status. `remarks` are sentences about preparation that failed.
    """

    frame: MessageHeader
    status_post: str = ""
    repository: Repository | None = None
    target: RunTarget | None = None
    trusted_sha: str = ""
    config: RepositoryConfig = RepositoryConfig()
    review_threads: tuple[str, ...] = ()
    asked_reviews: tuple[int, ...] = ()
    names: dict[str, str] = {}
    template: str = ""
    checks_need_nudge: bool = False
    check_sha: str = ""
    admitted: str = ""
    issue: int | None = None
    key: str = ""
    origins: tuple[RequestOrigin, ...] = ()
    mirrors: tuple[CrossPostTarget, ...] = ()
    hidden: PrivateContent | None = None
    openness: RunVisibility = RunVisibility()
    last: Progress = Progress()
    remarks: tuple[str, ...] = ()


_NOWHERE: Final = RepoRef(forge="", full_name="")


def issue_of(thread: ThreadRef) -> int | None:
    """Return the number of the issue, if the thread is an issue."""
    if isinstance(thread, ForgeThread) and thread.kind is ThreadKind.ISSUE:
        return thread.number
    return None


def destination(plan: RunPlan, trigger: Trigger) -> Destination:
    """Return where the result goes; an unknown repository gets no writes."""
    repository = plan.repository or Repository(
        ref=trigger.place or _NOWHERE,
        default_branch="",
        clone_url="",
        web_url="",
        private=True,
    )
    return Destination(
        repository=repository,
        thread=trigger.thread,
        requester=trigger.asker,
        asked_by=trigger.actor,
        status_post=plan.status_post,
        frame=plan.frame,
        config=plan.config,
        review_threads=plan.review_threads,
        others=trigger.others,
        last=plan.last,
        mirrors=plan.mirrors,
        hidden=plan.hidden,
        origin=_provenance(plan, trigger, repository),
    )


def _provenance(plan: RunPlan, trigger: Trigger, repository: Repository) -> Provenance:
    return Provenance(
        run_id=plan.frame.run_id,
        requester=trigger.asker.login,
        issue=issue_of(trigger.thread) if plan.issue is None else plan.issue,
        model=plan.frame.model,
        handle=plan.frame.handle,
        title=plan.config.title,
        body=plan.config.body,
        names=plan.names,
        template=plan.template,
        run_url=plan.frame.run_url,
        code_url=repository.pages_url,
        config_file=plan.config.file,
        links=plan.frame.links,
        checks_need_nudge=plan.checks_need_nudge,
        key=plan.key,
        origins=plan.origins,
    )


@dataclass(frozen=True)
class EarlyResult:
    """An outcome before the work began; `effects` are the messages about it.

    `read_up_to` is the last event that was read.
    """

    outcome: Outcome
    effects: tuple[Effect, ...]
    read_up_to: int = 0


def tell_requester(thread: ThreadRef, text: str, offers: Offers = ()) -> Effect:
    """Return a private message to the requester, if the service can send one.

    In a chat it concerns nobody else. Elsewhere the final message has the text.
    """
    if thread.kind is ThreadKind.CHAT:
        return AskPrivately(text=text, offers=offers)
    return FinalMessage(offers=offers)


@dataclass(frozen=True)
class AttemptResult:
    """How an attempt ended, and what to store.

    With `quiet` the only answer is a reaction. `effects`, if given, replace the usual
    effects.
    """

    outcome: Outcome
    plan: RunPlan
    read_up_to: int
    artifacts: Mapping[str, bytes] = field(default_factory=dict)
    quiet: bool = False
    effects: tuple[Effect, ...] | None = None

    def with_last(
        self, progress: Progress, mirrors: tuple[CrossPostTarget, ...]
    ) -> "AttemptResult":
        """Return it with the progress at the end, and the threads to cross-post to."""
        return replace(self, plan=self.plan.replace(last=progress, mirrors=mirrors))

    def read(self, up_to: int) -> "AttemptResult":
        """Return it with the events up to this one marked as read."""
        return replace(self, read_up_to=max(self.read_up_to, up_to))


@dataclass(frozen=True)
class MovedResult:
    """The request moved to another conversation: submit `job_id` to the queue."""

    job_id: JobId
