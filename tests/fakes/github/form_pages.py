"""The forms of GitHub for people at a browser: make an App, install it, open an issue.

A program that sends what a form would send is answered at once, by `web_pages`.
"""

import json
import re
from collections.abc import Mapping
from typing import Final
from urllib.parse import parse_qs, urlencode

from tests.fakes.github.acts import threads
from tests.fakes.github.acts.accounts import install_app
from tests.fakes.github.acts.registrations import register
from tests.fakes.github.exchange import RefusedError, Request, not_found
from tests.fakes.github.people_pages import page, render
from tests.fakes.github.server import Wire
from tests.fakes.github.state import App, World

NEW_APP: Final = re.compile(r"(?:/organizations/(?P<owner>[^/]+))?/settings/apps/new")
_INSTALL: Final = re.compile(
    r"/(?:github-apps|apps)/(?P<slug>[\w.-]+)/installations/new"
)
_NEW_ISSUE: Final = re.compile(r"/(?P<repo>[\w.-]+/[\w.-]+)/issues/new")
_PATTERNS: Final = (NEW_APP, _INSTALL, _NEW_ISSUE)
_Fields = Mapping[str, list[str]]


def is_page(request: Request) -> bool:
    is_browser = "text/html" in request.headers.get("accept", "")
    return is_browser and any(one.fullmatch(request.path) for one in _PATTERNS)


def serve(world: World, request: Request) -> Wire:
    """Show the form of an address for which `is_page` holds, or do what it says."""
    fields = parse_qs(request.body.decode())
    try:
        with world.lock:
            return _serve(world, request, fields)
    except RefusedError as refusal:
        return page(render("refused.html", message=refusal.message), refusal.status)


def _serve(world: World, request: Request, fields: _Fields) -> Wire:
    is_sent, path = request.method == "POST", request.path
    if found := NEW_APP.fullmatch(path):
        if "name" in fields:
            return _make_app(world, request, found["owner"] or "", fields)
        return page(_app_form(_first(fields, "manifest")))
    if found := _INSTALL.fullmatch(path):
        app = _app_of(world, found["slug"])
        return _install(world, app, fields) if is_sent else page(_offer(world, app))
    if found := _NEW_ISSUE.fullmatch(path):
        name = world.repo(found["repo"]).full_name
        if is_sent:
            return _open_issue(world, name, fields)
        return page(render("new_issue.html", name))
    raise not_found()


def _app_form(manifest: str) -> str:
    return render("new_app.html", manifest=manifest, name=json.loads(manifest)["name"])


def _make_app(world: World, request: Request, owner: str, fields: _Fields) -> Wire:
    manifest = json.loads(_first(fields, "manifest"))
    code = register(world, {**manifest, "name": _first(fields, "name")}, owner)
    query = {"code": code, "state": request.query.get("state", "")}
    return _go(f"{manifest['redirect_url']}?{urlencode(query)}")


def _app_of(world: World, slug: str) -> App:
    found = [one for one in world.apps.values() if one.slug == slug]
    if not found:
        raise not_found()
    return found[0]


def _offer(world: World, app: App) -> str:
    repositories = sorted(one.full_name for one in world.repos.values())
    return render("install.html", app=app, repositories=repositories)


def _install(world: World, app: App, fields: _Fields) -> Wire:
    chosen = fields.get("repository", [])
    if not chosen:
        raise RefusedError(422, "Select at least one repository")
    owner = chosen[0].partition("/")[0]
    installation = install_app(world, app.id, owner, chosen)
    query = {"installation_id": str(installation.id), "setup_action": "install"}
    return _go(f"{world.registry.setup_urls[app.id]}?{urlencode(query)}")


def _open_issue(world: World, name: str, fields: _Fields) -> Wire:
    issue = threads.open_issue(
        world,
        world.repo(name),
        author=world.registry.at_the_browser,
        title=_first(fields, "title"),
        body=_first(fields, "body").replace("\r\n", "\n"),
    )
    return _go(f"/{name}/issues/{issue.number}")


def _first(fields: _Fields, name: str) -> str:
    return next(iter(fields.get(name, ())), "")


def _go(address: str) -> Wire:
    return Wire(302, {"Location": address}, b"")
