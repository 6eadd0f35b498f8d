"""Fix what every message of a run shows around its news."""

from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.types.triggers import TriggerKind
from patchwright.resolver.messages.status import Frame
from patchwright.workers.run.services import Services
from patchwright.workers.run.wishes import heed
from patchwright.workers.store.job import Job


def make_frame(services: Services, job: Job, config: RepositoryConfig) -> Frame:
    settings = heed(services.settings, config).settings
    by_label = job.trigger.kind is TriggerKind.LABEL
    return Frame(
        run_id=job.id,
        requester=job.trigger.actor.login,
        handle=settings.github.mention,
        model=services.find_models(settings.agent.model).main.name,
        limits=settings.limits.of_a_run(),
        asked_at=job.created_at,
        label=settings.github.label if by_label else "",
        run_url=services.find_page(job.id, job.created_at),
    )
