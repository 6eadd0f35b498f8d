"""What an account's owner does with an App that is installed there."""

from dataclasses import replace

from tests.fakes.github.acts.accounts import suspend
from tests.fakes.github.exchange import Json
from tests.fakes.github.render.apps import installation_json
from tests.fakes.github.render.users import user_json
from tests.fakes.github.state import Installation, World
from tests.fakes.github.webhooks.outbox import tell_app


def uninstall(world: World, installation_id: int, *, actor: str) -> None:
    """Remove the App; its tokens are worthless from now on."""
    with world.lock:
        installation = world.installations[installation_id]
        _tell(world, installation, "deleted", actor)
        _revoke(world, installation_id)
        del world.installations[installation_id]


def suspend_app(world: World, installation_id: int, *, actor: str) -> None:
    with world.lock:
        suspend(world, installation_id)
        _tell(world, world.installations[installation_id], "suspend", actor)


def take_repository(
    world: World, installation_id: int, full_name: str, *, actor: str
) -> None:
    """Take one repository from those that the App may see."""
    with world.lock:
        old = world.installations[installation_id]
        rest = old.repositories - {full_name.lower()}
        installation = replace(old, repositories=rest)
        world.installations[installation_id] = installation
        _revoke(world, installation_id)
        body = {
            "action": "removed",
            "installation": installation_json(world, installation),
            "repository_selection": "selected",
            "repositories_added": [],
            "repositories_removed": [_short(world, full_name)],
            "requester": None,
            "sender": user_json(world, world.user(actor)),
        }
        tell_app(world, installation, "installation_repositories", body)


def _tell(world: World, installation: Installation, action: str, actor: str) -> None:
    names = sorted(installation.repositories)
    sender = user_json(world, world.user(actor))
    suspender = None if installation.suspended_at is None else sender
    body = {
        "action": action,
        "installation": installation_json(world, installation)
        | {"suspended_by": suspender},
        "repositories": [_short(world, name) for name in names],
        "sender": sender,
    }
    tell_app(world, installation, "installation", body)


def _revoke(world: World, installation_id: int) -> None:
    for value, token in list(world.tokens.items()):
        if token.installation_id == installation_id:
            del world.tokens[value]


def _short(world: World, full_name: str) -> Json:
    repo = world.repo(full_name)
    return {
        "id": repo.id,
        "node_id": f"R_{repo.id}",
        "name": repo.name,
        "full_name": repo.full_name,
        "private": repo.private,
    }
