"""REST: webhooks, what became of their deliveries, and another try."""

from urllib.parse import urlencode

from tests.fakes.github.access import Need, may
from tests.fakes.github.acts.hooks import bring
from tests.fakes.github.call import Call, Route, paged
from tests.fakes.github.exchange import Answer, RefusedError, not_found
from tests.fakes.github.hook_state import Hook, HookAttempt
from tests.fakes.github.render.hooks import attempt_json, config_json, hook_json
from tests.fakes.github.state import Delivery, Role

MANAGE_HOOKS = Need(("repository_hooks",), "write", Role.ADMIN)
FULL_PAGE = 100
CURSOR = "v1_"
OK = range(200, 300)


def list_hooks(call: Call) -> Answer:
    hooks = [hook_json(call.world, hook) for hook in _hooks(call)]
    return paged(call, hooks)


def list_app_deliveries(call: Call) -> Answer:
    return _list(call, ("integration", call.app().id))


def list_hook_deliveries(call: Call) -> Answer:
    return _list(call, ("repository", _hook(call).id))


def show_app_config(call: Call) -> Answer:
    call.app()
    return Answer(status=200, body=config_json(call.world))


def redeliver_for_app(call: Call) -> Answer:
    return _redeliver(call, ("integration", call.app().id))


def redeliver_for_hook(call: Call) -> Answer:
    return _redeliver(call, ("repository", _hook(call).id))


def _list(call: Call, target: tuple[str, int]) -> Answer:
    """Answer with a page of attempts, newest first; a cursor leads to the next."""
    wanted = call.request.query.get("status")
    attempts = [
        attempt
        for attempt in reversed(call.world.hook_log.attempts)
        if attempt.target == target
        and attempt.id < _before(call)
        and wanted in (None, "success" if attempt.status_code in OK else "failure")
    ]
    size = min(int(call.request.query.get("per_page", "30")), FULL_PAGE)
    page = attempts[:size]
    body = [attempt_json(one, _delivery(call, one.guid)) for one in page]
    more = len(attempts) > size
    headers = {"Link": _next_link(call, page[-1])} if more else {}
    return Answer(status=200, body=body, headers=headers)


def _before(call: Call) -> int:
    cursor = call.request.query.get("cursor")
    if cursor is None:
        return call.world.last_id + 1
    if not cursor.startswith(CURSOR):
        raise RefusedError(400, "Invalid cursor")
    return int(cursor.removeprefix(CURSOR))


def _next_link(call: Call, last: HookAttempt) -> str:
    query = urlencode({**call.request.query, "cursor": f"{CURSOR}{last.id}"})
    return f'<{call.world.api_url}{call.request.path}?{query}>; rel="next"'


def _redeliver(call: Call, target: tuple[str, int]) -> Answer:
    wanted = call.number("delivery_id")
    for attempt in call.world.hook_log.attempts:
        if (attempt.id, attempt.target) == (wanted, target):
            bring(call.world, _delivery(call, attempt.guid), redelivery=True)
            return Answer(status=202, body={})
    raise not_found()


def _delivery(call: Call, guid: str) -> Delivery:
    return next(one for one in call.world.deliveries if one.guid == guid)


def _hooks(call: Call) -> list[Hook]:
    repo = call.repo()
    # Who may not manage hooks is not told that there are any.
    if not may(call.caller, repo, MANAGE_HOOKS):
        raise not_found()
    named = repo.full_name.lower()
    return [hook for hook in call.world.hooks.values() if hook.repo == named]


def _hook(call: Call) -> Hook:
    wanted = call.number("hook_id")
    for hook in _hooks(call):
        if hook.id == wanted:
            return hook
    raise not_found()


HOOKS = "/repos/{owner}/{repo}/hooks"
ROUTES = (
    Route("GET", HOOKS, list_hooks),
    Route("GET", f"{HOOKS}/{{hook_id}}/deliveries", list_hook_deliveries),
    Route(
        "POST",
        f"{HOOKS}/{{hook_id}}/deliveries/{{delivery_id}}/attempts",
        redeliver_for_hook,
    ),
    Route("GET", "/app/hook/config", show_app_config),
    Route("GET", "/app/hook/deliveries", list_app_deliveries),
    Route("POST", "/app/hook/deliveries/{delivery_id}/attempts", redeliver_for_app),
)
