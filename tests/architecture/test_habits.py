"""Tests run on real things, and every exception from a rule has its reason."""

import ast
import re
from collections.abc import Callable, Collection

from tests.architecture.figures import BASE_OF_VALUES
from tests.architecture.tree import modules

MOCKING_MODULES = {"mock", "unittest.mock", "pytest_mock"}
HARMLESS = (ast.Import, ast.ImportFrom, ast.Assign, ast.AnnAssign, ast.FunctionDef)
WAYS_TO_SKIP = {"skip", "skipif", "xfail", "importorskip", "skipTest", "SkipTest"}
WAYS_TO_REPLACE = {"setattr", "delattr", "setitem"}
# Spelled in parts, so that this file passes its own test.
EXEMPTION = "# no" + "qa"
REASONED = re.compile(EXEMPTION + r": [A-Z]+\d+(, ?[A-Z]+\d+)* - \w")


def test_nothing_is_mocked() -> None:
    assert _found_in_tests(_mocks, {"mock"}) == []


def test_nothing_is_skipped_or_expected_to_fail() -> None:
    assert _found_in_tests(_skips, WAYS_TO_SKIP) == []


def test_nothing_of_ours_is_replaced_in_place() -> None:
    assert _found_in_tests(_replaces, {"monkeypatch"}) == []


def test_every_noqa_has_a_reason() -> None:
    bare = [
        f"{module.name}:{number}"
        for module in modules()
        for number, line in enumerate(module.text.splitlines(), start=1)
        if EXEMPTION in line and not REASONED.search(line)
    ]
    assert bare == []


def test_changed_copies_are_made_by_replace() -> None:
    unchecked = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        if module.name != BASE_OF_VALUES and module.may_name({"model_copy"})
        for node in module.nodes
        if isinstance(node, ast.Attribute) and node.attr == "model_copy"
    ]
    assert unchecked == []


def test_importing_a_package_does_nothing() -> None:
    busy = [
        f"{module.name}:{node.lineno}"
        for module in modules()
        if module.is_package_mark
        for node in module.tree.body
        if not isinstance(node, HARMLESS) and not _is_docstring(node)
    ]
    assert busy == []


def _found_in_tests(
    is_found: Callable[[ast.AST], bool], words: Collection[str]
) -> list[str]:
    return [
        f"{module.name}: {ast.unparse(node)}"
        for module in modules("tests/")
        if module.may_name(words)
        for node in module.nodes
        if is_found(node)
    ]


def _mocks(node: ast.AST) -> bool:
    match node:
        case ast.Import(names):
            return any(name.name in MOCKING_MODULES for name in names)
        case ast.ImportFrom(module, names):
            imported = {f"{module}.{name.name}" for name in names}
            return module in MOCKING_MODULES or bool(imported & MOCKING_MODULES)
        case _:
            return False


def _skips(node: ast.AST) -> bool:
    return isinstance(node, ast.Attribute) and node.attr in WAYS_TO_SKIP


def _replaces(node: ast.AST) -> bool:
    match node:
        case ast.Attribute(ast.Name("monkeypatch"), attribute):
            return attribute in WAYS_TO_REPLACE
        case _:
            return False


def _is_docstring(node: ast.stmt) -> bool:
    return isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
