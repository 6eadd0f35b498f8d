"""Pages for administrators: settings in force, repositories, defaults of places."""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Final
from urllib.parse import quote

import structlog
from fastapi import FastAPI, Request, Response
from fastapi.responses import RedirectResponse

from patchwright.core.plugin import ReachedAccount, ServiceProfile
from patchwright.core.settings.model import Settings
from patchwright.core.settings.overview import settings_in_force
from patchwright.core.settings.repository import CONFIG_FILE
from patchwright.core.settings.repository_file import read_repository_config
from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Value
from patchwright.core.types.errors import ServiceError
from patchwright.core.types.threads import RepoRef, name_pattern
from patchwright.resolver.effective_configuration import (
    ConfigurationSource,
    EffectiveConfiguration,
    effective_configuration,
)
from patchwright.resolver.run_store import DEFAULT_REPOSITORY
from patchwright.workers.accounts.principal import Principal, Role
from patchwright.workers.store.audit import AuditAction, AuditLog
from patchwright.workers.store.choices import ChoiceStore, PlaceDefault
from patchwright.workers.web.frame import Site
from patchwright.workers.web.site.form_posts import FormPost, FormPosts

SETTINGS_PATH: Final = "/settings"
REPOSITORIES_PATH: Final = f"{SETTINGS_PATH}/repositories"
PLACES_PATH: Final = f"{SETTINGS_PATH}/places"
_SEE_OTHER: Final = 303

log = structlog.get_logger(__name__)


@dataclass(frozen=True)
class SettingsPages:
    """What the pages work with.

    `list_reached` and `fetch_file` ask the forge: they may take a while, and may raise
    `ServiceError`. `known_repositories` are those that the settings name or where there
    was work lately; `title_of` tells what people call a service, and `name_of` who made
    a choice.
    """

    site: Site
    posts: FormPosts
    audit: AuditLog
    settings: Settings
    forge: ServiceProfile
    chats: Mapping[str, ServiceProfile]
    list_reached: Callable[[], Iterable[ReachedAccount]]
    known_repositories: Callable[[], Iterable[RepoRef]]
    fetch_file: Callable[[RepoRef, str], bytes | None]
    choices: ChoiceStore
    title_of: Callable[[str], str]
    name_of: Callable[[str], str]
    clock: Clock

    def read_repository(self, full_name: str) -> RepoRef | None:
        """Return the repository of that name; None if it is no name of one."""
        pattern = name_pattern(has_groups=self.forge.forms.has_groups)
        if not re.fullmatch(pattern, full_name):
            return None
        return RepoRef(forge=self.forge.name, full_name=full_name)


_Show = Callable[[SettingsPages, Request, Principal], Response]


_ONE_REPOSITORY: Final = f"{REPOSITORIES_PATH}/{{full_name:path}}"


def add_settings_pages(app: FastAPI, pages: SettingsPages) -> None:
    """Add the pages, which are for administrators alone."""
    page = partial(_page, pages)
    app.get(SETTINGS_PATH, include_in_schema=False)(page(_show_settings))
    app.get(REPOSITORIES_PATH, include_in_schema=False)(page(_show_repositories))
    app.get(_ONE_REPOSITORY, include_in_schema=False)(page(_show_repository))
    app.get(PLACES_PATH, include_in_schema=False)(page(_show_places))
    change = pages.posts.on_post(partial(_change_place, pages), Role.ADMIN)
    change.__doc__ = _change_place.__doc__
    app.post(PLACES_PATH, include_in_schema=False)(change)


def _page(pages: SettingsPages, show: _Show) -> Callable[[Request], Response]:
    answer = pages.posts.on_get(partial(show, pages), Role.ADMIN)
    # The list of all addresses in the documentation says what each of them does.
    answer.__doc__ = show.__doc__
    return answer


def _show_settings(
    pages: SettingsPages, _request: Request, admin: Principal
) -> Response:
    """Show the settings in force, and where each value comes from."""
    return pages.site.show(
        "settings.html",
        admin,
        active=SETTINGS_PATH,
        parts=settings_in_force(pages.settings),
        notices=pages.settings.notices,
    )


class ReachedRepositories(Value):
    """What our app reaches, and what else is known; `problem` if nobody could say."""

    reached: tuple[ReachedAccount, ...] = ()
    others: tuple[str, ...] = ()
    problem: str = ""


def _show_repositories(
    pages: SettingsPages, _request: Request, admin: Principal
) -> Response:
    """Show the repositories that the service reaches."""
    return pages.site.show(
        "repositories.html",
        admin,
        active=SETTINGS_PATH,
        found=_list_repositories(pages),
        title=pages.forge.title,
        path_of=lambda name: f"{REPOSITORIES_PATH}/{quote(name)}",
    )


def _list_repositories(pages: SettingsPages) -> ReachedRepositories:
    known = [one.full_name for one in pages.known_repositories()]
    try:
        reached = tuple(pages.list_reached())
    except ServiceError as error:
        log.warning("reach_unknown", reason=error.reason, error=str(error))
        problem = f"{pages.forge.title} did not answer: {error}"
        return ReachedRepositories(others=tuple(dict.fromkeys(known)), problem=problem)
    listed = {name for one in reached for name in one.repositories}
    others = (name for name in dict.fromkeys(known) if name not in listed)
    return ReachedRepositories(reached=reached, others=tuple(others))


def _show_repository(
    pages: SettingsPages, request: Request, admin: Principal
) -> Response:
    """Show what holds in a repository, and whose word each value is."""
    full_name: str = request.path_params["full_name"]
    repo = pages.read_repository(full_name)
    found: EffectiveConfiguration | None = None
    problem, status, has_file = "", 200, False
    if repo is None:
        problem, status = f"“{full_name}” is not the name of a repository.", 404
    else:
        try:
            data = pages.fetch_file(repo, CONFIG_FILE)
        except ServiceError as error:
            problem, status = f"{pages.forge.title}: {error}", 502
        else:
            has_file = data is not None
            config = read_repository_config(data)
            found = effective_configuration(pages.settings, repo.forge, config)
    return pages.site.show(
        "repository.html",
        admin,
        status=status,
        active=SETTINGS_PATH,
        name=full_name,
        file=CONFIG_FILE,
        has_file=has_file,
        found=found,
        problem=problem,
        limited=ConfigurationSource.LIMITED,
    )


class PlaceRow(Value):
    """A channel or a project, and its repository; `chosen` if that can be changed."""

    service: str
    place: str
    repository: str
    setting: str = ""
    chosen: PlaceDefault | None = None
    chosen_by: str = ""


def _show_places(pages: SettingsPages, _request: Request, admin: Principal) -> Response:
    """Show the repositories of channels and projects."""
    return _places_page(pages, admin)


def _places_page(
    pages: SettingsPages, admin: Principal, problem: str = "", status: int = 200
) -> Response:
    return pages.site.show(
        "places.html",
        admin,
        status=status,
        active=SETTINGS_PATH,
        rows=list(_place_rows(pages)),
        problem=problem,
    )


def _place_rows(pages: SettingsPages) -> Iterable[PlaceRow]:
    for one in pages.choices.list_places():
        service, _, place = one.scope.partition(":")
        yield PlaceRow(
            service=pages.title_of(service),
            place=place,
            repository=one.repo.full_name,
            chosen=one,
            chosen_by=pages.name_of(one.chosen_by),
        )
    for profile in pages.chats.values():
        for place, repository in profile.repositories.items():
            yield PlaceRow(
                service=profile.title,
                place=place,
                repository=repository,
                setting=f"{profile.repositories_setting}.{place}",
            )


def _change_place(pages: SettingsPages, post: FormPost) -> Response:
    """Change or remove the repository of a place."""
    scope, admin = post.field("scope"), post.principal
    chosen = {one.scope: one for one in pages.choices.list_places()}
    if scope not in chosen:
        problem = "Somebody has removed this choice in the meantime."
        return _places_page(pages, admin, problem, 409)
    wanted = post.field("repository")
    if post.field("do") == "remove":
        pages.choices.forget(scope, DEFAULT_REPOSITORY)
        wanted = ""
    elif problem := _put_place(pages, admin, scope, wanted):
        return _places_page(pages, admin, problem, 422)
    before = chosen[scope].repo.full_name
    pages.audit.note(
        AuditAction.SETTINGS,
        by=admin.key,
        about=scope,
        detail=f"repository: {before} to {wanted or 'none'}",
    )
    return RedirectResponse(f"{pages.site.prefix}{PLACES_PATH}", _SEE_OTHER)


def _put_place(pages: SettingsPages, admin: Principal, scope: str, wanted: str) -> str:
    """Store the choice, or return a sentence that says what is wrong with it."""
    repo = pages.read_repository(wanted)
    if repo is None:
        return f"“{wanted}” is not the name of a repository. Enter OWNER/NAME."
    try:
        pages.fetch_file(repo, CONFIG_FILE)
    except ServiceError as error:
        return f"{wanted} cannot be read: {error}"
    now = pages.clock.now()
    pages.choices.put(scope, DEFAULT_REPOSITORY, str(repo), by=admin.key, now=now)
    return ""
