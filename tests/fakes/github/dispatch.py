"""One HTTP request, whatever it is for: git, the API, or a failure to order."""

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from tests.fakes.github import (
    attachments,
    form_pages,
    git_http,
    graphql,
    log_store,
    people_pages,
    routing,
    web_pages,
)
from tests.fakes.github.auth import CallerKind
from tests.fakes.github.exchange import Answer, Request, not_found
from tests.fakes.github.faults import Faults, Moment, When
from tests.fakes.github.server import Wire, json_bytes
from tests.fakes.github.state import World

ENTERPRISE_API = "/api/v3"


@dataclass(frozen=True, kw_only=True)
class RequestSeen:
    """A line of the log; `authorization` says how the caller showed who they are."""

    method: str
    path: str
    status: int
    authorization: CallerKind


Watch = Callable[[Request, routing.Handled], None]


@dataclass(kw_only=True)
class Dispatch:
    """Sends each request where it belongs, and writes the log."""

    world: World
    faults: Faults
    watch: Watch
    log: list[RequestSeen] = field(default_factory=list)

    def respond(self, request: Request) -> Wire:
        cut = self.faults.interruption(request.method, request.path, request.body)
        if cut is not None and cut.moment is Moment.BEFORE:
            cut.happens()
        wire = self._respond(request)
        if cut is not None and cut.moment is Moment.AFTER:
            cut.happens()
        return wire

    def _respond(self, request: Request) -> Wire:
        fault = self.faults.take(request.method, request.path)
        if fault is not None and fault.when is When.INSTEAD:
            self._note(request, fault.answer.status, CallerKind.ANONYMOUS)
            return _wire(self.world, fault.answer)
        wire, caller = self._serve(request)
        if fault is not None:
            wire = _wire(self.world, fault.answer)
        self._note(request, wire.status, caller)
        return wire

    def _serve(self, request: Request) -> tuple[Wire, CallerKind]:
        if git_http.is_git(request.path):
            git = git_http.serve(self.world, request)
            return Wire(git.status, git.headers, git.body), git.caller
        if log_store.is_log(request.path):
            return log_store.serve(self.world, request), CallerKind.ANONYMOUS
        if attachments.is_attachment(request.path):
            return attachments.serve(self.world, request)
        if graphql.is_graphql(self.world, request):
            handled = graphql.respond(self.world, request)
            return _wire(self.world, handled.answer), handled.caller
        if form_pages.is_page(request):
            return form_pages.serve(self.world, request), CallerKind.ANONYMOUS
        if web_pages.is_page(request):
            answer = web_pages.respond(self.world, request)
            return _wire(self.world, answer), CallerKind.ANONYMOUS
        if people_pages.is_page(request):
            return people_pages.serve(self.world, request), CallerKind.ANONYMOUS
        inner = _without_prefix(self.world, request)
        if inner is None:
            return _wire(self.world, not_found().answer()), CallerKind.ANONYMOUS
        with self.world.lock:
            handled = routing.respond(self.world, inner)
        self.watch(inner, handled)
        return _tagged(request, _wire(self.world, handled.answer)), handled.caller

    def _note(self, request: Request, status: int, caller: CallerKind) -> None:
        seen = RequestSeen(
            method=request.method,
            path=request.path,
            status=status,
            authorization=caller,
        )
        self.log.append(seen)


def _without_prefix(world: World, request: Request) -> Request | None:
    """Return the request as the API means it; a server's own API has a prefix."""
    if not world.enterprise:
        return request
    if not request.path.startswith(f"{ENTERPRISE_API}/"):
        return None
    return replace(request, path=request.path.removeprefix(ENTERPRISE_API))


def _tagged(request: Request, wire: Wire) -> Wire:
    """Name the edition of what is read; who has it already is told just that.

    https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
    """
    if request.method != "GET" or wire.status != 200:
        return wire
    tag = f'W/"{hashlib.sha256(wire.body).hexdigest()}"'
    headers = {**wire.headers, "ETag": tag}
    if request.headers.get("if-none-match") == tag:
        return Wire(304, headers, b"")
    return Wire(200, headers, wire.body)


def _wire(world: World, answer: Answer) -> Wire:
    headers = {
        "Content-Type": "application/json; charset=utf-8",
        "X-GitHub-Media-Type": "github.v3; format=json",
        "X-RateLimit-Limit": "5000",
        "X-RateLimit-Remaining": "4999",
        "X-RateLimit-Reset": str(int(world.clock.now().timestamp()) + 3600),
        "X-RateLimit-Resource": "core",
        "X-RateLimit-Used": "1",
        **answer.headers,
    }
    if world.enterprise:
        headers["X-GitHub-Enterprise-Version"] = "3.17.0"
    return Wire(answer.status, headers, json_bytes(answer.body))
