"""Write `docs/api.md`, the addresses of the service, from the application itself."""

import inspect
from collections.abc import Iterable, Iterator
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Route

_HEAD: Final = """\
# Addresses of the service

All of them are below `server.public_url`; what is not configured answers 404. Those
below `/setup` are answered until the service has an App, and then no more.

Each delivery is answered when it is stored: 202 for a request, 200 for anything else
that was verified. 401 is a bad or missing signature, 403 another tenant's, 400 a body
that is malformed, 408 one that is not complete after ten seconds, 413 one that is too
large. 503 means that the database does not store it, or that too much arrives at once:
send it again.

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
        if not isinstance(route, APIRoute | Route):
            raise TypeError(f"{route} is no address that this page knows to show")
        methods = ", ".join(sorted((route.methods or set()) - _SILENT))
        yield f"| {methods} | `{route.path}` |", _meaning(route)


def _meaning(route: APIRoute | Route) -> str:
    text = inspect.getdoc(route.endpoint)
    if not text:
        raise LookupError(f"{route.path} does not say what it does")
    return " ".join(text.partition("\n\n")[0].split())
