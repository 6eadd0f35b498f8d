"""Names are plain words of the field; those that were riddles do not come back."""

import ast
import re
from collections.abc import Iterator
from functools import cache

from tests.architecture.figures import product
from tests.architecture.tree import Module
from tests.architecture.words import EXEMPT, RETIRED, VAGUE

RETIRED_WORDS = {word for words in RETIRED for word in words.split()}
VAGUE_WORDS = set(VAGUE.split())
EXEMPT_NAMES = {name for names in EXEMPT for name in names.split()}
PART = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+|\d+")


def test_no_name_has_a_word_that_was_given_up() -> None:
    found = {
        f"{place}: {name}: write {_advice(word)}"
        for place, name in _all_names()
        for word in RETIRED_WORDS
        if f"_{word}_" in f"_{_snake_case(name)}_"
    }
    assert sorted(found) == []


def test_nothing_that_others_use_is_named_by_a_vague_word_alone() -> None:
    found = {
        f"{place}: {name}"
        for module in product().modules
        for place, name in _public_names(module)
        if _snake_case(name) in VAGUE_WORDS and name not in EXEMPT_NAMES
    }
    assert sorted(found) == []


def test_parts_of_a_name_are_found() -> None:
    assert _snake_case("HTTPServerError") == "http_server_error"
    assert _snake_case("_MAX_TOLD") == "max_told"
    assert _snake_case("0005_talk") == "0005_talk"


def _advice(word: str) -> str:
    return next(plain for words, plain in RETIRED.items() if word in words.split())


@cache
def _snake_case(name: str) -> str:
    return "_".join(part.lower() for part in PART.findall(name))


def _all_names() -> Iterator[tuple[str, str]]:
    """Yield each name that the product gives, and where, but for those exempt."""
    for module in product().modules:
        named = [*_path_names(module), *_given_names(module)]
        yield from (one for one in named if one[1] not in EXEMPT_NAMES)


def _path_names(module: Module) -> Iterator[tuple[str, str]]:
    for part in module.name.removesuffix(".py").split("/"):
        yield module.name, part


def _public_names(module: Module) -> Iterator[tuple[str, str]]:
    yield from _path_names(module)
    for node in module.nodes:
        match node:
            case ast.ClassDef(name=name) | ast.FunctionDef(name=name):
                yield from _public(module, node.lineno, name)
            case ast.AsyncFunctionDef(name=name):
                yield from _public(module, node.lineno, name)
            case _:
                pass


def _public(module: Module, line: int, name: str) -> Iterator[tuple[str, str]]:
    if not name.startswith("_"):
        yield f"{module.name}:{line}", name


def _given_names(module: Module) -> Iterator[tuple[str, str]]:
    for node in module.nodes:
        match node:
            case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
                yield f"{module.name}:{node.lineno}", name
            case ast.ClassDef(name=name):
                yield f"{module.name}:{node.lineno}", name
            case ast.arg(arg=name) | ast.alias(asname=str(name)):
                yield f"{module.name}:{node.lineno}", name
            case ast.Name(id=name, ctx=ast.Store()):
                yield f"{module.name}:{node.lineno}", name
            case ast.Attribute(attr=name, ctx=ast.Store()):
                yield f"{module.name}:{node.lineno}", name
            case ast.MatchAs(name=str(name)) | ast.MatchStar(name=str(name)):
                yield f"{module.name}:{node.lineno}", name
            case _:
                pass
