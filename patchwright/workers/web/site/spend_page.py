"""The page that shows what was spent, and what may still be spent today."""

import csv
import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, timedelta
from typing import Final, assert_never

from fastapi import FastAPI, Request, Response

from patchwright.core.settings.limits import LimitSettings
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import dollars
from patchwright.core.types.base import AccountId, Value
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.workers.accounts.principal import Principal
from patchwright.workers.runs.spend import (
    WHOLE,
    SpendOverview,
    SpendReader,
    SpendRow,
    SpendScope,
    SpendTotal,
    fullest,
    make_spend_report,
    repository_name,
)
from patchwright.workers.store.reservations import BudgetScope
from patchwright.workers.store.spend_alerts import SpendAlert, SpendAlertStore
from patchwright.workers.web.frame import HEADERS, Site

SPEND_PATH: Final = "/spend"
PERIODS: Final = (7, 30, 90)
_USUAL_PERIOD: Final = 30
_MOST_CEILINGS: Final = 10
_MOST_ROWS: Final = 100


@dataclass(frozen=True)
class SpendPages:
    """What the page works with; `may_read` may take a while, as it asks the forge.

    `account_of` tells whose ceiling is somebody's own.
    """

    site: Site
    find_principal: Callable[[Request], Principal | None]
    may_read: Callable[[RepoRef, Actor], bool]
    account_of: Callable[[Principal], AccountId | None]
    reader: SpendReader
    alerts: SpendAlertStore
    limits: LimitSettings
    clock: Clock


class SpendContext(Value):
    """A report, the warnings that belong to it, and names by accounts' ids."""

    report: SpendOverview
    alerts: tuple[SpendAlert, ...]
    names: Mapping[str, str]


def add_spend_page(app: FastAPI, pages: SpendPages) -> None:
    # Not async, as database and forge may let it wait: FastAPI gives it a thread.
    @app.get(SPEND_PATH, include_in_schema=False)
    def show(request: Request) -> Response:
        """Show the spend of a period."""
        principal = pages.find_principal(request)
        if principal is None:
            return pages.site.sign_in_first(request)
        return _show(pages, principal, _period(request))

    @app.get(f"{SPEND_PATH}.csv", include_in_schema=False)
    def download(request: Request) -> Response:
        """Return the rows of a period as a table for a spreadsheet."""
        principal = pages.find_principal(request)
        if principal is None:
            return pages.site.sign_in_first(request)
        context = _read(pages, principal, _period(request))
        report = context.report
        name = f"spend-{report.since}-{report.until}.csv"
        headers = {**HEADERS, "Content-Disposition": f'attachment; filename="{name}"'}
        return Response(
            as_csv(report.rows, context.names), 200, headers, "text/csv; charset=utf-8"
        )


def _show(pages: SpendPages, principal: Principal, days: int) -> Response:
    context = _read(pages, principal, days)
    report = context.report
    ceilings, left_out = fullest(report.ceilings, _MOST_CEILINGS)
    return pages.site.show(
        "spend.html",
        principal,
        active=SPEND_PATH,
        periods=PERIODS,
        days=days,
        report=report,
        ceilings=ceilings,
        left_out=left_out,
        most_rows=_MOST_ROWS,
        plot=plot_days(report.days),
        most_usd=max(map(_shown_usd, report.days), default=0.0),
        warnings=[_sentence(one, context.names) for one in context.alerts],
        share=_share_of(report),
        usd=dollars,
        whose=ceiling_title,
    )


def _period(request: Request) -> int:
    wanted = request.query_params.get("days", "")
    return int(wanted) if wanted in map(str, PERIODS) else _USUAL_PERIOD


def _read(pages: SpendPages, principal: Principal, days: int) -> SpendContext:
    today = pages.clock.now().astimezone(UTC).date()
    since = today - timedelta(days=days - 1)
    rows = pages.reader.rows(since, today)
    alerts = pages.alerts.list_since(today)
    view = _view_of(pages, principal, rows)
    names = pages.reader.names_of(
        (*(one.account_id for one in rows), *(one.subject for one in alerts))
    )
    report = make_spend_report(
        rows, names, pages.limits, since=since, today=today, view=view
    )
    told = _highest(one for one in alerts if _may_know(view, one))
    return SpendContext(report=report, alerts=told, names=names)


def _highest(alerts: Iterable[SpendAlert]) -> tuple[SpendAlert, ...]:
    """Return the last warning of each ceiling: an earlier one says less."""
    found: dict[tuple[BudgetScope, str], SpendAlert] = {}
    for one in sorted(alerts, key=lambda alert: alert.percent):
        found[one.scope, one.subject] = one
    return tuple(sorted(found.values(), key=lambda alert: -alert.percent))


def _view_of(
    pages: SpendPages, principal: Principal, rows: Sequence[SpendRow]
) -> SpendScope:
    """Return what somebody may see: an admin all, others what they can read."""
    if principal.is_admin:
        return WHOLE
    identity = principal.identity
    readable = (
        one
        for one in {row.repo for row in rows}
        if identity is not None and _can_read(pages, one, identity)
    )
    return SpendScope(repositories=frozenset(readable), own=pages.account_of(principal))


def _can_read(pages: SpendPages, repo: str, identity: Actor) -> bool:
    forge, _, full_name = repo.partition(":")
    if identity.service != forge:
        return False
    return pages.may_read(RepoRef(forge=forge, full_name=full_name), identity)


def _may_know(view: SpendScope, alert: SpendAlert) -> bool:
    match alert.scope:
        case BudgetScope.REPO_DAY:
            return view.shows(alert.subject)
        case BudgetScope.USER_DAY:
            return view.is_whole or alert.subject == view.own
        case BudgetScope.DAY | BudgetScope.RUN:
            return view.is_whole
        case _:
            assert_never(alert.scope)


def _sentence(alert: SpendAlert, names: Mapping[str, str]) -> str:
    whose = ceiling_title(alert.scope, _subject_name(alert, names))
    used = f"{dollars(alert.taken_usd)} of {dollars(alert.ceiling_usd)}"
    return f"{whose}: {alert.percent} % reached at {alert.noted_at:%H:%M} UTC ({used})."


def _subject_name(alert: SpendAlert, names: Mapping[str, str]) -> str:
    if alert.scope is BudgetScope.REPO_DAY:
        return repository_name(alert.subject)
    return names.get(alert.subject, alert.subject)


def ceiling_title(scope: BudgetScope, name: str) -> str:
    """Say whose ceiling it is."""
    return "Everybody together" if scope is BudgetScope.DAY else name


class PlotBar(Value):
    """A day in the plot, in percent of its width and height.

    The part of unknown prices stands on the one that was paid.
    """

    x: float
    width: float
    paid: float
    assumed: float
    title: str


_GAP: Final = 0.2


def plot_days(days: Sequence[SpendTotal]) -> tuple[PlotBar, ...]:
    """Return a bar for each day; the highest fills the plot."""
    most = max(map(_shown_usd, days), default=0.0)
    step = 100 / max(len(days), 1)
    return tuple(
        PlotBar(
            x=round(number * step + step * _GAP / 2, 3),
            width=round(step * (1 - _GAP), 3),
            paid=round(one.spent_usd * 100 / most, 2) if most else 0.0,
            assumed=round(one.assumed_usd * 100 / most, 2) if most else 0.0,
            title=f"{one.name}: {dollars(_shown_usd(one))}",
        )
        for number, one in enumerate(days)
    )


def _shown_usd(one: SpendTotal) -> float:
    return one.spent_usd + one.assumed_usd


def _share_of(report: SpendOverview) -> Callable[[SpendTotal], float]:
    """Return what tells how much of the whole a part is, in percent."""
    whole = _shown_usd(report.total)
    return lambda one: round(_shown_usd(one) * 100 / whole, 1) if whole else 0.0


_COLUMNS: Final = (
    *("day", "repository", "person", "spent_usd", "assumed_usd"),
    *("reserved_usd", "runs"),
)
# What a spreadsheet would take for a formula.
# https://owasp.org/www-community/attacks/CSV_Injection
_FORMULAS: Final = ("=", "+", "-", "@", "\t", "\r")


def as_csv(rows: Sequence[SpendRow], names: Mapping[str, str]) -> str:
    """Write the rows with a line of headings; `names` are by accounts' ids."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(_COLUMNS)
    for row in rows:
        person = names.get(row.account_id, row.account_id)
        money = (row.spent_usd, row.assumed_usd, row.reserved_usd)
        writer.writerow(
            (
                row.day.isoformat(),
                _harmless(repository_name(row.repo)),
                _harmless(person),
                *(f"{usd:.6f}" for usd in money),
                row.runs,
            )
        )
    return text.getvalue()


def _harmless(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULAS) else text
