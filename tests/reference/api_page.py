"""Write `docs/api.md`, the addresses of the service, from the application itself."""

import inspect
from collections.abc import Iterable, Iterator
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Route, WebSocketRoute

_HEAD: Final = """\
# Addresses of the service

All addresses are below `server.public_url`. An address that is not configured answers
404. Those below `/setup` make the App. When the service has one, they say so; only
`/setup/github/installed` is for later.

The addresses below `/api` and `/sockets` are for programs. [client.md](client.md) says
how to use them, and `/docs` of the service describes each one. Their document (OpenAPI
3.1) is `/openapi.json`, which is also kept as `docs/openapi.json`.

Each webhook is answered after it is stored: 202 for a request, 200 for every other
verified webhook. 401: the signature is wrong or missing. 403: it comes from another
site or workspace. 400: the body is malformed. 408: the body is not complete after ten
seconds. 413: the body is too large. 503: the database cannot store it, or too many
arrive at the same time: send it again.

| | address | what it does |
|---|---|---|
"""
_SILENT: Final = frozenset({"HEAD", "OPTIONS"})


def api_page(apps: Iterable[FastAPI]) -> str:
    """Return the page for what a service may be, one time or another.

    The first of `apps` that has an address says what it does; raises `LookupError` for
    one that does not say.
    """
    told: dict[str, str] = {}
    for app in apps:
        for address, meaning in _addresses(app):
            told.setdefault(address, meaning)
    lines = sorted(f"{address} {meaning} |\n" for address, meaning in told.items())
    return _HEAD + "".join(lines)


def _addresses(app: FastAPI) -> Iterator[tuple[str, str]]:
    for route in app.routes:
        if not isinstance(route, APIRoute | Route | WebSocketRoute):
            raise TypeError(f"{route} is no address that this page knows to show")
        methods = _methods(route)
        yield f"| {methods} | `{route.path}` |", _meaning(route)


def _methods(route: APIRoute | Route | WebSocketRoute) -> str:
    if isinstance(route, WebSocketRoute):
        return "WebSocket"
    return ", ".join(sorted((route.methods or set()) - _SILENT))


def _meaning(route: APIRoute | Route | WebSocketRoute) -> str:
    text = inspect.getdoc(route.endpoint)
    if not text:
        raise LookupError(f"{route.path} does not say what it does")
    return " ".join(text.partition("\n\n")[0].split())
