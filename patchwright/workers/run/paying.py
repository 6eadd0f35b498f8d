"""Open the purse that a run pays from."""

import structlog

from patchwright.core.settings.model import Settings
from patchwright.workers.run.purse import SharedBudget
from patchwright.workers.run.services import RunServices
from patchwright.workers.store.job import Job


def open_budget(services: RunServices, settings: Settings, job: Job) -> SharedBudget:
    """Return that of who asked, bounded by the `settings` of this run."""
    trigger = job.trigger
    account = services.stores.accounts.account_of(
        trigger.asker, settings.github.api_url
    )
    structlog.contextvars.bind_contextvars(user_id=account)
    return SharedBudget(
        services.stores.reservations,
        settings.limits,
        services.clock,
        job_id=job.id,
        account_id=account,
        repo=trigger.home,
    )
