"""A proof at a terminal: the level first, and nothing of others acts there."""

from io import StringIO

import pytest
from rich.console import Console

from patchwright.core.types.evidence import Hunk, Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.workers.cli.finished_run import FinishedRun
from patchwright.workers.cli.proof_report import print_proof
from patchwright.workers.cli.report import exit_code, print_result
from tests.unit.resolver.endings import (
    FULL_REPORT,
    GREEN,
    RED,
    contradicted,
    ended,
    judged,
    proven,
)

NOWHERE = DeliveryResult()


def printed(outcome: Outcome, *, colours: bool = False) -> str:
    out = StringIO()
    console = Console(file=out, force_terminal=colours, width=100)
    print_result(console, FinishedRun(outcome, NOWHERE))
    return out.getvalue()


def test_the_level_stands_first_then_the_table_then_what_was_found() -> None:
    warned = contradicted().replace(warnings=("A test file was deleted.",))
    assert (
        printed(warned)
        == """\
needs-input, contradicted: a test that passed before the change fails with it · \
7 steps · 2m 10s · $0.41
hint: Fix the change, or change those tests if they are wrong.
without  with it  test
failed   passed   tests/test_cart.py::test_pieces
                  assert 450 == 1350
fails now, passed before: tests/test_tax.py::test_vat
altered by the change: tests/test_old.py::test_sum
not covered by the proof: shop/cart.py:12-14
not covered by the proof: shop/tax.py:4
flaky, does not count: tests/test_net.py::test_ping
repository's own tests: pytest -q, 312 tests compared, others could not be \
compared
coverage: 4 of 5 changed parts removed in turn
commits: base aaaaaaaaaa, head bbbbbbbbbb
without the change         exit 1   pytest -k sum  aaaaaaaaaa, 1.2 s
with it                    exit 0   pytest -k sum  bbbbbbbbbb, 1.2 s
look at:       A test file was deleted.
The agent wrote:
> The total ignored the pieces.
"""
    )


def test_why_a_proof_is_missing_and_what_would_help_is_said() -> None:
    unproven = judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND, evidence=())
    assert (
        printed(unproven)
        == """\
resolved, not proven: no test command was named, so nothing was run · 7 steps · \
2m 10s · $0.41
hint: Set test = ["pytest -q"], or your command, in .patchwright.toml.
The agent wrote:
> The total ignored the pieces.
"""
    )


@pytest.mark.parametrize(
    ("outcome", "first", "colour"),
    [
        (proven(), "resolved, proven", "32"),
        (
            judged(Proof.NOT_PROVEN, ProofReason.NO_TESTS),
            "resolved, not proven",
            "33",
        ),
        (
            judged(Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN),
            "resolved, shown by a command",
            "33",
        ),
        (judged(Proof.NONE, ProofReason.SWITCHED_OFF), "resolved, no evidence", "33"),
        (contradicted(), "needs-input, contradicted", "31"),
    ],
)
def test_only_a_proof_is_green(outcome: Outcome, first: str, colour: str) -> None:
    line = printed(outcome, colours=True).splitlines()[0]
    assert line.startswith(f"\x1b[1;{colour}m{first}\x1b[0m")


def test_an_ending_without_a_change_says_nothing_of_proof() -> None:
    failed = ended(OutcomeKind.FAILED, "x", reason="sandbox")
    assert printed(failed).splitlines()[0] == (
        "failed (sandbox) · 7 steps · 2m 10s · $0.41"
    )


@pytest.mark.parametrize(
    ("outcome", "code", "insisting"),
    [
        (proven(), 0, 0),
        (judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND), 0, 1),
        (judged(Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN), 0, 1),
        (contradicted(), 1, 1),
        (ended(OutcomeKind.ANSWERED, "42"), 0, 0),
        (ended(OutcomeKind.FAILED, "x"), 3, 3),
    ],
)
def test_scripts_can_insist_on_a_proof(
    outcome: Outcome, code: int, insisting: int
) -> None:
    assert exit_code(outcome) == code
    assert exit_code(outcome, needs_proof=True) == insisting


@pytest.mark.parametrize(
    "text",
    ["\x1b[2J\x1b]0;title\x07", "one\nresolved, proven\n", "\r\x08\x08", "\u202egnp"],
)
def test_names_of_others_do_not_steer_the_terminal(text: str) -> None:
    name = f"a{text}b"
    report = FULL_REPORT.replace(
        tests=(FULL_REPORT.tests[0].replace(name=name, cause=name),),
        newly_failing=(name,),
        altered=(name,),
        flaky=(name,),
        uncovered=(Hunk(path=name, start=1, lines=1),),
        suite_command=name,
    )
    runs = tuple(one.replace(command=name) for one in (RED, GREEN))
    out = StringIO()
    print_proof(Console(file=out, width=80), Proof.PROVEN, report, runs)
    shown = out.getvalue()
    assert not any(sign in shown for sign in "\x1b\x07\r\x08\u202e")
    assert len(shown.splitlines()) == 13
    assert not any(line.startswith("resolved") for line in shown.splitlines())


def test_long_names_and_lists_are_cut() -> None:
    many = ("x" * 5_000,) * 50
    tests = FULL_REPORT.tests * 50
    report = FULL_REPORT.replace(newly_failing=many, tests=tests)
    out = StringIO()
    print_proof(Console(file=out, width=80), Proof.PROVEN, report, ())
    lines = out.getvalue().splitlines()
    assert max(map(len, lines)) < 240
    assert "fails now, passed before: … and 30 more" in lines
    assert "                  … and 30 more" in lines
