"""The runs, as those who may see them get them."""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from http import HTTPStatus
from typing import Final, TypeVar

from pydantic import Field

from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import Job
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.api.cursors import (
    PageQuery,
    no_cursor,
    write_cursor,
)
from patchwright.workers.api.operations import (
    AnyOperation,
    Call,
    NoInput,
    read_operation,
    write_operation,
)
from patchwright.workers.api.problems import ApiError, not_allowed, not_found
from patchwright.workers.api.queries import ListedRow
from patchwright.workers.api.schemas import (
    RunEntry,
    RunLinkList,
    RunLinkView,
    RunList,
    RunResult,
    SharedRun,
    run_entry,
    run_link_view,
    run_result,
)
from patchwright.workers.db.database import Database
from patchwright.workers.runs.listing import RunListing, read_cursor
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import RunFilter, RunSummary, row_of_job
from patchwright.workers.runs.selection import RunStage
from patchwright.workers.store.run_links import MAX_OPEN_LINKS, RunLink
from patchwright.workers.web.run_access import RunAccess, link_actor

# So many rows are looked at for one page: of most of them somebody may see nothing.
_MOST_LOOKED_AT: Final = 1000
REPOSITORY: Final = r"^[^\x00-\x20]{0,300}$"
_WORDS: Final = r"^[^\x00-\x1f]{0,200}$"
_LINKS: Final = "/api/runs/{id}/links"
ItemT = TypeVar("ItemT")


class RunsQuery(PageQuery):
    """Which runs are wanted."""

    state: RunStage | None = Field(None, description="Only those in this state.")
    outcome: OutcomeKind | None = Field(None, description="Only those with it.")
    repository: str = Field(
        "", pattern=REPOSITORY, description="Only those for `OWNER/NAME`."
    )
    source: str = Field(
        "", pattern=_WORDS, description="Only those that were asked for there."
    )
    requester: str = Field("", pattern=_WORDS, description="Only those of this login.")
    text: str = Field("", pattern=_WORDS, description="Only with that in the title.")


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
    listing: RunListing
    access: RunAccess

    def find(self, principal: Principal, run_id: str) -> Job:
        """Return the run. Raises `ApiError` where it is hidden or not there."""
        job = self.reader.jobs.load(JobId(run_id))
        if job is None or not self.access.is_reader(principal, job):
            raise not_found("run")
        return job

    def view(self, job: Job) -> RunEntry:
        """Return it for a list, at a cost that does not grow with its log."""
        rows = self.listing.rows_of([job.id])
        # Of an answer to a command there is none.
        row = rows[0] if rows else row_of_job(job, RunSummary())
        return run_entry(job, row)

    def list_runs(self, call: Call[RunsQuery, NoInput]) -> RunList:
        """List the runs that you can see, the newest first."""
        query = call.query
        after = read_cursor(query.cursor)
        if query.cursor and after is None:
            raise no_cursor()
        wanted = RunFilter(
            stage=query.state,
            outcome=query.outcome,
            source=query.source,
            requester=query.requester,
            repo=query.repository,
            text=query.text,
        )
        page = self.listing.page(
            wanted,
            sight=self.access.sight_of(call.principal),
            after=after,
            limit=query.limit,
        )
        jobs = ((self.reader.jobs.load(JobId(row.id)), row) for row in page.rows)
        items = tuple(run_entry(job, row) for job, row in jobs if job is not None)
        return RunList(items=items, next=page.after or None)

    def read_run(self, call: Call[NoInput, NoInput]) -> RunResult:
        """Return a run and its result."""
        job = self.find(call.principal, call.id)
        summary = self.reader.summarize(job, self.reader.span(job))
        row = row_of_job(job, summary)
        return run_result(job, row, self.reader.delivered(job))

    def list_run_links(self, call: Call[NoInput, NoInput]) -> RunLinkList:
        """List the links that open a run now, if you may share it."""
        job = self._find_to_share(call.principal, call.id)
        return _links(self.access.links.open_of(job.id))

    def share_run(self, call: Call[NoInput, NoInput]) -> SharedRun:
        """Make a link that opens a run for a month to everybody who has it."""
        job = self._find_to_share(call.principal, call.id)
        links = self.access.links
        link = links.make(job, link_actor(call.principal), call.key)
        if link is None:
            detail = f"This run has {MAX_OPEN_LINKS} open links. Take one back first."
            raise ApiError(HTTPStatus.CONFLICT, "too-many-links", detail)
        return SharedRun(**dict(run_link_view(link)), url=links.url_of(link))

    def revoke_run_links(self, call: Call[NoInput, NoInput]) -> RunLinkList:
        """Take all links to a run back; the answer has those that were open."""
        job = self._find_to_share(call.principal, call.id)
        ids = [one.id for one in self.access.links.open_of(job.id)]
        by = link_actor(call.principal)
        return _links(self.access.links.revoke(job, ids, by))

    def revoke_link(self, call: Call[NoInput, NoInput]) -> RunLinkView:
        """Take a link to a run back: it opens nothing any more, at once."""
        links = self.access.links
        link = links.load(call.id)
        if link is None:
            raise not_found("link")
        try:
            job = self.find(call.principal, link.job_id)
        except ApiError as error:
            raise not_found("link") from error
        self._check_may_share(call.principal, job)
        # One that was taken back before, or has expired, is answered as it is.
        taken = links.revoke(job, [link.id], link_actor(call.principal))
        return run_link_view(taken[0] if taken else links.load(link.id) or link)

    def _find_to_share(self, principal: Principal, run_id: str) -> Job:
        job = self.find(principal, run_id)
        self._check_may_share(principal, job)
        return job

    def _check_may_share(self, principal: Principal, job: Job) -> None:
        if not self.access.may_share(principal, job):
            raise not_allowed(
                "This service makes no links: it takes `server.public_url` and "
                "`security.session_secret`."
            )


def _links(links: Iterable[RunLink]) -> RunLinkList:
    return RunLinkList(items=tuple(map(run_link_view, links)))


def run_operations(runs: VisibleRuns) -> tuple[AnyOperation, ...]:
    return (
        read_operation("/api/runs", runs.list_runs, RunsQuery, RunList),
        read_operation(
            "/api/runs/{id}", runs.read_run, NoInput, RunResult, title="run"
        ),
        *_link_operations(runs),
    )


def _link_operations(runs: VisibleRuns) -> tuple[AnyOperation, ...]:
    return (
        read_operation(
            _LINKS,
            runs.list_run_links,
            NoInput,
            RunLinkList,
            least=Role.MEMBER,
            title="run",
        ),
        write_operation(
            _LINKS,
            runs.share_run,
            NoInput,
            SharedRun,
            title="run",
            status=HTTPStatus.CREATED,
        ),
        write_operation(
            _LINKS,
            runs.revoke_run_links,
            NoInput,
            RunLinkList,
            method="DELETE",
            title="run",
            status=HTTPStatus.OK,
        ),
        write_operation(
            "/api/links/{id}",
            runs.revoke_link,
            NoInput,
            RunLinkView,
            method="DELETE",
            title="link",
            status=HTTPStatus.OK,
        ),
    )
