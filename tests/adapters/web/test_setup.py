"""Somebody with the key lets GitHub make the App, in the browser they began in."""

import json
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from threading import Event
from urllib.parse import urljoin

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr
from structlog.testing import capture_logs

from patchwright.core.settings.model import Settings
from patchwright.core.system.crypto import KeyRing
from patchwright.integrations.github.plugin import describe
from patchwright.integrations.github.setup import GitHubAppStore, GitHubSetup
from patchwright.integrations.settings import load_settings
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.setup_pages import (
    SETUP_TIME,
    SetupPages,
    SetupVisitors,
    create_setup_app,
    setup_path,
)
from tests.adapters.web.browser import Form, browsing, forms_on, serving
from tests.app_manifest import app_manifest
from tests.fakes.github.fake import FakeGitHub
from tests.flow.clock import MovableClock

ADMIN_TOKEN = "admin-token"
SETUP_PATH = setup_path("github")


@dataclass
class Scene:
    github: FakeGitHub
    settings: Settings
    browser: httpx.Client
    secrets: SecretStore
    clock: MovableClock
    visitors: SetupVisitors
    left: Event = field(default_factory=Event)
    url: str = ""
    knows_its_address: bool = True

    def make(self, url: str) -> FastAPI:
        site = SetupPages(
            describe(self.settings),
            url if self.knows_its_address else "",
            self.visitors,
            GitHubSetup(self.settings, self.secrets, self.clock),
        )
        return create_setup_app(site, self.left.set)

    @property
    def store(self) -> GitHubAppStore:
        return GitHubAppStore(self.secrets, self.github.api_url)

    def get(self, **query: str) -> httpx.Response:
        return self.browser.get(self.url + SETUP_PATH, params=query)

    def enter(self) -> httpx.Response:
        """Open the link from the log, and go where it leads."""
        opened = self.get(key=self.visitors.once)
        return self.browser.get(urljoin(self.url, opened.headers["location"]))

    def send(self, form: Form) -> httpx.Response:
        """Send the manifest to GitHub; return how it sends the browser back."""
        return self.browser.post(form.action, data=form.fields)

    def make_app(self, **query: str) -> httpx.Response:
        """Do all that a person does; return the last page."""
        self.enter()
        back = self.send(forms_on(self.get(**query))[0])
        return self.browser.get(back.headers["location"])


def settings_of(github: FakeGitHub, folder: Path) -> Settings:
    environ = {
        "PATCHWRIGHT_GITHUB__API_URL": github.api_url,
        "PATCHWRIGHT_GITHUB__WEB_URL": github.web_url,
        "PATCHWRIGHT_GITHUB__MENTION": "@fixbot",
    }
    return load_settings(environ, flags={}, cwd=folder)


@pytest.fixture(name="database")
def _database(tmp_path: Path) -> Iterator[Database]:
    with closing(Database(f"sqlite:///{tmp_path / 'setup.db'}")) as database:
        upgrade(database)
        yield database


@pytest.fixture(params=[False, True], ids=["cloud", "enterprise"])
def scene(
    request: pytest.FixtureRequest, database: Database, tmp_path: Path
) -> Iterator[Scene]:
    clock = MovableClock()
    with FakeGitHub(enterprise=request.param) as github, browsing() as browser:
        secrets = SecretStore(database, KeyRing({"k": bytes(32)}, "k"), clock)
        settings = settings_of(github, tmp_path)
        visitors = SetupVisitors(None, clock)
        made = Scene(github, settings, browser, secrets, clock, visitors)
        with serving(made.make) as url:
            made.url = url
            yield made


def test_the_app_is_made_and_stored(scene: Scene) -> None:
    page = scene.make_app()
    assert page.status_code == 200
    stored = scene.store.fetch()
    assert stored
    app = scene.github.world.apps[stored.id]
    assert app.permissions == app_manifest()["default_permissions"]
    assert app.webhook_secret == stored.webhook_secret.get_secret_value()
    assert "PRIVATE KEY" in stored.private_key.get_secret_value()
    folder = "github-apps" if scene.github.world.enterprise else "apps"
    assert f'{scene.github.web_url}/{folder}/fixbot/installations/new"' in page.text
    assert scene.left.wait(10)


def test_it_can_belong_to_an_organization(scene: Scene) -> None:
    scene.make_app(organization="acme")
    stored = scene.store.fetch()
    assert stored
    assert scene.github.world.apps[stored.id].owner == "acme"


def test_what_is_no_organization_is_refused(scene: Scene) -> None:
    scene.enter()
    for name in ("../evil", "a/b", "a b", "-a", "acme?x=1", 'a"><b>'):
        answer = scene.get(organization=name)
        assert answer.status_code == 400
        assert forms_on(answer) == []
        assert "evil" not in answer.text


def test_no_secret_is_shown_or_logged(scene: Scene, database: Database) -> None:
    with capture_logs() as logs:
        page = scene.make_app()
    stored = scene.store.fetch()
    assert stored
    secrets = (stored.private_key, stored.webhook_secret, stored.client_secret)
    file = Path(str(database.engine.url.database))
    kept = b"".join(part.read_bytes() for part in file.parent.iterdir())
    for secret in secrets:
        value = secret.get_secret_value()
        assert value not in page.text + str(logs)
        assert value.encode() not in kept
    assert scene.visitors.once not in str(logs)


def test_without_the_key_there_is_no_manifest(scene: Scene) -> None:
    for answer in (scene.get(), scene.get(key="wrong"), scene.get(key="")):
        assert answer.status_code in {401, 403}
        assert forms_on(answer) == []


def test_the_link_works_once_and_leaves_no_key_behind(scene: Scene) -> None:
    opened = scene.get(key=scene.visitors.once)
    assert (opened.status_code, opened.headers["location"]) == (303, SETUP_PATH)
    assert "HttpOnly" in opened.headers["set-cookie"]
    assert "SameSite=lax" in opened.headers["set-cookie"]
    with browsing() as other:
        query = {"key": scene.visitors.once}
        assert other.get(scene.url + SETUP_PATH, params=query).status_code == 403


def test_another_browser_cannot_finish(scene: Scene) -> None:
    back = scene.send(forms_on(scene.enter())[0]).headers["location"]
    with browsing() as other:
        assert other.get(back).status_code == 403
    assert scene.store.fetch() is None


def test_a_state_counts_once(scene: Scene) -> None:
    form = forms_on(scene.enter())[0]
    back = scene.send(form).headers["location"]
    assert scene.browser.get(back).status_code == 200
    assert scene.browser.get(back).status_code == 403


def test_a_state_that_is_too_old_or_made_up_is_refused(scene: Scene) -> None:
    back = scene.send(forms_on(scene.enter())[0]).headers["location"]
    made_up = back.rpartition("state=")[0] + "state=made-up"
    assert scene.browser.get(made_up).status_code == 403
    scene.clock.advance(SETUP_TIME.total_seconds() + 1)
    assert scene.browser.get(back).status_code == 403
    assert scene.store.fetch() is None


def test_a_code_that_github_does_not_know_is_explained(scene: Scene) -> None:
    back = scene.send(forms_on(scene.enter())[0]).headers["location"]
    state = back.rpartition("state=")[2]
    query = {"code": "../../user", "state": state}
    answer = scene.browser.get(f"{scene.url}{SETUP_PATH}/done", params=query)
    assert answer.status_code == 502
    assert "GitHub did not return the App." in answer.text
    assert not scene.left.is_set()
    # The person can begin again.
    assert forms_on(scene.get())


def test_the_form_goes_to_github_alone(scene: Scene) -> None:
    page = scene.enter()
    policy = page.headers["content-security-policy"]
    assert "default-src 'none'" in policy
    assert f"form-action 'self' {scene.github.web_url};" in policy
    assert page.headers["cache-control"] == "no-store"
    form = forms_on(page)[0]
    assert form.action.startswith(f"{scene.github.web_url}/settings/apps/new?state=")
    sent = json.loads(form.fields["manifest"])
    assert sent["hook_attributes"]["url"] == (
        f"{scene.url}/api/integration/github/events"
    )


def test_it_is_alive_but_not_ready(scene: Scene) -> None:
    assert httpx.get(f"{scene.url}/healthz").json() == {"status": "ok"}
    ready = httpx.get(f"{scene.url}/readyz")
    assert (ready.status_code, ready.json()) == (503, {"status": "not set up"})
    assert not scene.left.is_set()


def test_an_app_that_another_process_made_ends_the_set_up(scene: Scene) -> None:
    scene.make_app()
    scene.left.clear()
    assert httpx.get(f"{scene.url}/readyz").status_code == 503
    assert scene.left.is_set()


def test_an_admin_token_is_asked_for(scene: Scene) -> None:
    scene.visitors = SetupVisitors(SecretStr(ADMIN_TOKEN), scene.clock)
    with serving(scene.make) as scene.url:
        [form] = forms_on(scene.get())
        assert list(form.fields) == ["key"]
        for key in ("", "wrong", "x" * 5000):
            answer = scene.browser.post(scene.url + form.action, data={"key": key})
            assert answer.status_code in {403, 413}
        scene.browser.post(scene.url + form.action, data={"key": ADMIN_TOKEN})
        assert "manifest" in forms_on(scene.get())[0].fields


def test_without_an_address_of_its_own_it_asks_for_one(scene: Scene) -> None:
    scene.visitors = SetupVisitors(None, scene.clock)
    scene.knows_its_address = False
    with serving(scene.make) as scene.url:
        page = scene.enter()
        assert page.status_code == 409
        assert "PATCHWRIGHT_SERVER__PUBLIC_URL" in page.text
        assert forms_on(page) == []
