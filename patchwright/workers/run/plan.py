"""What is fixed about a run before the agent starts, and kept for its delivery."""

from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.base import Value
from patchwright.core.types.threads import Repository, ThreadKind
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.delivering.destination import Destination
from patchwright.resolver.messages.pull_request import Provenance
from patchwright.resolver.messages.status import Frame, Progress
from patchwright.resolver.target import Target

ARTIFACT = "plan"


class Plan(Value):
    """Kept with the outcome, so that any worker can deliver it.

    `repository` and `target` are missing when the run ended before they were known.
    """

    frame: Frame
    status_post: str = ""
    repository: Repository | None = None
    target: Target | None = None
    trusted_sha: str = ""
    config: RepositoryConfig = RepositoryConfig()
    review_threads: tuple[str, ...] = ()
    names: dict[str, str] = {}
    template: str = ""
    checks_need_nudge: bool = False
    check_sha: str = ""
    admitted: str = ""
    last: Progress = Progress()


def destination(plan: Plan, trigger: Trigger) -> Destination:
    """Say where the result goes; a repository that is not known gets no writes."""
    closes = trigger.thread.kind is ThreadKind.ISSUE
    repository = plan.repository or Repository(
        ref=trigger.thread.repo,
        default_branch="",
        clone_url="",
        web_url="",
        private=True,
    )
    return Destination(
        repository=repository,
        thread=trigger.thread,
        requester=trigger.actor,
        status_post=plan.status_post,
        frame=plan.frame,
        config=plan.config,
        review_threads=plan.review_threads,
        others=trigger.others,
        last=plan.last,
        origin=Provenance(
            run_id=plan.frame.run_id,
            requester=trigger.actor.login,
            issue=trigger.thread.number if closes else None,
            model=plan.frame.model,
            handle=plan.frame.handle,
            title=plan.config.title,
            names=plan.names,
            template=plan.template,
            run_url=plan.frame.run_url,
            checks_need_nudge=plan.checks_need_nudge,
        ),
    )
