"""What a run does about changes that are not to be proposed, and about old tests."""

from pathlib import Path

import pytest

from patchwright.core.llm.model import Models
from patchwright.core.types.evidence import EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.proof.evidence import find_regressions, judge_evidence
from patchwright.resolver.prove import prove
from tests.adapters.git.workshop import WorkTree
from tests.adapters.resolve.workbench import (
    CART,
    FIX,
    RUN_TEST,
    WRITE_TEST,
    bench,
    finish,
    run,
)
from tests.fakes.scripted_model import ScriptedModel, Step, reply

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
BREAKS = (
    f"`{RUN_ALL}` fails on the changed code with the tests of the base. It passed "
    "before the change."
)


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


def changed(repository: WorkTree, cart: bytes, tests: bytes) -> tuple[str, str]:
    """Commit old tests, then a change of code and tests; return both commits."""
    repository.write("cart.py", CART)
    repository.write("test_cart.py", TEST_CART)
    base = repository.commit()
    repository.write("cart.py", cart)
    repository.write("test_cart.py", tests)
    return base, repository.commit()


def roles(tmp_path: Path, cart: bytes, tests: bytes, command: str) -> list[object]:
    with bench(tmp_path, Models.only(ScriptedModel([]))) as scene:
        base, head = changed(scene.repository, cart, tests)
        evidence = prove(scene.at(base), scene.dependencies, head, [command])
        said = find_regressions(evidence)
        return [(one.role, one.exit_code) for one in evidence] + [*said]


def test_r7_an_old_test_that_the_change_breaks_is_told(tmp_path: Path) -> None:
    broken = CART.replace(b"sum(prices)", b"sum(prices) * 3")
    weakened = TEST_CART.replace(b", 450)", b", 1350)")
    assert roles(tmp_path, broken, weakened, RUN_ALL) == [
        (EvidenceRole.BEFORE, 1),
        (EvidenceRole.AFTER, 0),
        (EvidenceRole.BASE_TESTS, 1),
        BREAKS,
    ]


def test_r7_old_tests_that_still_pass_are_evidence(tmp_path: Path) -> None:
    fixed = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
    more = TEST_CART + (
        b"\n    def test_two(self):\n        self.assertEqual(total([450], [2]), 900)\n"
    )
    assert roles(tmp_path, fixed, more, RUN_ALL) == [
        (EvidenceRole.BEFORE, 1),
        (EvidenceRole.AFTER, 0),
        (EvidenceRole.BASE_TESTS, 0),
    ]


def test_r7_a_command_that_names_a_new_test_says_nothing_of_the_old_ones(
    tmp_path: Path,
) -> None:
    fixed = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
    more = TEST_CART + (
        b"\n    def test_two(self):\n        self.assertEqual(total([450], [2]), 900)\n"
    )
    command = f"{RUN_ALL}.CartTest.test_two"
    assert roles(tmp_path, fixed, more, command) == [
        (EvidenceRole.BEFORE, 1),
        (EvidenceRole.AFTER, 0),
    ]


def test_r7_old_tests_do_not_count_as_proof(tmp_path: Path) -> None:
    with bench(tmp_path, Models.only(ScriptedModel([]))) as scene:
        broken = CART.replace(b"sum(prices)", b"sum(prices) * 3")
        weakened = TEST_CART.replace(b", 450)", b", 1350)")
        base, head = changed(scene.repository, broken, weakened)
        evidence = prove(scene.at(base), scene.dependencies, head, [RUN_ALL])
        without = [one for one in evidence if one.role is not EvidenceRole.BASE_TESTS]
        assert judge_evidence(evidence) is judge_evidence(without)
