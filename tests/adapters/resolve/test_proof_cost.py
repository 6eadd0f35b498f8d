"""A proof takes no more than three times as long as the tests of the repository."""

import time
from pathlib import Path

import pytest

from patchwright.core.types.evidence import Proof, ProofReason
from tests.adapters.resolve.changes import Change, prove_change, verdict
from tests.adapters.resolve.workbench import CART, RUN_TEST, TEST

SUITE_S = 10
FIXED = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
SLOW = """import time
import unittest

from cart import total


class SlowTest(unittest.TestCase):
    def test_it_takes_a_second(self):
        time.sleep(1)
        self.assertEqual(total([], []), 0)
"""


@pytest.mark.long
@pytest.mark.parametrize("command", [RUN_TEST, "python3 -m unittest"])
def test_cost_of_a_proof(
    command: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    slow = {f"test_slow_{number}.py": SLOW.encode() for number in range(SUITE_S)}
    fix = {"cart.py": FIXED, "test_pieces.py": TEST.encode()}
    begun = time.monotonic()
    result = prove_change(tmp_path, Change({"cart.py": CART, **slow}, fix, [command]))
    took = time.monotonic() - begun
    with capsys.disabled():
        runs = ", ".join(f"{one.role} {one.seconds:.1f} s" for one in result.evidence)
        print(f"\na suite of {SUITE_S} s: the proof took {took:.1f} s ({runs})")  # noqa: T201 - the figures are for people
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    assert (result.report.suite_tests, result.report.suite_complete) == (SUITE_S, True)
    assert result.report.hunks_tried == result.report.hunks == 1
    assert took < 3 * SUITE_S
