"""The list of runs: filters in its address, pages of it, and what changes, live."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.responses import RedirectResponse

from patchwright.core.plugin import ServiceProfile
from patchwright.core.system.clock import Clock
from patchwright.core.text.strings import dollars
from patchwright.core.types.base import Value
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.threads import OWN_REQUEST
from patchwright.resolver.messages.outcome_kinds import Tone, display_of
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.runs.listing import RunListing, RunPage, read_cursor
from patchwright.workers.runs.run_row import (
    RunFilter,
    RunRow,
    age_text,
    repository_text,
    state_of_row,
)
from patchwright.workers.runs.selection import SHORT_ID_LENGTH, RunStage
from patchwright.workers.web.frame import Site, render
from patchwright.workers.web.run_access import RunAccess
from patchwright.workers.web.site.runs_live import LiveRows

RUNS_PATH: Final = "/runs"
_SEE_OTHER: Final = 303
_MAX_FIELD_CHARS: Final = 300
# Where a run of the command line is, is not known here.
STAGES: Final[Mapping[str, str]] = {
    RunStage.QUEUED: "Queued",
    RunStage.RUNNING: "Working",
    RunStage.WAITING: "Needs an answer",
    RunStage.DELIVERING: "Delivering",
    RunStage.ENDED: "Ended",
}


@dataclass(frozen=True)
class RunsPages:
    """What the list works with.

    `sources` are the titles of services that requests come from, by name; `forge` says
    how people call us there. `form_path` is the page for requests, if any.
    """

    site: Site
    listing: RunListing
    access: RunAccess
    live: LiveRows
    clock: Clock
    forge: ServiceProfile
    sources: Mapping[str, str]
    form_path: str = ""


class ListQuery(Value):
    """What somebody wants to see, as the address says it; `problem` is a sentence."""

    fields: Mapping[str, str] = {}
    wanted: RunFilter = RunFilter()
    problem: str = ""

    @property
    def typed(self) -> Mapping[str, str]:
        """Return what is in each field of the form."""
        return {name: self.fields.get(name, "") for name in _FIELDS}

    def address(self, path: str, **more: str) -> str:
        """Return an address with the same filters."""
        fields = urlencode({**self.fields, **more})
        return f"{path}?{fields}" if fields else path


_FIELDS: Final = ("text", "state", "outcome", "source", "repo", "requester")


def read_query(given: Mapping[str, str]) -> ListQuery:
    """Read the filters of an address; a word that none knows is a problem."""
    typed = {name: given.get(name, "").strip()[:_MAX_FIELD_CHARS] for name in _FIELDS}
    fields = {name: text for name, text in typed.items() if text}
    state, outcome = fields.get("state"), fields.get("outcome")
    if state is not None and state not in STAGES:
        return ListQuery(fields=fields, problem=_unknown("state", state, STAGES))
    if outcome is not None and outcome not in list(OutcomeKind):
        problem = _unknown("outcome", outcome, list(OutcomeKind))
        return ListQuery(fields=fields, problem=problem)
    wanted = RunFilter(
        stage=RunStage(state) if state else None,
        outcome=OutcomeKind(outcome) if outcome else None,
        source=fields.get("source", ""),
        requester=fields.get("requester", "").removeprefix("@"),
        repo=fields.get("repo", ""),
        text=fields.get("text", ""),
    )
    return ListQuery(fields=fields, wanted=wanted)


def _unknown(what: str, word: str, known: Iterable[str]) -> str:
    return f"“{word}” is unknown as {what}. Use one of these: {', '.join(known)}."


class RunItem(Value):
    """A run as the list shows it; `share` is the part of the budget in percent."""

    id: str
    short_id: str
    at: str
    age: str
    state: str
    tone: Tone
    title: str
    repository: str
    source: str
    thread: str
    requester: str
    cost: str
    budget: str
    share: int | None


_MOST_PERCENT: Final = 100


def item_of(pages: RunsPages, run: RunRow) -> RunItem:
    state, tone = state_of_row(run)
    repository, is_own = repository_text(run), run.thread == OWN_REQUEST
    if run.position is not None:
        state = f"{state}, place {run.position}"
    cost_usd = run.usage.cost_usd
    budget_usd = run.limits.max_cost_usd if run.limits else 0.0
    has_share = cost_usd is not None and budget_usd > 0
    has_begun = run.limits is not None or run.steps > 0
    return RunItem(
        id=run.id,
        short_id=run.id[:SHORT_ID_LENGTH],
        at=run.asked_at.isoformat() if run.asked_at else "",
        age=age_text(run.asked_at, pages.clock.now()),
        state=state,
        tone=tone,
        title=" ".join(run.title.split()) or "A run without a title",
        repository=repository,
        source="this service" if is_own else pages.sources.get(run.source, run.source),
        thread="" if is_own or run.thread == repository else run.thread,
        requester=run.asked_by,
        cost=_cost(cost_usd) if has_begun else "",
        budget=dollars(budget_usd) if has_share else "",
        share=min(_MOST_PERCENT, round(_MOST_PERCENT * (cost_usd or 0.0) / budget_usd))
        if has_share
        else None,
    )


def _cost(cost_usd: float | None) -> str:
    return "cost unknown" if cost_usd is None else dollars(cost_usd)


def add_runs_page(app: FastAPI, pages: RunsPages) -> None:
    @app.get("/", include_in_schema=False)
    async def home() -> Response:
        """Redirect from the service's address to the list of runs."""
        return RedirectResponse(f"{pages.site.prefix}{RUNS_PATH}", _SEE_OTHER)

    # Not async, as database and forge may let it wait: FastAPI gives it a thread.
    @app.get(RUNS_PATH, include_in_schema=False)
    def show(request: Request) -> Response:
        """Show the list of runs."""
        principal = pages.access.find_principal(request)
        if principal is None:
            return pages.site.sign_in_first(request)
        query = read_query(request.query_params)
        after = request.query_params.get("after", "")
        return _show(pages, principal, query, after)

    @app.get(f"{RUNS_PATH}/live", include_in_schema=False)
    async def live(request: Request) -> Response:
        """Send the runs of the list that are new or change (server-sent events)."""
        principal = await run_in_threadpool(pages.access.find_principal, request)
        if principal is None:
            return Response(status_code=401)
        query = read_query(request.query_params)
        if query.problem:
            return Response(query.problem, 422)
        sight = pages.access.sight_of(principal)

        def row_html(run: RunRow) -> str:
            item = item_of(pages, run)
            return render("runs_row.html", run=item, prefix=pages.site.prefix)

        return pages.live.follow(query.wanted, sight, row_html)


def _show(
    pages: RunsPages, principal: Principal, query: ListQuery, after: str
) -> Response:
    place = read_cursor(after)
    if query.problem:
        found = RunPage(rows=(), after="")
    else:
        sight = pages.access.sight_of(principal)
        found = pages.listing.page(query.wanted, sight=sight, after=place)
    path = f"{pages.site.prefix}{RUNS_PATH}"
    older = query.address(path, after=found.after) if found.after else ""
    can_ask = pages.form_path and principal.role.allows(Role.MEMBER)
    return pages.site.show(
        "runs.html",
        principal,
        status=422 if query.problem else 200,
        active=RUNS_PATH,
        runs=[item_of(pages, one) for one in found.rows],
        query=query,
        stages=STAGES,
        outcomes={one.value: display_of(one).title for one in OutcomeKind},
        sources=pages.sources,
        own=principal.identity.login if principal.identity else "",
        forge=pages.forge,
        live="" if place or query.problem else query.address(f"{path}/live"),
        newest=query.address(path) if place is not None else "",
        older=older,
        request_form=f"{pages.site.prefix}{pages.form_path}" if can_ask else "",
    )
