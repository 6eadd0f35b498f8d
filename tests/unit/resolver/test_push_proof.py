"""After somebody's push: which words, and when people must hear of it."""

import pytest

from patchwright.core.types.evidence import Evidence, EvidenceRole, Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.body_parts import BodyState
from patchwright.resolver.proof.evidence import earlier_commands
from patchwright.resolver.push_proof import is_worth_saying, stale_text

SAID = BodyState(head_sha="a" * 40, level=Proof.PROVEN, is_draft=False)


@pytest.mark.parametrize(
    ("before", "now", "is_told"),
    [
        (Proof.PROVEN, Proof.PROVEN, False),
        (Proof.PROVEN, Proof.SHOWN_BY_COMMAND, False),
        (Proof.PROVEN, Proof.NOT_PROVEN, True),
        (Proof.PROVEN, Proof.CONTRADICTED, True),
        (Proof.SHOWN_BY_COMMAND, Proof.NOT_PROVEN, True),
        (Proof.NOT_PROVEN, Proof.NOT_PROVEN, False),
        (Proof.NOT_PROVEN, Proof.CONTRADICTED, True),
        (Proof.NOT_PROVEN, Proof.PROVEN, False),
        (Proof.CONTRADICTED, Proof.CONTRADICTED, False),
        (Proof.CONTRADICTED, Proof.NOT_PROVEN, False),
        (Proof.CONTRADICTED, Proof.PROVEN, False),
    ],
)
def test_people_hear_of_what_a_push_has_broken(
    before: Proof, now: Proof, *, is_told: bool
) -> None:
    assert is_worth_saying(before, now) is is_told


def test_old_evidence_is_said_to_be_old() -> None:
    assert stale_text(SAID, "b" * 40) == (
        "> [!WARNING]\n> The evidence below is of `aaaaaaaaaa`, not of the current "
        "head `bbbbbbbbbb`; it is being run again."
    )
    assert stale_text(SAID, "b" * 40, "it is off").endswith(
        "; it is not run again: it is off."
    )


def ran(proof: Proof, *commands: str) -> Outcome:
    evidence = tuple(
        Evidence(
            role=role, command=one, commit="c", exit_code=0, seconds=0.1, digest="d"
        )
        for role in (EvidenceRole.BEFORE, EvidenceRole.AFTER)
        for one in commands
    )
    return Outcome(kind=OutcomeKind.RESOLVED, proof=proof, evidence=evidence)


def test_the_newest_proof_is_run_again() -> None:
    outcomes = (
        ran(Proof.PROVEN, "pytest -k old"),
        ran(Proof.PROVEN, "pytest -k a", "pytest -k b"),
        ran(Proof.NOT_PROVEN, "make lint"),
        ran(Proof.NONE),
    )
    assert earlier_commands(outcomes) == ("pytest -k a", "pytest -k b")


def test_where_nothing_was_shown_the_last_try_is_repeated() -> None:
    outcomes = (ran(Proof.CONTRADICTED, "one"), ran(Proof.NOT_PROVEN, "two"))
    assert earlier_commands(outcomes) == ("two",)
    assert earlier_commands((ran(Proof.NONE),)) == ()
