"""Changes of a small shop, true and false ones, each with the proof that it earns."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from patchwright.core.types.evidence import Proof, ProofReason

CART: Final = """import re


def total(prices, pieces):
    return sum(prices)


def price(text):
    if not re.fullmatch(r"[0-9]+", text):
        raise ValueError(text)
    return int(text)
"""
FIXED: Final = CART.replace("sum(prices)", "sum(p * n for p, n in zip(prices, pieces))")
OLD_TESTS: Final = """import unittest

from cart import price, total


class CartTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([], []), 0)

    def test_one_piece(self):
        self.assertEqual(total([450], [1]), 450)

    def test_price(self):
        self.assertEqual(price("450"), 450)

    def test_no_price(self):
        with self.assertRaises(ValueError):
            price("much")
"""
SHOP: Final[Mapping[str, str]] = {
    "cart.py": CART,
    "tests/__init__.py": "",
    "tests/test_cart.py": OLD_TESTS,
    "README.md": "# Shop\n",
}


def unit(body: str, imports: str = "from cart import total", more: str = "") -> str:
    """Return a module with one test of `unittest`."""
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        f"import unittest\n\n{imports}\n\n\n{more}"
        "class PiecesTest(unittest.TestCase):\n"
        f"    def test_every_piece_counts(self):\n{lines}"
    )


NEW_TEST: Final = unit("self.assertEqual(total([450], [3]), 1350)")
RUN: Final = "python3 -m unittest tests.test_pieces"
PYTEST: Final = "python3 -m pytest -q -p no:cacheprovider tests/test_pieces.py"
PYTEST_TEST: Final = (
    "from cart import total\n\n\ndef test_pieces():\n"
    "    assert total([450], [3]) == 1350\n"
)
FIX: Final = {"cart.py": FIXED, "tests/test_pieces.py": NEW_TEST}
NO_OP: Final = CART.replace("return sum(prices)", "return sum(list(prices))")
COMMENTED: Final = CART + "\n# FIXED\n"


@dataclass(frozen=True)
class Change:
    """A change, made by whoever, with the commands that are named for its proof.

    `before` are files of the base besides the shop's own; None removes a file. `levels`
    are what may be said of it, and `reason` is why, where only one is right.
    """

    head: Mapping[str, str | None]
    commands: tuple[str, ...]
    levels: tuple[Proof, ...]
    reason: ProofReason | None = None
    before: Mapping[str, str] = field(default_factory=dict)
    newly_failing: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    flaky: tuple[str, ...] = ()
    uncovered: tuple[str, ...] = ()


def proven(
    head: Mapping[str, str | None],
    *commands: str,
    reason: ProofReason | None = ProofReason.RED_TO_GREEN,
    before: Mapping[str, str] | None = None,
    flaky: tuple[str, ...] = (),
    uncovered: tuple[str, ...] = (),
) -> Change:
    return Change(
        head,
        commands,
        (Proof.PROVEN,),
        reason,
        before or {},
        flaky=flaky,
        uncovered=uncovered,
    )


def contradicted(
    reason: ProofReason,
    head: Mapping[str, str | None],
    *commands: str,
    before: Mapping[str, str] | None = None,
    newly_failing: tuple[str, ...] = (),
) -> Change:
    return Change(
        head,
        commands,
        (Proof.CONTRADICTED,),
        reason,
        before or {},
        newly_failing=newly_failing,
    )


def not_proven(
    reason: ProofReason | None,
    head: Mapping[str, str | None],
    *commands: str,
    before: Mapping[str, str] | None = None,
    altered: tuple[str, ...] = (),
    flaky: tuple[str, ...] = (),
) -> Change:
    return Change(
        head,
        commands,
        (Proof.NOT_PROVEN,),
        reason,
        before or {},
        altered=altered,
        flaky=flaky,
    )
