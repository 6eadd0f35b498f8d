"""The audit log, for admins: to read, to filter, and to export."""

import csv
import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from typing import Final
from urllib.parse import urlencode

from fastapi import FastAPI, Request, Response
from fastapi.responses import StreamingResponse

from patchwright.core.system.clock import Clock
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.store.audit import (
    AuditAction,
    AuditFilter,
    AuditLog,
    AuditRow,
)
from patchwright.workers.web.frame import Site
from patchwright.workers.web.site.form_posts import FormPosts
from patchwright.workers.web.site.people_pages import PEOPLE_PATH

AUDIT_PATH: Final = "/audit"
_MOST_SHOWN: Final = 200
# What people read in place of the stored words.
_WORDS: Final[Mapping[str, str]] = {
    AuditAction.SIGNED_IN: "signed in",
    AuditAction.SIGNED_OUT: "signed out",
    AuditAction.SESSIONS_ENDED: "sessions ended",
    AuditAction.LINKED: "identity linked",
    AuditAction.UNLINKED: "identity removed",
    AuditAction.TOKENS_FORGOTTEN: "forge tokens forgotten",
    AuditAction.ROLE: "role changed",
    AuditAction.TOKEN_MADE: "API token made",
    AuditAction.TOKEN_REVOKED: "API token revoked",
    AuditAction.SETTINGS: "settings changed",
    AuditAction.RUN_SHARED: "run shared",
    AuditAction.RUN_LINK_REVOKED: "link to a run taken back",
}
# A spreadsheet would take a cell that begins so for a formula.
# https://owasp.org/www-community/attacks/CSV_Injection
_FORMULA: Final = ("=", "+", "-", "@", "\t", "\r")


@dataclass(frozen=True)
class AuditPages:
    site: Site
    posts: FormPosts
    audit: AuditLog
    clock: Clock


def add_audit_page(app: FastAPI, pages: AuditPages) -> None:
    on_get = pages.posts.on_get

    def show(request: Request, principal: Principal) -> Response:
        """Show admins the audit log."""
        return _show(pages, request, principal)

    def as_csv(request: Request, principal: Principal) -> Response:
        """Export the audit log as CSV."""
        return _export(pages, request, principal, _CSV)

    def as_jsonl(request: Request, principal: Principal) -> Response:
        """Export the audit log as JSON lines."""
        return _export(pages, request, principal, _JSON_LINES)

    for path, page in (
        (AUDIT_PATH, show),
        (f"{AUDIT_PATH}.csv", as_csv),
        (f"{AUDIT_PATH}.jsonl", as_jsonl),
    ):
        app.get(path, include_in_schema=False)(on_get(page, Role.ADMIN))


def _show(pages: AuditPages, request: Request, principal: Principal) -> Response:
    wanted = _read_filter(request.query_params)
    problem = wanted if isinstance(wanted, str) else ""
    chosen = AuditFilter() if isinstance(wanted, str) else wanted
    rows = pages.audit.read(chosen, _MOST_SHOWN + 1)
    query = {
        name: request.query_params.get(name, "")
        for name in ("what", "person", "since", "until")
    }
    return pages.site.show(
        "audit.html",
        principal,
        active=PEOPLE_PATH,
        status=422 if problem else 200,
        rows=rows[:_MOST_SHOWN],
        has_more=len(rows) > _MOST_SHOWN,
        most=_MOST_SHOWN,
        words=_WORDS,
        query=query,
        export_query=urlencode({k: v for k, v in query.items() if v}),
        problem=problem,
    )


def _read_filter(query: Mapping[str, str]) -> AuditFilter | str:
    """Return what is wanted, or a sentence that says what is wrong."""
    what = query.get("what", "")
    if what and what not in list(AuditAction):
        return f"There is no entry of the kind “{what}”."
    try:
        since, until = _day(query.get("since", "")), _day(query.get("until", ""))
    except ValueError:
        return "Write a day as YYYY-MM-DD."
    return AuditFilter(
        what=what,
        person=query.get("person", "")[:100].strip(),
        since=since,
        until=until + timedelta(days=1) if until else None,
    )


def _day(text: str) -> datetime | None:
    return datetime.combine(date.fromisoformat(text), time(), UTC) if text else None


@dataclass(frozen=True)
class _Form:
    """How entries are exported: the lines, their media type, and the file's ending."""

    write: Callable[[Iterator[AuditRow]], Iterator[str]]
    media_type: str
    ending: str


def _export(
    pages: AuditPages,
    request: Request,
    principal: Principal,
    form: _Form,
) -> Response:
    wanted = _read_filter(request.query_params)
    if isinstance(wanted, str):
        return pages.posts.problem(principal, 422, "Nothing was exported", wanted)
    name = f"audit-{pages.clock.now():%Y-%m-%d}.{form.ending}"
    headers = {
        "Cache-Control": "no-store",
        "Content-Disposition": f'attachment; filename="{name}"',
        "X-Content-Type-Options": "nosniff",
    }
    lines = form.write(pages.audit.read_all(wanted))
    return StreamingResponse(lines, 200, headers, form.media_type)


_COLUMNS: Final = ("at", "account", "what", "about", "by", "detail")


def _csv_lines(rows: Iterator[AuditRow]) -> Iterator[str]:
    yield _csv_line(_COLUMNS)
    for row in rows:
        facts = row.model_dump(mode="json")
        yield _csv_line([_safe_cell(facts[name]) for name in _COLUMNS])


def _csv_line(cells: Sequence[str]) -> str:
    text = io.StringIO()
    csv.writer(text).writerow(cells)
    return text.getvalue()


def _safe_cell(text: str) -> str:
    return f"'{text}" if text.startswith(_FORMULA) else text


def _json_lines(rows: Iterator[AuditRow]) -> Iterator[str]:
    for row in rows:
        yield json.dumps(row.model_dump(mode="json"), ensure_ascii=False) + "\n"


_CSV: Final = _Form(_csv_lines, "text/csv", "csv")
_JSON_LINES: Final = _Form(_json_lines, "application/jsonl", "jsonl")
