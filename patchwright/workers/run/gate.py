"""Find out what a repository wishes, and who may ask for what there."""

from datetime import timedelta
from functools import partial

from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.types.ids import ConversationId
from patchwright.core.types.threads import TalkThread, ThreadRef
from patchwright.resolver.admission import Admitted, Declined, Policy
from patchwright.resolver.delivering.concealing import for_the_public
from patchwright.resolver.house import actors_of, judge, occasion_of, policy_for
from patchwright.resolver.messages.answers import Ended
from patchwright.workers.run.permissions import known_permission
from patchwright.workers.run.plan import ARTIFACT, Plan
from patchwright.workers.run.receipts import delivered_by
from patchwright.workers.run.services import Services
from patchwright.workers.store.job import Job


def fetch_config(services: Services, job: Job) -> RepositoryConfig:
    """Read the repository's wishes from its default branch; raises `ServiceError`."""
    orders = services.overrides
    path = orders.config_file
    said = services.code_host.forge.fetch_file(job.trigger.home, path)
    return orders.applied_to(read_repository_config(said, path))


def rules(services: Services, config: RepositoryConfig) -> Policy:
    return policy_for(services.policy, config)


def judge_request(
    services: Services, job: Job, config: RepositoryConfig
) -> Admitted | Declined:
    """Judge whoever took part in a request, by what the forge says of them now."""
    trigger, forge = job.trigger, services.code_host.forge
    since = services.clock.now() - timedelta(hours=1)
    runs = services.stores.jobs.count_since(job.conversation_id, since)
    return judge(
        actors_of(trigger),
        rules(services, config),
        partial(known_permission, forge, trigger.home),
        occasion=occasion_of(trigger.kind),
        # This job is among them, unless nobody asked for it.
        runs_in_thread_last_hour=runs - (not trigger.kind.is_automatic),
    )


def last_run(
    services: Services, conversation_id: ConversationId, thread: ThreadRef
) -> Ended | None:
    """Return the conversation's newest run that has ended, and what came of it.

    It is told in that thread, where everybody may read it.
    """
    stores = services.stores
    job = stores.jobs.newest_run(conversation_id)
    kept = stores.outcomes.load_artifact(job.id, ARTIFACT) if job else None
    if job is None or job.outcome is None or kept is None:
        return None
    plan = Plan.model_validate_json(kept)
    hidden = None if isinstance(thread, TalkThread) else plan.hidden
    return Ended(
        frame=plan.frame,
        trigger=job.trigger,
        outcome=for_the_public(job.outcome, hidden),
        delivered=delivered_by(stores.effects.of_job(job.id)),
    )
