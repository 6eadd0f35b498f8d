"""Check whether a job may start: permissions on the forge, and the configuration."""

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from functools import partial
from typing import Final

import structlog

from patchwright.core.forge import Forge
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.people import Actor, Permission
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.admission import (
    AdmissionPolicy,
    Admitted,
    Declined,
    check_access,
    repository_policy,
    start_trigger_of,
    trigger_actors,
)
from patchwright.resolver.messages.answers import PastRun
from patchwright.resolver.publish.destination import redact_for_public
from patchwright.resolver.repository import JudgeAccess, RepositoryAccess
from patchwright.resolver.run import End, Run, decline
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.services import StepServices

REMEMBER_S: Final = 60.0

Permissions = Callable[[RepoRef, Actor], Permission | None]

log = structlog.get_logger(__name__)


def find_permission(forge: Forge, repo: RepoRef, actor: Actor) -> Permission | None:
    """Return the permission on the forge, or None if the forge does not answer."""
    try:
        return forge.fetch_permission(repo, actor)
    except ServiceError as error:
        log.warning("permission_unknown", reason=error.reason, login=actor.login)
        return None


def make_access_check(person: Actor, permission: Permissions) -> JudgeAccess:
    """Return a function that checks whether this person may read a repository."""

    def access(repo: RepoRef) -> RepositoryAccess:
        found = permission(repo, person)
        if found is None:
            return RepositoryAccess.UNKNOWN
        may = found.allows(Permission.READ)
        return RepositoryAccess.READABLE if may else RepositoryAccess.UNREADABLE

    return access


class PermissionCache:
    """Permissions from a forge; each is kept for one minute.

    Use it only to search or to read. To start a run, to steer it or to write, ask the
    forge again. An unknown permission is not kept.
    """

    def __init__(self, forge: Forge, monotonic: Callable[[], float]) -> None:
        self._forge, self._monotonic = forge, monotonic
        self._cache: dict[tuple[RepoRef, Actor], tuple[float, Permission]] = {}

    def permission(self, repo: RepoRef, actor: Actor) -> Permission | None:
        now = self._monotonic()
        cached = self._cache.get((repo, actor))
        if cached is not None and now - cached[0] < REMEMBER_S:
            return cached[1]
        found = find_permission(self._forge, repo, actor)
        if found is not None:
            self._cache[repo, actor] = now, found
        return found


def fetch_config(services: StepServices, trigger: Trigger) -> RepositoryConfig:
    """Read the configuration from the default branch; raises `ServiceError`."""
    overrides = services.overrides
    path = overrides.config_file
    file_text = services.code_host.forge.fetch_file(trigger.home, path)
    return overrides.applied_to(read_repository_config(file_text, path))


def policy_with(services: StepServices, config: RepositoryConfig) -> AdmissionPolicy:
    return repository_policy(services.policy, config)


def admit_request(services: StepServices, run: Run) -> Admitted | Declined:
    """Check everybody who took part in a request, by their permissions now."""
    trigger, forge = run.trigger, services.code_host.forge
    since = services.clock.now() - timedelta(hours=1)
    runs = run.store.count_runs(since)
    return check_access(
        trigger_actors(trigger),
        policy_with(services, run.plan.config),
        partial(find_permission, forge, trigger.home),
        start_trigger=start_trigger_of(trigger.kind),
        # This job is counted too, unless it started automatically.
        runs_in_thread_last_hour=runs - (not trigger.kind.is_automatic),
    )


def last_run(run: Run) -> PastRun | None:
    """Return the newest ended run of the conversation, and its result.

    The answer is posted in this run's thread, where everybody may read it.
    """
    last = run.store.find_last_run()
    stored_plan = run.store.load_kept(PLAN_ARTIFACT, last.id) if last else None
    if last is None or last.outcome is None or stored_plan is None:
        return None
    plan = RunPlan.model_validate_json(stored_plan)
    is_private = run.trigger.thread.is_private
    return PastRun(
        frame=plan.frame,
        trigger=last.trigger,
        outcome=redact_for_public(last.outcome, None if is_private else plan.hidden),
        delivered=run.store.load_delivered(last.id),
    )


def admit(services: StepServices, run: Run) -> Run | End:
    judged = admit_request(services, run)
    if isinstance(judged, Declined):
        return decline(services, run, judged)
    if run.has_begun:
        return run
    return replace(run, plan=run.plan.replace(admitted=judged.why))
