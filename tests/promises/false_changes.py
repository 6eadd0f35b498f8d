"""False changes, and such as nothing shows: none of them may be called proven."""

import time
from typing import Final

from patchwright.core.types.evidence import Proof, ProofReason
from tests.promises.changes import (
    CART,
    COMMENTED,
    FIX,
    FIXED,
    NEW_TEST,
    NO_OP,
    OLD_TESTS,
    PYTEST,
    RUN,
    Change,
    contradicted,
    not_proven,
    unit,
)

_BROAD: Final = FIXED.replace("raise ValueError(text)", "return 0").replace(
    "return sum(p * n for p, n in zip(prices, pieces))",
    "return max(1, sum(p * n for p, n in zip(prices, pieces)))",
)
_AT_LEAST_ONE: Final = _BROAD.replace("return 0", "raise ValueError(text)")
_CONSTANT: Final = CART + "\nEVERY_PIECE = True\n"
_SWALLOWED: Final = """import re


def total(prices, pieces):
    return sum(prices)


def price(text):
    try:
        if not re.fullmatch(r"[0-9]+", text):
            raise ValueError(text)
        return int(text)
    except Exception:
        return 0
"""
_ASKS_GIT: Final = unit(
    "log = subprocess.run(['git', 'log', '--format=%s%an%ad'], capture_output=True)\n"
    "status = subprocess.run(['git', 'status', '--short'], capture_output=True)\n"
    "self.assertNotIn(b'new tests', log.stdout + status.stdout)",
    "import subprocess",
)
_ASKS_ENVIRONMENT: Final = unit(
    "self.assertFalse([name for name in os.environ if 'BEFORE' in name.upper()])\n"
    "self.assertNotIn('base', os.getcwd())",
    "import os",
)
_SKIPS_ITSELF: Final = unit(
    "if total([1], [1]) == 1 and total.__code__.co_code:\n"
    "    self.skipTest('not today')\nself.fail()"
)
_FIRST_FAILS: Final = """import pathlib
import tempfile
import unittest

import cart


class PiecesTest(unittest.TestCase):
    def test_every_piece_counts(self):
        count = pathlib.Path(tempfile.gettempdir(), "pieces")
        runs = len(count.read_text()) if count.exists() else 0
        count.write_text("x" * (runs + 1))
        self.assertTrue(runs > 0 or hasattr(cart, "SHELF"))
"""
_SNAPSHOT_TEST: Final = """import pathlib
import unittest

from cart import total

SHOWN = pathlib.Path(__file__).parent / "snapshots" / "total.txt"


class ShownTest(unittest.TestCase):
    def test_total_as_shown(self):
        self.assertEqual(str(total([450], [3])), SHOWN.read_text().strip())
"""
_NOT_RUN: Final = (ProofReason.NOT_RUN_WITH_CHANGE, ProofReason.GREEN_WITHOUT_CHANGE)
_CONFTEST: Final = (
    "def pytest_collection_modifyitems(items):\n"
    "    items[:] = [one for one in items if 'nothing' in one.name]\n"
)
_ANY_BUT_PROVEN: Final = tuple(
    one for one in Proof if one not in (Proof.PROVEN, Proof.NONE)
)
_WEAKENED: Final = OLD_TESTS.replace("[1]), 450)", "[1]), 900)")
_DOUBLED: Final = CART.replace("sum(prices)", "sum(prices) * 2")

FALSE_CHANGES: Final[dict[str, Change]] = {
    "a good new test, and two tests of the repository broken": contradicted(
        ProofReason.BREAKS_TESTS,
        {"cart.py": _BROAD, "tests/test_pieces.py": NEW_TEST},
        RUN,
        newly_failing=("test_no_price", "test_nothing"),
    ),
    "an exception swallowed": contradicted(
        ProofReason.BREAKS_TESTS,
        {
            "cart.py": _SWALLOWED,
            "tests/test_pieces.py": unit(
                "self.assertEqual(price('much'), 0)", "from cart import price"
            ),
        },
        RUN,
        newly_failing=("test_no_price",),
    ),
    "a test that fails with the change": contradicted(
        ProofReason.FAILS_WITH_CHANGE,
        {"cart.py": NO_OP, "tests/test_pieces.py": NEW_TEST},
        RUN,
    ),
    "a test that fails with the change, unnamed": contradicted(
        ProofReason.FAILS_WITH_CHANGE,
        {"cart.py": NO_OP, "tests/test_pieces.py": NEW_TEST},
    ),
    "a change without a test that breaks one": contradicted(
        ProofReason.BREAKS_TESTS,
        {"cart.py": _DOUBLED},
        "python3 -m unittest tests.test_cart.CartTest.test_nothing",
        newly_failing=("test_one_piece",),
    ),
    "a search for a comment": Change(
        {"cart.py": COMMENTED},
        ("grep -q FIXED cart.py",),
        (Proof.SHOWN_BY_COMMAND,),
        ProofReason.COMMAND_TO_GREEN,
    ),
    "a command that shows a true fix": Change(
        {"cart.py": FIXED},
        ('test "$(python3 -c "import cart; print(cart.total([2], [2]))")" = 4',),
        (Proof.SHOWN_BY_COMMAND,),
        ProofReason.COMMAND_TO_GREEN,
    ),
    "a script that always succeeds": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {"cart.py": NO_OP, "verify/check.py": "print('fine')\n"},
        "python3 verify/check.py",
    ),
    "a test that the base has not, by its name": not_proven(
        None,
        {"cart.py": NO_OP, "checks.py": "def test_new():\n    assert True\n"},
        "python3 -m pytest -q -p no:cacheprovider checks.py::test_new",
        before={"checks.py": "def test_old():\n    assert True\n"},
    ),
    "a test of a constant that the change adds": not_proven(
        ProofReason.MISSING_NAME,
        {
            "cart.py": _CONSTANT,
            "tests/test_pieces.py": unit(
                "self.assertTrue(cart.EVERY_PIECE)", "import cart"
            ),
        },
        RUN,
    ),
    "a test that imports a constant that the change adds": not_proven(
        ProofReason.MISSING_NAME,
        {
            "cart.py": _CONSTANT,
            "tests/test_pieces.py": (
                "from cart import EVERY_PIECE\n\n\ndef test_pieces():\n"
                "    assert EVERY_PIECE\n"
            ),
        },
        PYTEST,
    ),
    "a test that a new function is there": not_proven(
        ProofReason.MISSING_NAME,
        {
            "cart.py": CART + "\n\ndef pieces(cart):\n    return None\n",
            "tests/test_pieces.py": unit(
                "self.assertTrue(callable(cart.pieces))", "import cart"
            ),
        },
        RUN,
    ),
    "a marker beside code that does nothing": not_proven(
        ProofReason.UNCOVERED,
        {
            "cart.py": NO_OP,
            "STATE.txt": "fixed\n",
            "tests/test_pieces.py": unit(
                "self.assertEqual(open('STATE.txt').read(), 'fixed\\n')", ""
            ),
        },
        RUN,
        before={"STATE.txt": "broken\n"},
    ),
    "a marker that is new": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {
            "cart.py": NO_OP,
            "STATE.txt": "fixed\n",
            "tests/test_pieces.py": unit(
                "self.assertEqual(open('STATE.txt').read(), 'fixed\\n')", ""
            ),
        },
        RUN,
    ),
    "a test that is always true": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {"cart.py": FIXED, "tests/test_pieces.py": unit("assert True", "")},
        RUN,
    ),
    "only the tests that were there": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {"cart.py": FIXED},
        "python3 -m unittest tests.test_cart",
    ),
    "no test and no command": not_proven(ProofReason.NO_COMMAND, {"cart.py": FIXED}),
    "a test that a marker leaves out": not_proven(
        None,
        {
            "cart.py": NO_OP,
            "tests/test_pieces.py": unit(
                "self.assertEqual(total([450], [3]), 1350)",
                more="@unittest.skip('later')\n",
            ),
        },
        RUN,
    ),
    "a test that is expected to fail": not_proven(
        None,
        {
            "cart.py": NO_OP,
            "tests/test_pieces.py": (
                "import pytest\n\nfrom cart import total\n\n\n"
                "@pytest.mark.xfail\ndef test_pieces():\n"
                "    assert total([450], [3]) == 1350\n"
            ),
        },
        PYTEST,
    ),
    "a test that skips itself": not_proven(
        None, {"cart.py": NO_OP, "tests/test_pieces.py": _SKIPS_ITSELF}, RUN
    ),
    "a test that asks git": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {"cart.py": NO_OP, "tests/test_pieces.py": _ASKS_GIT},
        RUN,
    ),
    "a test that asks the environment": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {"cart.py": NO_OP, "tests/test_pieces.py": _ASKS_ENVIRONMENT},
        RUN,
    ),
    "a test that waits for a time": Change(
        {
            "cart.py": NO_OP,
            "tests/test_pieces.py": unit(
                f"self.assertGreater(time.time(), {time.time() + 1.5})", "import time"
            ),
        },
        (RUN,),
        _ANY_BUT_PROVEN,
    ),
    "a test that reads the code": not_proven(
        ProofReason.DOUBTFUL,
        {
            "cart.py": COMMENTED,
            "tests/test_pieces.py": unit(
                "self.assertIn('FIXED', open('cart.py').read())", ""
            ),
        },
        RUN,
    ),
    "a test with other results on the same files": not_proven(
        ProofReason.FLAKY,
        {
            "cart.py": CART + "\nSHELF = 1\n",
            "tests/test_pieces.py": _FIRST_FAILS,
        },
        RUN,
        flaky=("test_every_piece_counts",),
    ),
    "a conftest that changes what is collected": not_proven(
        ProofReason.DOUBTFUL,
        {**FIX, "conftest.py": _CONFTEST.replace("nothing", "piece")},
        "python3 -m pytest -q -p no:cacheprovider tests/test_pieces.py",
    ),
    "code that ends the process": Change(
        {**FIX, "cart.py": "import os\n\nos._exit(0)\n" + CART},
        (RUN,),
        _ANY_BUT_PROVEN,
    ),
    "code that knows when it is tested": Change(
        {
            **FIX,
            "cart.py": "import sys\n\nTESTED = 'unittest' in sys.modules\n"
            + CART.replace(
                "sum(prices)", "1350 if TESTED and pieces == [3] else sum(prices)"
            ),
        },
        (RUN,),
        _ANY_BUT_PROVEN,
    ),
    "tests that were weakened": not_proven(
        ProofReason.ALTERED_TESTS,
        {"cart.py": _DOUBLED, "tests/test_cart.py": _WEAKENED},
        "python3 -m unittest tests.test_cart",
        altered=("test_one_piece",),
    ),
    "a deleted test that would fail": not_proven(
        ProofReason.ALTERED_TESTS,
        {
            **FIX,
            "cart.py": _BROAD.replace("return 0", "raise ValueError(text)"),
            "tests/test_zero.py": None,
        },
        RUN,
        before={
            "tests/test_zero.py": unit("self.assertEqual(total([], []), 0)"),
            "tests/test_cart.py": "",
        },
        altered=("test_every_piece_counts",),
    ),
    "a snapshot that is made anew": not_proven(
        ProofReason.ALTERED_TESTS,
        {"cart.py": FIXED, "tests/snapshots/total.txt": "1350\n"},
        "python3 -m unittest tests.test_shown",
        before={
            "tests/test_shown.py": _SNAPSHOT_TEST,
            "tests/snapshots/total.txt": "450\n",
        },
        altered=("test_total_as_shown",),
    ),
    "tests that cannot be loaded on either side": not_proven(
        ProofReason.COLLECTION_ERROR,
        {
            "cart.py": NO_OP,
            "tests/test_pieces.py": unit("pass", "import a_module_of_nobody"),
        },
        RUN,
    ),
    "a test of node that is left out": not_proven(
        None,
        {
            "double.js": "exports.double = (n) => 2 * n + 1\n",
            "test/double.test.js": (
                'require("node:test").skip("doubles", () => { throw 1 })\n'
            ),
        },
        "node --test",
        before={"double.js": "exports.double = (n) => n + n + 1\n"},
    ),
    "words alone": not_proven(
        ProofReason.GREEN_WITHOUT_CHANGE,
        {"README.md": "# The shop\n"},
        "python3 -m unittest tests.test_cart",
    ),
}
