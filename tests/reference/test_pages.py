"""The reference in `docs/` is what the code says: `make reference` writes it anew."""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI

from tests.architecture.tree import ROOT
from tests.reference.pages import PAGES

WEB = ROOT / "patchwright" / "workers" / "web"
API = ROOT / "patchwright" / "workers" / "api"
# How an application gets an address, as a method of it.
ADDING = {
    "add_api_route",
    "add_route",
    "api_route",
    "delete",
    "get",
    "mount",
    "patch",
    "post",
    "put",
    "websocket",
}

# A file and a line in it.
Place = tuple[str, int]


def adding_places(file: Path) -> Iterator[Place]:
    """Yield where a module adds addresses to an application."""
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            case ast.Call(func=ast.Attribute(value=ast.Name(id="app"), attr=attr)) if (
                attr in ADDING
            ):
                yield str(file), node.lineno
            case _:
                pass


def note_places(monkeypatch: pytest.MonkeyPatch) -> set[Place]:
    """Return a set that gets each place from which an application gets an address."""
    found: set[Place] = set()

    def noting(add: Callable[..., object]) -> Callable[..., object]:
        def noted(app: FastAPI, *args: object, **more: object) -> object:
            place = sys._getframe(1)
            found.add((place.f_code.co_filename, place.f_lineno))
            return add(app, *args, **more)

        return noted

    for name in ADDING:
        monkeypatch.setattr(FastAPI, name, noting(getattr(FastAPI, name)))
    return found


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    written = (ROOT / "docs" / name).read_text()
    assert written == PAGES[name](), "run: make reference"


def test_every_address_that_the_web_side_adds_is_on_its_page(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    found = note_places(monkeypatch)
    page = PAGES["api.md"]()
    assert "| `/people/role` |" in page
    files = sorted([*WEB.rglob("*.py"), *API.rglob("*.py")])
    adding = {place for file in files for place in adding_places(file)}
    assert len(adding) > 40
    # The page has the routes of real applications: who adds one that none of these has
    # gives them what it takes, in `pages.py`.
    assert adding - found == set()
