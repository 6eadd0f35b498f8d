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

from patchwright.core.settings.model import Settings, with_section
from patchwright.core.system.crypto import KeyRing
from patchwright.integrations.github.plugin import describe
from patchwright.integrations.github.settings import GitHubSettings
from patchwright.integrations.github.setup import GitHubAppStore, GitHubSetup
from patchwright.integrations.settings import load_settings
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.setup_access import (
    LINK_LIFE,
    SETUP_TIME,
    SetupLinks,
    SetupVisitors,
    setup_path,
)
from patchwright.workers.web.setup_pages import SetupPages, create_setup_app
from tests.adapters.web.browser import Form, browsing, forms_on, serving, text_of
from tests.app_manifest import app_manifest
from tests.fakes.github.fake import FakeGitHub
from tests.flow.clock import MovableClock

ADMIN_TOKEN = "admin-token"
HOW_TO_GET_A_LINK = (
    "Open the set-up link in this browser. patchwright serve shows it when it starts: "
    "on its terminal, or in its log under setup_needed. The link expires after 15 "
    "minutes and works in one browser.\n"
    "For a new link, run this on the machine of the service:\n"
    "patchwright setup-link\n"
)
THREE_WAYS = (
    "GitHub must reach this service from the internet. There are three ways:\n"
    "1. A reverse proxy with TLS\n"
    "On a machine with a public name, for example with Caddy:\n"
    "caddy reverse-proxy --from YOUR-NAME --to 127.0.0.1:8080 "
    "export PATCHWRIGHT_SERVER__PUBLIC_URL=https://YOUR-NAME\n"
    "2. A tunnel\n"
    "cloudflared prints the address of the tunnel:\n"
    "cloudflared tunnel --url http://127.0.0.1:8080 "
    "export PATCHWRIGHT_SERVER__PUBLIC_URL=https://YOUR-TUNNEL.trycloudflare.com\n"
    "3. A webhook relay, to try it out\n"
    "Create a channel at https://smee.io/new. The relay can read the webhooks:\n"
    "npx smee-client --url https://smee.io/YOUR-CHANNEL --target "
    "http://127.0.0.1:8080/api/integration/github/events "
    "export PATCHWRIGHT_GITHUB__WEBHOOK_URL=https://smee.io/YOUR-CHANNEL "
    "export PATCHWRIGHT_SERVER__PUBLIC_URL=http://127.0.0.1:8080\n"
    "Next\n"
    "Start patchwright serve again. It then shows a set-up link.\n"
    "A GitHub server of your own may be in the same private network: a private address "
    "is accepted for it, and a loopback address if it runs on this machine."
)
SETUP_PATH = setup_path("github")


@dataclass
class Scene:
    github: FakeGitHub
    settings: Settings
    browser: httpx.Client
    secrets: SecretStore
    clock: MovableClock
    visitors: SetupVisitors
    key: str
    left: Event = field(default_factory=Event)
    url: str = ""
    public_url: str | None = None

    def make(self, url: str) -> FastAPI:
        site = SetupPages(
            service=describe(self.settings),
            public_url=url if self.public_url is None else self.public_url,
            port=8080,
            visitors=self.visitors,
            setup=GitHubSetup(self.settings, self.secrets, self.clock),
        )
        return create_setup_app(site, lambda _app: self.left.set())

    @property
    def store(self) -> GitHubAppStore:
        return GitHubAppStore(self.secrets, self.github.api_url)

    def get(self, **query: str) -> httpx.Response:
        return self.browser.get(self.url + SETUP_PATH, params=query)

    def enter(self) -> httpx.Response:
        """Open the link from the log, and go where it leads."""
        opened = self.get(key=self.key)
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
        links = SetupLinks(secrets, "github", clock)
        visitors = SetupVisitors(None, links, clock)
        key = visitors.new_key()
        made = Scene(github, settings, browser, secrets, clock, visitors, key)
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
    assert scene.key not in str(logs)


def test_without_the_key_there_is_no_manifest(scene: Scene) -> None:
    for answer in (scene.get(), scene.get(key="wrong"), scene.get(key="")):
        assert answer.status_code in {401, 403}
        assert forms_on(answer) == []


def test_the_link_leaves_no_key_behind(scene: Scene) -> None:
    opened = scene.get(key=scene.key)
    assert (opened.status_code, opened.headers["location"]) == (303, SETUP_PATH)
    assert "HttpOnly" in opened.headers["set-cookie"]
    assert "SameSite=lax" in opened.headers["set-cookie"]
    assert opened.headers["cache-control"] == "no-store"


def test_the_link_works_in_each_tab_of_its_browser(scene: Scene) -> None:
    first, second = forms_on(scene.enter()), forms_on(scene.enter())
    assert first[0].fields == second[0].fields
    back = scene.send(first[0]).headers["location"]
    assert scene.browser.get(back).status_code == 200


def test_another_browser_is_told_how_to_get_a_link(scene: Scene) -> None:
    scene.enter()
    with browsing() as other:
        refused = other.get(scene.url + SETUP_PATH, params={"key": scene.key})
    assert refused.status_code == 403
    assert text_of(refused) == (
        "Set-up link needed\n"
        "This link was opened in another browser.\n"
        f"{HOW_TO_GET_A_LINK}"
        "If you did not open the link yourself, somebody else has it. A new link stops "
        "the old one at once."
    )


def test_an_expired_link_says_how_to_get_a_new_one(scene: Scene) -> None:
    scene.clock.advance(LINK_LIFE.total_seconds())
    refused = scene.get(key=scene.key)
    assert refused.status_code == 403
    assert (
        text_of(refused)
        == (f"Set-up link needed\nThis link has expired.\n{HOW_TO_GET_A_LINK}").rstrip()
    )


def test_the_start_page_says_what_to_do(scene: Scene) -> None:
    page = scene.browser.get(f"{scene.url}/")
    assert page.status_code == 200
    assert text_of(page) == (
        "Set up Patchwright\n"
        "Patchwright is running, but it has no GitHub App yet. Only the operator of "
        "this service can create the App.\n"
        f"{HOW_TO_GET_A_LINK}"
        "Continue, if this browser has opened the link"
    )


def test_a_page_that_is_not_there_is_a_page_for_people(scene: Scene) -> None:
    missing = f"{scene.url}/docs"
    page = scene.browser.get(missing, headers={"Accept": "text/html"})
    assert (page.status_code, text_of(page)) == (
        404,
        "Page not found\nThere is no page at this address.\nGo to the start page",
    )
    answer = scene.browser.get(missing)
    assert (answer.status_code, answer.json()) == (404, {"detail": "Not Found"})


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
    links = SetupLinks(scene.secrets, "github", scene.clock)
    scene.visitors = SetupVisitors(SecretStr(ADMIN_TOKEN), links, scene.clock)
    with serving(scene.make) as scene.url:
        [form] = forms_on(scene.get())
        assert list(form.fields) == ["key"]
        # The history of a browser, and the log of a proxy, would keep it.
        assert scene.get(key=ADMIN_TOKEN).status_code == 403
        for key in ("", "wrong", "x" * 5000):
            answer = scene.browser.post(scene.url + form.action, data={"key": key})
            assert answer.status_code in {403, 413}
        scene.browser.post(scene.url + form.action, data={"key": ADMIN_TOKEN})
        assert "manifest" in forms_on(scene.get())[0].fields


@pytest.mark.parametrize(
    ("address", "problem"),
    [
        ("", "server.public_url is not set."),
        ("https://bot.example.com", "https://bot.example.com is a placeholder."),
    ],
)
def test_without_an_address_that_works_no_app_is_offered(
    scene: Scene, address: str, problem: str
) -> None:
    scene.public_url = address
    with serving(scene.make) as scene.url:
        for page in (
            scene.get(key=scene.key),
            scene.get(),
            scene.browser.get(f"{scene.url}/"),
        ):
            if page.is_redirect:
                continue
            assert page.status_code == 409
            assert forms_on(page) == []
            assert text_of(page) == (
                "Set a public URL\n"
                f"{problem} GitHub cannot send webhooks to this service.\n"
                f"{THREE_WAYS}"
            )


def test_an_address_of_this_machine_is_refused_for_github_itself(scene: Scene) -> None:
    scene.public_url = "http://127.0.0.1:8080"
    environ = {"PATCHWRIGHT_GITHUB__API_URL": "https://api.github.com"}
    scene.settings = load_settings(environ, flags={}, cwd=Path("/nonexistent"))
    with serving(scene.make) as scene.url:
        page = scene.get()
        assert page.status_code == 409
        assert "127.0.0.1:8080 is an address of this machine only." in text_of(page)


def test_through_a_relay_browsers_may_use_an_address_of_this_machine(
    scene: Scene,
) -> None:
    github = GitHubSettings.of(scene.settings)
    relay = "https://relay.acme.dev/channel"
    scene.settings = with_section(scene.settings, github.replace(webhook_url=relay))
    with serving(scene.make) as scene.url:
        sent = json.loads(forms_on(scene.enter())[0].fields["manifest"])
    assert sent["hook_attributes"]["url"] == relay
    assert sent["redirect_url"] == f"{scene.url}{SETUP_PATH}/done"
