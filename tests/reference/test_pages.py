"""The reference in `docs/` is what the code says: `make reference` writes it anew."""

import ast
import importlib
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

from patchwright.integrations.github.plugin import NAME as GITHUB
from patchwright.integrations.slack.app import CALLBACK_PATH, INSTALL_PATH
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
    "route",
    "websocket",
}

# What is said of a service by its plug-in.
BROUGHT = {
    "routes.forge": GITHUB,
    "site.service.name": GITHUB,
    "way.name": GITHUB,
    "self.forge.name": GITHUB,
    "self.installation.path": INSTALL_PATH,
    "self.installation.callback_path": CALLBACK_PATH,
}


def added_addresses(file: Path) -> Iterator[str]:
    """Yield what a module adds to an application, by the module's own constants."""
    module = ".".join(file.relative_to(ROOT).with_suffix("").parts)
    for node in ast.walk(ast.parse(file.read_text())):
        match node:
            # What is added by a table is on the page, which is made from an application
            # that has all of it.
            case ast.Call(args=[ast.Attribute(value=ast.Name(id="operation")), *_]):
                pass
            case ast.Call(args=[ast.Name(id="path"), *_]):
                pass
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="app"), attr=attr), args=[path, *_]
            ) if attr in ADDING:
                yield text_of(path, importlib.import_module(module))
            case _:
                pass


def text_of(node: ast.expr, module: ModuleType) -> str:
    match node:
        case ast.Constant(value=text):
            return str(text)
        case ast.Name(id=name):
            return str(getattr(module, name))
        case ast.Attribute() if ast.unparse(node) in BROUGHT:
            return BROUGHT[ast.unparse(node)]
        case ast.Call(func=ast.Name(id=name), args=[argument]):
            return str(getattr(module, name)(text_of(argument, module)))
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return text_of(left, module) + text_of(right, module)
        case ast.FormattedValue(value=value):
            return text_of(value, module)
        case ast.JoinedStr(values=values):
            return "".join(text_of(one, module) for one in values)
        case _:
            raise LookupError(f"line {node.lineno}: an address that cannot be read")


@pytest.mark.parametrize("name", PAGES)
def test_the_page_is_up_to_date(name: str) -> None:
    written = (ROOT / "docs" / name).read_text()
    assert written == PAGES[name](), "run: make reference"


def test_every_address_that_the_web_side_adds_is_on_its_page() -> None:
    page = (ROOT / "docs" / "api.md").read_text()
    files = sorted([*WEB.rglob("*.py"), *API.rglob("*.py")])
    added = {one for file in files for one in added_addresses(file)}
    assert {"/auth/slack/install", "/setup/github", "/healthz", "/docs"} <= added
    assert {one for one in added if f"| `{one}` |" not in page} == set()
