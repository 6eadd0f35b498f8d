"""Evidence names the commit that people find on the branch."""

from patchwright.core.types.evidence import Evidence, EvidenceRole
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.status import DeliveryResult
from patchwright.resolver.publish.publisher import as_delivered


def evidence(role: EvidenceRole, commit: str) -> Evidence:
    return Evidence(
        role=role, command="t", commit=commit, exit_code=0, seconds=1, digest="d"
    )


OUTCOME = Outcome(
    kind=OutcomeKind.RESOLVED,
    head_sha="ours",
    evidence=(
        evidence(EvidenceRole.BEFORE, "base"),
        evidence(EvidenceRole.AFTER, "ours"),
    ),
)


def test_the_commit_of_the_forge_stands_in_for_ours() -> None:
    shown = as_delivered(OUTCOME, DeliveryResult(head_sha="theirs"))
    assert [one.commit for one in shown.evidence] == ["base", "theirs"]
    assert shown.head_sha == "ours"


def test_what_git_has_pushed_keeps_its_name() -> None:
    assert as_delivered(OUTCOME, DeliveryResult(head_sha="ours")) == OUTCOME
    assert as_delivered(OUTCOME, DeliveryResult()) == OUTCOME
