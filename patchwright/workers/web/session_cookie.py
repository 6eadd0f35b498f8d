"""The cookie of a session: found, begun and ended here, and renewed with an answer."""

import re
from collections.abc import Awaitable, Callable, MutableMapping
from dataclasses import dataclass
from typing import Any, Final, TypeAlias

from fastapi import Response
from fastapi.concurrency import run_in_threadpool
from starlette.datastructures import MutableHeaders
from starlette.requests import HTTPConnection

from patchwright.workers.accounts.sessions import (
    SESSION_LIFE,
    NewSession,
    Session,
    SessionStore,
)

COOKIE_NAME: Final = "patchwright_session"
_DUE: Final = "session_is_due"


@dataclass(frozen=True)
class SessionCookie:
    """What a browser holds: a random word. `is_secure` keeps it off plain HTTP."""

    store: SessionStore
    is_secure: bool

    def find(self, request: HTTPConnection) -> Session | None:
        """Return the session of a browser; may take a while, as the database may."""
        found = self.store.find(request.cookies.get(COOKIE_NAME, ""))
        if found is not None and found.is_due:
            setattr(request.state, _DUE, True)
        return found

    def begin(
        self, request: HTTPConnection, response: Response, new: NewSession
    ) -> None:
        """Begin one under a new word; what the browser held before is over."""
        self._end_held(request)
        self._put(response, self.store.begin(new))

    def end(self, request: HTTPConnection, response: Response) -> Session | None:
        """End the session of a browser; return the one that it had."""
        found = self._end_held(request)
        if found is not None:
            response.delete_cookie(
                COOKIE_NAME,
                path="/",
                secure=self.is_secure,
                httponly=True,
                samesite="lax",
            )
        return found

    def renewed(self, request: HTTPConnection) -> str:
        """Return the header of a new word where one is due; empty otherwise."""
        word = self.store.renew(request.cookies.get(COOKIE_NAME, ""))
        if word is None:
            return ""
        response = Response()
        self._put(response, word)
        return response.headers["set-cookie"]

    def _end_held(self, request: HTTPConnection) -> Session | None:
        found = self.store.find(request.cookies.get(COOKIE_NAME, ""))
        if found is not None:
            self.store.end(found.id, found.account_id)
        return found

    def _put(self, response: Response, word: str) -> None:
        response.set_cookie(
            COOKIE_NAME,
            word,
            max_age=int(SESSION_LIFE.total_seconds()),
            path="/",
            secure=self.is_secure,
            httponly=True,
            samesite="lax",
        )


# https://asgi.readthedocs.io/en/latest/specs/main.html#applications
_Message: TypeAlias = MutableMapping[str, Any]
_Receive: TypeAlias = Callable[[], Awaitable[_Message]]
_Send: TypeAlias = Callable[[_Message], Awaitable[None]]
_App: TypeAlias = Callable[[_Message, _Receive, _Send], Awaitable[None]]


class SessionRenewal:
    """Sends a new word with the answer to a request whose session was due.

    An answer that ends or begins a session has a cookie of its own.
    """

    def __init__(self, app: _App, cookie: SessionCookie) -> None:
        self._app, self._cookie = app, cookie

    async def __call__(self, scope: _Message, receive: _Receive, send: _Send) -> None:
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        state = scope.setdefault("state", {})

        async def renew(message: _Message) -> None:
            if message["type"] == "http.response.start" and state.pop(_DUE, False):
                await self._add(scope, message)
            await send(message)

        await self._app(scope, receive, renew)

    async def _add(self, scope: _Message, message: _Message) -> None:
        headers = MutableHeaders(scope=message)
        has_own = any(
            one.startswith(f"{COOKIE_NAME}=") for one in headers.getlist("set-cookie")
        )
        if has_own:
            return
        request = HTTPConnection(scope)
        header = await run_in_threadpool(self._cookie.renewed, request)
        if header:
            headers.append("set-cookie", header)


_FAMILIES: Final = (
    ("Edge", r"Edg(?:e|A|iOS)?/"),
    ("Opera", r"OPR/"),
    ("Firefox", r"(?:Firefox|FxiOS)/"),
    ("Chrome", r"(?:Chrome|CriOS|Chromium)/"),
    ("Safari", r"Safari/"),
)
_SYSTEMS: Final = (
    ("iPhone", r"iPhone"),
    ("iPad", r"iPad"),
    ("Android", r"Android"),
    ("Windows", r"Windows"),
    ("macOS", r"Mac OS X|Macintosh"),
    ("Linux", r"Linux|X11"),
)


def describe_browser(user_agent: str) -> str:
    """Return what people call a browser, such as `Firefox on Linux`."""
    family = _first(_FAMILIES, user_agent)
    system = _first(_SYSTEMS, user_agent)
    if not family:
        return "another program"
    return f"{family} on {system}" if system else family


def _first(names: tuple[tuple[str, str], ...], text: str) -> str:
    return next((name for name, word in names if re.search(word, text)), "")
