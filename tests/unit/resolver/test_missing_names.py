"""A test that fails because something new is not there yet shows no fault."""

import pytest

from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.resolver.guards.changed_files import FileVersions
from patchwright.resolver.proof.missing_names import AddedNames, find_added_names


def version(path: str, before: str | None, after: str | None) -> FileVersions:
    kind = ChangeKind.MODIFIED if before is not None else ChangeKind.ADDED
    return FileVersions(ChangedPath(path, kind, 0o100644, 1), before, after)


BEFORE = """
import math

class Cart:
    def total(self, prices):
        return mth.fsum(prices) + self.discount
"""
AFTER = """
import math
import math as mth

RATE = 3

def prices():
    pass

class Cart:
    discount = 0

    def total(self, prices, pieces=None):
        return mth.fsum(prices)

    def weight(self):
        self.known = True

def helper():
    pass
"""
TESTS = """
from shop.cart import Cart, RATE, helper
import shop.units
Cart().total([1], pieces=[2]); Cart().weight(); Cart().known; sorted; prices
"""


@pytest.fixture(scope="module")
def added() -> AddedNames:
    return find_added_names(
        (
            version("shop/cart.py", BEFORE, AFTER),
            version("shop/units.py", None, "def grams(): pass\n"),
            version("tests/test_cart.py", None, TESTS),
            version("web/cart.js", "let a = 1", "let a = 1\nfunction sum(a) {}"),
            version("web/cart.test.js", None, "sum(1)"),
        )
    )


@pytest.mark.parametrize(
    "cause",
    [
        "ImportError: cannot import name 'helper' from 'shop.cart' (/x/shop/cart.py)",
        "ImportError: cannot import name 'RATE' from 'shop.cart'",
        "ModuleNotFoundError: No module named 'shop.units'",
        "AttributeError: 'Cart' object has no attribute 'weight'",
        "AttributeError: 'Cart' object has no attribute 'known'. Did you mean: 'x'?",
        "AttributeError: module 'shop.cart' has no attribute 'RATE'",
        # The code had a parameter of that name.
        "AttributeError: module 'shop.cart' has no attribute 'prices'",
        "NameError: name 'helper' is not defined",
        "TypeError: Cart.total() got an unexpected keyword argument 'pieces'",
        "TypeError: Cart.total() takes 2 positional arguments but 3 were given",
        "TypeError: cart.sum is not a function",
        "ReferenceError: sum is not defined",
    ],
)
def test_what_the_change_adds_is_missing(added: AddedNames, cause: str) -> None:
    assert added.explain(cause)


@pytest.mark.parametrize(
    "cause",
    [
        "AssertionError: 1 != 2",
        "AttributeError: 'NoneType' object has no attribute 'weight'",
        "AttributeError: 'Cart' object has no attribute 'price'",
        # The code uses it without having it, which is a fault of the code.
        "NameError: name 'mth' is not defined",
        "AttributeError: 'Cart' object has no attribute 'discount'",
        "ModuleNotFoundError: No module named 'requests'",
        "TypeError: sorted() takes 1 positional argument but 2 were given",
        "TypeError: unsupported operand type(s) for +: 'int' and 'str'",
        "ImportError: cannot import name 'total' from 'shop.cart'",
        "",
    ],
)
def test_any_other_failure_is_one(added: AddedNames, cause: str) -> None:
    assert not added.explain(cause)


def test_the_end_of_an_output_tells_where_the_report_does_not(
    added: AddedNames,
) -> None:
    tail = (
        "ERROR: test_cart (unittest.loader._FailedTest.test_cart)\n"
        "ImportError: Failed to import test module: test_cart\n"
        "Traceback (most recent call last):\n"
        "ImportError: cannot import name 'helper' from 'shop.cart' (cart.py)\n"
    )
    one = Evidence(
        role=EvidenceRole.BEFORE,
        command="python3 -m unittest",
        commit="c",
        exit_code=1,
        seconds=1,
        digest="d",
        tail=tail,
    )
    assert added.explain_run(one)
    assert added.explain_failure(one, "test_cart.CartTest.test_total")
    assert not added.explain_run(one.replace(tail="AssertionError: 1 != 2\n"))
