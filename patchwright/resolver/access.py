"""Whether a job may start, by its repository's configuration and by who asks."""

from dataclasses import replace
from datetime import timedelta
from functools import partial

from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.types.threads import TalkThread
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
from patchwright.resolver.permissions import find_permission
from patchwright.resolver.publish.destination import redact_for_public
from patchwright.resolver.run import End, Run, decline
from patchwright.resolver.run_plan import PLAN_ARTIFACT, RunPlan
from patchwright.resolver.services import StepServices


def fetch_config(services: StepServices, trigger: Trigger) -> RepositoryConfig:
    """Read the repository's wishes from its default branch; raises `ServiceError`."""
    overrides = services.overrides
    path = overrides.config_file
    said = services.code_host.forge.fetch_file(trigger.home, path)
    return overrides.applied_to(read_repository_config(said, path))


def policy_with(services: StepServices, config: RepositoryConfig) -> AdmissionPolicy:
    return repository_policy(services.policy, config)


def admit_request(services: StepServices, run: Run) -> Admitted | Declined:
    """Judge whoever took part in a request, by what the forge says of them now."""
    trigger, forge = run.trigger, services.code_host.forge
    since = services.clock.now() - timedelta(hours=1)
    runs = run.store.count_runs(since)
    return check_access(
        trigger_actors(trigger),
        policy_with(services, run.plan.config),
        partial(find_permission, forge, trigger.home),
        start_trigger=start_trigger_of(trigger.kind),
        # This job is among them, unless nobody asked for it.
        runs_in_thread_last_hour=runs - (not trigger.kind.is_automatic),
    )


def last_run(run: Run) -> PastRun | None:
    """Return the conversation's newest run that has ended, and what came of it.

    It is told in the thread of this one, where everybody may read it.
    """
    last = run.store.find_last_run()
    kept = run.store.load_kept(PLAN_ARTIFACT, last.id) if last else None
    if last is None or last.outcome is None or kept is None:
        return None
    plan = RunPlan.model_validate_json(kept)
    is_private = isinstance(run.trigger.thread, TalkThread)
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
