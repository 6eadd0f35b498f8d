"""The runs, as those who may see them get them."""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final, TypeVar

from pydantic import Field

from patchwright.core.types.base import JobId
from patchwright.resolver.commands import makes_run
from patchwright.resolver.job import Job, is_over
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.api.cursors import (
    PageQuery,
    Position,
    read_position,
    write_cursor,
)
from patchwright.workers.api.operations import (
    AnyOperation,
    Call,
    NoInput,
    read_operation,
)
from patchwright.workers.api.problems import not_found
from patchwright.workers.api.queries import ListedRow, newest_runs
from patchwright.workers.api.schemas import (
    RunEntry,
    RunList,
    RunReport,
    run_entry,
    run_report,
)
from patchwright.workers.db.database import Database
from patchwright.workers.runs.reader import EventSpan, RunReader
from patchwright.workers.runs.run_row import RunSummary, row_of_job
from patchwright.workers.runs.selection import RunStage
from patchwright.workers.web.pages.access import RunAccess

# So many rows are looked at for one page: of most of them somebody may see nothing.
_MOST_LOOKED_AT: Final = 1000
REPOSITORY: Final = r"^[^\x00-\x20]{0,300}$"
ItemT = TypeVar("ItemT")


class RunsQuery(PageQuery):
    """Which runs are wanted."""

    state: RunStage | None = Field(None, description="Only those in this state.")
    repository: str = Field(
        "", pattern=REPOSITORY, description="Only those for `OWNER/NAME`."
    )


def take_page(
    rows: Iterable[ListedRow], find: Callable[[str], ItemT | None], limit: int
) -> tuple[tuple[ItemT, ...], str | None]:
    """Return what `find` finds of the rows, and the cursor of the page after it.

    A page may be short, or empty, and still have one after it.
    """
    items: list[ItemT] = []
    for count, row in enumerate(rows, 1):
        found = find(row.id)
        if found is not None:
            items.append(found)
        if len(items) == limit or count == _MOST_LOOKED_AT:
            return tuple(items), write_cursor(row.position)
    return tuple(items), None


@dataclass(frozen=True)
class VisibleRuns:
    """The runs of the service as far as somebody may see them."""

    database: Database
    reader: RunReader
    access: RunAccess

    def find(self, principal: Principal, run_id: str) -> Job:
        """Return the run. Raises `ApiError` where it is hidden or not there."""
        job = self.reader.jobs.load(JobId(run_id))
        if job is None or not self.access.is_reader(principal, job):
            raise not_found("run")
        return job

    def view(self, job: Job) -> RunEntry:
        """Return it for a list, at a cost that does not grow with its log."""
        return run_entry(job, row_of_job(job, self._briefly(job)))

    def find_view(self, principal: Principal, run_id: str) -> RunEntry | None:
        job = self.reader.jobs.load(JobId(run_id))
        if job is None or not makes_run(job.trigger):
            return None
        return self.view(job) if self.access.is_reader(principal, job) else None

    def newest(
        self,
        principal: Principal,
        after: Position | None,
        query: RunsQuery,
    ) -> tuple[tuple[RunEntry, ...], str | None]:
        rows: Iterator[ListedRow] = newest_runs(
            self.database, after, query.state, query.repository
        )
        return take_page(rows, lambda one: self.find_view(principal, one), query.limit)

    def _briefly(self, job: Job) -> RunSummary:
        """Read the log of what works still; the outcome says enough of what ended."""
        span = EventSpan() if is_over(job) else self.reader.span(job)
        return self.reader.summarize(job, span)

    def list_runs(self, call: Call[RunsQuery, NoInput]) -> RunList:
        """List the runs that you can see, the newest first."""
        after = read_position(call.query.cursor)
        items, following = self.newest(call.principal, after, call.query)
        return RunList(items=items, next=following)

    def read_run(self, call: Call[NoInput, NoInput]) -> RunReport:
        """Return a run and its result."""
        job = self.find(call.principal, call.id)
        summary = self.reader.summarize(job, self.reader.span(job))
        row = row_of_job(job, summary)
        return run_report(job, row, self.reader.delivered(job))


def run_operations(runs: VisibleRuns) -> tuple[AnyOperation, ...]:
    return (
        read_operation("/api/runs", runs.list_runs, RunsQuery, RunList),
        read_operation(
            "/api/runs/{id}", runs.read_run, NoInput, RunReport, title="run"
        ),
    )
