"""What is made visible for each ending."""

from typing import Literal

import pytest

from patchwright.core.settings.repository import DeliveryMode, RepositoryConfig
from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.publish.effects import (
    AnswerReviews,
    FinalMessage,
    NotificationPlan,
    OpenPullRequest,
    Ping,
    PushBranch,
    ReportCheck,
    SetPullMetadata,
    SwapLabels,
    UpdatePullRequest,
    is_draft,
    plan_effects,
)
from patchwright.resolver.publish.target import RunTarget

NEW = RunTarget(
    start_ref="refs/heads/trunk", base_branch="trunk", branch="patchwright/7"
)
OURS = NEW.replace(
    moves_branch=True, pull_request=8, own_pull_request=True, opens_pull_request=False
)
THEIRS = OURS.replace(own_pull_request=False)


def done(proof: Proof = Proof.PROVEN) -> Outcome:
    return Outcome(
        kind=OutcomeKind.RESOLVED, proof=proof, base_sha="base", head_sha="head"
    )


@pytest.mark.parametrize("kind", list(OutcomeKind))
def test_every_ending_has_one_final_message_at_the_end(kind: OutcomeKind) -> None:
    for head_sha in ("", "head"):
        effects = plan_effects(Outcome(kind=kind, head_sha=head_sha), NEW)
        assert [e for e in effects if isinstance(e, FinalMessage)] == [effects[-1]]


def test_a_proven_change_becomes_a_pull_request_ready_for_review() -> None:
    assert plan_effects(done(), NEW) == (
        PushBranch(branch="patchwright/7", sha="head"),
        OpenPullRequest(branch="patchwright/7", base_branch="trunk", draft=False),
        SetPullMetadata(),
        FinalMessage(),
    )


def test_an_unproven_change_becomes_a_draft() -> None:
    effects = plan_effects(done(Proof.NOT_PROVEN), NEW)
    assert (
        OpenPullRequest(branch="patchwright/7", base_branch="trunk", draft=True)
        in effects
    )


def test_s35_the_open_pull_request_is_updated_and_gets_no_duplicate() -> None:
    assert plan_effects(done(), OURS) == (
        PushBranch(branch="patchwright/7", sha="head", expect="base", pull_request=8),
        UpdatePullRequest(number=8, draft=False),
        SetPullMetadata(),
        FinalMessage(),
    )


def test_a_persons_pull_request_gets_commits_and_keeps_its_words() -> None:
    assert plan_effects(done(), THEIRS) == (
        PushBranch(branch="patchwright/7", sha="head", expect="base", pull_request=8),
        FinalMessage(),
    )


def test_s65_work_of_a_stuck_run_is_kept_on_a_branch() -> None:
    stuck = done().replace(kind=OutcomeKind.STUCK)
    assert plan_effects(stuck, NEW) == (
        PushBranch(branch="patchwright/7", sha="head"),
        FinalMessage(),
    )


def test_s31_nothing_changed_means_no_branch() -> None:
    unchanged = Outcome(kind=OutcomeKind.NO_CHANGE)
    assert plan_effects(unchanged, NEW) == (FinalMessage(),)


def test_what_is_said_comes_after_what_is_written_and_the_call_last() -> None:
    everything = NotificationPlan(
        swaps_labels=True, pings=True, check_sha="c", reviews_of=8
    )
    assert plan_effects(done(), OURS, notification=everything) == (
        PushBranch(branch="patchwright/7", sha="head", expect="base", pull_request=8),
        UpdatePullRequest(number=8, draft=False),
        SetPullMetadata(),
        AnswerReviews(number=8),
        ReportCheck(sha="c"),
        SwapLabels(),
        FinalMessage(),
        Ping(),
    )


def test_reviewers_are_answered_only_when_the_work_is_done() -> None:
    stuck = done().replace(kind=OutcomeKind.STUCK)
    shown = plan_effects(stuck, OURS, notification=NotificationPlan(reviews_of=8))
    assert AnswerReviews(number=8) not in shown


@pytest.mark.parametrize("kind", [OutcomeKind.ANSWERED, OutcomeKind.NO_CHANGE])
def test_reviewers_are_answered_where_nothing_had_to_change(kind: OutcomeKind) -> None:
    shown = plan_effects(
        Outcome(kind=kind), OURS, notification=NotificationPlan(reviews_of=8)
    )
    assert shown == (AnswerReviews(number=8), FinalMessage())


def test_who_waits_writes_nothing() -> None:
    asks = done().replace(waits=True)
    assert plan_effects(asks, NEW) == (FinalMessage(),)


@pytest.mark.parametrize(
    ("wish", "kinds"),
    [
        (DeliveryMode.BRANCH, ["push_branch", "final_message"]),
        (DeliveryMode.PATCH, ["final_message"]),
        (DeliveryMode.NONE, ["final_message"]),
    ],
)
def test_a_repository_may_want_less_than_a_pull_request(
    wish: DeliveryMode, kinds: list[str]
) -> None:
    effects = plan_effects(done(), NEW, RepositoryConfig(deliver=wish))
    assert [effect.kind for effect in effects] == kinds


@pytest.mark.parametrize(
    ("wish", "proof", "warnings", "draft"),
    [
        (None, Proof.PROVEN, (), False),
        (None, Proof.NOT_PROVEN, (), True),
        (None, Proof.PROVEN, ("A test was skipped.",), True),
        (DeliveryMode.DRAFT, Proof.PROVEN, (), True),
        (DeliveryMode.READY, Proof.NOT_PROVEN, (), True),
        (DeliveryMode.READY, Proof.NONE, (), True),
        (DeliveryMode.READY, Proof.PROVEN, (), False),
        (DeliveryMode.READY, Proof.PROVEN, ("A test was skipped.",), True),
    ],
)
def test_what_is_in_doubt_is_a_draft(
    wish: DeliveryMode | None, proof: Proof, warnings: tuple[str, ...], *, draft: bool
) -> None:
    outcome = done(proof).replace(warnings=warnings)
    assert is_draft(outcome, RepositoryConfig(deliver=wish)) is draft


@pytest.mark.parametrize(
    ("evidence", "proof", "draft"),
    [
        ("required", Proof.NOT_PROVEN, True),
        ("required", Proof.SHOWN_BY_COMMAND, True),
        ("best-effort", Proof.NOT_PROVEN, False),
        ("best-effort", Proof.SHOWN_BY_COMMAND, False),
        ("best-effort", Proof.CONTRADICTED, True),
        ("off", Proof.NONE, True),
    ],
)
def test_by_best_effort_only_what_speaks_against_a_change_makes_a_draft(
    evidence: Literal["required", "best-effort", "off"], proof: Proof, *, draft: bool
) -> None:
    assert is_draft(done(proof), RepositoryConfig(evidence=evidence)) is draft


@pytest.mark.parametrize(
    ("evidence", "proof", "draft"),
    [
        ("required", Proof.NOT_PROVEN, True),
        ("best-effort", Proof.NOT_PROVEN, False),
        ("best-effort", Proof.CONTRADICTED, True),
        ("off", Proof.NONE, False),
        ("off", Proof.CONTRADICTED, True),
    ],
)
def test_l1_a_wish_for_ready_does_not_replace_the_proof(
    evidence: Literal["required", "best-effort", "off"], proof: Proof, *, draft: bool
) -> None:
    config = RepositoryConfig(deliver=DeliveryMode.READY, evidence=evidence)
    assert is_draft(done(proof), config) is draft


@pytest.mark.parametrize(
    ("role", "draft"), [(EvidenceRole.BEFORE, False), (EvidenceRole.AFTER, True)]
)
def test_by_best_effort_a_command_that_fails_with_the_change_makes_a_draft(
    role: EvidenceRole, *, draft: bool
) -> None:
    ran = Evidence(
        role=role, command="make", commit="c" * 40, exit_code=1, seconds=1, digest=""
    )
    outcome = done(Proof.NOT_PROVEN).replace(evidence=(ran,))
    assert is_draft(outcome, RepositoryConfig(evidence="best-effort")) is draft


def test_r8_what_must_not_become_a_branch_is_not_pushed() -> None:
    workflow = done().replace(kind=OutcomeKind.NEEDS_INPUT, as_patch=True)
    assert plan_effects(workflow, NEW) == (FinalMessage(),)
