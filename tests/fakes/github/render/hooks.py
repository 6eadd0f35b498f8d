"""Webhooks and the tries to bring their deliveries, as GitHub's JSON shows them."""

from tests.fakes.github.exchange import Json
from tests.fakes.github.hook_state import Hook, HookAttempt
from tests.fakes.github.render.users import instant
from tests.fakes.github.state import Delivery, World


def attempt_json(attempt: HookAttempt, delivery: Delivery) -> Json:
    return {
        "id": attempt.id,
        "guid": attempt.guid,
        "delivered_at": instant(attempt.delivered_at),
        "redelivery": attempt.redelivery,
        "duration": 0.03,
        "status": attempt.status,
        "status_code": attempt.status_code,
        "event": delivery.event,
        "action": delivery.action,
        "installation_id": None,
        "repository_id": None,
        "throttled_at": None,
    }


def config_json(world: World) -> Json:
    url = world.hook_log.url
    return {
        **({"url": url} if url else {}),
        "content_type": "json",
        "insecure_ssl": "0",
        "secret": "********",
    }


def hook_json(world: World, hook: Hook) -> Json:
    repo = world.repo(hook.repo)
    url = f"{world.api_url}/repos/{repo.full_name}/hooks/{hook.id}"
    return {
        "type": "Repository",
        "id": hook.id,
        "name": "web",
        "active": True,
        "events": ["*"],
        "config": config_json(world),
        "updated_at": instant(repo.created_at),
        "created_at": instant(repo.created_at),
        "url": url,
        "test_url": f"{url}/test",
        "ping_url": f"{url}/pings",
        "deliveries_url": f"{url}/deliveries",
        "last_response": {"code": None, "status": "unused", "message": None},
    }
