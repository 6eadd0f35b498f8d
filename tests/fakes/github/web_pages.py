"""The pages of GitHub to which people are sent: making an App, signing in to one."""

import json
from collections.abc import Mapping
from urllib.parse import parse_qsl, urlencode

from tests.fakes.github.acts.registrations import register
from tests.fakes.github.acts.sign_ins import Exchange, Wish, approve, exchange, renew
from tests.fakes.github.exchange import Answer, RefusedError, Request, not_found
from tests.fakes.github.form_pages import NEW_APP
from tests.fakes.github.state import World

AUTHORIZE = "/login/oauth/authorize"
ACCESS_TOKEN = "/login/oauth/access_token"


def is_page(request: Request) -> bool:
    path = request.path
    return path in {AUTHORIZE, ACCESS_TOKEN} or NEW_APP.fullmatch(path) is not None


def respond(world: World, request: Request) -> Answer:
    """Answer as GitHub does once the person has clicked through its page."""
    try:
        with world.lock:
            return _respond(world, request)
    except RefusedError as refusal:
        return refusal.answer()


def _respond(world: World, request: Request) -> Answer:
    match (request.method, request.path):
        case ("GET", str(path)) if path == AUTHORIZE:
            return _authorize(world, request.query)
        case ("POST", str(path)) if path == ACCESS_TOKEN:
            return _token(world, request)
        case ("POST", str(path)) if named := NEW_APP.fullmatch(path):
            return _new_app(world, request, named["owner"] or "")
        case _:
            raise not_found()


def _new_app(world: World, request: Request, owner: str) -> Answer:
    manifest = json.loads(_form(request).get("manifest", "{}"))
    code = register(world, manifest, owner)
    state = request.query.get("state")
    answer = {"code": code} | ({} if state is None else {"state": state})
    return _redirect(str(manifest["redirect_url"]), answer)


def _authorize(world: World, query: Mapping[str, str]) -> Answer:
    wish = Wish(
        client_id=query.get("client_id", ""),
        redirect_uri=query.get("redirect_uri", ""),
        challenge=query.get("code_challenge", ""),
        method=query.get("code_challenge_method", ""),
    )
    sent = approve(world, wish)
    state = {"state": query["state"]} if "state" in query else {}
    return _redirect(sent.address, sent.answer | state)


def _token(world: World, request: Request) -> Answer:
    form = _form(request)
    if form.get("grant_type") == "refresh_token":
        names = ("client_id", "client_secret", "refresh_token")
        body = renew(world, *(form.get(name, "") for name in names))
        return Answer(status=200, body=body)
    wanted = Exchange(
        client_id=form.get("client_id", ""),
        client_secret=form.get("client_secret", ""),
        code=form.get("code", ""),
        redirect_uri=form.get("redirect_uri", ""),
        verifier=form.get("code_verifier", ""),
    )
    return Answer(status=200, body=exchange(world, wanted))


def _form(request: Request) -> dict[str, str]:
    return dict(parse_qsl(request.body.decode(), keep_blank_values=True))


def _redirect(address: str, answer: Mapping[str, str]) -> Answer:
    headers = {"Location": f"{address}?{urlencode(answer)}"}
    return Answer(status=302, headers=headers)
