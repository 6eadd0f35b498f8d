"""Tests that share a stack, or what was released, are told to one process."""

from tests.architecture.tree import ROOT
from tests.provision.sharing import STACK, TOGETHER, shared_by


def test_what_shares_is_named_as_it_is() -> None:
    for named in TOGETHER:
        path, _, function = named.partition("::")
        assert f"def {function or 'test_'}" in (ROOT / path).read_text(), named


def test_all_that_asks_for_the_stack_shares_it() -> None:
    for path in (ROOT / "tests" / "deploy").glob("test_*.py"):
        if "stack: Stack" in path.read_text():
            assert shared_by(f"tests/deploy/{path.name}::test_it") == STACK


def test_other_tests_are_told_one_by_one() -> None:
    for node_id in ("tests/talk/test_consent.py::test_it[a@b]", "tests/a.py::test_b"):
        assert shared_by(node_id) == node_id
