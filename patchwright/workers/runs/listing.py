"""List runs a page at a time, at a cost that does not grow with their number."""

import re
from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, Final, NamedTuple, TypeAlias

import sqlalchemy as sa

from patchwright.core.types.base import JobId, Value
from patchwright.core.types.threads import RepoRef, ThreadKind
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import NO_USAGE, Limits, Usage
from patchwright.resolver.job import JobState
from patchwright.workers.db.columns import AwareTime
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import jobs, run_rows, threads
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.runs.run_row import (
    STATES,
    RunFilter,
    RunRow,
    RunSummary,
    stage_of,
    thread_name,
)
from patchwright.workers.runs.selection import RunStage
from patchwright.workers.store.accounts import known_names

ROWS_PER_PAGE: Final = 50

# Tells whether somebody may see the runs of a repository, those that are open to all
# of its readers, or those with words that are not.
MaySee = Callable[[RepoRef, bool], bool]


class _Scope(NamedTuple):
    """The runs that are decided about at once: who may see one, may see all."""

    forge: str
    repo: str
    is_private: bool


@dataclass(frozen=True)
class Sight:
    """What somebody may see, as far as it was asked; good for a minute, no longer.

    `forge` is the only one where they may see anything, empty if there may be others.
    """

    may_see: MaySee
    forge: str = ""
    allowed: set[_Scope] = field(default_factory=set)
    refused: set[_Scope] = field(default_factory=set)


class RunPage(Value):
    """Some runs, the newest first; `after` leads to the next page, empty at the end."""

    rows: tuple[RunRow, ...]
    after: str


class Cursor(NamedTuple):
    """The place of a run in the list: older ones come after it."""

    created_at: datetime
    job_id: str


# Seventeen digits are a year that a `datetime` has.
_CURSOR: Final = re.compile(r"(\d{1,17})-([0-9A-Za-z-]{1,64})\Z")
_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_MICROSECOND: Final = timedelta(microseconds=1)


def read_cursor(text: str) -> Cursor | None:
    """Return the place that a page has named, None for what no page has."""
    parts = _CURSOR.match(text)
    if parts is None:
        return None
    return Cursor(_EPOCH + int(parts[1]) * _MICROSECOND, parts[2])


def _cursor_text(created_at: datetime, job_id: str) -> str:
    return f"{(created_at - _EPOCH) // _MICROSECOND}-{job_id}"


_Row: TypeAlias = Any
# Of these the outcome is that of an earlier turn.
_AT_WORK: Final = (RunStage.QUEUED, RunStage.RUNNING)
_LISTED: Final = (
    sa.select(run_rows, jobs.c.state)
    .join(jobs, jobs.c.id == run_rows.c.job_id)
    .where(run_rows.c.is_run)
    .order_by(run_rows.c.created_at.desc(), run_rows.c.job_id.desc())
)
_MOST_ASKED_AT_ONCE: Final = 8
# To find out faster what somebody may not see who may see little.
_MOST_LOOKED_AT: Final = 1_000
# From so many on, PostgreSQL reads all runs to find those of the other repositories.
_MANY_REFUSED: Final = 100


def _select_repositories() -> sa.Select[Any]:
    """Select their names, from one to the next in the index: runs are many more."""
    first = sa.select(sa.func.min(run_rows.c.repo).label("repo"))
    names = first.cte("names", recursive=True)
    following = sa.select(sa.func.min(run_rows.c.repo)).where(
        run_rows.c.repo > names.c.repo
    )
    each = sa.select(following.scalar_subquery()).where(names.c.repo.is_not(None))
    names = names.union_all(each)
    return sa.select(names.c.repo).where(names.c.repo.is_not(None))


_REPOSITORIES: Final = _select_repositories()


class RunListing:
    """Lists the runs of a database; `reader` tells what those cost that work now."""

    def __init__(self, database: Database, reader: RunReader) -> None:
        self._database, self._reader = database, reader

    def page(
        self,
        wanted: RunFilter,
        *,
        sight: Sight | None = None,
        after: Cursor | None = None,
        limit: int = ROWS_PER_PAGE,
    ) -> RunPage:
        """Return the newest runs that somebody may see, or those `after` a place.

        With None they may see all. `may_see` may take a while; it is asked about the
        repositories of a page, each once for a `sight`.
        """
        query = _with_filter(_LISTED, wanted, self._ids_of(wanted.requester))
        if after is not None:
            query = query.where(_is_after(after))
        found = self._visible(query, limit + 1, sight)
        rows, has_more = found[:limit], len(found) > limit
        last = rows[-1] if rows else None
        return RunPage(
            rows=self._run_rows(rows),
            after=_cursor_text(last.created_at, last.job_id)
            if last and has_more
            else "",
        )

    def every_row(self, wanted: RunFilter) -> Iterator[RunRow]:
        """Yield the runs, the newest first."""
        after: Cursor | None = None
        while True:
            page = self.page(wanted, after=after, limit=2 * ROWS_PER_PAGE)
            yield from page.rows
            after = read_cursor(page.after)
            if after is None:
                return

    def rows_of(self, job_ids: Sequence[JobId]) -> tuple[RunRow, ...]:
        """Return the rows of these runs, the newest first, for who may see them."""
        query = _LISTED.where(run_rows.c.job_id.in_(job_ids))
        return self._run_rows(self._fetch(query))

    def _visible(
        self, query: sa.Select[Any], count: int, sight: Sight | None
    ) -> Sequence[_Row]:
        """Return the first rows of repositories that somebody may see.

        Only what would be shown is asked about: an installation may have thousands of
        repositories, and each question goes to the forge.
        """
        if sight is None:
            return self._fetch(query.limit(count))
        # Where the work is, is not known yet: whoever may see that, it is not them.
        query = query.where(run_rows.c.repo != sa.literal(""))
        if sight.forge:
            query = query.where(run_rows.c.forge == sight.forge)
        reach, names = count, cache(self._repositories)
        while True:
            seen = query.where(*_not_refused(sight, names)).limit(reach)
            page, is_wide = _with_privacy(seen), reach > count
            # Of many rows only their scopes matter, and the rows of a page come after.
            rows = self._fetch(_scopes_in(page) if is_wide else page)
            asked = sorted({_scope_of(one) for one in rows} - sight.allowed)
            refused = _refused(asked, sight.may_see)
            sight.allowed.update(set(asked) - refused)
            sight.refused.update(refused)
            if not refused and not is_wide:
                return rows
            if not refused:
                reach = count
            elif 2 * len(refused) > len(asked):
                reach = min(_MOST_LOOKED_AT, 4 * reach)

    def _repositories(self) -> frozenset[str]:
        return frozenset(one.repo for one in self._fetch(_REPOSITORIES))

    def _fetch(self, query: sa.Select[Any]) -> Sequence[_Row]:
        with self._database.reading() as connection:
            return connection.execute(query).all()

    def _run_rows(self, rows: Sequence[_Row]) -> tuple[RunRow, ...]:
        places, names = self._places(rows), self._names(rows)
        return tuple(
            self._run_row(one, places.get(one.job_id), names.get(one.job_id, ""))
            for one in rows
        )

    def _names(self, rows: Sequence[_Row]) -> dict[str, str]:
        """Return what those are called whom a row has by an id, by the row's run."""
        elsewhere = [one.job_id for one in rows if one.source != one.forge]
        if not elsewhere:
            return {}
        named = known_names()
        query = (
            sa.select(run_rows.c.job_id, jobs.c.trigger, named.c.host, named.c.login)
            .join(jobs, jobs.c.id == run_rows.c.job_id)
            .join(named, _is_requester(named))
            .where(run_rows.c.job_id.in_(elsewhere))
            .order_by(named.c.rank.desc())
        )
        # An id counts in one workspace, which the row does not have.
        return {
            one.job_id: one.login
            for one in self._fetch(query)
            if Trigger.model_validate_json(one.trigger).asker.host == one.host
        }

    def _ids_of(self, name: str) -> Sequence[str]:
        """Return the ids by which rows have somebody who is called so."""
        if not name:
            return ()
        named = known_names()
        theirs = sa.select(run_rows.c.job_id).where(_is_requester(named))
        query = sa.select(named.c.subject).where(named.c.login == name, theirs.exists())
        return [one.subject for one in self._fetch(query.distinct())]

    def _places(self, rows: Sequence[_Row]) -> dict[str, int]:
        """Return which place in the queue each of them has that waits for a worker."""
        queued = [one.job_id for one in rows if one.state in STATES[RunStage.QUEUED]]
        if not queued:
            return {}
        since = sa.func.coalesce(jobs.c.queued_at, jobs.c.created_at)
        place = sa.func.row_number().over(order_by=(since, jobs.c.id)).label("place")
        line = (
            sa.select(jobs.c.id, place)
            .where(jobs.c.state.in_(STATES[RunStage.QUEUED]))
            .subquery()
        )
        query = sa.select(line).where(line.c.id.in_(queued))
        return {one.id: one.place for one in self._fetch(query)}

    def _run_row(self, row: _Row, position: int | None, name: str) -> RunRow:
        stage = stage_of(JobState(row.state))
        is_at_work = stage in _AT_WORK
        has_begun = stage is RunStage.RUNNING or (is_at_work and row.outcome)
        known = self._so_far(row.job_id) if has_begun else RunSummary()
        usage = Usage.model_validate_json(row.usage) if row.usage else NO_USAGE
        limits = Limits.model_validate_json(row.limits) if row.limits else None
        return RunRow(
            id=row.job_id,
            place="service",
            stage=stage,
            outcome="" if is_at_work else row.outcome,
            reason="" if is_at_work else row.reason,
            proof="" if is_at_work else row.proof,
            source=row.source,
            repo=row.repo,
            thread=thread_name(row.thread, row.repo, is_beside=row.source == row.forge),
            title=row.title or known.title,
            requester=row.requester,
            asked_at=row.created_at,
            steps=known.steps if is_at_work else row.steps,
            usage=known.totals.usage if is_at_work else usage,
            limits=known.limits or limits,
            position=position,
            requester_name=name,
        )

    def _so_far(self, job_id: JobId) -> RunSummary:
        """Return what the log of a run says by now."""
        job = self._reader.jobs.load(job_id)
        if job is None:
            return RunSummary()
        return self._reader.summarize(job, self._reader.span(job))


def _scope_of(row: _Row) -> _Scope:
    return _Scope(row.forge, row.repo, bool(row.keeps_out))


def _refused(asked: Sequence[_Scope], may_see: MaySee) -> set[_Scope]:
    def is_refused(one: _Scope) -> bool:
        repo = RepoRef(forge=one.forge, full_name=one.repo)
        return not may_see(repo, one.is_private)

    if not asked:
        return set()
    with ThreadPoolExecutor(min(len(asked), _MOST_ASKED_AT_ONCE)) as pool:
        answers = list(pool.map(is_refused, asked))
    return {one for one, is_out in zip(asked, answers, strict=True) if is_out}


def _not_refused(
    sight: Sight, names: Callable[[], frozenset[str]]
) -> Iterator[sa.ColumnElement[bool]]:
    """Yield what leaves out the refused rows; few repositories are named instead.

    One that is new since is left to the next page.
    """
    refused = {one.repo for one in sight.refused if not one.is_private}
    scopes: Iterable[_Scope] = sight.refused
    if sight.forge and len(refused) > _MANY_REFUSED:
        others = names() - refused
        if len(others) < len(refused):
            yield run_rows.c.repo.in_(sorted(others))
            scopes = [one for one in scopes if one.repo in others]
    yield from map(sa.not_, _inside(scopes))


def _inside(scopes: Iterable[_Scope]) -> Iterator[sa.ColumnElement[bool]]:
    """Yield what selects these scopes.

    Whoever may not read a repository has no right to its private runs either.
    """
    names: defaultdict[tuple[str, bool], list[str]] = defaultdict(list)
    for one in scopes:
        names[one.forge, one.is_private].append(one.repo)
    for (forge, is_private), repos in names.items():
        there = (run_rows.c.forge == forge) & run_rows.c.repo.in_(sorted(repos))
        yield there & _is_private(run_rows) if is_private else there


_PRIVATE_KINDS: Final = (ThreadKind.CHAT, ThreadKind.TICKET)


def _is_private(rows: sa.FromClause) -> sa.ColumnElement[bool]:
    """Tell of rows whether a thread of theirs is not for all readers of the code."""
    return rows.c.is_private | _private_threads(rows).exists()


def _private_threads(rows: sa.FromClause) -> sa.Select[str]:
    return sa.select(threads.c.key).where(
        threads.c.conversation_id == rows.c.conversation_id,
        threads.c.kind.in_(_PRIVATE_KINDS) | threads.c.audience.is_not(None),
    )


def _with_privacy(query: sa.Select[Any]) -> sa.Select[Any]:
    """Add `keeps_out`, looked up for the rows that were chosen, and for no others."""
    page = query.subquery()
    # Asked whether one exists, PostgreSQL reads the threads of all runs at once.
    one = _private_threads(page).limit(1).scalar_subquery()
    keeps_out = page.c.is_private | one.is_not(None)
    return sa.select(page, keeps_out.label("keeps_out")).order_by(
        page.c.created_at.desc(), page.c.job_id.desc()
    )


def _scopes_in(page: sa.Select[Any]) -> sa.Select[Any]:
    rows = page.order_by(None).subquery()
    return sa.select(rows.c.forge, rows.c.repo, rows.c.keeps_out).distinct()


def _is_after(place: Cursor) -> sa.ColumnElement[bool]:
    here = sa.tuple_(
        sa.literal(place.created_at, AwareTime), sa.literal(place.job_id, sa.String)
    )
    return sa.tuple_(run_rows.c.created_at, run_rows.c.job_id) < here


def _is_requester(named: sa.Subquery) -> sa.ColumnElement[bool]:
    here = run_rows.c
    return (named.c.service == here.source) & (named.c.subject == here.requester)


def _with_filter(
    query: sa.Select[Any], wanted: RunFilter, ids: Sequence[str]
) -> sa.Select[Any]:
    """Narrow it; the requester may have these `ids` as well."""
    columns = run_rows.c
    if wanted.stage is not None:
        query = query.where(_is_at(wanted.stage))
    if wanted.outcome is not None:
        is_at_work = columns.job_id.in_(_ids_in(_AT_WORK))
        query = query.where(columns.outcome == wanted.outcome, sa.not_(is_at_work))
    if wanted.source:
        query = query.where(columns.source == wanted.source)
    if wanted.requester:
        # With `IN`, even of one, the rows would be sorted in place of the index.
        is_theirs = columns.requester == wanted.requester
        if ids:
            is_theirs = columns.requester.in_((wanted.requester, *ids))
        query = query.where(is_theirs)
    if wanted.repo:
        query = query.where(columns.repo == wanted.repo)
    if wanted.text:
        query = query.where(columns.title.icontains(wanted.text, autoescape=True))
    return query


_ACTIVE: Final = tuple(
    stage for stage in RunStage if stage is not RunStage.ENDED and STATES[stage]
)


def _is_at(stage: RunStage) -> sa.ColumnElement[bool]:
    # Those at work are few, and found by their state: the others are all the rest.
    if stage is RunStage.ENDED:
        return run_rows.c.job_id.not_in(_ids_in(_ACTIVE))
    return run_rows.c.job_id.in_(_ids_in((stage,)))


def _ids_in(stages: Sequence[RunStage]) -> sa.Select[str]:
    states = [state for stage in stages for state in STATES[stage]]
    return sa.select(jobs.c.id).where(jobs.c.state.in_(states))
