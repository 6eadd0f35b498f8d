"""A second model's doubt is told in words that do no harm; it decides nothing."""

import pytest

from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.second_opinion import (
    MAX_DOUBT_CHARS,
    NO_DOUBT,
    NOT_UNDERSTOOD,
    needs_second_opinion,
    read_opinion,
)

DOUBTS = "A second model that reviewed the change doubts it"


@pytest.mark.parametrize(
    ("kind", "proof", "head_sha", "needed"),
    [
        (OutcomeKind.RESOLVED, Proof.NOT_PROVEN, "a1", True),
        (OutcomeKind.RESOLVED, Proof.NONE, "a1", True),
        (OutcomeKind.RESOLVED, Proof.PROVEN, "a1", False),
        (OutcomeKind.ANSWERED, Proof.NONE, "", False),
        (OutcomeKind.STOPPED, Proof.NOT_PROVEN, "a1", False),
    ],
)
def test_a_judge_is_asked_about_finished_work_that_is_not_proven(
    kind: OutcomeKind, proof: Proof, head_sha: str, *, needed: bool
) -> None:
    outcome = Outcome(kind=kind, proof=proof, head_sha=head_sha)
    assert needs_second_opinion(outcome) is needed


@pytest.mark.parametrize(
    "text",
    [
        '{"doubtful": true, "doubt": "An empty cart fails."}',
        'So:\n```json\n{"doubtful": true, "doubt": "An empty\\ncart fails."}\n```',
        '{"thinking": {"a": 1}}\n{"doubtful": "yes", "doubt": "An empty cart fails."}',
        '{"doubtful": true, "doubt": "An empty\ncart fails.", "score": 3}',
        '{"verdict": {"doubtful": 1, "doubt": "An empty cart fails."}}',
        '{"doubtful": true, "doubt": "An empty <!-- x -->cart fails."}',
    ],
)
def test_a_doubt_is_read_whatever_stands_around_it(text: str) -> None:
    assert read_opinion(text) == f"{DOUBTS}: `An empty cart fails.`"


def test_no_doubt_is_told_as_no_proof() -> None:
    assert read_opinion('{"doubtful": false, "doubt": ""}') == NO_DOUBT
    assert "not a proof" in NO_DOUBT


@pytest.mark.parametrize(
    "text",
    ["", "LGTM!", "{", "{}", '{"doubtful": "perhaps"}', "[true]", '{"doubt": 1}'],
)
def test_what_cannot_be_understood_counts_as_a_doubt(text: str) -> None:
    assert read_opinion(text) == NOT_UNDERSTOOD


def test_a_doubt_without_words_is_still_one() -> None:
    assert read_opinion('{"doubtful": true}') == f"{DOUBTS}, and gave no reason."


def test_a_doubt_can_mark_nothing_and_call_nobody() -> None:
    said = read_opinion('{"doubtful": true, "doubt": "`@bob` [see](http://x) @eve"}')
    assert said == f"{DOUBTS}: `` `@bob` [see](http://x) @eve ``"
    long = read_opinion(f'{{"doubtful": true, "doubt": "{"x" * 9_000}"}}')
    assert len(long) < MAX_DOUBT_CHARS + 100
