"""One task, worked on in real sandboxes and real git, ends in facts."""

from pathlib import Path

import pytest

from patchwright.core.events.observations import OutcomeReached
from patchwright.core.llm.errors import ModelCredentialError
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Usage
from tests.adapters.resolve.workbench import (
    FIX,
    RUN_TEST,
    WRITE_TEST,
    NoSandboxes,
    finish,
    run,
)
from tests.fakes.scripted_model import Step, reply


def shell(command: str) -> Step:
    return reply(calls=[("shell", {"command": command})])


def test_p7_a_fix_is_proven_red_on_base_and_green_on_head(tmp_path: Path) -> None:
    done = run(tmp_path, [WRITE_TEST, FIX, finish(RUN_TEST)])
    outcome = done.outcome
    assert (outcome.kind, outcome.proof) == (OutcomeKind.RESOLVED, Proof.PROVEN)
    assert [
        (one.role.value, one.command, one.exit_code) for one in outcome.evidence
    ] == [("before", RUN_TEST, 1), ("after", RUN_TEST, 0)]
    before, after = outcome.evidence
    assert after.commit == outcome.head_sha
    assert before.commit not in (outcome.base_sha, outcome.head_sha)
    assert "FAILED (failures=1)" in before.tail
    assert done.changed() == ["cart.py", "test_pieces.py"]
    assert "zip(prices, pieces)" in done.show("cart.py")
    assert done.repository.git("status", "--porcelain") == ""
    assert done.repository.git("show", "-s", "--format=%B", outcome.head_sha) == (
        "Count every piece\n\nThe agent wrote:\n\n> The pieces were ignored.\n\n"
        "Co-authored-by: alice <alice@example.test>"
    )


def test_the_last_event_is_the_outcome(tmp_path: Path) -> None:
    done = run(tmp_path, [WRITE_TEST, FIX, finish(RUN_TEST)])
    assert done.events[-1].payload == OutcomeReached(outcome=done.outcome)
    kinds = [event.payload.kind for event in done.events]
    assert kinds.count("evidence_recorded") == 2
    assert done.outcome.iterations == 3
    assert done.outcome.usage == Usage(cost_usd=0.0, tokens_in=30, tokens_out=15)
    assert done.outcome.notes == ("A note.",)
    assert done.outcome.base_branch == "trunk"


@pytest.mark.parametrize(
    ("command", "codes"),
    [
        ("true", [0, 0]),
        ("no-such-program", [127, 127]),
        ("test -e /tmp/left-by-the-agent", [1, 1]),
    ],
)
def test_p7_a_command_that_shows_nothing_proves_nothing(
    command: str, codes: list[int], tmp_path: Path
) -> None:
    leave = shell("touch /tmp/left-by-the-agent")
    done = run(tmp_path, [leave, FIX, finish(command)])
    assert done.outcome.kind is OutcomeKind.RESOLVED
    assert done.outcome.proof is Proof.NOT_PROVEN
    assert [one.exit_code for one in done.outcome.evidence] == codes


def test_without_a_test_command_nothing_is_proven(tmp_path: Path) -> None:
    done = run(tmp_path, [FIX, finish()])
    assert done.outcome.proof is Proof.NOT_PROVEN
    assert done.outcome.evidence == ()
    assert done.changed() == ["cart.py"]


def test_s31_nothing_changed_is_an_ending_with_the_agents_words(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, [finish(RUN_TEST, summary="The sum is right.")])
    assert done.outcome.kind is OutcomeKind.NO_CHANGE
    assert done.outcome.summary == "The sum is right."
    assert (done.outcome.head_sha, done.outcome.evidence) == ("", ())


def test_a_question_is_answered(tmp_path: Path) -> None:
    done = run(tmp_path, [finish(answer="It sums the prices.")])
    assert done.outcome.kind is OutcomeKind.ANSWERED
    assert done.outcome.summary == "It sums the prices."


def test_s29_only_generated_files_are_no_change(tmp_path: Path) -> None:
    done = run(tmp_path, [shell("touch cart.orig debug.log"), finish()])
    assert done.outcome.kind is OutcomeKind.NO_CHANGE


def test_s29_generated_files_are_left_out_and_the_reader_is_told(
    tmp_path: Path,
) -> None:
    mess = shell("mkdir -p build && touch cart.py.orig debug.log repro.py")
    done = run(tmp_path, [mess, FIX, finish()])
    assert done.changed() == ["cart.py"]
    assert done.outcome.notes[1:] == (
        "Left out as build or scratch files: `cart.py.orig`, `debug.log`, `repro.py`.",
    )


def test_what_looks_like_an_accident_is_asked_about(tmp_path: Path) -> None:
    many = shell("for n in $(seq 301); do echo $n > data$n.txt; done")
    done = run(tmp_path, [many, FIX, finish()])
    assert (done.outcome.kind, done.outcome.reason) == (
        OutcomeKind.NEEDS_INPUT,
        "excess",
    )
    assert "- it touches very many files (302 paths)" in done.outcome.summary
    assert (len(done.changed()), done.outcome.as_patch) == (302, True)


@pytest.mark.parametrize(
    ("command", "names"),
    [
        ("head -c 6000000 /dev/zero > data.bin", ["data.bin"]),
        (
            "for n in 1 2 3 4 5; do head -c 4500000 /dev/urandom > $n.bin; done",
            ["1.bin", "2.bin", "3.bin", "4.bin", "5.bin"],
        ),
    ],
)
def test_what_is_too_large_to_propose_is_kept_all_the_same(
    tmp_path: Path, command: str, names: list[str]
) -> None:
    done = run(tmp_path, [shell(command), finish(), finish()], proves=False)
    outcome = done.outcome
    assert (outcome.kind, outcome.reason) == (OutcomeKind.NEEDS_INPUT, "excess")
    assert outcome.as_patch
    assert done.changed() == names
    assert outcome.left_out == ()


def test_s65_the_work_of_a_run_that_ended_early_is_kept(tmp_path: Path) -> None:
    limits = Limits(max_iterations=1)
    done = run(tmp_path, [FIX], limits=limits)
    assert done.outcome.kind is OutcomeKind.OVER_LIMIT
    assert done.changed() == ["cart.py"]


def test_work_is_kept_when_the_model_fails(tmp_path: Path) -> None:
    error = ModelCredentialError("It did not accept the key.")
    done = run(tmp_path, [FIX, error])
    assert (done.outcome.kind, done.outcome.reason) == (
        OutcomeKind.FAILED,
        "model-credential",
    )
    assert done.changed() == ["cart.py"]


def test_s44_long_texts_are_files_in_the_sandbox(tmp_path: Path) -> None:
    look = shell("cat /workspace/context/thread.md")
    done = run(tmp_path, [look, finish()], files={"thread.md": "HÉLLO"})
    assert "HÉLLO" in str(done.model.requests[1].messages[-1])
    assert done.outcome.kind is OutcomeKind.NO_CHANGE


def test_where_no_sandbox_starts_the_run_fails_before_any_model_call(
    tmp_path: Path,
) -> None:
    done = run(tmp_path, [], sandboxes=NoSandboxes())
    assert (done.outcome.kind, done.outcome.reason) == (OutcomeKind.FAILED, "sandbox")
    assert done.outcome.summary == "there is no room for run-1"
    assert done.model.requests == []
