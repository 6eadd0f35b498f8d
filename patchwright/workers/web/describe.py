"""Write `docs/api.md`, the addresses of the service, from the application itself."""

import inspect
from collections.abc import Iterator
from typing import Final

from fastapi import FastAPI
from fastapi.routing import APIRoute
from starlette.routing import Route

_HEAD: Final = """\
# Addresses of the service

All of them are below `server.public_url`; what is not configured answers 404.

Each delivery is answered when it is stored: 202 for a request, 200 for anything else
that was verified. 401 is a bad or missing signature, 403 another tenant's, 400 a body
that is malformed, 408 one that is not complete after ten seconds, 413 one that is too
large. 503 means that the database does not store it, or that too much arrives at once:
send it again.

| | address | what it does |
|---|---|---|
"""
_SILENT: Final = frozenset({"HEAD", "OPTIONS"})


def api_page(app: FastAPI) -> str:
    """Return the page; raises `LookupError` for an address that does not say what."""
    return _HEAD + "".join(f"{line}\n" for line in sorted(_lines(app)))


def _lines(app: FastAPI) -> Iterator[str]:
    for route in app.routes:
        if isinstance(route, APIRoute | Route):
            methods = ", ".join(sorted((route.methods or set()) - _SILENT))
            yield f"| {methods} | `{route.path}` | {_meaning(route)} |"


def _meaning(route: APIRoute | Route) -> str:
    text = inspect.getdoc(route.endpoint)
    if not text:
        raise LookupError(f"{route.path} does not say what it does")
    return " ".join(text.partition("\n\n")[0].split())
