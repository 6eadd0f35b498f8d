"""People who are linked: a GitHub, the service, and browsers."""

import re
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from fastapi import FastAPI

from patchwright.core.settings.model import Settings
from patchwright.core.system.crypto import KeyRing
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.types.people import Actor
from patchwright.integrations.github.app import CALLBACK_PATH
from patchwright.integrations.github.plugin import PLUGIN
from patchwright.integrations.settings import load_settings
from patchwright.workers.db.database import Database
from patchwright.workers.db.upgrade import upgrade
from patchwright.workers.plugins.people import link_address, make_identity_tokens
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.store.identity_tokens import IdentityTokens
from patchwright.workers.store.secrets import SecretStore
from patchwright.workers.web.link_flow import LinkingRoutes
from patchwright.workers.web.link_routes import (
    add_linking,
    linking_callbacks,
    make_linking_routes,
)
from patchwright.workers.web.sign_in import add_sign_in
from patchwright.workers.website_accounts import AccountParts, make_sign_in
from tests.adapters.web.browser import browsing, forms_on, go_on, serving
from tests.fakes.github.acts.registrations import add_client
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.github.fake import FakeGitHub
from tests.flow.clock import MovableClock

SECRET = b"session-secret"
APP_ID = 7
JO = Actor(service="slack", login="jo", external_id="U1", host="T1")


@dataclass
class Scene:
    """`prefix` is the path under which people reach the service."""

    folder: Path
    github: FakeGitHub
    database: Database
    clock: MovableClock
    browser: httpx.Client
    prefix: str = ""
    url: str = ""
    dispatched: list[JobId] = field(default_factory=list)
    settings: Settings | None = None
    door: LinkingRoutes | None = None

    @property
    def accounts(self) -> AccountStore:
        return AccountStore(self.database, RandomIds(), self.clock)

    @property
    def secrets(self) -> SecretStore:
        return SecretStore(self.database, KeyRing({"k": bytes(32)}, "k"), self.clock)

    @property
    def tokens(self) -> IdentityTokens:
        assert self.settings
        return make_identity_tokens(
            PLUGIN, self.settings, self.database, self.secrets, self.clock
        )

    def make(self, url: str) -> FastAPI:
        """Compose the service for that address."""
        self.settings = self.settings_for(url)
        self.door = self.open(self.settings, SECRET)
        app, inner = FastAPI(), FastAPI()
        parts = AccountParts(
            plugin=PLUGIN,
            settings=self.settings,
            database=self.database,
            accounts=self.accounts,
            ids=RandomIds(),
            clock=self.clock,
            dispatch=self.dispatched.append,
        )
        sign_in = make_sign_in(parts, SECRET)
        assert sign_in
        assert self.door
        add_linking(inner, self.door)
        add_sign_in(inner, sign_in, linking_callbacks(self.door))
        app.mount(self.prefix, inner)
        return app

    def open(self, settings: Settings, secret: bytes | None) -> LinkingRoutes | None:
        return make_linking_routes(
            PLUGIN,
            settings,
            secret,
            self.clock,
            database=self.database,
            accounts=self.accounts,
            secrets=self.secrets,
            tokens=self.tokens,
            dispatch=self.dispatched.append,
        )

    def settings_for(self, url: str) -> Settings:
        address = url + self.prefix
        client = add_client(self.github.world, APP_ID, [address + CALLBACK_PATH])
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(self.folder),
            "PATCHWRIGHT_SERVER__PUBLIC_URL": address,
            "PATCHWRIGHT_GITHUB__API_URL": self.github.api_url,
            "PATCHWRIGHT_GITHUB__WEB_URL": self.github.web_url,
            "PATCHWRIGHT_GITHUB__CLIENT_ID": client.client_id,
            "PATCHWRIGHT_GITHUB__CLIENT_SECRET": client.client_secret,
        }
        return load_settings(environment, flags={}, cwd=self.folder)

    def invite(self, actor: Actor = JO) -> str:
        """Return the link that the actor gets."""
        assert self.door
        token = self.door.links.invite(actor)
        assert token
        return link_address(self.url + self.prefix, token)

    def press(
        self, page: httpx.Response, browser: httpx.Client | None = None
    ) -> httpx.Response:
        """Press the button on a page."""
        (form,) = forms_on(page)
        return (browser or self.browser).post(page.url, data=form.fields)

    def leave(self, link: str) -> httpx.Response:
        """Open the link and go as far as GitHub; return where that sends back."""
        return go_on(self.browser, self.press(self.browser.get(link)))

    def arrive(self, link: str) -> httpx.Response:
        """Go to GitHub and back; return the question with both names."""
        back = go_on(self.browser, self.leave(link))
        return self.browser.get(httpx.URL(self.url).join(back.headers["location"]))

    def link(self, actor: Actor = JO) -> httpx.Response:
        return self.press(self.arrive(self.invite(actor)))

    def person(self, actor: Actor = JO) -> str:
        """Return who the actor is on GitHub by now."""
        found = self.accounts.person_of(actor, "github", self.github.api_url)
        return found.login if found else ""


def title_of(page: httpx.Response) -> str:
    found = re.search(r"<h1>(.*?)</h1>", page.text)
    assert found, page.text
    return found[1]


@contextmanager
def linking_scene(folder: Path, prefix: str = "") -> Iterator[Scene]:
    clock = MovableClock()
    with (
        closing(Database(f"sqlite:///{folder / 'linking.db'}")) as database,
        FakeGitHub(enterprise=True, clock=clock) as github,
        browsing() as browser,
    ):
        upgrade(database)
        for login in ("alice", "mallory"):
            github.add_user(login)
        github.add_app(APP_ID, "patchwright", "hook-secret")
        sit_down(github.world, "alice")
        scene = Scene(folder, github, database, clock, browser, prefix)
        with serving(scene.make) as url:
            scene.url = url
            yield scene
