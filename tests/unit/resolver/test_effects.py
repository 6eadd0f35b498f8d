"""What is made visible for each ending."""

import pytest

from patchwright.core.types.work import Outcome, OutcomeKind, Proof
from patchwright.resolver.effects import (
    FinalMessage,
    OpenPullRequest,
    PushBranch,
    UpdatePullRequest,
    plan_effects,
)
from patchwright.resolver.target import Target

NEW = Target(start_ref="refs/heads/trunk", base_branch="trunk", branch="patchwright/7")
OURS = NEW.model_copy(
    update={
        "moves_branch": True,
        "pull_request": 8,
        "own_pull_request": True,
        "opens_pull_request": False,
    }
)
THEIRS = OURS.model_copy(update={"own_pull_request": False})


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
        FinalMessage(),
    )


def test_an_unproven_change_becomes_a_draft() -> None:
    effects = plan_effects(done(Proof.NOT_PROVEN), NEW)
    assert (
        OpenPullRequest(branch="patchwright/7", base_branch="trunk", draft=True)
        in effects
    )


def test_s35_our_open_pull_request_is_updated_and_has_no_twin() -> None:
    assert plan_effects(done(), OURS) == (
        PushBranch(branch="patchwright/7", sha="head", expect="base"),
        UpdatePullRequest(number=8, draft=False),
        FinalMessage(),
    )


def test_a_persons_pull_request_gets_commits_and_keeps_its_words() -> None:
    assert plan_effects(done(), THEIRS) == (
        PushBranch(branch="patchwright/7", sha="head", expect="base"),
        FinalMessage(),
    )


def test_s65_work_of_a_stuck_run_is_kept_on_a_branch() -> None:
    stuck = done().model_copy(update={"kind": OutcomeKind.STUCK})
    assert plan_effects(stuck, NEW) == (
        PushBranch(branch="patchwright/7", sha="head"),
        FinalMessage(),
    )


def test_s31_nothing_changed_means_no_branch() -> None:
    unchanged = Outcome(kind=OutcomeKind.NO_CHANGE)
    assert plan_effects(unchanged, NEW) == (FinalMessage(),)
