"""One HTTP request: find its endpoint, who asks, and what failure was ordered."""

import re
from dataclasses import dataclass, field, replace
from urllib.parse import unquote

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.github.faults import Faults, When
from tests.fakes.github.server import Wire
from tests.fakes.jira import auth, files
from tests.fakes.jira.contract import Contract
from tests.fakes.jira.exchange import Call, RefusedError, Route
from tests.fakes.jira.routes import beside, comments, issues, site
from tests.fakes.jira.state import World

ROUTES: tuple[Route, ...] = (
    *site.ROUTES,
    *comments.ROUTES,
    *beside.ROUTES,
    *issues.ROUTES,
)
_API = re.compile(r"/rest/api/(?P<version>[23])/(?P<rest>.+)")


@dataclass(frozen=True)
class RequestSeen:
    """A line of the log; `query` is as it was sent."""

    method: str
    path: str
    status: int
    query: dict[str, str]
    body: bytes


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template))


TABLE = tuple((route, _pattern(route.template)) for route in ROUTES)


@dataclass(kw_only=True)
class Dispatch:
    world: World
    prefix: str
    faults: Faults = field(default_factory=Faults)
    log: list[RequestSeen] = field(default_factory=list)
    contract: Contract | None = None

    def respond(self, request: Request) -> Wire:
        fault = self.faults.take(request.method, request.path)
        if fault is not None and fault.when is When.INSTEAD:
            return self._noted(request, files.wire(fault.answer))
        with self.world.lock:
            found = self._serve(request)
        return self._noted(request, files.wire(fault.answer) if fault else found)

    def _serve(self, request: Request) -> Wire:
        if not request.path.startswith(f"{self.prefix}/"):
            return files.wire(Answer(status=404, body="<title>Dead link</title>"))
        inner = replace(request, path=request.path.removeprefix(self.prefix))
        if (file := files.serve(self.world, inner)) is not None:
            return file
        match = _API.fullmatch(inner.path)
        if match is None or (match["version"] == "3" and not self.world.is_cloud):
            return files.wire(Answer(status=404, body="<title>Dead link</title>"))
        return files.wire(self._call(inner, match["version"], match["rest"]))

    def _call(self, request: Request, version: str, rest: str) -> Answer:
        caller = auth.identify(self.world, request)
        if caller is None:
            return auth.refuse(self.world)
        for route, pattern in TABLE:
            found = pattern.fullmatch(rest)
            if found and route.method == request.method:
                args = {name: unquote(part) for name, part in found.groupdict().items()}
                call = Call(
                    world=self.world,
                    caller=caller,
                    request=request,
                    version=version,
                    args=args,
                )
                return self._answer(route, call)
        return Answer(status=404, body={"errorMessages": ["null for uri"]})

    def _answer(self, route: Route, call: Call) -> Answer:
        try:
            answer = route.endpoint(call)
        except RefusedError as refusal:
            return refusal.answer()
        if self.contract is not None:
            self.contract.note(route, call, answer)
        return answer

    def _noted(self, request: Request, wire: Wire) -> Wire:
        seen = RequestSeen(
            request.method,
            request.path,
            wire.status,
            dict(request.query),
            request.body,
        )
        self.log.append(seen)
        return wire
