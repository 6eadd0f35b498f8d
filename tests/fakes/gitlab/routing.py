"""Find the endpoint for a request to the API, and turn refusals into answers."""

import re
from contextlib import nullcontext
from dataclasses import dataclass
from urllib.parse import unquote

from tests.fakes.github.exchange import Answer, Request
from tests.fakes.gitlab.auth import ANONYMOUS, Caller, check_scope, identify
from tests.fakes.gitlab.call import Call, Route
from tests.fakes.gitlab.exchange import RefusedError
from tests.fakes.gitlab.routes import (
    activity,
    builds,
    hooks,
    merge_requests,
    notes,
    projects,
    repository,
    threads,
    uploads,
    users,
)
from tests.fakes.gitlab.state import World

ROUTES: tuple[Route, ...] = (
    *projects.ROUTES,
    *users.ROUTES,
    *threads.ROUTES,
    *merge_requests.ROUTES,
    *notes.ROUTES,
    *repository.ROUTES,
    *builds.ROUTES,
    *hooks.ROUTES,
    *uploads.ROUTES,
    *activity.ROUTES,
)


def _pattern(template: str) -> re.Pattern[str]:
    return re.compile(re.sub(r"\{(\w+)\}", r"(?P<\1>[^/]+)", template))


TABLE = tuple((route, _pattern(route.template)) for route in ROUTES)


@dataclass(frozen=True, kw_only=True)
class Handled:
    """An answer, who asked for it, and the route that was taken."""

    answer: Answer
    caller: Caller
    route: Route | None


def respond(world: World, request: Request) -> Handled:
    """Answer a request whose path is without `/api/v4`."""
    caller = ANONYMOUS
    route, args = _find(request)
    try:
        with world.lock:
            caller = identify(world, request)
            check_scope(caller, request.method, request.path)
        call = Call(world=world, caller=caller, request=request, args=args)
        answer = _call(call, route)
    except RefusedError as refusal:
        answer = refusal.answer()
    return Handled(answer=answer, caller=caller, route=route)


def _call(call: Call, route: Route | None) -> Answer:
    if route is None:
        return Answer(status=404, body={"error": "404 Not Found"})
    with call.world.lock if route.holds_lock else nullcontext():
        return route.endpoint(call)


def _find(request: Request) -> tuple[Route | None, dict[str, str]]:
    for route, pattern in TABLE:
        match = pattern.fullmatch(request.path)
        if match and route.method == request.method:
            args = {name: unquote(part) for name, part in match.groupdict().items()}
            return route, args
    return None, {}
