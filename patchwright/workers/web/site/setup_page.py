"""The page that says for each service whether it works, and what is missing."""

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import Final

import structlog
from fastapi import FastAPI, Request, Response

from patchwright.core.doctor import CheckStatus
from patchwright.core.plugin import Plugin, SetupStep, callback_path
from patchwright.core.settings.model import (
    Settings,
    dotted_key,
    find_key,
    missing_model,
    variable_name,
)
from patchwright.core.types.base import Value
from patchwright.core.webhook import WEBHOOK_ROUTE
from patchwright.integrations.oidc.claims import OIDC
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.web.frame import Site
from patchwright.workers.web.site.form_posts import FormPost, FormPosts

SETUP_PATH: Final = "/setup"
_OIDC_SETTINGS: Final = ("oidc.issuer", "oidc.client_id", "oidc.client_secret")
# The form that checks everything that is in use.
ALL: Final = "all"

log = structlog.get_logger(__name__)


class CardState(StrEnum):
    READY = "set up"
    INCOMPLETE = "incomplete"
    ABSENT = "not set up"


class NeededSetting(Value):
    """A setting that somebody begins with, and the variable that sets it."""

    key: str
    variable: str
    about: str
    is_set: bool


class SetupCard(Value):
    """One service, or another part that the service needs.

    `checks` are the names of what `doctor` examines of it, the name of a service
    standing for all of its own; its `state` is None where only they can tell.
    `problems` keep it from working, a line each. No run works without what `is_needed`.
    The `steps` come before the settings.
    """

    name: str
    title: str
    state: CardState | None
    checks: tuple[str, ...]
    about: str = ""
    needed: tuple[NeededSetting, ...] = ()
    problems: tuple[str, ...] = ()
    webhook_url: str = ""
    redirect_uri: str = ""
    install_path: str = ""
    is_needed: bool = False
    steps: tuple[SetupStep, ...] = ()

    @property
    def is_in_use(self) -> bool:
        return self.is_needed or self.state is not CardState.ABSENT

    def has_check(self, name: str) -> bool:
        return any(name == one or name.startswith(f"{one}-") for one in self.checks)


class CardResult(Value):
    """What one check has found, as the page shows it."""

    name: str
    status: CheckStatus
    found: str
    fixes: tuple[str, ...]


@dataclass(frozen=True)
class SetupPage:
    """What the page works with.

    `forge` is the name of the one where the code is. `install_paths` are where an app
    is installed, by the service's name; `examine` runs checks of `doctor` by their
    names, and takes as long as they do. `request_path` is where people ask, empty where
    nobody can.
    """

    site: Site
    posts: FormPosts
    settings: Settings
    plugins: tuple[Plugin, ...]
    forge: str
    install_paths: Mapping[str, str]
    examine: Callable[[tuple[str, ...]], Iterable[CardResult]]
    request_path: str = ""

    def cards(self) -> tuple[SetupCard, ...]:
        """Return what is needed first, and the forge that is not used last."""
        own = [one for one in self.plugins if one.name == self.forge]
        chats = [one for one in self.plugins if not one.connect_forge]
        others = [one for one in self.plugins if one not in (*own, *chats)]
        return (
            *(self._card_of(one) for one in own),
            self._model_card(),
            *_OTHER_CARDS,
            self._oidc_card(),
            *(self._card_of(one) for one in (*chats, *others)),
        )

    def _card_of(self, plugin: Plugin) -> SetupCard:
        profile = plugin.describe(self.settings)
        problems = plugin.review_settings(self.settings).errors
        is_set_up = CardState.INCOMPLETE if problems else CardState.READY
        public_url = self.settings.server.public_url
        own_url = public_url and public_url + WEBHOOK_ROUTE.format(service=plugin.name)
        return SetupCard(
            name=plugin.name,
            title=plugin.title,
            state=is_set_up if profile.is_configured else CardState.ABSENT,
            checks=(plugin.name,),
            about=self._about(plugin),
            needed=tuple(self._needed(plugin.first_settings)),
            problems=problems,
            webhook_url=profile.webhook_url or own_url,
            install_path=self.install_paths.get(plugin.name, ""),
            is_needed=plugin.name == self.forge,
            steps=plugin.setup_steps(self.settings),
        )

    def _about(self, plugin: Plugin) -> str:
        if plugin.name == self.forge:
            return "Where the code is."
        if plugin.connect_forge:
            return "Where the code may be instead: a service works with one of both."
        return "Where people ask."

    def _needed(self, keys: Iterable[str]) -> Iterator[NeededSetting]:
        for name in keys:
            path = tuple(name.split("."))
            key = find_key(type(self.settings), path)
            section = getattr(self.settings, path[0], None)
            if key is None or section is None:
                continue
            yield NeededSetting(
                key=dotted_key(path),
                variable=variable_name(path),
                about=key.field.description or "",
                is_set=bool(getattr(section, path[-1])),
            )

    def _oidc_card(self) -> SetupCard:
        oidc, public_url = self.settings.oidc, self.settings.server.public_url
        return SetupCard(
            name=OIDC,
            title="Single sign-on",
            state=CardState.READY if oidc.is_configured else CardState.ABSENT,
            checks=(OIDC,),
            about="Where people sign in, if not on the forge.",
            redirect_uri=public_url and public_url + callback_path(OIDC),
            needed=tuple(self._needed(_OIDC_SETTINGS)),
        )

    def _model_card(self) -> SetupCard:
        name = self.settings.agent.model
        model = self.settings.llm.find(name)
        is_set = model is not None and bool(model.model)
        return SetupCard(
            name="model",
            title="Model",
            state=CardState.READY if is_set else CardState.ABSENT,
            checks=("model",),
            about=model.model if model is not None else "",
            is_needed=True,
            problems=() if is_set else (missing_model(name),),
        )


_OTHER_CARDS: Final = (
    SetupCard(
        name="sandbox",
        title="Sandbox",
        state=None,
        checks=("sandbox",),
        about="Where the agent runs commands.",
        is_needed=True,
    ),
    SetupCard(
        name="service",
        title="This service",
        state=None,
        checks=(
            *("settings", "state", "database", "secrets", "broker", "processes"),
            *("network", "clock", "public-url", "repositories"),
        ),
        about="Its database, its queue, its processes and its public address.",
        is_needed=True,
    ),
)


def add_setup_page(app: FastAPI, page: SetupPage) -> None:
    show = page.posts.on_get(partial(_show_cards, page), Role.ADMIN)
    check = page.posts.on_post(partial(_check, page), Role.ADMIN)
    # The list of all addresses in the documentation says what each of them does.
    show.__doc__, check.__doc__ = _show_cards.__doc__, _check.__doc__
    app.get(SETUP_PATH, include_in_schema=False)(show)
    app.post(SETUP_PATH, include_in_schema=False)(check)


def _show_cards(page: SetupPage, _request: Request, admin: Principal) -> Response:
    """Show the services, and what is missing of each."""
    return _show(page, admin)


def _check(page: SetupPage, post: FormPost) -> Response:
    """Run the checks of a card, or of all that are used, and show what they found."""
    name, admin = post.field("card"), post.principal
    chosen = [
        one
        for one in page.cards()
        if one.name == name or (name == ALL and one.is_in_use)
    ]
    if not chosen:
        return _show(page, admin, status=404)
    log.info("setup_checked", card=name, by=admin.key)
    names = tuple(check for one in chosen for check in one.checks)
    return _show(page, admin, name, tuple(page.examine(names)))


def _show(
    page: SetupPage,
    admin: Principal,
    checked: str = "",
    results: tuple[CardResult, ...] = (),
    status: int = 200,
) -> Response:
    cards = page.cards()
    found = {
        card.name: [one for one in results if card.has_check(one.name)]
        for card in cards
    }
    failed = [one for one in results if one.status is CheckStatus.FAILED]
    warned = [one for one in results if one.status is CheckStatus.WARNING]
    return page.site.show(
        "setup.html",
        admin,
        status=status,
        active=SETUP_PATH,
        groups={
            "What every run needs": [one for one in cards if one.is_needed],
            "Other services": [one for one in cards if not one.is_needed],
        },
        checked=checked,
        checked_all=checked == ALL,
        found=found,
        failed=failed,
        warned=warned,
        request_path=page.request_path,
        public_url=page.settings.server.public_url,
        ready=CardState.READY,
        tones=_TONES,
    )


_TONES: Final = {
    CheckStatus.OK: "good",
    CheckStatus.WARNING: "open",
    CheckStatus.FAILED: "bad",
    CheckStatus.SKIPPED: "dim",
}
