"""Webhooks of a project, and what became of their deliveries.

https://docs.gitlab.com/api/project_webhooks/
"""

import base64
import binascii
from dataclasses import replace

from tests.fakes.github.exchange import Answer
from tests.fakes.gitlab.acts import hooks, projects
from tests.fakes.gitlab.call import Call, Route, as_bool, paged
from tests.fakes.gitlab.exchange import Json, missing, not_found, refused
from tests.fakes.gitlab.hook_state import FLAGS, Hook, HookAttempt
from tests.fakes.gitlab.render.users import moment
from tests.fakes.gitlab.state import Level
from tests.fakes.gitlab.webhooks.outbox import SIGNING_PREFIX

HOOK = "/projects/{id}/hooks/{hook_id}"
KEY_BYTES = 32


def list_hooks(call: Call) -> Answer:
    project = call.project(Level.MAINTAINER)
    found = [one for one in call.world.hooks.values() if one.project == project.id]
    return paged(call, [_hook_json(one) for one in found])


def get_hook(call: Call) -> Answer:
    return Answer(status=200, body=_hook_json(_hook(call)))


def create_hook(call: Call) -> Answer:
    project = call.project(Level.MAINTAINER)
    asked = call.body()
    if "url" not in asked:
        raise missing("url")
    made = projects.add_hook(
        call.world,
        project,
        str(asked.get("token") or ""),
        url=str(asked["url"]),
        signing_token=_signing_token(asked),
        events=_events(asked, {"push_events": True}),
    )
    return Answer(status=201, body=_hook_json(made))


def edit_hook(call: Call) -> Answer:
    hook = _hook(call)
    asked = call.body()
    changed = replace(
        hook,
        url=str(asked.get("url", hook.url)),
        token=str(asked.get("token", hook.token)),
        signing_token=_signing_token(asked) or hook.signing_token,
        events=_events(asked, dict(hook.events)),
    )
    call.world.hooks[hook.id] = changed
    return Answer(status=200, body=_hook_json(changed))


def delete_hook(call: Call) -> Answer:
    del call.world.hooks[_hook(call).id]
    return Answer(status=204)


def list_events(call: Call) -> Answer:
    """List what was delivered lately, the newest first."""
    hook = _hook(call)
    status = call.request.query.get("status")
    found = [
        _attempt_json(one)
        for one in reversed(call.world.attempts)
        if one.hook == hook.id and _has_status(one, status)
    ]
    return paged(call, found)


def resend(call: Call) -> Answer:
    hook = _hook(call)
    number = call.number("event_id")
    found = [
        one for one in call.world.attempts if (one.id, one.hook) == (number, hook.id)
    ]
    if not found:
        raise not_found()
    if found[0].url != hook.url:
        raise refused(
            422, "The hook URL has changed, and this log entry cannot be retried"
        )
    status = hooks.resend(call.world, found[0])
    return Answer(status=201, body={"response_status": status})


def _has_status(attempt: HookAttempt, wanted: str | None) -> bool:
    """Compare with a status, or with the name of a class of them."""
    groups = {"successful": "2", "client_failure": "4", "server_failure": "5"}
    if wanted is None or wanted == attempt.status:
        return True
    if attempt.status == hooks.UNREACHABLE:
        return wanted == "server_failure"
    return wanted in groups and attempt.status.startswith(groups[wanted])


def _hook(call: Call) -> Hook:
    project = call.project(Level.MAINTAINER)
    found = call.world.hooks.get(call.number("hook_id"))
    if found is None or found.project != project.id:
        raise not_found()
    return found


def _events(asked: Json, before: dict[str, bool]) -> dict[str, bool]:
    named = {name: as_bool(asked[name]) for name in FLAGS if name in asked}
    return before | named


def _signing_token(asked: Json) -> str:
    """Return the key for signatures; one that is no such key is refused."""
    token = str(asked.get("signing_token") or "")
    if not token:
        return ""
    try:
        encoded = token.removeprefix(SIGNING_PREFIX)
        key = base64.b64decode(encoded, validate=True)
    except binascii.Error:
        key = b""
    if not token.startswith(SIGNING_PREFIX) or len(key) != KEY_BYTES:
        text = "must be in the format whsec_<base64> encoding a 32-byte key"
        raise refused(422, {"signing_token": [text]})
    return token


def _hook_json(hook: Hook) -> Json:
    return {
        "id": hook.id,
        "url": hook.url,
        "name": None,
        "description": None,
        "created_at": moment(hook.created_at),
        "push_events_branch_filter": None,
        "branch_filter_strategy": "wildcard",
        "enable_ssl_verification": True,
        "alert_status": "executable",
        "disabled_until": None,
        "url_variables": [],
        "custom_webhook_template": None,
        "custom_headers": [],
        "project_id": hook.project,
        "repository_update_events": False,
        "wiki_page_events": False,
        "deployment_events": False,
        "releases_events": False,
        "resource_access_token_events": False,
        "feature_flag_events": False,
        "token_present": bool(hook.token),
        "signing_token_present": bool(hook.signing_token),
        **{name: hook.events.get(name, False) for name in FLAGS},
    }


def _attempt_json(attempt: HookAttempt) -> Json:
    return {
        "id": attempt.id,
        "url": attempt.url,
        "trigger": attempt.trigger,
        "request_headers": dict(attempt.request_headers),
        "request_data": attempt.request_body.decode(),
        "response_headers": {},
        "response_body": attempt.response_body.decode(errors="replace"),
        "response_status": attempt.status,
        "execution_duration": 0.1,
        "created_at": moment(attempt.created_at),
    }


ROUTES = (
    Route("GET", "/projects/{id}/hooks", list_hooks),
    Route("POST", "/projects/{id}/hooks", create_hook),
    Route("GET", HOOK, get_hook),
    Route("PUT", HOOK, edit_hook),
    Route("DELETE", HOOK, delete_hook),
    Route("GET", HOOK + "/events", list_events),
    Route("POST", HOOK + "/events/{event_id}/resend", resend, holds_lock=False),
)
