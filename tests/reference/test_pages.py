"""The reference in `docs/` is what the code says: `make reference` writes it anew."""

import ast
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FrameType

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


def places_used(act: Callable[[], object]) -> set[Place]:
    """Do it, and return each place from which an application got an address."""
    adding = {getattr(FastAPI, name).__code__ for name in ADDING}
    found: set[Place] = set()

    def note(frame: FrameType, event: str, _: object) -> None:
        if event == "call" and frame.f_code in adding and frame.f_back:
            found.add((frame.f_back.f_code.co_filename, frame.f_back.f_lineno))

    before = sys.getprofile()
    sys.setprofile(note)
    try:
        act()
    finally:
        sys.setprofile(before)
    return found


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    written = (ROOT / "docs" / name).read_text()
    assert written == PAGES[name](), "run: make reference"


def test_every_address_that_the_web_side_adds_is_on_its_page() -> None:
    files = sorted([*WEB.rglob("*.py"), *API.rglob("*.py")])
    adding = {place for file in files for place in adding_places(file)}
    assert len(adding) > 40
    # The page has the routes of real applications: who adds one that none of these has
    # gives them what it takes, in `pages.py`.
    assert adding - places_used(PAGES["api.md"]) == set()
