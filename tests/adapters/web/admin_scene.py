"""A site with the pages about money, settings and set-up, and people who visit it."""

import html
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import date, timedelta
from itertools import count
from pathlib import Path
from typing import Final

import httpx
from fastapi import FastAPI, Request

from patchwright.core.doctor import CheckStatus
from patchwright.core.plugin import ReachedAccount
from patchwright.core.types.base import AccountId, RandomIds
from patchwright.core.types.errors import NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.integrations.registry import PLUGINS, describe_services, service_title
from patchwright.integrations.settings import load_settings
from patchwright.workers.accounts.principal import Principal, Role, SignedInBy
from patchwright.workers.db.database import Database
from patchwright.workers.runs.spend import SpendReader
from patchwright.workers.store.audit import AuditLog
from patchwright.workers.store.choices import ChoiceStore
from patchwright.workers.store.reservations import (
    Ceilings,
    Reservation,
    ReservationStore,
    Spender,
)
from patchwright.workers.store.spend_alerts import SpendAlertStore
from patchwright.workers.web.forms import FormTokens
from patchwright.workers.web.frame import Site, add_assets
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.site.form_posts import FormPosts
from patchwright.workers.web.site.settings_pages import (
    SettingsPages,
    add_settings_pages,
)
from patchwright.workers.web.site.setup_page import (
    CardResult,
    SetupPage,
    add_setup_page,
)
from patchwright.workers.web.site.spend_page import SpendPages, add_spend_page
from tests.adapters.store.world import REPO, World
from tests.adapters.web.browser import serving

TOKENS: Final = FormTokens(b"a secret for forms")
SECRET: Final = "sk-very-secret-key"
ENVIRONMENT: Final = {
    "LLM_MODEL": "openai/x",
    "LLM_API_KEY": SECRET,
    "PATCHWRIGHT_SERVER__PUBLIC_URL": "https://bot.acme.test",
    "PATCHWRIGHT_GITHUB__TOKEN": "ghp_1234567890",
    "PATCHWRIGHT_SLACK__BOT_TOKEN": "xoxb-1234567890",
    "PATCHWRIGHT_JIRA__PROJECTS": '{"APP": "acme/shop"}',
    "PATCHWRIGHT_LIMITS__PER_USER_DAY_USD": "10",
}
# Who sends a request, by the header `x-viewer`.
ADMIN, MEMBER, VIEWER, STRANGER = "admin", "reader", "viewer", ""
_ROLES: Final = {ADMIN: Role.ADMIN, MEMBER: Role.MEMBER, VIEWER: Role.VIEWER}


@dataclass
class Scene:
    """A running site; `files` are the configurations of repositories, by name."""

    url: str
    world: World
    choices: ChoiceStore
    alerts: SpendAlertStore
    audit: AuditLog
    files: dict[str, bytes | None]
    examined: list[tuple[str, ...]] = field(default_factory=list)
    _numbers: Iterator[int] = field(default_factory=lambda: count(1))

    def get(self, path: str, viewer: str = ADMIN) -> httpx.Response:
        return httpx.get(f"{self.url}{path}", headers={"x-viewer": viewer})

    def post(
        self, path: str, viewer: str = ADMIN, check: str | None = None, **fields: str
    ) -> httpx.Response:
        """Send a form, with its right hidden field unless another is given."""
        word = TOKENS.new(f"account:{viewer}") if check is None else check
        return httpx.post(
            f"{self.url}{path}",
            headers={"x-viewer": viewer},
            data={"check": word, **fields},
        )

    def spend(
        self, usd: float, *, by: str = "alice", repo: RepoRef = REPO, day: date
    ) -> Spender:
        job_id = self.world.ask(f"k{next(self._numbers)}")
        spender = Spender(job_id=job_id, account_id=AccountId(by), repo=repo, day=day)
        money = ReservationStore(self.world.database, RandomIds())
        reserved = money.reserve(spender, usd, Ceilings())
        assert isinstance(reserved, Reservation)
        money.settle(reserved, usd)
        return spender


@contextmanager
def administering(database: Database, folder: Path) -> Iterator[Scene]:
    """Serve the pages from a thread of this process until the context is left."""
    world = World(database)
    choices = ChoiceStore(database)
    alerts = SpendAlertStore(database, world.clock)
    audit = AuditLog(database, RandomIds(), world.clock)
    scene = Scene("", world, choices, alerts, audit, {"acme/shop": None})
    with serving(lambda _url: _make_app(scene, folder)) as url:
        scene.url = url
        yield scene


def _find_principal(request: Request) -> Principal | None:
    name = request.headers.get("x-viewer", "")
    if name not in _ROLES:
        return None
    return Principal(
        name=name,
        role=_ROLES[name],
        signed_in_by=SignedInBy.SESSION,
        account_id=AccountId(name),
        identity=Actor(service="github", login=name),
    )


def _make_app(scene: Scene, folder: Path) -> FastAPI:
    settings = load_settings(ENVIRONMENT, flags={"server.port": 8080}, cwd=folder)
    directory = describe_services(settings)
    site = Site(prefix="", login_path="/auth/github/login", form_tokens=TOKENS)
    limit = AttemptLimit(scene.world.clock, 50, timedelta(minutes=1))
    posts = FormPosts(site, _find_principal, limit)
    database = scene.world.database

    def fetch_file(repo: RepoRef, path: str) -> bytes | None:
        assert path == ".patchwright.toml"
        if repo.full_name not in scene.files:
            raise NotFoundError("Not Found")
        return scene.files[repo.full_name]

    def examine(names: tuple[str, ...]) -> Iterator[CardResult]:
        scene.examined.append(names)
        yield CardResult(
            name=names[0],
            status=CheckStatus.FAILED,
            found="no <answer>",
            fixes=("run `serve <it>` as on https://bot.test/docs",),
        )

    app = FastAPI()
    add_assets(app)
    add_spend_page(
        app,
        SpendPages(
            site=site,
            find_principal=_find_principal,
            may_read=lambda repo, _who: repo == REPO,
            account_of=lambda who: who.account_id,
            reader=SpendReader(database),
            alerts=scene.alerts,
            limits=settings.limits,
            clock=scene.world.clock,
        ),
    )
    add_settings_pages(
        app,
        SettingsPages(
            site=site,
            posts=posts,
            audit=scene.audit,
            settings=settings,
            forge=directory.forge,
            chats=directory.chats,
            list_reached=lambda: (
                ReachedAccount(
                    account="acme",
                    url="https://github.com/settings/installations/1",
                    count=3,
                    repositories=("acme/shop", "acme/<b>"),
                ),
            ),
            known_repositories=lambda: (
                REPO,
                RepoRef(forge="github", full_name="acme/old"),
            ),
            fetch_file=fetch_file,
            choices=scene.choices,
            title_of=service_title,
            name_of=lambda by: by.removeprefix("account:"),
            clock=scene.world.clock,
        ),
    )
    add_setup_page(
        app,
        SetupPage(
            site=site,
            posts=posts,
            settings=settings,
            plugins=PLUGINS,
            forge="github",
            install_paths={"slack": "/slack/install"},
            examine=examine,
        ),
    )
    return app


def shown_text(page: httpx.Response) -> list[str]:
    """Return what the content of a page says, without its tags, line by line."""
    body = page.text.partition('<main id="content">')[2].partition("</main>")[0]
    blocks = re.sub(
        r"</?(?:h1|h2|p|form|table|tr|td|th|caption|li|ul|div|section|summary|dl|dt|dd|"
        r"nav|details|br|title)\b[^>]*>",
        "\0",
        body,
    )
    text = html.unescape(re.sub(r"<[^>]+>", "", blocks))
    return [" ".join(one.split()) for one in text.split("\0") if one.strip()]
