"""Find the endpoint for a request, and turn refusals into answers."""

import re
from dataclasses import dataclass
from urllib.parse import unquote

from tests.fakes.github.auth import Caller, CallerKind, identify
from tests.fakes.github.call import Call, Route
from tests.fakes.github.exchange import Answer, RefusedError, Request, not_found
from tests.fakes.github.routes import (
    adornments,
    apps,
    builds,
    check_runs,
    comments,
    contents,
    git_data,
    hooks,
    issues,
    labels,
    pulls,
    registrations,
    repositories,
    review_posts,
    user_installations,
    users,
)
from tests.fakes.github.state import World

ROUTES: tuple[Route, ...] = (
    *comments.ROUTES,
    *issues.ROUTES,
    *check_runs.ROUTES,
    *builds.ROUTES,
    *labels.ROUTES,
    *contents.ROUTES,
    *hooks.ROUTES,
    *pulls.ROUTES,
    *review_posts.ROUTES,
    *adornments.ROUTES,
    *git_data.ROUTES,
    *apps.ROUTES,
    *registrations.ROUTES,
    *repositories.ROUTES,
    *user_installations.ROUTES,
    *users.ROUTES,
)
# Names that may hold slashes.
GREEDY = {"branch", "path", "ref"}


def _pattern(template: str) -> re.Pattern[str]:
    def group(match: re.Match[str]) -> str:
        name = match[1]
        return f"(?P<{name}>{'.+' if name in GREEDY else '[^/]+'})"

    return re.compile(re.sub(r"\{(\w+)\}", group, template))


TABLE = tuple((route, _pattern(route.template)) for route in ROUTES)


@dataclass(frozen=True, kw_only=True)
class Handled:
    """An answer, how the caller showed who they are, and the route that was taken."""

    answer: Answer
    caller: CallerKind
    route: Route | None


def respond(world: World, request: Request) -> Handled:
    """Answer a request to the REST API; the caller holds the world's lock."""
    route, args = _find(request)
    try:
        caller = identify(world, request.headers.get("authorization"))
    except RefusedError as refusal:
        return Handled(answer=refusal.answer(), caller=CallerKind.REFUSED, route=route)
    answer = _call(world, caller, request, route, args)
    return Handled(answer=answer, caller=caller.kind, route=route)


def _find(request: Request) -> tuple[Route | None, dict[str, str]]:
    for route, pattern in TABLE:
        match = pattern.fullmatch(request.path)
        if match and route.method == request.method:
            args = {name: unquote(part) for name, part in match.groupdict().items()}
            return route, args
    return None, {}


def _call(
    world: World,
    caller: Caller,
    request: Request,
    route: Route | None,
    args: dict[str, str],
) -> Answer:
    if route is None:
        return not_found().answer()
    call = Call(world=world, caller=caller, request=request, args=args)
    try:
        return route.endpoint(call)
    except RefusedError as refusal:
        return refusal.answer()
