"""One HTTP request: what it is for, and what failure was ordered."""

from dataclasses import dataclass, field

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.github.faults import Faults, Moment, When
from tests.fakes.github.server import Wire, json_bytes
from tests.fakes.linear import files, oauth, pages
from tests.fakes.linear.graphql import GraphQL
from tests.fakes.linear.state import World


@dataclass(frozen=True)
class RequestSeen:
    """A line of the log; `body` is as it was sent."""

    method: str
    path: str
    status: int
    body: bytes


@dataclass(kw_only=True)
class Dispatch:
    """Sends each request where it belongs, and writes the log."""

    world: World
    graphql: GraphQL
    faults: Faults = field(default_factory=Faults)
    log: list[RequestSeen] = field(default_factory=list)

    def respond(self, request: Request) -> Wire:
        cut = self.faults.interruption(request.method, request.path, request.body)
        if cut is not None and cut.moment is Moment.BEFORE:
            cut.happens()
        wire = self._respond(request)
        if cut is not None and cut.moment is Moment.AFTER:
            cut.happens()
        seen = RequestSeen(request.method, request.path, wire.status, request.body)
        self.log.append(seen)
        return wire

    def _respond(self, request: Request) -> Wire:
        fault = self.faults.take(request.method, _subject(request))
        if fault is not None and fault.when is When.INSTEAD:
            return _wire(fault.answer)
        with self.world.lock:
            found = self._serve(request)
        return _wire(fault.answer) if fault else found

    def _serve(self, request: Request) -> Wire:
        match request.method, request.path:
            case "POST", "/graphql":
                return _wire(self.graphql.respond(request))
            case "POST", "/oauth/token":
                return _wire(oauth.token_endpoint(self.world, request))
            case "POST", "/oauth/revoke":
                return _wire(oauth.revoke_endpoint(self.world, request))
            case "GET" | "POST", "/oauth/authorize":
                return _wire(oauth.authorize_page(self.world, request))
            case _:
                return self._serve_page(request)

    def _serve_page(self, request: Request) -> Wire:
        if files.is_file(request):
            return files.serve(self.world, request)
        if pages.is_page(request):
            return pages.serve(self.world, request)
        return Wire(404, {"Content-Type": "text/plain"}, b"Not Found")


def _subject(request: Request) -> str:
    """Return what faults are ordered by: the path, and of GraphQL the document too."""
    if request.path != "/graphql":
        return request.path
    return f"{request.path} {request.body.decode(errors='replace')}"


def _wire(answer: Answer) -> Wire:
    if isinstance(answer.body, str):
        headers = {"Content-Type": "text/html; charset=utf-8", **answer.headers}
        return Wire(answer.status, headers, answer.body.encode())
    headers = {"Content-Type": "application/json; charset=utf-8", **answer.headers}
    return Wire(answer.status, headers, json_bytes(answer.body))
