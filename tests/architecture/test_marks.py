"""Each target of the Makefile is given every folder that has tests of its mark."""

import ast
import re
from typing import Final

import pytest

from tests.architecture.tree import ROOT, Module, modules
from tests.conftest import FOLDERS

MARKS: Final = sorted({marker for marker, _ in FOLDERS.values()} | {"long", "real"})
_VARIABLE = re.compile(r"^([A-Z]+) := (.*)$", re.MULTILINE)


def folders(variable: str) -> set[str]:
    """Return the folders that a variable of the Makefile names."""
    variables = dict(_VARIABLE.findall((ROOT / "Makefile").read_text()))
    names: set[str] = set()
    for word in variables[variable].split():
        names |= folders(word[2:-1]) if word.startswith("$(") else {word}
    return names


def test_what_is_left_out_every_day_is_marked_whole() -> None:
    assert folders("APART") == {f"tests/{folder}" for folder in FOLDERS}


@pytest.mark.parametrize("mark", MARKS)
def test_no_test_of_a_mark_is_outside_its_folders(mark: str) -> None:
    given = {f"tests/{folder}" for folder, (name, _) in FOLDERS.items() if name == mark}
    by_hand = {one.name for one in modules("tests/") if _marks(one, mark)}
    assert given | by_hand
    outside = [one for one in given | by_hand if not _is_in(one, folders(mark.upper()))]
    assert outside == []


def _is_in(path: str, among: set[str]) -> bool:
    return any(f"{path}/".startswith(f"{folder}/") for folder in among)


def _marks(module: Module, mark: str) -> bool:
    return f".{mark}" in module.text and any(
        isinstance(node, ast.Attribute)
        and node.attr == mark
        and ast.unparse(node.value).endswith("mark")
        for node in module.nodes
    )
