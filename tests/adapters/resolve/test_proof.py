"""A change is proven only by tests that a known runner has seen fail and pass."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from patchwright.core.llm.model import Models
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.resolver.proof.evidence import judge_evidence, why_not_proven
from patchwright.resolver.prove import prove
from tests.adapters.resolve.workbench import CART, RUN_TEST, TEST, bench
from tests.fakes.scripted_model import ScriptedModel

FIXED = CART.replace(b"sum(prices)", b"sum(map(int.__mul__, prices, pieces))")
COMMENT = CART + b"# FIXED\n"
OLD = b"""import unittest

from cart import total


class OldTest(unittest.TestCase):
    def test_nothing(self):
        self.assertEqual(total([], []), 0)
"""


def a_test(body: str, imports: str = "import unittest") -> bytes:
    lines = "".join(f"        {line}\n" for line in body.splitlines())
    return (
        f"{imports}\n\n\nclass PiecesTest(unittest.TestCase):\n"
        f"    def test_every_piece_counts(self):\n{lines}"
    ).encode()


NO_FILES: Mapping[str, bytes] = {}


def ran(
    folder: Path,
    command: str,
    head: Mapping[str, bytes],
    before: Mapping[str, bytes] = NO_FILES,
) -> tuple[Evidence, ...]:
    """Return what the command shows of the change to these files."""
    with bench(folder, Models.only(ScriptedModel([]))) as scene:
        repository = scene.repository
        repository.write("cart.py", CART)
        repository.write("test_old.py", OLD)
        for path, content in before.items():
            repository.write(path, content)
        base = repository.commit()
        for path, content in head.items():
            repository.write(path, content)
        return prove(scene.at(base), scene.dependencies, repository.commit(), [command])


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
CHEATS: dict[str, tuple[str, dict[str, bytes]]] = {
    "a search for a comment": ("grep -q FIXED cart.py", {"cart.py": COMMENT}),
    "a script that the base lacks": (
        "python3 verify/check.py",
        {"cart.py": COMMENT, "verify/check.py": b"pass\n"},
    ),
    "a test of a script that the base lacks": (
        RUN_TEST,
        {"verify/check.py": b"pass\n", "test_pieces.py": a_test(RUN)},
    ),
    "code that ends before any test": (
        "python3 -m unittest",
        {**UNFIXED, "cart.py": b"import os\nos._exit(0)\n" + CART},
    ),
    "code that prints a success and ends": (
        RUN_TEST,
        {**UNFIXED, "cart.py": FORGED + CART},
    ),
    "a test that skips itself": (
        RUN_TEST,
        {"cart.py": COMMENT, "test_pieces.py": SKIPS},
    ),
    "a test that asks git": (
        RUN_TEST,
        {"cart.py": COMMENT, "test_pieces.py": SUBJECT},
    ),
    "a module that cannot be imported without it": (
        RUN_TEST,
        {
            "cart.py": CART + b"extra = 1\n",
            "test_pieces.py": a_test("pass", "import unittest\nfrom cart import extra"),
        },
    ),
    "another command made to succeed": (
        "python3 -m unittest test_old && grep -q FIXED cart.py",
        {"cart.py": COMMENT},
    ),
}


@pytest.mark.parametrize("cheat", CHEATS)
def test_h1_no_proof_is_given_for(cheat: str, tmp_path: Path) -> None:
    command, head = CHEATS[cheat]
    evidence = ran(tmp_path, command, head)
    assert judge_evidence(evidence) is Proof.NOT_PROVEN
    assert len(evidence) == 2


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
    evidence = ran(tmp_path, command, head, before)
    assert judge_evidence(evidence) is Proof.NOT_PROVEN
    assert [one.results for one in evidence] == [None, None]


def test_h1_a_script_that_calls_a_runner_is_believed(tmp_path: Path) -> None:
    before = {"package.json": b'{"scripts": {"test": "node --test"}}', "cart.js": JS}
    fixed = {"cart.js": JS.replace(b"0]", b"0] * pieces[0]"), "cart.test.js": JS_TEST}
    evidence = ran(tmp_path, "npm test", fixed, before)
    assert judge_evidence(evidence) is Proof.PROVEN


@pytest.mark.parametrize(
    "command",
    [
        f"{RUN_TEST} 2>&1 | tail -3; grep -q map cart.py",
        f"{RUN_TEST} || grep -q map cart.py",
        f"{RUN_TEST}; grep -q map cart.py",
        f"! {RUN_TEST} || grep -q map cart.py",
        f"sh -c '{RUN_TEST}'",
    ],
)
def test_h1_a_command_that_can_make_up_an_exit_code_is_the_agents_own_check(
    command: str, tmp_path: Path
) -> None:
    evidence = ran(
        tmp_path, command, {"cart.py": FIXED, "test_pieces.py": TEST.encode()}
    )
    assert judge_evidence(evidence) is Proof.NOT_PROVEN
    assert [one.results for one in evidence] == [None, None]


def test_h1_a_command_that_is_no_test_is_called_the_agents_own_check(
    tmp_path: Path,
) -> None:
    evidence = ran(tmp_path, "grep -q FIXED cart.py", {"cart.py": COMMENT})
    assert [one.exit_code for one in evidence] == [1, 0]
    assert "the agent's own check changed its exit code" in why_not_proven(evidence)


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
    evidence = ran(
        tmp_path, command, {"cart.py": FIXED, "test_pieces.py": test.encode()}
    )
    assert judge_evidence(evidence) is Proof.PROVEN
    before, after = (one.results for one in evidence)
    assert before is not None
    assert after is not None
    assert len(before.failing) == 1
    assert before.failing == after.passing


def test_h1_a_test_of_the_base_that_the_change_mends_is_proof(tmp_path: Path) -> None:
    with bench(tmp_path, Models.only(ScriptedModel([]))) as scene:
        scene.repository.write("cart.py", CART)
        scene.repository.write("test_pieces.py", TEST.encode())
        base = scene.repository.commit()
        scene.repository.write("cart.py", FIXED)
        head = scene.repository.commit()
        evidence = prove(scene.at(base), scene.dependencies, head, [RUN_TEST])
    assert judge_evidence(evidence) is Proof.PROVEN


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
    evidence = ran(tmp_path, LOOK, {"test_new.py": OLD})
    before, after = evidence
    assert (before.role, after.role) == (EvidenceRole.BEFORE, EvidenceRole.AFTER)
    assert before.tail == after.tail
    assert before.digest == after.digest
    assert before.exit_code == 0
