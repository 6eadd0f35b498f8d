"""Find out what a repository wishes, and who may ask for what there."""

from datetime import timedelta
from functools import partial

from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.types.ids import ConversationId
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.resolver.admission import Admitted, Declined, AdmissionPolicy
from patchwright.resolver.delivering.concealing import redact_for_public
from patchwright.resolver.house import trigger_actors, check_access, start_trigger_of, repository_policy
from patchwright.resolver.messages.answers import PastRun
from patchwright.workers.run.permissions import find_permission
from patchwright.workers.run.plan import PLAN_ARTIFACT, RunPlan
from patchwright.workers.run.receipts import delivery_results_of
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job


def fetch_config(services: RunServices, job: Job) -> RepositoryConfig:
    """Read the repository's wishes from its default branch; raises `ServiceError`."""
    orders = services.overrides
    path = orders.config_file
    said = services.code_host.forge.fetch_file(job.trigger.home, path)
    return orders.applied_to(read_repository_config(said, path))


def policy_with(services: RunServices, config: RepositoryConfig) -> AdmissionPolicy:
    return repository_policy(services.policy, config)


def admit_request(
    services: RunServices, job: Job, config: RepositoryConfig
) -> Admitted | Declined:
    """Judge whoever took part in a request, by what the forge says of them now."""
    trigger, forge = job.trigger, services.code_host.forge
    since = services.clock.now() - timedelta(hours=1)
    runs = services.stores.jobs.count_since(job.conversation_id, since)
    return check_access(
        trigger_actors(trigger),
        policy_with(services, config),
        partial(find_permission, forge, trigger.home),
        start_trigger=start_trigger_of(trigger.kind),
        # This job is among them, unless nobody asked for it.
        runs_in_thread_last_hour=runs - (not trigger.kind.is_automatic),
    )


def last_run(
    services: RunServices, conversation_id: ConversationId, thread: ThreadRef
) -> PastRun | None:
    """Return the conversation's newest run that has ended, and what came of it.

    It is told in that thread, where everybody may read it.
    """
    stores = services.stores
    job = stores.jobs.newest_run(conversation_id)
    kept = stores.outcomes.load_artifact(job.id, PLAN_ARTIFACT) if job else None
    if job is None or job.outcome is None or kept is None:
        return None
    plan = RunPlan.model_validate_json(kept)
    hidden = None if isinstance(thread, TalkThread) else plan.hidden
    return PastRun(
        frame=plan.frame,
        trigger=job.trigger,
        outcome=redact_for_public(job.outcome, hidden),
        delivered=delivery_results_of(stores.effects.of_job(job.id)),
    )
