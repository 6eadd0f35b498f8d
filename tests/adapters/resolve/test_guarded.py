"""What a run does about changes that are not to be proposed, and about old tests."""

from pathlib import Path

import pytest

from patchwright.core.types.evidence import EvidenceRole, Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from tests.adapters.resolve.changes import Change, Files, prove_change, verdict
from tests.adapters.resolve.workbench import (
    CART,
    FIX,
    RUN_TEST,
    TEST,
    WRITE_TEST,
    finish,
    run,
)
from tests.fakes.scripted_model import Step, reply

TOKEN = "ghp_" + "A1b2C3d4E5f6G7h8I9j0K1l2M3n4O5p6Q7r8"
TEST_CART = b"""import unittest

from cart import total


class CartTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([], []), 0)

    def test_one(self):
        self.assertEqual(total([450], [1]), 450)
"""
RUN_ALL = "python3 -m unittest test_cart"


def write(path: str, content: str) -> Step:
    return reply(calls=[("write", {"path": path, "content": content})])


def test_r8_a_protected_path_is_asked_about_and_the_work_kept(tmp_path: Path) -> None:
    done = run(tmp_path, [write("CODEOWNERS", "* @me\n"), FIX, finish()])
    outcome = done.outcome
    assert (outcome.kind, outcome.reason) == (
        OutcomeKind.NEEDS_INPUT,
        "protected-paths",
    )
    assert done.changed() == ["CODEOWNERS", "cart.py"]
    assert not outcome.as_patch
    assert outcome.summary.endswith(
        "- `CODEOWNERS`: `CODEOWNERS`\n\nThe pieces were ignored."
    )
    assert (outcome.evidence, outcome.changed.files) == ((), 2)


def test_r8_a_workflow_leaves_as_a_patch_at_most(tmp_path: Path) -> None:
    done = run(tmp_path, [write(".github/workflows/ci.yml", "on: push\n"), finish()])
    assert done.outcome.as_patch
    assert done.outcome.reason == "protected-paths"


def test_r8_a_secret_leaves_with_nothing(tmp_path: Path) -> None:
    done = run(tmp_path, [write("settings.py", f"T = '{TOKEN}'\n"), FIX, finish()])
    outcome = done.outcome
    assert (outcome.kind, outcome.reason) == (OutcomeKind.NEEDS_INPUT, "secret-in-diff")
    assert outcome.head_sha == ""
    assert "- `settings.py`, line 1" in outcome.summary
    assert TOKEN not in outcome.model_dump_json()


def test_r7_what_a_reviewer_must_see_is_a_warning(tmp_path: Path) -> None:
    skipped = "import pytest\n\n\n@pytest.mark.skip\ndef test_sum():\n    assert True\n"
    done = run(tmp_path, [write("test_sum.py", skipped), FIX, finish()])
    assert done.outcome.kind is OutcomeKind.RESOLVED
    assert done.outcome.warnings == (
        "Tests are left out in `test_sum.py` that would run: `@pytest.mark.skip`.",
    )


@pytest.mark.parametrize(
    ("path", "content"),
    [
        ("conftest.py", "import pytest\n"),
        ("sitecustomize.py", "print('here')\n"),
        ("unittest.py", "from test_old import *\n"),
        ("Makefile", "test:\n\ttrue\n"),
        ("shop.py", "import os\n\n\ndef leave():\n    os._exit(0)\n"),
        ("shop.py", "import sys\n\nTESTED = 'pytest' in sys.modules\n"),
    ],
)
def test_h1_who_alters_how_tests_are_run_has_proven_nothing(
    path: str, content: str, tmp_path: Path
) -> None:
    steps = [write(path, content), WRITE_TEST, FIX, finish(RUN_TEST)]
    done = run(tmp_path, steps)
    assert done.outcome.proof is Proof.NOT_PROVEN
    assert f"`{path}`" in done.outcome.warnings[0]


MORE = TEST_CART + (
    b"\n    def test_two(self):\n        self.assertEqual(total([450], [2]), 900)\n"
)
FIXED = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
BROKEN = CART.replace(b"sum(prices)", b"sum(prices) * 3")
BEFORE: Files = {"cart.py": CART, "test_cart.py": TEST_CART}


def test_r7_an_old_test_that_the_change_breaks_and_alters_is_told(
    tmp_path: Path,
) -> None:
    weakened = TEST_CART.replace(b", 450)", b", 1350)")
    files: Files = {"cart.py": BROKEN, "test_cart.py": weakened}
    result = prove_change(tmp_path, Change(BEFORE, files, [RUN_ALL]))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.ALTERED_TESTS)
    assert result.report.altered == ("test_cart.CartTest.test_one",)
    words = "The change alters tests whose earlier version passed before and fails now"
    assert result.warnings == (f"{words}: `test_cart.CartTest.test_one`.",)


def test_r7_a_deleted_test_that_would_fail_is_told(tmp_path: Path) -> None:
    without = TEST_CART[: TEST_CART.index(b"    def test_one")]
    files: Files = {"cart.py": BROKEN, "test_cart.py": without}
    result = prove_change(tmp_path, Change(BEFORE, files, [RUN_ALL]))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.ALTERED_TESTS)


def test_r7_an_old_test_that_fails_in_its_new_version_too_is_broken(
    tmp_path: Path,
) -> None:
    """The file is edited, but not so that the test passes."""
    files: Files = {"cart.py": BROKEN, "test_cart.py": MORE.replace(b"900", b"1350")}
    result = prove_change(tmp_path, Change(BEFORE, files, [RUN_ALL]))
    assert result.level is Proof.CONTRADICTED
    assert result.report.newly_failing == ("test_cart.CartTest.test_one",)
    assert result.report.altered == ()


@pytest.mark.parametrize(
    "command", [RUN_ALL, f"{RUN_ALL}.CartTest.test_two", "python3 -m unittest"]
)
def test_r7_old_tests_that_still_pass_are_evidence(
    command: str, tmp_path: Path
) -> None:
    files: Files = {"cart.py": FIXED, "test_cart.py": MORE}
    result = prove_change(tmp_path, Change(BEFORE, files, [command]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    assert [(one.role, one.exit_code) for one in result.evidence] == [
        (EvidenceRole.BEFORE, 1),
        (EvidenceRole.AFTER, 0),
        (EvidenceRole.SUITE_BEFORE, 0),
        (EvidenceRole.SUITE_AFTER, 0),
    ]
    assert result.report.suite_tests == 2
    assert result.warnings == ()


OTHER = b"""import unittest

from cart import total


class OtherTest(unittest.TestCase):
    def test_a_single_price(self):
        self.assertEqual(total([450], [1]), 450)

    def test_no_pieces(self):
        self.assertEqual(total([450], []), 450)
"""


def test_r7_an_over_broad_fix_that_breaks_another_test_is_contradicted(
    tmp_path: Path,
) -> None:
    before: Files = {**BEFORE, "test_other.py": OTHER}
    files: Files = {"cart.py": FIXED, "test_pieces.py": TEST.encode()}
    result = prove_change(tmp_path, Change(before, files, [RUN_TEST]))
    assert verdict(result) == (Proof.CONTRADICTED, ProofReason.BREAKS_TESTS)
    assert result.report.newly_failing == ("test_other.OtherTest.test_no_pieces",)
    assert [one.name for one in result.report.tests] == [
        "test_pieces.PiecesTest.test_every_piece_counts"
    ]


def test_r7_a_name_that_other_tests_import_and_the_change_removes_is_missed(
    tmp_path: Path,
) -> None:
    """Their module cannot be loaded any more, so that none of them fails."""
    before: Files = {
        "cart.py": CART + b"\n\ndef count(pieces):\n    return sum(pieces)\n",
        "test_count.py": TEST_COUNT,
    }
    files: Files = {"cart.py": FIXED, "test_pieces.py": TEST.encode()}
    result = prove_change(tmp_path, Change(before, files, [RUN_TEST]))
    assert verdict(result) == (Proof.CONTRADICTED, ProofReason.BREAKS_TESTS)
    assert result.report.newly_failing == ("test_count.CountTest.test_count",)


def test_r7_what_fails_only_in_the_company_of_other_tests_is_broken_too(
    tmp_path: Path,
) -> None:
    """The new code remembers what it has once been asked."""
    once = (
        b"KNOWN = []\n\n\ndef total(prices, pieces):\n"
        b"    KNOWN.append(sum(map(int.__mul__, prices, pieces)))\n"
        b"    return KNOWN[0]\n"
    )
    files: Files = {"cart.py": once, "test_pieces.py": TEST.encode()}
    result = prove_change(tmp_path, Change(BEFORE, files, [RUN_TEST]))
    assert verdict(result) == (Proof.CONTRADICTED, ProofReason.BREAKS_TESTS)
    assert result.report.newly_failing == ("test_cart.CartTest.test_one",)


TEST_COUNT = b"""import unittest

from cart import count


class CountTest(unittest.TestCase):
    def test_count(self):
        self.assertEqual(count([1, 2]), 3)
"""


def test_r7_a_test_that_failed_before_spoils_nothing(tmp_path: Path) -> None:
    stale = OTHER.replace(b", 450)", b", 451)")
    before: Files = {**BEFORE, "test_other.py": stale}
    files: Files = {"cart.py": FIXED, "test_pieces.py": TEST.encode()}
    result = prove_change(tmp_path, Change(before, files, ["python3 -m unittest"]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)


def test_r7_a_delivered_test_that_fails_contradicts_the_change(tmp_path: Path) -> None:
    files: Files = {"cart.py": CART + b"# fixed\n", "test_pieces.py": TEST.encode()}
    result = prove_change(tmp_path, Change(BEFORE, files, [RUN_TEST]))
    assert verdict(result) == (Proof.CONTRADICTED, ProofReason.FAILS_WITH_CHANGE)


def test_r7_a_merge_is_contradicted_by_what_passed_before(tmp_path: Path) -> None:
    merged: Files = {"cart.py": BROKEN, "note.txt": b"theirs\n"}
    done = Change(BEFORE, merged, [RUN_ALL])
    result = prove_change(tmp_path, done, is_merge=True)
    assert verdict(result) == (Proof.CONTRADICTED, ProofReason.BREAKS_TESTS)
    merged = {"cart.py": FIXED, "note.txt": b"theirs\n"}
    result = prove_change(
        tmp_path / "good", Change(BEFORE, merged, [RUN_ALL]), is_merge=True
    )
    assert result.level is Proof.NOT_PROVEN
