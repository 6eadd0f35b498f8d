"""What model calls have cost by day, repository and person, and what may be spent."""

import threading
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import date, timedelta
from itertools import chain
from typing import Any, Final

import sqlalchemy as sa

from patchwright.core.settings.limits import LimitSettings
from patchwright.core.types.base import AccountId, Value
from patchwright.workers.db.database import Database
from patchwright.workers.db.tables import accounts, reservations
from patchwright.workers.store.reservations import BudgetScope

_MICRO: Final = 1_000_000
# A call that was begun before midnight may end after it.
_OPEN_FOR: Final = timedelta(days=1)
_REMEMBERED_FOR: Final = timedelta(days=100)


@dataclass(frozen=True, slots=True)
class SpendRow:
    """What a person's runs have cost in a repository in a day, in USD.

    `repo` is written as `str(RepoRef)`, and the day is one in UTC. `assumed_usd` is
    what calls of an unknown price are taken to have cost, and `reserved_usd` is set
    aside for calls that have not ended. A run that goes on past midnight counts in both
    days. There may be a hundred thousand of these, each of which the database vouches
    for: as models they would take longer to make than to add up.
    """

    day: date
    repo: str
    account_id: AccountId
    spent_usd: float = 0.0
    assumed_usd: float = 0.0
    reserved_usd: float = 0.0
    runs: int = 0

    @property
    def taken_usd(self) -> float:
        """What counts against the ceilings of the day."""
        return self.spent_usd + self.assumed_usd + self.reserved_usd


class SpendReader:
    """Adds up the calls in the database, and remembers the days that are over."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._past: dict[date, tuple[SpendRow, ...]] = {}
        self._lock = threading.Lock()

    def rows(self, since: date, today: date) -> tuple[SpendRow, ...]:
        """Return the sums of the days from `since` up to today."""
        border = today - _OPEN_FOR
        with self._lock, self._database.reading() as connection:
            past = [since + timedelta(n) for n in range((border - since).days)]
            unknown = [one for one in past if one not in self._past]
            if unknown:
                found = defaultdict[date, list[SpendRow]](list)
                for row in _sum(connection, min(unknown), border):
                    found[row.day].append(row)
                self._past |= {day: tuple(found[day]) for day in unknown}
            oldest = min(since, today - _REMEMBERED_FOR)
            for day in [one for one in self._past if one < oldest]:
                del self._past[day]
            newest = _sum(connection, max(since, border), today + timedelta(days=1))
            known = chain.from_iterable(self._past[day] for day in past)
            return (*known, *newest)

    def names_of(self, account_ids: Iterable[str]) -> dict[str, str]:
        """Return what people are called, by their accounts' ids."""
        query = sa.select(accounts.c.id, accounts.c.name).where(
            accounts.c.id.in_(sorted(set(account_ids)))
        )
        with self._database.reading() as connection:
            return {row.id: row.name for row in connection.execute(query)}


def _sum(connection: sa.Connection, start: date, end: date) -> tuple[SpendRow, ...]:
    table = reservations.c
    group = (table.day, table.repo, table.account_id)
    is_open = table.settled_micro_usd.is_(None)
    query = (
        sa.select(
            *group,
            sa.func.sum(sa.func.coalesce(table.settled_micro_usd, 0)).label("spent"),
            sa.func.sum(sa.func.coalesce(table.assumed_micro_usd, 0)).label("assumed"),
            sa.func.sum(sa.case((is_open, table.reserved_micro_usd), else_=0)).label(
                "reserved"
            ),
            sa.func.count(table.job_id.distinct()).label("runs"),
        )
        .where(table.day >= start.isoformat(), table.day < end.isoformat())
        .group_by(*group)
        .order_by(*group)
    )
    return tuple(map(_row, connection.execute(query).all()))


def _row(row: sa.Row[*tuple[Any, ...]]) -> SpendRow:
    day, repo, account_id, spent, assumed, held, runs = row
    # PostgreSQL's sums are decimals.
    return SpendRow(
        date.fromisoformat(day),
        repo,
        AccountId(account_id),
        int(spent) / _MICRO,
        int(assumed) / _MICRO,
        int(held) / _MICRO,
        runs,
    )


class SpendTotal(Value):
    """The sum of what was spent by somebody, somewhere or in a day, in USD."""

    name: str
    spent_usd: float = 0.0
    assumed_usd: float = 0.0
    reserved_usd: float = 0.0
    runs: int = 0


class CeilingState(Value):
    """How much of a ceiling of today is gone; no `name` is everybody together."""

    scope: BudgetScope
    name: str
    taken_usd: float
    ceiling_usd: float

    @property
    def percent(self) -> int:
        return int(self.taken_usd * 100 / self.ceiling_usd)


def fullest(
    ceilings: Iterable[CeilingState], most: int
) -> tuple[tuple[CeilingState, ...], int]:
    """Return at most so many ceilings of each scope, and how many are left out.

    The ceilings are as a report has them: the fullest of each scope come first.
    """
    every = tuple(ceilings)
    counted: Counter[BudgetScope] = Counter()
    shown = []
    for one in every:
        counted[one.scope] += 1
        if counted[one.scope] <= most:
            shown.append(one)
    return tuple(shown), len(every) - len(shown)


class SpendOverview(Value):
    """What was spent from `since` to `until`; the dearest come first, days in order.

    `ceilings` are those of today, and `run_usd` is that of a single run.
    """

    since: date
    until: date
    total: SpendTotal
    days: tuple[SpendTotal, ...]
    repositories: tuple[SpendTotal, ...]
    people: tuple[SpendTotal, ...]
    ceilings: tuple[CeilingState, ...]
    run_usd: float
    rows: tuple[SpendRow, ...]


class SpendScope(Value):
    """Whose view it is: all repositories if None, and all people if nobody is `own`."""

    repositories: frozenset[str] | None = None
    own: AccountId | None = None

    @property
    def is_whole(self) -> bool:
        return self.repositories is None

    def shows(self, repo: str) -> bool:
        return self.repositories is None or repo in self.repositories


WHOLE: Final = SpendScope()


def make_spend_report(
    rows: Iterable[SpendRow],
    names: Mapping[str, str],
    limits: LimitSettings,
    *,
    since: date,
    today: date,
    view: SpendScope = WHOLE,
) -> SpendOverview:
    """Add up the rows; `names` are those of people, by their accounts' ids.

    Of a ceiling that holds for more than the view has, nothing is told.
    """
    every = tuple(rows)
    seen = tuple(one for one in every if view.shows(one.repo))
    by_day = {one.name: one for one in _totals(seen, lambda one: one.day.isoformat())}
    span = [since + timedelta(n) for n in range((today - since).days + 1)]
    days = [one.isoformat() for one in span]
    return SpendOverview(
        since=since,
        until=today,
        total=next(_totals(seen, lambda _: ""), SpendTotal(name="")),
        days=tuple(by_day.get(one, SpendTotal(name=one)) for one in days),
        repositories=_dearest(seen, lambda one: one.repo, repository_name),
        people=_dearest(
            seen, lambda one: one.account_id, lambda one: names.get(one, one)
        ),
        ceilings=tuple(
            _ceilings([one for one in every if one.day == today], names, limits, view)
        ),
        run_usd=limits.max_cost_usd,
        rows=seen,
    )


def repository_name(repo: str) -> str:
    """Return the name of a repository without its service."""
    return repo.partition(":")[2] or repo


_Key = Callable[[SpendRow], str]


def _totals(rows: Iterable[SpendRow], key: _Key) -> Iterator[SpendTotal]:
    """Yield a sum for each key, which is its name."""
    spent, assumed, reserved = (defaultdict[str, float](float) for _ in range(3))
    runs: Counter[str] = Counter()
    for row in rows:
        name = key(row)
        spent[name] += row.spent_usd
        assumed[name] += row.assumed_usd
        reserved[name] += row.reserved_usd
        runs[name] += row.runs
    for name in runs:
        yield SpendTotal(
            name=name,
            spent_usd=spent[name],
            assumed_usd=assumed[name],
            reserved_usd=reserved[name],
            runs=runs[name],
        )


def _dearest(
    rows: Iterable[SpendRow], key: _Key, name: Callable[[str], str]
) -> tuple[SpendTotal, ...]:
    totals = (one.replace(name=name(one.name)) for one in _totals(rows, key))
    return tuple(
        sorted(totals, key=lambda one: (-(one.spent_usd + one.assumed_usd), one.name))
    )


def _ceilings(
    today: list[SpendRow],
    names: Mapping[str, str],
    limits: LimitSettings,
    view: SpendScope,
) -> Iterator[CeilingState]:
    """Yield the ceilings of today that the view may know, the fullest of each first."""
    everybody = today if view.is_whole else []
    places = [one for one in today if view.shows(one.repo)]
    people = [one for one in today if view.is_whole or one.account_id == view.own]
    in_all = limits.per_day_usd
    yield from _used(BudgetScope.DAY, in_all, everybody, lambda _: "", str)
    in_repo = limits.per_repo_day_usd
    yield from _used(
        BudgetScope.REPO_DAY, in_repo, places, lambda one: one.repo, repository_name
    )
    yield from _used(
        BudgetScope.USER_DAY,
        limits.per_user_day_usd,
        people,
        lambda one: one.account_id,
        lambda one: names.get(one, one),
    )


def _used(
    scope: BudgetScope,
    ceiling_usd: float | None,
    rows: Iterable[SpendRow],
    key: _Key,
    name: Callable[[str], str],
) -> Iterator[CeilingState]:
    if ceiling_usd is None:
        return
    taken: dict[str, float] = {}
    for row in rows:
        taken[key(row)] = taken.get(key(row), 0.0) + row.taken_usd
    for one, usd in sorted(taken.items(), key=lambda pair: (-pair[1], pair[0])):
        yield CeilingState(
            scope=scope, name=name(one), taken_usd=usd, ceiling_usd=ceiling_usd
        )
