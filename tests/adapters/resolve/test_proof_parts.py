"""Which parts of a change its tests need, and tests of something that is new."""

from pathlib import Path

import pytest

from patchwright.core.types.evidence import EvidenceRole, Hunk, Proof, ProofReason
from tests.adapters.resolve.changes import (
    Change,
    Files,
    prove_change,
    verdict,
    with_role,
)
from tests.adapters.resolve.workbench import CART, RUN_TEST, TEST

FIXED = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
DISCOUNT = b"\n\ndef discount(price):\n    return price * 9 // 10\n"
DISCOUNT_TEST = """import unittest

from cart import discount


class PiecesTest(unittest.TestCase):
    def test_every_piece_counts(self):
        self.assertEqual(discount(1000), 900)
"""
THROUGH_MODULE = "import cart\n\ndiscount = lambda price: cart.discount(price)"
PYTEST = "python3 -m pytest -q test_pieces.py"
OTHER = b"A = 1\nB = 2\nC = 3\n\n\ndef shout(text):\n    return text\n"


def test_lines_that_no_test_needs_are_listed(tmp_path: Path) -> None:
    before: Files = {
        "cart.py": OTHER + CART,
        "other.py": OTHER,
        "README.md": b"# Shop\n",
    }
    after: Files = {
        "cart.py": b"UNUSED = 1\n" + OTHER + FIXED,
        "other.py": b"# Words.\n" + OTHER.replace(b"text\n", b"text.upper()\n"),
        "README.md": b"# The shop\n",
        "extra.py": b"A = 1\n",
        "test_pieces.py": TEST.encode(),
    }
    result = prove_change(tmp_path, Change(before, after, [RUN_TEST]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    assert (result.report.hunks, result.report.hunks_tried) == (5, 5)
    assert set(result.report.uncovered) == {
        Hunk(path="cart.py", start=1, lines=1),
        Hunk(path="extra.py", start=1, lines=1),
        Hunk(path="other.py", start=1, lines=1),
        Hunk(path="other.py", start=8, lines=1),
    }


def test_two_parts_of_which_one_would_do_are_needed_together(tmp_path: Path) -> None:
    before = (
        b"def price(text):\n    a = text\n    b = 1\n    c = 2\n    return int(a)\n"
    )
    after = before.replace(b"a = text", b"a = text.strip('$')").replace(
        b"return int(a)", b"return int(a.strip('$'))"
    )
    test = TEST.replace("import total", "import price").replace(
        "total([450], [3]), 1350", "price('$3'), 3"
    )
    files: Files = {"cart.py": after, "test_pieces.py": test.encode()}
    result = prove_change(tmp_path, Change({"cart.py": before}, files, [RUN_TEST]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    assert len(result.report.uncovered) == 2


def test_a_change_that_does_nothing_is_not_proven_by_a_file_beside_it(
    tmp_path: Path,
) -> None:
    test = TEST.replace(
        "total([450], [3]), 1350", "open('state.ini').read(), 'fixed\\n'"
    )
    after: Files = {
        "cart.py": CART.replace(b"sum(prices)", b"sum(list(prices))"),
        "state.ini": b"fixed\n",
        "test_pieces.py": test.encode(),
    }
    before: Files = {"cart.py": CART, "state.ini": b"open\n"}
    result = prove_change(tmp_path, Change(before, after, [RUN_TEST]))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.UNCOVERED)


@pytest.mark.parametrize("command", [RUN_TEST, PYTEST])
@pytest.mark.parametrize("imports", ["from cart import discount", THROUGH_MODULE])
def test_a_test_of_a_new_function_is_proof_if_it_needs_what_it_does(
    command: str, imports: str, tmp_path: Path
) -> None:
    test = DISCOUNT_TEST.replace("from cart import discount", imports).encode()
    after: Files = {"cart.py": CART + DISCOUNT, "test_pieces.py": test}
    result = prove_change(tmp_path, Change({"cart.py": CART}, after, [command]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_WITHOUT_PART)
    [proving] = result.report.tests
    assert proving.cause.startswith("AssertionError: ")
    [evidence] = with_role(result, EvidenceRole.WITHOUT_PART)
    assert evidence.exit_code == 1
    assert result.report.uncovered == ()


@pytest.mark.parametrize("command", [RUN_TEST, PYTEST])
def test_a_test_that_a_new_function_is_there_is_no_proof(
    command: str, tmp_path: Path
) -> None:
    test = DISCOUNT_TEST.replace(
        "assertEqual(discount(1000), 900)", "assertTrue(callable(discount))"
    ).encode()
    after: Files = {"cart.py": CART + DISCOUNT, "test_pieces.py": test}
    result = prove_change(tmp_path, Change({"cart.py": CART}, after, [command]))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.MISSING_NAME)


def test_a_new_module_is_proven_by_a_test_of_what_it_does(tmp_path: Path) -> None:
    test = DISCOUNT_TEST.replace("from cart", "from prices").encode()
    after: Files = {"prices.py": DISCOUNT.lstrip(), "test_pieces.py": test}
    result = prove_change(tmp_path, Change({"cart.py": CART}, after, [RUN_TEST]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_WITHOUT_PART)


def test_a_new_parameter_is_proven_by_what_it_does(tmp_path: Path) -> None:
    rounded = b"def total(prices, pieces, cents=1):\n    return sum(prices) // cents\n"
    test = TEST.replace("total([450], [3]), 1350", "total([450], [1], cents=10), 45")
    after: Files = {"cart.py": rounded, "test_pieces.py": test.encode()}
    result = prove_change(tmp_path, Change({"cart.py": CART}, after, [RUN_TEST]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_WITHOUT_PART)


def test_a_name_that_the_code_lacks_itself_is_a_fault(tmp_path: Path) -> None:
    before = b"def total(prices, pieces):\n    return mul(prices, pieces)\n"
    mended = b"\n\ndef mul(a, b):\n    return sum(map(int.__mul__, a, b))\n"
    after: Files = {"cart.py": before + mended, "test_pieces.py": TEST.encode()}
    result = prove_change(tmp_path, Change({"cart.py": before}, after, [RUN_TEST]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)


FLIPS = """import pathlib
import tempfile
import unittest

from cart import total


class PiecesTest(unittest.TestCase):
    def test_every_piece_counts(self):
        seen = pathlib.Path(tempfile.gettempdir(), "seen")
        first = not seen.exists()
        seen.write_text("")
        self.assertTrue(total([450], [3]) == 1350 {condition})
"""


def test_a_test_that_passes_the_second_time_without_the_change_is_flaky(
    tmp_path: Path,
) -> None:
    test = FLIPS.format(condition="or not first").encode()
    after: Files = {"cart.py": FIXED, "test_pieces.py": test}
    result = prove_change(tmp_path, Change({"cart.py": CART}, after, [RUN_TEST]))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.FLAKY)
    assert result.report.flaky == ("test_pieces.PiecesTest.test_every_piece_counts",)
    [warning] = result.warnings
    assert warning.startswith("Tests had different results on the same files: `test_")


def test_a_test_that_cannot_be_run_twice_in_one_place_is_not_flaky(
    tmp_path: Path,
) -> None:
    test = FLIPS.format(condition="and first").encode()
    after: Files = {"cart.py": FIXED, "test_pieces.py": test}
    result = prove_change(tmp_path, Change({"cart.py": CART}, after, [RUN_TEST]))
    assert result.report.flaky == ()
    assert result.level is Proof.PROVEN
