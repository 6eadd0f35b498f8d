"""One HTTP request, whatever it is for: git, the API, a page, or a failure to order."""

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from urllib.parse import urlsplit

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.github.faults import Faults, Moment, When
from tests.fakes.github.server import Wire, json_bytes
from tests.fakes.gitlab import git_http, oauth, pages, routing
from tests.fakes.gitlab.state import World

API = "/api/v4"
LIMIT = 2000


@dataclass(frozen=True, kw_only=True)
class RequestSeen:
    """A line of the log; `authorization` says how the caller showed who they are."""

    method: str
    path: str
    status: int
    authorization: str


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
            self._note(request, fault.answer.status, "none")
            return _wire(self.world, fault.answer)
        wire, caller = self._serve(request)
        if fault is not None:
            wire = _wire(self.world, fault.answer)
        self._note(request, wire.status, caller)
        return wire

    def _serve(self, request: Request) -> tuple[Wire, str]:
        inner = self._without_prefix(request)
        if inner is None:
            return Wire(404, {"Content-Type": "text/html"}, b"Not Found"), "none"
        if git_http.is_git(inner.path):
            wire, caller = git_http.serve(self.world, inner)
            return wire, caller.word
        if inner.path in oauth.PATHS:
            return oauth.serve(self.world, inner), "none"
        if not inner.path.startswith(f"{API}/"):
            return pages.serve(self.world, inner), "none"
        called = replace(inner, path=inner.path.removeprefix(API))
        handled = routing.respond(self.world, called)
        self.watch(called, handled)
        return _wire(self.world, handled.answer), handled.caller.word

    def _without_prefix(self, request: Request) -> Request | None:
        """Return the request as the server itself sees it, which may share its host."""
        prefix = urlsplit(self.world.base_url).path
        if not request.path.startswith(f"{prefix}/"):
            return None
        return replace(request, path=request.path.removeprefix(prefix))

    def _note(self, request: Request, status: int, caller: str) -> None:
        seen = RequestSeen(
            method=request.method,
            path=request.path,
            status=status,
            authorization=caller,
        )
        self.log.append(seen)


def _wire(world: World, answer: Answer) -> Wire:
    now = world.clock.now()
    reset = int(now.timestamp()) // 60 * 60 + 60
    headers = {
        "Content-Type": "application/json",
        "Cache-Control": "max-age=0, private, must-revalidate",
        "Vary": "Origin",
        "X-Gitlab-Meta": '{"correlation_id":"0","version":"1"}',
        "X-Request-Id": str(world.ids.new()),
        "RateLimit-Limit": str(LIMIT),
        "RateLimit-Name": "throttle_authenticated_api",
        "RateLimit-Observed": "1",
        "RateLimit-Remaining": str(LIMIT - 1),
        "RateLimit-Reset": str(reset),
        **answer.headers,
    }
    if isinstance(answer.body, bytes):
        return Wire(answer.status, headers, answer.body)
    return Wire(answer.status, headers, json_bytes(answer.body))
