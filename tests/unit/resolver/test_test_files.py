"""In which file a test is, by its name."""

import pytest

from patchwright.resolver.proof.runners import RunnerKind
from patchwright.resolver.proof.test_files import is_defined_in
from patchwright.resolver.proof.test_files import test_file_of as file_of


@pytest.mark.parametrize(
    ("name", "runner", "file"),
    [
        ("tests/test_a.py::A::test_b[x::y.z]", RunnerKind.PYTEST, "tests/test_a.py"),
        ("tests/test_gone.py", RunnerKind.PYTEST, "tests/test_gone.py"),
        ("./a/cart.test.js::total counts", RunnerKind.JEST, "a/cart.test.js"),
        ("spec/a_spec.rb::A counts", RunnerKind.RSPEC, "spec/a_spec.rb"),
        ("test_a.CaseA.test_b", RunnerKind.UNITTEST, None),
        ("shop.test/cart.TestA", RunnerKind.GO, None),
        ("counts the pieces", RunnerKind.NODE, None),
    ],
)
def test_the_file_is_read_from_the_name(
    name: str, runner: RunnerKind, file: str | None
) -> None:
    assert file_of(name, runner) == file


@pytest.mark.parametrize(
    ("name", "runner", "path", "inside"),
    [
        ("tests/test_a.py::test_b", RunnerKind.PYTEST, "tests/test_a.py", True),
        ("tests/test_a.py::test_b", RunnerKind.PYTEST, "test_a.py", False),
        ("test_a.CaseA.test_b", RunnerKind.UNITTEST, "api/tests/test_a.py", True),
        ("tests.test_a.CaseA.test_b", RunnerKind.UNITTEST, "tests/test_a.py", True),
        ("tests.CaseA.test_b", RunnerKind.UNITTEST, "tests/__init__.py", True),
        ("test_a.CaseA.test_b", RunnerKind.UNITTEST, "test_b.py", False),
        ("test_a.CaseA.test_b", RunnerKind.UNITTEST, "test_a.txt", False),
        ("__main__.CaseA.test_b", RunnerKind.UNITTEST, "tests/test_x.py", True),
        ("a.test/shop/cart.TestA/b", RunnerKind.GO, "cart/cart_test.go", True),
        ("a.test/shop/cart.TestA", RunnerKind.GO, "cart/cart.go", False),
        ("a.test/shop/cart.TestA", RunnerKind.GO, "list/list_test.go", False),
        (
            "shop.cart.CartTest.adds",
            RunnerKind.MAVEN,
            "a/shop/cart/CartTest.java",
            True,
        ),
        ("shop.cart.CartTest.adds", RunnerKind.MAVEN, "a/shop/ListTest.java", False),
        ("Shop\\CartTest::adds", RunnerKind.PHPUNIT, "tests/CartTest.php", True),
        ("cart::totals::adds", RunnerKind.CARGO, "src/totals.rs", True),
        ("cart::totals::adds", RunnerKind.CARGO, "src/lists.rs", False),
        ("cart_works", RunnerKind.CTEST, "tests/cart.c", True),
        ("cart_works", RunnerKind.CTEST, "src/cart.c", False),
    ],
)
def test_a_file_may_define_a_test(
    name: str, runner: RunnerKind, path: str, *, inside: bool
) -> None:
    assert is_defined_in(name, runner, path) is inside
