"""Answer the calls of the Web API, and hand out files."""

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import parse_qsl

from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Wire, json_bytes
from tests.fakes.slack import oauth
from tests.fakes.slack.call import Call, Method, RefusedError
from tests.fakes.slack.contract import Journal
from tests.fakes.slack.faults import Faults
from tests.fakes.slack.routes import chat, conversations, people, views
from tests.fakes.slack.state import Installation, Json, World

API = "/api/"
FILES = "/files-pri/"
OAUTH = "oauth.v2.access"
CONNECTIONS = f"{API}apps.connections.open"
METHODS: Mapping[str, Method] = {
    **chat.METHODS,
    **conversations.METHODS,
    **people.METHODS,
    **views.METHODS,
}
OAUTH_ARGS = frozenset({"code", "redirect_uri"})


@dataclass(frozen=True)
class CallSeen:
    """A call that came; `error` is empty where it was answered."""

    method: str
    args: Json
    error: str


@dataclass
class WebApi:
    """Everything that is asked over HTTP."""

    world: World
    faults: Faults
    calls: list[CallSeen] = field(default_factory=list)
    journal: Journal = field(default_factory=Journal)
    open_connection: Callable[[str], Json] = lambda _: {"ok": False}

    def respond(self, request: Request) -> Wire:
        if request.path.startswith(FILES):
            return self._file(request)
        if request.path == CONNECTIONS:
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            return _wire(200, {}, json_bytes(self.open_connection(token)))
        if not request.path.startswith(API):
            return Wire(404, {"Content-Type": "text/html"}, b"<html></html>")
        name = request.path.removeprefix(API)
        with self.world.lock:
            return self._method(name, request)

    def _method(self, name: str, request: Request) -> Wire:
        fault = self.faults.take(name)
        if fault is not None and not fault.is_late:
            self.calls.append(CallSeen(name, {}, "fault"))
            return _wire(fault.status, fault.headers, fault.body)
        args: Json = {}
        try:
            args = _args(request)
            answer = self._answer(name, request, args)
        except RefusedError as refusal:
            answer = refusal.body
        self.calls.append(CallSeen(name, args, answer.get("error", "")))
        self.journal.note(name, _described(name, args), answer)
        if fault is not None:
            return _wire(fault.status, fault.headers, fault.body)
        return _wire(200, self._scopes(request), json_bytes(answer))

    def _scopes(self, request: Request) -> Mapping[str, str]:
        """Return what Slack tells of a token with every answer."""
        shown = request.headers.get("authorization", "").removeprefix("Bearer ")
        bot = self.world.installations.get(shown)
        return {"X-OAuth-Scopes": ",".join(sorted(bot.scopes))} if bot else {}

    def _answer(self, name: str, request: Request, args: Json) -> Json:
        if name == OAUTH:
            return oauth.access(self.world, request.headers, args)
        if name not in METHODS:
            raise RefusedError("unknown_method")
        method = METHODS[name]
        bot = self._caller(request)
        if _is_json(request) and not method.takes_json:
            raise RefusedError("invalid_arguments")
        _check_args(method, args)
        call = Call(world=self.world, bot=bot, args=args)
        if method.scope:
            call.needs(method.scope)
        return method.endpoint(call)

    def _caller(self, request: Request) -> Installation:
        shown = request.headers.get("authorization", "")
        if not shown:
            raise RefusedError("not_authed")
        bot = self.world.installations.get(shown.removeprefix("Bearer "))
        if bot is None:
            raise RefusedError("invalid_auth")
        return bot

    def _file(self, request: Request) -> Wire:
        """Hand out a file; who lacks the right is sent to a page to sign in."""
        with self.world.lock:
            found = self.world.files.get(f"{self.world.url}{request.path}")
            token = request.headers.get("authorization", "").removeprefix("Bearer ")
            bot = self.world.installations.get(token)
        if found is None:
            return Wire(404, {"Content-Type": "text/html"}, b"<html></html>")
        if bot is None or "files:read" not in bot.scopes:
            return Wire(302, {"Location": f"{self.world.url}/?redir=file"}, b"")
        return Wire(200, {"Content-Type": found.mimetype}, found.data)


def _check_args(method: Method, args: Json) -> None:
    missing = method.required - set(args)
    if missing:
        raise RefusedError("invalid_arguments", missing=sorted(missing))
    unknown = set(args) - method.required - method.optional
    if unknown:
        # Slack overlooks them; who sends them has mistaken something.
        raise RefusedError("invalid_arg_name", unknown=sorted(unknown))


def _described(name: str, args: Json) -> Json:
    """Return the arguments as they are described, for OAuth with its credentials."""
    if name != OAUTH:
        return args
    return {**args, "client_id": "", "client_secret": ""}


def _is_json(request: Request) -> bool:
    return request.headers.get("content-type", "").startswith("application/json")


def _args(request: Request) -> Json:
    if not _is_json(request):
        form = parse_qsl(request.body.decode(), keep_blank_values=True)
        return {**request.query, **dict(form)}
    try:
        parsed: Any = json.loads(request.body or b"{}")
    except ValueError:
        raise RefusedError("invalid_json") from None
    if not isinstance(parsed, dict):
        raise RefusedError("invalid_json")
    return parsed


def _wire(status: int, headers: Mapping[str, str], body: bytes) -> Wire:
    kind = {"Content-Type": "application/json; charset=utf-8"}
    return Wire(status, {**kind, **headers}, body)
