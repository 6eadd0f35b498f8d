"""Each level of a proof has one sentence, and each reason says what would help."""

import pytest

from patchwright.core.types.evidence import (
    EvidenceRole,
    Hunk,
    Proof,
    ProofReason,
    ProofReport,
    RunStatus,
)
from patchwright.resolver.messages.proof_words import (
    advice_on_proof,
    hunk_name,
    level_markdown,
    level_sentence,
    reason_words,
    result_words,
    role_title,
    short_reason,
)
from patchwright.resolver.messages.result import headline, ping_text
from patchwright.resolver.messages.status import DeliveryResult
from tests.unit.resolver.endings import (
    FRAME,
    FULL_REPORT,
    RED,
    REPORT,
    contradicted,
    judged,
    proven,
)

_LEVELS = {
    ProofReason.RED_TO_GREEN: Proof.PROVEN,
    ProofReason.RED_WITHOUT_PART: Proof.PROVEN,
    ProofReason.COMMAND_TO_GREEN: Proof.SHOWN_BY_COMMAND,
    ProofReason.FAILS_WITH_CHANGE: Proof.CONTRADICTED,
    ProofReason.BREAKS_TESTS: Proof.CONTRADICTED,
    ProofReason.SWITCHED_OFF: Proof.NONE,
}


def level_of(reason: ProofReason) -> Proof:
    return _LEVELS.get(reason, Proof.NOT_PROVEN)


@pytest.mark.parametrize("reason", ProofReason)
def test_every_reason_is_one_sentence(reason: ProofReason) -> None:
    level = level_of(reason)
    sentence = level_sentence(level, REPORT.replace(reason=reason))
    assert sentence.count(". ") == 0
    assert sentence.endswith(".")
    assert not sentence.endswith("..")
    name, _, why = sentence.partition(": ")
    assert name
    assert len(why) > 20
    assert ("Proven" in sentence) == (level is Proof.PROVEN)
    assert "`" not in sentence


@pytest.mark.parametrize("reason", ProofReason)
def test_whoever_can_do_something_is_told_what(reason: ProofReason) -> None:
    level = level_of(reason)
    advice = advice_on_proof(level, REPORT.replace(reason=reason), "bot.toml")
    assert bool(advice) == (level not in (Proof.PROVEN, Proof.NONE))
    assert "{" not in advice
    assert ".patchwright.toml" not in advice


@pytest.mark.parametrize(
    ("report", "words"),
    [
        (REPORT, "the test fails without the change and passes with it."),
        (
            REPORT.replace(tests=REPORT.tests * 2),
            "2 tests fail without the change and pass with it.",
        ),
        (
            REPORT.replace(suite_tests=312, suite_complete=True),
            "passes with it, and no test that passed before fails now.",
        ),
        (
            REPORT.replace(suite_tests=312),
            (
                "passes with it, and of 312 tests compared none that passed before "
                "fails now."
            ),
        ),
        (
            REPORT.replace(reason=ProofReason.RED_WITHOUT_PART),
            "the test fails without a part of the change and passes with all of it.",
        ),
        (
            REPORT.replace(is_rerun=True),
            (
                "there was no new behaviour to prove, so the earlier proof was run "
                "again on bbbbbbbbbb: the test fails without the change and passes "
                "with it."
            ),
        ),
    ],
)
def test_a_proof_claims_what_was_run_and_no_more(
    report: ProofReport, words: str
) -> None:
    assert level_sentence(Proof.PROVEN, report).endswith(words)


@pytest.mark.parametrize(
    ("broken", "words"),
    [
        ((), "tests that passed before the change fail with it"),
        (("a",), "a test that passed before the change fails with it"),
        (("a", "b"), "2 tests that passed before the change fail with it"),
    ],
)
def test_broken_tests_are_counted(broken: tuple[str, ...], words: str) -> None:
    report = REPORT.replace(reason=ProofReason.BREAKS_TESTS, newly_failing=broken)
    assert reason_words(Proof.CONTRADICTED, report) == words
    assert short_reason(Proof.CONTRADICTED, report) == words


def test_an_outcome_of_an_earlier_version_says_its_level_alone() -> None:
    assert level_sentence(Proof.NOT_PROVEN, None) == "Not proven."
    assert level_markdown(Proof.NOT_PROVEN, None) == "🟡 **Not proven**."
    assert level_markdown(Proof.PROVEN, None) == "🟢 **Proven**."
    assert "switch the tests off" in level_sentence(Proof.NONE, None)


PULL = DeliveryResult(pull_request=15, pull_request_url="https://hub/pull/15")
DRAFT = PULL.replace(draft=True)


@pytest.mark.parametrize(
    ("level", "why", "delivered", "head"),
    [
        (Proof.PROVEN, ProofReason.RED_TO_GREEN, PULL, "**Done, proven** · #15"),
        (
            Proof.PROVEN,
            ProofReason.RED_TO_GREEN,
            DRAFT,
            "**Done, proven** · #15 (draft)",
        ),
        (
            Proof.NOT_PROVEN,
            ProofReason.GREEN_WITHOUT_CHANGE,
            DRAFT,
            "**Draft, not proven** · #15: the test passes without the change too",
        ),
        (
            Proof.NOT_PROVEN,
            ProofReason.NO_COMMAND,
            DeliveryResult(),
            "**Change made, not proven**: no test command was named · see above",
        ),
        (
            Proof.SHOWN_BY_COMMAND,
            ProofReason.COMMAND_TO_GREEN,
            DRAFT,
            "**Draft, shown by a command** · #15: it is not a test of the repository",
        ),
        (
            Proof.NONE,
            ProofReason.SWITCHED_OFF,
            PULL.replace(pull_request=None, pull_request_url=""),
            (
                "**Change made, no evidence**: the repository's settings switch the "
                "tests off, so nothing was run · see above"
            ),
        ),
    ],
)
def test_the_call_says_first_whether_it_is_proven(
    level: Proof, why: ProofReason, delivered: DeliveryResult, head: str
) -> None:
    call, _, _ = ping_text(judged(level, why), delivered, "@alice", FRAME).partition(
        "\n"
    )
    assert call == f"@alice {head}"


def test_a_contradicted_change_says_so_first() -> None:
    outcome = contradicted()
    assert headline(outcome, DRAFT) == "**Contradicted** · #15 (draft)"
    assert ping_text(outcome, DRAFT, "@alice", FRAME).startswith(
        "@alice **Contradicted** · #15 (draft): a test that passed before the change "
        "fails with it\n"
    )
    assert level_markdown(outcome.proof, outcome.proof_report).startswith(
        "🔴 **Contradicted**: "
    )


def test_only_what_is_proven_is_called_done() -> None:
    heads = {
        level: headline(judged(level, ProofReason.NO_COMMAND), DRAFT) for level in Proof
    }
    assert [level for level, head in heads.items() if "Done" in head] == [Proof.PROVEN]
    assert headline(proven(), PULL) == "**Done, proven** · #15"


@pytest.mark.parametrize(
    ("hunk", "name"),
    [
        (Hunk(path="a.py", start=12, lines=3), "a.py:12-14"),
        (Hunk(path="a.py", start=12, lines=1), "a.py:12"),
        (Hunk(path="a.py", start=12, lines=0), "a.py:12"),
    ],
)
def test_changed_lines_are_named_as_editors_open_them(hunk: Hunk, name: str) -> None:
    assert hunk_name(hunk) == name


@pytest.mark.parametrize(
    ("code", "status", "words"),
    [
        (1, RunStatus.RAN, "exit 1"),
        (1, RunStatus.UNREAD, "exit 1"),
        (5, RunStatus.NO_TESTS, "no tests (exit 5)"),
        (2, RunStatus.COLLECTION_ERROR, "tests not loaded (exit 2)"),
        (127, RunStatus.NO_RUNNER, "no test runner (exit 127)"),
        (None, RunStatus.TIMED_OUT, "did not end"),
        (None, RunStatus.UNREAD, "did not end"),
    ],
)
def test_a_result_is_named_and_not_only_numbered(
    code: int | None, status: RunStatus, words: str
) -> None:
    assert result_words(RED.replace(exit_code=code, status=status)) == words


def test_every_place_of_a_run_has_its_name() -> None:
    assert len({role_title(role) for role in EvidenceRole}) == len(EvidenceRole)
    assert FULL_REPORT.uncovered
