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
    """Kept with the outcome, so that any worker can deliver it.

    `repository` and `target` are missing when the run ended before they were known.
    `issue` is the one of the repository that the change closes, `key` the ticket's,
    `origins` what the pull request leads back to. `hidden` is what it must not repeat.
    `mirrors` are the other threads of the conversation that are told. `remarks` are
    what could not be done before the work began, a sentence each.
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
    """Return the number of the issue that the thread is."""
    if isinstance(thread, ForgeThread) and thread.kind is ThreadKind.ISSUE:
        return thread.number
    return None


def destination(plan: RunPlan, trigger: Trigger) -> Destination:
    """Say where the result goes; a repository that is not known gets no writes."""
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
        origin=Provenance(
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
            links=plan.frame.links,
            checks_need_nudge=plan.checks_need_nudge,
            key=plan.key,
            origins=plan.origins,
        ),
    )


@dataclass(frozen=True)
class EarlyResult:
    """What is known, or missing; `effects` are how people hear of it.

    `read_up_to` is the last event that was taken notice of.
    """

    outcome: Outcome
    effects: tuple[Effect, ...]
    read_up_to: int = 0


def tell_requester(thread: ThreadRef, text: str, offers: Offers = ()) -> Effect:
    """Tell them alone where that is possible: it concerns nobody else in a chat.

    Elsewhere the message that ends every run says it.
    """
    if thread.kind is ThreadKind.CHAT:
        return AskPrivately(text=text, offers=offers)
    return FinalMessage()


@dataclass(frozen=True)
class AttemptResult:
    """How it ended, and what to keep of it.

    `quiet` means that nobody is told more than a reaction. `effects` are there in place
    of those that usually follow.
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
        """Return it with how far the run was when it ended, and who else is told."""
        return replace(self, plan=self.plan.replace(last=progress, mirrors=mirrors))

    def read(self, up_to: int) -> "AttemptResult":
        """Return it with all until that event read, if no more was."""
        return replace(self, read_up_to=max(self.read_up_to, up_to))


@dataclass(frozen=True)
class MovedResult:
    """The request belongs to another conversation: `job_id` is to be submitted."""

    job_id: JobId
