"""A change is proven only by tests that a known runner has seen fail and pass."""

from pathlib import Path

import pytest

from patchwright.core.types.evidence import (
    EvidenceRole,
    Proof,
    ProofReason,
    TestVerdict,
)
from tests.adapters.resolve.changes import (
    Change,
    Files,
    prove_change,
    verdict,
    with_role,
)
from tests.adapters.resolve.workbench import CART, RUN_TEST, TEST

FIXED = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
COMMENT = CART + b"# FIXED\n"
OLD = b"""import unittest

from cart import total


class OldTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([], []), 0)
"""
FIX: Files = {"cart.py": FIXED, "test_pieces.py": TEST.encode()}


def a_test(body: str, imports: str = "import unittest") -> bytes:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        f"{imports}\n\n\nclass PiecesTest(unittest.TestCase):\n"
        f"    def test_every_piece_counts(self):\n{lines}"
    ).encode()


def change(command: str, head: Files, before: Files | None = None) -> Change:
    """Return a change of the cart, which has one test."""
    files = {"cart.py": CART, "test_old.py": OLD, **(before or {})}
    return Change(files, head, [command])


RUN = "import subprocess\nsubprocess.run(['python3', 'verify/check.py'], check=True)"
SKIPS = a_test(
    "if 'FIXED' in open('cart.py').read():\n    self.skipTest('it is')\nself.fail()"
)
SUBJECT = a_test(
    "shown = subprocess.run(['git', 'log', '-1', '--format=%s'], "
    "stdout=subprocess.PIPE)\n"
    "self.assertNotIn(b'new tests', shown.stdout)",
    "import subprocess\nimport unittest",
)
FORGED = b"print('Ran 1 test in 0.001s\\n\\nOK')\nimport os\nos._exit(0)\n"
UNFIXED = {"cart.py": COMMENT, "test_pieces.py": TEST.encode()}
CHEATS: dict[str, tuple[ProofReason, str, dict[str, bytes]]] = {
    "a script that the base lacks": (
        ProofReason.GREEN_WITHOUT_CHANGE,
        "python3 verify/check.py",
        {"cart.py": COMMENT, "verify/check.py": b"pass\n"},
    ),
    "a test of a script that the base lacks": (
        ProofReason.GREEN_WITHOUT_CHANGE,
        RUN_TEST,
        {"verify/check.py": b"pass\n", "test_pieces.py": a_test(RUN)},
    ),
    "a test that skips itself": (
        ProofReason.DOUBTFUL,
        RUN_TEST,
        {"cart.py": COMMENT, "test_pieces.py": SKIPS},
    ),
    "a test that asks git": (
        ProofReason.GREEN_WITHOUT_CHANGE,
        RUN_TEST,
        {"cart.py": COMMENT, "test_pieces.py": SUBJECT},
    ),
    "a test that asserts nothing": (
        ProofReason.GREEN_WITHOUT_CHANGE,
        RUN_TEST,
        {"cart.py": FIXED, "test_pieces.py": a_test("self.assertTrue(True)")},
    ),
    "a module that cannot be imported without it": (
        ProofReason.MISSING_NAME,
        RUN_TEST,
        {
            "cart.py": CART + b"extra = 1\n",
            "test_pieces.py": a_test("pass", "import unittest\nfrom cart import extra"),
        },
    ),
    "a constant that the change adds": (
        ProofReason.MISSING_NAME,
        RUN_TEST,
        {
            "cart.py": CART + b"EXTRA = 1\n",
            "test_pieces.py": a_test(
                "self.assertEqual(cart.EXTRA, 1)", "import unittest\nimport cart"
            ),
        },
    ),
    "a marker that nothing reads": (
        ProofReason.GREEN_WITHOUT_CHANGE,
        RUN_TEST,
        {
            "cart.py": COMMENT,
            "fixed.marker": b"yes\n",
            "test_pieces.py": a_test("open('fixed.marker').close()"),
        },
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_h1_no_proof_is_given_for(cheat: str, tmp_path: Path) -> None:
    reason, command, head = CHEATS[cheat]
    result = prove_change(tmp_path, change(command, head))
    assert verdict(result) == (Proof.NOT_PROVEN, reason)


CRASHES = {
    "code that ends before any test": (
        "python3 -m unittest",
        {**UNFIXED, "cart.py": b"import os\nos._exit(0)\n" + CART},
    ),
    "code that prints a success and ends": (
        RUN_TEST,
        {**UNFIXED, "cart.py": FORGED + CART},
    ),
}


@pytest.mark.parametrize("crash", CRASHES)
def test_h1_code_that_ends_the_tests_proves_nothing(crash: str, tmp_path: Path) -> None:
    result = prove_change(tmp_path, change(*CRASHES[crash]))
    assert result.level in (Proof.NOT_PROVEN, Proof.CONTRADICTED)


def test_h1_a_data_file_with_a_new_value_does_not_stand_for_the_code(
    tmp_path: Path,
) -> None:
    """The test passes by the data, and the change of the code does nothing."""
    test = a_test("self.assertEqual(open('state').read(), 'fixed\\n')")
    head = {"cart.py": COMMENT, "state": b"fixed\n", "test_pieces.py": test}
    result = prove_change(tmp_path, change(RUN_TEST, head, {"state": b"open\n"}))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.UNCOVERED)
    assert [one.path for one in result.report.uncovered] == ["cart.py"]


JS = b"exports.total = (prices, pieces) => prices[0]\n"
JS_TEST = b"""
const { total } = require("./cart.js")
const { equal } = require("node:assert")
require("node:test")("pieces", () => equal(total([450], [3]), 1350))
"""
PASSED = b"print('Tests:       1 passed, 1 total')\n"
FAILED = b"print('Tests:       1 failed, 1 total')\nraise SystemExit(1)\n"
MAKEFILE = b"test:\n\tpython3 tools/check.py\n"
REPORTS = b"""import os
with open(os.environ["PATCHWRIGHT_TEST_REPORT"], "a") as report:
    report.write('["%s", "a"]\\n')
"""
MENDS = b"open('cart.py', 'w').write('def total(*_): return 1350')\n"
# The command, the files before, and what the change does to them.
SCRIPTS: dict[str, tuple[str, dict[str, bytes], dict[str, bytes]]] = {
    "a script that prints what it likes": (
        "make test",
        {"Makefile": MAKEFILE, "tools/check.py": FAILED},
        {"tools/check.py": PASSED},
    ),
    "a step before the tests that makes up the code": (
        f"npm run make && {RUN_TEST}",
        {"package.json": b'{"scripts": {"make": "python3 m.py"}}', "m.py": b"\n"},
        {"m.py": MENDS, "test_pieces.py": TEST.encode()},
    ),
    "a program of the change in a folder": (
        "cd shop && python3 manage.py test",
        {"shop/manage.py": REPORTS % b"failed" + b"raise SystemExit(1)\n"},
        {"shop/manage.py": REPORTS % b"passed"},
    ),
}


@pytest.mark.parametrize("script", SCRIPTS)
def test_h1_no_proof_is_given_by_what_the_change_has_written(
    script: str, tmp_path: Path
) -> None:
    command, before, head = SCRIPTS[script]
    result = prove_change(tmp_path, change(command, head, before))
    assert result.level is not Proof.PROVEN
    own = [one for one in result.evidence if one.command == command]
    assert {one.results for one in own} == {None}


def test_h1_a_script_that_calls_a_runner_is_believed(tmp_path: Path) -> None:
    before = {"package.json": b'{"scripts": {"test": "node --test"}}', "cart.js": JS}
    fixed = {"cart.js": JS.replace(b"0]", b"0] * pieces[0]"), "cart.test.js": JS_TEST}
    result = prove_change(tmp_path, Change(before, fixed, ["npm test"]))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)


@pytest.mark.parametrize(
    "command",
    [
        "grep -q FIXED cart.py",
        "python3 -c \"exit('FIXED' not in open('cart.py').read())\"",
    ],
)
def test_h1_a_command_that_is_no_test_only_shows(command: str, tmp_path: Path) -> None:
    result = prove_change(tmp_path, change(command, {"cart.py": COMMENT}))
    assert verdict(result) == (Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN)
    assert [one.exit_code for one in result.evidence][:2] == [1, 0]


def test_h1_a_command_that_cannot_be_run_without_the_change_shows_nothing(
    tmp_path: Path,
) -> None:
    head = {"cart.py": COMMENT, "check.sh": b"true\n", "made.txt": b"1\n"}
    result = prove_change(tmp_path, change("./nowhere", head))
    assert verdict(result) == (Proof.NOT_PROVEN, ProofReason.NO_RUNNER)


@pytest.mark.parametrize(
    "command",
    [
        RUN_TEST,
        "python3 -m unittest -v",
        "python3 -B -m unittest discover -p 'test_*.py'",
        f"cd . && PYTHONPATH=. timeout 60 {RUN_TEST}",
        "python3 test_pieces.py",
    ],
)
def test_h1_a_test_that_fails_and_then_passes_is_proof(
    command: str, tmp_path: Path
) -> None:
    test = TEST + "\n\nif __name__ == '__main__':\n    unittest.main()\n"
    head = {"cart.py": FIXED, "test_pieces.py": test.encode()}
    result = prove_change(tmp_path, change(command, head))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    [proving] = result.report.tests
    assert proving.name.endswith("PiecesTest.test_every_piece_counts")
    assert (proving.before, proving.after) == (TestVerdict.FAILED, TestVerdict.PASSED)
    [before] = with_role(result, EvidenceRole.BEFORE)
    [after] = with_role(result, EvidenceRole.AFTER)
    assert before.results
    assert after.results
    assert before.results.failing == after.results.passing == (proving.name,)


WRONG = {
    "none": [],
    "a neighbour that is green on both sides": ["python3 -m unittest test_old"],
    "a file that is not there": ["python3 -m unittest test_no_such"],
    "a runner that is not there": ["no-such-runner test_pieces.py"],
    "a command that is no test": ["true"],
    "the right one, and a neighbour": [RUN_TEST, "python3 -m unittest test_old"],
}


@pytest.mark.parametrize("commands", WRONG.values(), ids=WRONG)
def test_a_true_fix_is_not_lost_by_the_commands_that_are_named(
    commands: list[str], tmp_path: Path
) -> None:
    files: Files = {"cart.py": CART, "test_old.py": OLD}
    result = prove_change(tmp_path, Change(files, FIX, commands))
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    assert (result.report.hunks, result.report.hunks_tried) == (1, 1)
    assert result.report.uncovered == ()
    assert result.report.suite_complete
    assert result.report.suite_tests == 1


def test_h1_a_test_of_the_base_that_the_change_mends_is_proof(tmp_path: Path) -> None:
    before: Files = {"cart.py": CART, "test_pieces.py": TEST.encode()}
    for named in ([RUN_TEST], []):
        mended = Change(before, {"cart.py": FIXED}, named)
        result = prove_change(tmp_path / str(len(named)), mended)
        assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)


LOOK = """
git log --all --format='%an %ae %ad %cn %ce %cd %s %D %P' | cat
git rev-list --count --all; git branch --all; git reflog --format=%gs; git status -s
git for-each-ref --format='%(refname)'; git stash list; git config --list | sort
find .git -not -path '*/objects/*' | sort; git count-objects -v | grep -v size
ls -a / /tmp /workspace /workspace/* "$HOME" | grep -v carry
env | sort; pwd; hostname; id; umask; echo $0 $# $-; ulimit -a
"""


def test_h1_base_and_head_look_alike_from_inside(tmp_path: Path) -> None:
    """The same files in both, so all that could differ is what we have made."""
    result = prove_change(tmp_path, change(LOOK, {"test_new.py": OLD}))
    before, after = (one for one in result.evidence if one.command == LOOK.strip())
    assert (before.role, after.role) == (EvidenceRole.BEFORE, EvidenceRole.AFTER)
    assert before.tail == after.tail
    assert before.digest == after.digest
    assert before.exit_code == 0


def test_a_check_of_the_repository_that_a_change_breaks_speaks_against_it(
    tmp_path: Path,
) -> None:
    check = "python3 -c \"exit('__mul__' in open('cart.py').read())\""
    files: Files = {"cart.py": CART, "test_old.py": OLD}
    change = Change(files, FIX, [RUN_TEST])
    result = prove_change(tmp_path, change, tests=(check,))
    assert verdict(result) == (Proof.CONTRADICTED, ProofReason.BREAKS_TESTS)
    assert result.report.newly_failing == (check,)


def test_a_check_of_the_repository_that_stays_green_is_compared(tmp_path: Path) -> None:
    files: Files = {"cart.py": CART, "test_old.py": OLD}
    own = ("true", "python3 -m unittest test_old")
    result = prove_change(tmp_path, Change(files, FIX, [RUN_TEST]), tests=own)
    assert verdict(result) == (Proof.PROVEN, ProofReason.RED_TO_GREEN)
    assert (result.report.suite_tests, result.report.suite_complete) == (1, True)
