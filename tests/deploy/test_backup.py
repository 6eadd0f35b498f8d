"""A backup made while the service runs brings everything back after a loss."""

import re
import shutil
from pathlib import Path

import pytest

from tests.deploy.scene import Scene
from tests.deploy.stack import Stack
from tests.provision.errors import ProvisionError

pytestmark = [pytest.mark.deploy, pytest.mark.timeout(600)]

EVENTS = "SELECT conversation_id, id, kind FROM events ORDER BY 1, 2"
PAGE = re.compile(r"\((https://[^)]+/runs/[^)]+)\)")


def test_runs_links_and_stored_secrets_are_there_again_after_volumes_are_lost(
    stack: Stack, world: Scene, tmp_path: Path
) -> None:
    number = world.open_issue("Wrong sum, saved")
    assert stack.deliver(world.github.deliveries[-1]) == 202
    stack.wait(lambda: world.has_ended(number), "the end")
    page, stored = _page(world, number), stack.query(EVENTS)
    assert "Wrong sum, saved" in _get(stack, page)

    dump = stack.run("backup", str(tmp_path / "data"), str(tmp_path / "keys")).strip()
    [keys] = (tmp_path / "keys").iterdir()
    assert keys.stat().st_mode & 0o077 == 0
    stack.run("compose", "down", "--volumes", "--timeout", "5")
    (stack.folder / ".env").unlink()
    shutil.rmtree(stack.folder / "secrets")

    stack.run("restore", dump, str(keys))
    stack.wait(stack.is_ready, "the stack")
    assert stack.query(EVENTS) == stored
    assert "Wrong sum, saved" in _get(stack, page)
    after = world.open_issue("Wrong sum, after the loss")
    assert stack.deliver(world.github.deliveries[-1]) == 202
    stack.wait(lambda: world.has_ended(after), "the end")
    assert len(world.pull_requests(after)) == 1
    assert stack.query("SELECT count(*) FROM secrets WHERE key_id <> 'k1'") == ["0"]


def test_a_backup_without_its_two_folders_says_what_it_wants(stack: Stack) -> None:
    with pytest.raises(ProvisionError, match="Usage: deploy/backup FOLDER KEYS"):
        stack.run("backup")


def test_nothing_is_restored_over_secrets_that_are_there(
    stack: Stack, tmp_path: Path
) -> None:
    (tmp_path / "some.dump").touch()
    with pytest.raises(ProvisionError, match="move them away first"):
        stack.run("restore", str(tmp_path / "some.dump"), "some.secrets.tar")
    assert stack.is_ready()


def _page(world: Scene, number: int) -> str:
    [reply] = world.replies(number)
    found = PAGE.search(reply)
    assert found, reply
    return found[1]


def _get(stack: Stack, page: str) -> str:
    with stack.client() as client:
        answer = client.get(page, follow_redirects=True)
    assert answer.is_success, answer
    return answer.text
