"""What the evidence amounts to."""

import pytest

from patchwright.core.types.work import Evidence, EvidenceRole, Proof
from patchwright.resolver.messages.facts import proof_sentence
from patchwright.resolver.prove import judge

NAMED = "**Not proven**: "


def evidence(
    before: tuple[int | None, ...], after: tuple[int | None, ...]
) -> tuple[Evidence, ...]:
    def ran(role: EvidenceRole, code: int | None) -> Evidence:
        return Evidence(
            role=role, command="t", commit="c", exit_code=code, seconds=1, digest="d"
        )

    return (
        *(ran(EvidenceRole.BEFORE, code) for code in before),
        *(ran(EvidenceRole.AFTER, code) for code in after),
    )


@pytest.mark.parametrize(
    ("before", "after"), [((1,), (0,)), ((2, 1), (0, 0)), ((-9,), (0,)), ((137,), (0,))]
)
def test_red_on_base_and_green_on_head_is_proven(
    before: tuple[int | None, ...], after: tuple[int | None, ...]
) -> None:
    ran = evidence(before, after)
    assert judge(ran) is Proof.PROVEN
    assert proof_sentence(judge(ran), ran).startswith("**Proven**: ")


NOT_SHOWN = "the test could not be run without the change."
SHOWS_NOTHING = "the test passes without the change too, so it does not show the fault."
STILL_RED = "the test does not pass with the change."


@pytest.mark.parametrize(
    ("before", "after", "doubt"),
    [
        ((), (), "no test command was named, so nothing was run."),
        ((0,), (0,), SHOWS_NOTHING),
        ((1, 0), (0, 0), SHOWS_NOTHING),
        ((1,), (1,), STILL_RED),
        ((1, 1), (0, 1), STILL_RED),
        ((1,), (None,), STILL_RED),
        ((None,), (0,), NOT_SHOWN),
        ((126,), (0,), NOT_SHOWN),
        ((127,), (0,), NOT_SHOWN),
        ((1, 127), (0, 0), NOT_SHOWN),
        ((), (0,), NOT_SHOWN),
    ],
)
def test_anything_else_is_not_proven_and_says_why(
    before: tuple[int | None, ...], after: tuple[int | None, ...], doubt: str
) -> None:
    ran = evidence(before, after)
    assert judge(ran) is Proof.NOT_PROVEN
    assert proof_sentence(judge(ran), ran) == f"{NAMED}{doubt}"
