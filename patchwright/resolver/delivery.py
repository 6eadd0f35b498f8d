"""Prove a change again after its base branch moved, and create its publisher."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import Final

import structlog

from patchwright.core.events.log import EventLog
from patchwright.core.events.observations import RunStarted
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.base import JobId
from patchwright.core.types.errors import (
    GitError,
    NotFoundError,
    RuntimeLostError,
    SandboxError,
)
from patchwright.core.types.evidence import ProofReason
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef, Repository
from patchwright.core.types.work import Outcome, Task
from patchwright.integrations.git.mirror import Mirror
from patchwright.integrations.git.objects import ObjectStore
from patchwright.resolver.access import policy_with
from patchwright.resolver.admission import Declined, check_access
from patchwright.resolver.configuration import apply_configuration, commit_author_of
from patchwright.resolver.job import Job
from patchwright.resolver.preparation import fetch_mirror
from patchwright.resolver.proof.evidence import ProofResult, earlier_commands
from patchwright.resolver.prove import proof_dependencies, proof_request, prove
from patchwright.resolver.publish.destination import (
    ProveAgain,
    PublisherDependencies,
    prove_nothing,
)
from patchwright.resolver.publish.publisher import Publisher
from patchwright.resolver.run_plan import RunPlan
from patchwright.resolver.run_store import RunStore
from patchwright.resolver.services import RunDependencies, StepServices
from patchwright.resolver.set_up.cache import name_repository, open_set_up_cache
from patchwright.resolver.set_up.sandboxes import sandbox_spec

_NO_TIME: Final = "the run had no time left to run it again"
_NO_SANDBOX: Final = "it could not be run again there"

log = structlog.get_logger(__name__)


class SecondProof:
    """Proves the change of one job again, or returns the reason why not."""

    def __init__(
        self, services: StepServices, job: Job, store: RunStore, plan: RunPlan
    ) -> None:
        self._services, self._job, self._store, self._plan = services, job, store, plan
        self._settings = apply_configuration(services.settings, plan.config).settings

    def prove(
        self, outcome: Outcome, mirror: Mirror, base_sha: str, head_sha: str
    ) -> ProofResult | str:
        """Return what the commands have shown there, or why nothing ran."""
        took_s = sum(one.seconds for one in outcome.evidence)
        limits = self._settings.limits.of_a_run()
        if outcome.seconds + took_s > limits.max_minutes * 60:
            return _NO_TIME
        config = self._plan.config
        dependencies = proof_run(
            self._services,
            self._job,
            self._store,
            config,
            mirror.objects,
            repository=self._plan.repository,
        )
        task = _task_of(dependencies.log)
        if task is None:
            return _NO_SANDBOX
        commands = earlier_commands((outcome,))
        try:
            whole = self._proof_base(mirror, head_sha) if task.proof_base_sha else ""
            task = task.replace(base_sha=base_sha, proof_base_sha=whole)
            wanted = proof_request(
                task,
                dependencies,
                head_sha,
                commands,
                is_doubtful=_was_doubtful(outcome),
            )
            return prove(wanted, proof_dependencies(dependencies))
        except (GitError, RuntimeLostError, SandboxError) as error:
            log.warning("not_proven_again", reason=error.reason, error=str(error))
            return _NO_SANDBOX

    def _proof_base(self, mirror: Mirror, head_sha: str) -> str:
        """Return where the moved pull request has left its base branch."""
        trusted_sha = self._plan.trusted_sha
        return mirror.objects.merge_base(head_sha, trusted_sha) or ""


def proof_run(
    services: StepServices,
    job: Job,
    store: RunStore,
    config: RepositoryConfig,
    code: ObjectStore,
    *,
    repository: Repository | None = None,
) -> RunDependencies:
    """Return what a proof needs that no agent comes before.

    Set-ups are reused only for a `repository` that is known.
    """
    settings = apply_configuration(services.settings, config).settings
    return RunDependencies(
        run_id=job.id,
        models=services.find_models(settings.agent.model),
        sandboxes=services.sandboxes,
        spec=sandbox_spec(settings, job.id),
        code=code,
        log=store.open_log(),
        limits=settings.limits.of_a_run(),
        run_budget=store.open_budget(job.trigger, settings.limits),
        clock=services.clock,
        author=commit_author_of(services.directory.forge),
        agent_configuration=services.agent_configuration,
        config_file=config.file,
        set_up_cache=open_set_up_cache(services.settings, services.clock),
        repository=name_repository(repository),
    )


def _was_doubtful(outcome: Outcome) -> bool:
    report = outcome.proof_report
    return report is not None and report.reason is ProofReason.DOUBTFUL


def _task_of(events: EventLog) -> Task | None:
    """Return the task of the newest run."""
    newest = events.read(limit=1, reverse=True, kinds=frozenset({"run_started"}))
    tasks = (e.payload.task for e in newest if isinstance(e.payload, RunStarted))
    return next(tasks, None)


def fetch_commits(
    services: StepServices,
    plan: RunPlan,
    outcome: Outcome,
    job_id: JobId,
    *,
    packed: bytes | None,
    find_present: Callable[[Repository], Repository],
) -> Mirror:
    """Return a mirror with the commits of a run, `packed` by whoever made them.

    `find_present` reads the repository again: its branches may have changed.
    """
    repository, target = plan.repository, plan.target
    if repository is None or target is None:
        raise GitError("the run ended before its repository was known")
    fetch = partial(fetch_mirror, services.sources, repository)
    mirror = _fetch_what_is_left(
        fetch, ((target.start_ref, target.trusted_ref), (target.start_ref,))
    )
    if mirror is None:
        # The branch was deleted; the mirror still has its commits.
        mirror = fetch(f"refs/heads/{find_present(repository).default_branch}")
    if packed is None:
        raise GitError("the commits of this run are lost")
    mirror.objects.take(packed, outcome.base_sha, job_id)
    return mirror


def _fetch_what_is_left(
    fetch: Callable[..., Mirror], choices: Sequence[tuple[str, ...]]
) -> Mirror | None:
    """Fetch the first of the choices of which every branch is still there."""
    for refs in choices:
        try:
            return fetch(*refs)
        except NotFoundError:
            continue
    return None


def _no_mirror() -> Mirror:
    raise GitError("the commits are missing")


def make_deliverer(
    services: StepServices,
    plan: RunPlan,
    fetch_mirror: Callable[[], Mirror] = _no_mirror,
    prove_again: ProveAgain = prove_nothing,
) -> Publisher:
    host = services.code_host
    dependencies = PublisherDependencies(
        host.forge,
        services.channel,
        host.reviews,
        fetch_mirror,
        forge_signs=services.directory.forge.signs_commits,
        clock=services.clock,
        invite=services.chat.invite,
        renew=services.chat.renew,
        prove_again=prove_again,
    )
    policy = policy_with(services, plan.config)

    def find_refusal(repo: RepoRef, actors: Sequence[Actor]) -> str | None:
        ask = partial(host.forge.fetch_permission, repo)
        judged = check_access(actors, policy, ask)
        return judged.text if isinstance(judged, Declined) else None

    return Publisher(dependencies, find_refusal)
