"""A service that has no App yet gets one in a browser, and goes on by itself."""

from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from urllib.parse import urljoin

import httpx
import pytest

from tests.adapters.web.browser import browsing, forms_on
from tests.fakes.github.fake import FakeGitHub
from tests.flow.story import BOT, REPO, fix_turns
from tests.provision.servers import free_port
from tests.provision.starter import ready_starter
from tests.service.processes import START_S, ServiceProcess
from tests.service.stage import Stage, staged

WRONG_CONFIGURATION = 2
CONFIGURED = (
    "PATCHWRIGHT_GITHUB__APP_ID",
    "PATCHWRIGHT_GITHUB__PRIVATE_KEY",
    "PATCHWRIGHT_GITHUB__WEBHOOK_SECRET",
)


@pytest.fixture
def stage(tmp_path: Path) -> Iterator[Stage]:
    """Set the scene for a service to which nobody told anything of an App."""
    with staged(tmp_path, fix_turns()) as configured:
        # What the App of the scene was called is free for the one that is made.
        configured.github.world.apps.clear()
        configured.github.world.installations.clear()
        port = str(free_port())
        told = {
            name: value
            for name, value in configured.environment.items()
            if name not in CONFIGURED
        }
        told["PATCHWRIGHT_SERVER__PORT"] = port
        told["PATCHWRIGHT_SERVER__PUBLIC_URL"] = f"http://127.0.0.1:{port}"
        yield replace(configured, environment=told)


def test_it_is_set_up_in_a_browser_and_then_works(stage: Stage) -> None:
    with stage.serving("all") as service:
        stage.wait(lambda: service.has_said("setup_needed"), "the link")
        assert httpx.get(f"{service.url}/readyz").status_code == 503
        _set_up(service)
        service.wait_until_ready()
        _install(stage.github)
        stage.wait_for_end(stage.ask(service))
        [pull] = stage.github.pull_requests(REPO)
        assert pull.author == BOT

    with stage.serving("all") as again:
        again.wait_until_ready()
        assert not again.has_said("setup_needed")

    logged = "".join(log.read_text() for log in stage.folder.glob("*.log"))
    registry = stage.github.world.registry
    [app] = stage.github.world.apps.values()
    assert app.webhook_secret not in logged
    assert registry.registrations[app.id].client_secret not in logged
    assert "PRIVATE KEY" not in logged


def test_it_ends_when_it_is_told_to_while_nobody_sets_it_up(stage: Stage) -> None:
    with stage.serving("all") as service:
        stage.wait(lambda: service.has_said("setup_needed"), "the link")
        service.stop()


def test_a_worker_of_its_own_says_who_can_set_it_up(stage: Stage) -> None:
    ended = ready_starter().run(
        *("serve", "--role", "worker"),
        cwd=stage.folder,
        env={
            **stage.environment,
            "COLUMNS": "1000",
            "PATCHWRIGHT_QUEUE__BROKER_URL": "redis://127.0.0.1:1",
        },
        timeout=START_S,
    )
    assert ended.returncode == WRONG_CONFIGURATION
    assert "error: github: not configured, and there is no App yet" in ended.stderr


def _set_up(service: ServiceProcess) -> None:
    [line] = [one for one in service.lines() if one["message"] == "setup_needed"]
    with browsing() as browser:
        opened = browser.get(line["url"])
        page = browser.get(urljoin(service.url, opened.headers["location"]))
        form = forms_on(page)[0]
        back = browser.post(form.action, data=form.fields)
        done = browser.get(back.headers["location"])
        assert done.status_code == 200, done.text


def _install(github: FakeGitHub) -> None:
    [app_id] = github.world.apps
    github.install_app(app_id, "acme", [REPO])
