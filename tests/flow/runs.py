"""The runs of a story's service, whatever service people ask in."""

from sqlalchemy import select

from patchwright.core.types.base import JobId
from patchwright.resolver.job import Job
from patchwright.workers.compose import ServiceParts
from patchwright.workers.db.tables import jobs
from patchwright.workers.jobs.worker import JobWorker


def work(base: ServiceParts, runner: JobWorker) -> None:
    """Run the jobs that wait, as a worker would, and those that come of them."""
    while waiting := base.stores.jobs.take_unfinished(0.0):
        for job_id in waiting:
            runner.run(job_id)


def all_runs(base: ServiceParts) -> list[Job]:
    """Return every run, oldest first."""
    query = select(jobs.c.id).order_by(jobs.c.created_at)
    with base.database.reading() as connection:
        ids = [JobId(one) for one in connection.scalars(query)]
    return [job for one in ids if (job := base.stores.jobs.load(one))]
