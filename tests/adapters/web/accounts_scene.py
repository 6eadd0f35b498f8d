"""A service with accounts, at a GitHub and a provider, and browsers in front of it."""

from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from fastapi import FastAPI, Request

from patchwright.core.types.base import JobId, RandomIds
from patchwright.integrations.github.plugin import PLUGIN
from patchwright.integrations.settings import load_settings
from patchwright.workers.db.database import Database
from patchwright.workers.store.accounts import AccountStore
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import NavigationItem, Site, add_assets
from patchwright.workers.web.sign_in import SignInRoutes, add_sign_in
from patchwright.workers.web.visitors import Visitors
from patchwright.workers.website_accounts import (
    AccountParts,
    account_pages,
    compose_visitors,
    make_sign_in,
)
from tests.adapters.web.browser import Form, browsing, forms_on, go_on, serving
from tests.fakes.github.acts.registrations import add_client
from tests.fakes.github.acts.sign_ins import sit_down
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.oidc.provider import Client, FakeOidc, providing
from tests.flow.clock import MovableClock
from tests.schema import add_sqlite_file

SECRET = b"session-secret"
ADMIN_TOKEN = "the-administrators-token"
APP_ID = 7


@dataclass
class Scene:
    """`settings` are further settings, by their names in the environment."""

    folder: Path
    github: FakeGitHub
    oidc: FakeOidc
    database: Database
    clock: MovableClock
    browser: httpx.Client
    settings: dict[str, str] = field(default_factory=dict)
    url: str = ""
    parts: AccountParts | None = None
    sign_in_routes: SignInRoutes | None = None
    dispatched: list[JobId] = field(default_factory=list)

    def make(self, url: str) -> FastAPI:
        self.url = url
        parts = self._parts(url)
        sign_in = make_sign_in(parts, SECRET)
        assert sign_in is not None
        self.parts, self.sign_in_routes = parts, sign_in
        visitors = compose_visitors(parts, sign_in)
        navigation = (NavigationItem(title="People", path="/people"),)
        site = Site("", sign_in.entry_path, FormTokens(SECRET), navigation)
        app = FastAPI()
        add_sign_in(app, sign_in)
        add_assets(app)
        for add in account_pages(parts, sign_in, visitors, site):
            add(app)
        _add_whoami(app, visitors)
        return app

    def _parts(self, url: str) -> AccountParts:
        client = add_client(self.github.world, APP_ID, [f"{url}/auth/github/callback"])
        self.oidc.clients["us"] = Client(
            "us",
            "our-secret",
            [f"{url}/auth/oidc/callback"],
            f"{url}/auth/oidc/backchannel-logout",
            [f"{url}/auth"],
        )
        environment = {
            "PATCHWRIGHT_STATE_DIR": str(self.folder),
            "PATCHWRIGHT_SERVER__PUBLIC_URL": url,
            "PATCHWRIGHT_SECURITY__ADMIN_TOKEN": ADMIN_TOKEN,
            "PATCHWRIGHT_GITHUB__API_URL": self.github.api_url,
            "PATCHWRIGHT_GITHUB__WEB_URL": self.github.web_url,
            "PATCHWRIGHT_GITHUB__CLIENT_ID": client.client_id,
            "PATCHWRIGHT_GITHUB__CLIENT_SECRET": client.client_secret,
            "PATCHWRIGHT_OIDC__ISSUER": self.oidc.url,
            "PATCHWRIGHT_OIDC__CLIENT_ID": "us",
            "PATCHWRIGHT_OIDC__CLIENT_SECRET": "our-secret",
            "PATCHWRIGHT_OIDC__NAME": "Acme SSO",
            **self.settings,
        }
        settings = load_settings(environment, flags={}, cwd=self.folder)
        ids = RandomIds()
        return AccountParts(
            plugin=PLUGIN,
            settings=settings,
            database=self.database,
            accounts=AccountStore(
                self.database, ids, self.clock, settings.accounts.default_role
            ),
            ids=ids,
            clock=self.clock,
            dispatch=self.dispatched.append,
        )

    def by_github(
        self, login: str, browser: httpx.Client | None = None
    ) -> httpx.Response:
        """Sign in with GitHub as somebody; return what the service says then."""
        self.github.add_user(login)
        sit_down(self.github.world, login)
        used = browser or self.browser
        begun = used.get(f"{self.url}/auth/github/login")
        return go_on(used, go_on(used, begun))

    def leave_for_oidc(
        self, username: str, browser: httpx.Client | None = None
    ) -> httpx.Response:
        """Sign in at the provider; return where it sends the browser back."""
        used = browser or self.browser
        page = go_on(used, used.get(f"{self.url}/auth/oidc/login"))
        if page.is_redirect:
            return page
        (form,) = forms_on(page)
        fields = {**form.fields, "username": username, "password": "secret"}
        return used.post(f"{self.oidc.url}{form.action}", data=fields)

    def by_oidc(
        self, username: str, browser: httpx.Client | None = None
    ) -> httpx.Response:
        used = browser or self.browser
        return go_on(used, self.leave_for_oidc(username, used))

    def whoami(
        self, browser: httpx.Client | None = None, token: str = ""
    ) -> dict[str, str]:
        """Return whom the service sees, nothing for nobody."""
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        answer = (browser or self.browser).get(f"{self.url}/whoami", headers=headers)
        found: dict[str, str] = answer.json()
        return found

    def get(self, path: str, browser: httpx.Client | None = None) -> httpx.Response:
        return (browser or self.browser).get(f"{self.url}{path}")

    def form(self, path: str, action: str, browser: httpx.Client | None = None) -> Form:
        """Return the first form of a page that is sent to that address."""
        page = self.get(path, browser)
        return next(one for one in forms_on(page) if one.action == action)

    def send(
        self,
        path: str,
        action: str,
        browser: httpx.Client | None = None,
        **fields: str,
    ) -> httpx.Response:
        """Fill in a form of a page, and send it."""
        filled = {**self.form(path, action, browser).fields, **fields}
        return (browser or self.browser).post(f"{self.url}{action}", data=filled)

    def make_admin(self, browser: httpx.Client | None = None) -> None:
        answer = self.send(
            "/people", "/people/become-admin", browser, token=ADMIN_TOKEN
        )
        assert answer.status_code == 303, answer.text


def _add_whoami(app: FastAPI, visitors: Visitors) -> None:
    @app.get("/whoami")
    def whoami(request: Request) -> dict[str, str]:
        found = visitors.find(request)
        if found is None:
            return {}
        return {
            "name": found.name,
            "role": found.role,
            "by": found.signed_in_by,
            "account": found.account_id or "",
            "identity": found.identity.login if found.identity else "",
        }


@contextmanager
def accounts_scene(folder: Path, **settings: str) -> Iterator[Scene]:
    """Serve until the context is left; `settings` are by their section and key."""
    clock = MovableClock()
    file = folder / "patchwright.db"
    add_sqlite_file(file)
    with (
        FakeGitHub(enterprise=True) as github,
        providing(clock) as oidc,
        closing(Database(f"sqlite:///{file}", clock=clock)) as database,
        browsing() as browser,
    ):
        github.add_app(APP_ID, "patchwright", "hook-secret")
        named = {f"PATCHWRIGHT_{key.upper()}": value for key, value in settings.items()}
        scene = Scene(folder, github, oidc, database, clock, browser, named)
        with serving(scene.make):
            yield scene
