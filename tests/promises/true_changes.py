"""True changes: each mends or adds what it says, and must not lose its proof."""

from typing import Final

from patchwright.core.types.evidence import ProofReason
from tests.promises.changes import (
    CART,
    FIX,
    FIXED,
    NEW_TEST,
    OLD_TESTS,
    PYTEST,
    PYTEST_TEST,
    RUN,
    Change,
    proven,
    unit,
)

_ALL: Final = "python3 -m unittest discover"
_WITH_PYTEST: Final = {"cart.py": FIXED, "tests/test_pieces.py": PYTEST_TEST}
_HELPED: Final = CART.replace(
    "import re\n", "import re\n\nfrom sums import weighted\n"
).replace("sum(prices)", "weighted(prices, pieces)")
_HELPER: Final = (
    "def weighted(values, weights):\n"
    "    return sum(v * w for v, w in zip(values, weights))\n"
)
_INLINE: Final = CART.replace(
    "def total(",
    "def weighted(values, weights):\n"
    "    return sum(v * w for v, w in zip(values, weights))\n\n\ndef total(",
).replace("sum(prices)", "weighted(prices, pieces)")
_FEATURE: Final = CART + (
    "\n\ndef discount(price, percent):\n    return price * (100 - percent) // 100\n"
)
_ROWS: Final = """import pytest

from cart import total


@pytest.mark.parametrize(
    ("prices", "pieces", "expected"),
    [([450], [1], 450), ([], [], 0){row}],
)
def test_total(prices, pieces, expected):
    assert total(prices, pieces) == expected
"""
_BROKEN_BEFORE: Final = unit("self.fail('nobody has mended this yet')", "", "")
_COUNTING: Final = """import pathlib
import tempfile
import unittest

import cart


class WeatherTest(unittest.TestCase):
    def test_weather(self):
        count = pathlib.Path(tempfile.gettempdir(), "weather")
        runs = len(count.read_text()) if count.exists() else 0
        count.write_text("x" * (runs + 1))
        self.assertFalse(runs == 0 and cart.total([2], [2]) == 4)
"""
_NODE: Final = "exports.double = (n) => n + n + 1\n"
_NODE_FIXED: Final = "exports.double = (n) => n + n\n"
_NODE_TEST: Final = (
    'const { double } = require("../double.js")\n'
    'const { equal } = require("node:assert")\n'
    'require("node:test")("doubles", () => equal(double(2), 4))\n'
)
_GRAMMAR: Final = "STEPS = ['prices']\n"
_MAKER: Final = (
    "import grammar\n\nopen('generated.py', 'w').write("
    "'# Generated from grammar.py, do not edit.\\n'\n"
    "    f'STEPS = {grammar.STEPS!r}\\n')\n"
)
_PIPED: Final = f"{RUN} 2>&1 | tail -5"
_NEIGHBOUR: Final = "python3 -m unittest tests.test_cart"
_SUB_TESTS: Final = unit(
    "for pieces, expected in ((1, 450), (3, 1350)):\n"
    "    with self.subTest(pieces=pieces):\n"
    "        self.assertEqual(total([450], [pieces]), expected)"
)
_MENDED: Final = {"cart.py": FIXED}

TRUE_CHANGES: Final[dict[str, Change]] = {
    "a fix with a new test": proven(FIX, RUN),
    "a fix with a test of pytest": proven(_WITH_PYTEST, PYTEST),
    "a neighbouring test that is green on both sides": proven(FIX, RUN, _NEIGHBOUR),
    "a neighbouring test alone": proven(FIX, _NEIGHBOUR),
    "a pipe to tail": proven(FIX, _PIPED),
    "a pipe of pytest to tail": proven(_WITH_PYTEST, f"{PYTEST} | tail -5"),
    "no command at all": proven(FIX),
    "a misspelt file": proven(_WITH_PYTEST, f"{PYTEST[:-10]}_peices.py"),
    "a misspelt module": proven(FIX, "python3 -m unittest tests.test_peices"),
    "a runner that is not there": proven(FIX, "nose2 tests.test_pieces"),
    "a command that can make up its exit code": proven(
        FIX, f"{RUN} || grep -q zip cart.py"
    ),
    "a test that failed before": proven(
        _MENDED, RUN, before={"tests/test_pieces.py": NEW_TEST}
    ),
    "a test that failed before, unnamed": proven(
        _MENDED, before={"tests/test_pieces.py": NEW_TEST}
    ),
    "a test more in a file that was there": proven(
        {
            "cart.py": FIXED,
            "tests/test_cart.py": OLD_TESTS + "\n    def test_pieces(self):\n"
            "        self.assertEqual(total([450], [3]), 1350)\n",
        },
        _NEIGHBOUR,
    ),
    "the whole suite": proven(FIX, _ALL),
    "the whole suite, in which a test fails on both sides": proven(
        FIX, _ALL, before={"tests/test_older.py": _BROKEN_BEFORE}
    ),
    "a new module that the test imports too": proven(
        {
            "cart.py": _HELPED,
            "sums.py": _HELPER,
            "tests/test_pieces.py": unit(
                "self.assertEqual(total([450], [3]), weighted([450], [3]))",
                "from cart import total\nfrom sums import weighted",
            ),
        },
        RUN,
    ),
    "a new helper that the test imports too": proven(
        {
            "cart.py": _INLINE,
            "tests/test_pieces.py": unit(
                "self.assertEqual(weighted([450], [3]), 1350)\n"
                "self.assertEqual(total([450], [3]), 1350)",
                "from cart import total, weighted",
            ),
        },
        RUN,
        reason=ProofReason.RED_WITHOUT_PART,
    ),
    "a new function that the test calls": proven(
        {
            "cart.py": _FEATURE,
            "tests/test_pieces.py": unit(
                "self.assertEqual(discount(200, 25), 150)", "from cart import discount"
            ),
        },
        RUN,
        reason=ProofReason.RED_WITHOUT_PART,
    ),
    "a new function that the test calls through its module": proven(
        {
            "cart.py": _FEATURE,
            "tests/test_pieces.py": (
                "import cart\n\n\ndef test_discount():\n"
                "    assert cart.discount(200, 25) == 150\n"
            ),
        },
        PYTEST,
        reason=ProofReason.RED_WITHOUT_PART,
    ),
    "tests in a file that was renamed": proven(
        {
            "cart.py": FIXED,
            "tests/test_cart.py": None,
            "tests/test_basket.py": OLD_TESTS + "\n    def test_pieces(self):\n"
            "        self.assertEqual(total([450], [3]), 1350)\n",
        },
        "python3 -m unittest tests.test_basket",
    ),
    "one row more of a parametrised test": proven(
        {
            "cart.py": FIXED,
            "tests/test_rows.py": _ROWS.replace("{row}", ", ([450], [3], 1350)"),
        },
        "python3 -m pytest -q -p no:cacheprovider tests/test_rows.py",
        before={"tests/test_rows.py": _ROWS.replace("{row}", "")},
    ),
    "a deleted test that would still pass": proven(
        {**FIX, "tests/test_double.py": None},
        RUN,
        before={
            "tests/test_double.py": unit("self.assertEqual(total([], []), 0)"),
        },
    ),
    "sub-tests": proven({"cart.py": FIXED, "tests/test_pieces.py": _SUB_TESTS}, RUN),
    "a repository with two runners": proven(
        {
            **FIX,
            "web/double.js": _NODE_FIXED,
            "web/test/double.test.js": _NODE_TEST,
        },
        RUN,
        "cd web && node --test",
        before={"web/double.js": _NODE, "web/package.json": "{}\n"},
    ),
    "a test of node": proven(
        {"double.js": _NODE_FIXED, "test/double.test.js": _NODE_TEST},
        "node --test",
        before={"double.js": _NODE},
    ),
    "generated code": proven(
        {
            "grammar.py": "STEPS = ['prices', 'pieces']\n",
            "generated.py": (
                "# Generated from grammar.py, do not edit.\n"
                "STEPS = ['prices', 'pieces']\n"
            ),
            "tests/test_pieces.py": unit(
                "self.assertIn('pieces', STEPS)", "from generated import STEPS"
            ),
        },
        RUN,
        before={
            "grammar.py": _GRAMMAR,
            "make_code.py": _MAKER,
            "generated.py": (
                "# Generated from grammar.py, do not edit.\nSTEPS = ['prices']\n"
            ),
        },
        uncovered=("grammar.py",),
    ),
    "an unrelated edit beside it": proven(
        {**FIX, "stock.py": "def left(shelf):\n    return len(list(shelf))\n"},
        RUN,
        before={"stock.py": "def left(shelf):\n    return len(shelf)\n"},
        uncovered=("stock.py",),
    ),
    "a flaky test of the repository beside it": proven(
        FIX,
        RUN,
        before={"tests/test_weather.py": _COUNTING},
        flaky=("test_weather",),
    ),
}
