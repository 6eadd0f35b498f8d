"""Prove a change once more, on top of what others have pushed while it was made.

No model is asked. It is done where the run has as much time left as the proof took.
"""

from typing import Final

import structlog

from patchwright.core.errors import GitError, RuntimeLostError, SandboxError
from patchwright.core.events.log import EventLog
from patchwright.core.events.types import RunStarted
from patchwright.core.types.work import Evidence, EvidenceRole, Outcome, Task
from patchwright.integrations.git.mirror import Mirror
from patchwright.resolver.prove import prove
from patchwright.resolver.toolkit import RunDependencies
from patchwright.workers.run.author import commit_author_of
from patchwright.workers.run.paying import open_budget
from patchwright.workers.run.plan import RunPlan
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.spec import sandbox_spec
from patchwright.workers.run.wishes import apply_configuration
from patchwright.workers.store.job import Job, Lease

_NO_TIME: Final = "the run had no time left to run it again"
_NO_SANDBOX: Final = "it could not be run again there"

log = structlog.get_logger(__name__)


class SecondProof:
    """Proves the change of one job again; the reason where that was not done."""

    def __init__(self, services: RunServices, job: Job, lease: Lease, plan: RunPlan) -> None:
        self._services, self._job, self._lease, self._plan = services, job, lease, plan
        self._settings = apply_configuration(services.settings, plan.config).settings

    def prove(
        self, outcome: Outcome, mirror: Mirror, base_sha: str, head_sha: str
    ) -> tuple[Evidence, ...] | str:
        """Return what was run on the commits, or why nothing was."""
        took_s = sum(one.seconds for one in outcome.evidence)
        limits = self._settings.limits.of_a_run()
        if outcome.seconds + took_s > limits.max_minutes * 60:
            return _NO_TIME
        dependencies = self._toolkit(mirror)
        task = _task_of(dependencies.log, base_sha)
        if task is None:
            return _NO_SANDBOX
        before = (e for e in outcome.evidence if e.role is EvidenceRole.BEFORE)
        commands = tuple(dict.fromkeys(one.command for one in before))
        try:
            return prove(task, dependencies, head_sha, commands)
        except (GitError, RuntimeLostError, SandboxError) as error:
            log.warning("not_proven_again", reason=error.reason, error=str(error))
            return _NO_SANDBOX

    def _toolkit(self, mirror: Mirror) -> RunDependencies:
        services, job, settings = self._services, self._job, self._settings
        return RunDependencies(
            run_id=job.id,
            models=services.find_models(settings.agent.model),
            sandboxes=services.sandboxes,
            spec=sandbox_spec(settings, job.id),
            code=mirror.objects,
            log=services.stores.events.open(job.conversation_id, self._lease),
            limits=settings.limits.of_a_run(),
            run_budget=open_budget(services, settings, job),
            clock=services.clock,
            author=commit_author_of(settings.github),
            agent_configuration=services.conduct,
            config_file=self._plan.config.file,
        )


def _task_of(events: EventLog, base_sha: str) -> Task | None:
    """Return the task of the newest run, as it is on another base."""
    newest = events.read(limit=1, reverse=True, kinds=frozenset({"run_started"}))
    tasks = (e.payload.task for e in newest if isinstance(e.payload, RunStarted))
    task = next(tasks, None)
    if task is None:
        return None
    return Task.model_validate(task.model_dump() | {"base_sha": base_sha})
