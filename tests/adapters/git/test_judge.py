"""The judge sees the change as git has it and what was run, not what the agent says."""

from collections.abc import Callable
from pathlib import Path

import pytest

from patchwright.core.events.observations import ModelReply
from patchwright.core.llm.errors import ModelUnavailableError, OverBudgetError
from patchwright.core.types.errors import PatchwrightError
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome, Task
from patchwright.resolver.second_opinion import (
    MAX_DIFF_CHARS,
    NO_DOUBT,
    AskModel,
    second_opinion,
)
from tests.adapters.git.workshop import WorkTree

LAST_WORDS = "All done!"


@pytest.fixture
def tree(tmp_path: Path) -> WorkTree:
    tree = WorkTree.start(tmp_path / "shop")
    tree.write("cart.py", b"total = 450\n")
    tree.commit()
    return tree


def judged(tree: WorkTree, ask: AskModel, *evidence: Evidence) -> str:
    base = tree.git("rev-list", "--max-parents=0", "HEAD")
    task = Task(text="Fix the sum in cart.py.", base_sha=base)
    outcome = Outcome(
        kind=OutcomeKind.RESOLVED,
        proof=Proof.NOT_PROVEN,
        summary=LAST_WORDS,
        head_sha=tree.head,
        evidence=evidence,
    )
    return second_opinion(task, outcome, tree.objects, ask)


def noting(seen: list[str]) -> AskModel:
    def ask(system: str, text: str) -> ModelReply:
        seen.extend([system, text])
        return ModelReply(text='{"doubtful": false}')

    return ask


def raising(error: PatchwrightError) -> Callable[[str, str], ModelReply]:
    def ask(_system: str, _text: str) -> ModelReply:
        raise error

    return ask


def test_s39_the_judge_sees_task_change_and_output_but_not_the_summary(
    tree: WorkTree,
) -> None:
    tree.write("cart.py", b"total = 1350\n")
    tree.write("tests/test_cart.py", b"assert True\n")
    tree.commit()
    run = Evidence(
        role=EvidenceRole.AFTER,
        command="make test",
        commit=tree.head,
        exit_code=1,
        seconds=1.0,
        digest="d",
        tail="1 failed",
    )
    seen: list[str] = []
    assert judged(tree, noting(seen), run) == NO_DOUBT
    system, text = seen
    assert '{"doubtful": true or false' in system
    assert "Fix the sum in cart.py." in text
    assert "M cart.py\nA tests/test_cart.py\n" in text
    assert "-total = 450\n+total = 1350\n" in text
    assert 'what="after the change"' in text
    assert "$ make test\n1 failed\n[exit code 1]" in text
    assert LAST_WORDS not in text


def test_that_nothing_was_run_is_said(tree: WorkTree) -> None:
    tree.write("cart.py", b"total = 1350\n")
    tree.commit()
    seen: list[str] = []
    judged(tree, noting(seen))
    assert seen[1].endswith("# What was run\n\nNothing.")


def test_a_large_change_is_bounded_and_all_its_files_are_named(tree: WorkTree) -> None:
    for number in range(30):
        tree.write(f"data{number}.txt", b"a line of data\n" * 1_000)
    tree.commit()
    seen: list[str] = []
    judged(tree, noting(seen))
    assert len(seen[1]) < MAX_DIFF_CHARS + 3_000
    assert all(f"A data{number}.txt" in seen[1] for number in range(30))


@pytest.mark.parametrize(
    "error", [ModelUnavailableError("no `answer`"), OverBudgetError("$3 of $3")]
)
def test_s39_a_judge_that_cannot_be_asked_is_a_note(
    tree: WorkTree, error: PatchwrightError
) -> None:
    tree.write("cart.py", b"total = 1350\n")
    tree.commit()
    said = judged(tree, raising(error))
    assert said.startswith("No second model could review the change: `")
    assert str(error) in said
