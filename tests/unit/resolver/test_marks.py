"""Labels, checks and the one call: what is shown besides the status comment."""

import pytest

from patchwright.core.forge import CheckState
from patchwright.core.types.evidence import Proof, ProofReason
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.work import Outcome
from patchwright.resolver.messages.result import ping_mark, ping_text, wants_ping
from patchwright.resolver.messages.short_status import (
    check_at_end,
    check_at_start,
    conclusion_of,
    labels_at_end,
    labels_at_start,
)
from patchwright.resolver.messages.status import DeliveryResult, mark
from tests.fakes.clock import START
from tests.unit.resolver.endings import FRAME, contradicted, ended, judged, proven

ALICE = Actor(service="github", login="alice")
QUESTION = ended(OutcomeKind.NEEDS_INPUT, "Which?", reason="question", waits=True)


def test_the_label_that_asked_is_taken_off_to_be_put_on_again() -> None:
    swap = labels_at_start("bot")
    assert swap.add == ("bot:running",)
    assert swap.remove == ("bot", "bot:waiting", "bot:done", "bot:failed")


@pytest.mark.parametrize(
    ("outcome", "label"),
    [
        (proven(), ("bot:done",)),
        (ended(OutcomeKind.ANSWERED, "x"), ("bot:done",)),
        (QUESTION, ("bot:waiting",)),
        (ended(OutcomeKind.PLAN_POSTED, "x"), ("bot:waiting",)),
        (ended(OutcomeKind.STUCK, "x"), ("bot:failed",)),
        (ended(OutcomeKind.FAILED, "x"), ("bot:failed",)),
        (ended(OutcomeKind.STOPPED, "x"), ()),
    ],
)
def test_one_label_says_how_it_ended(outcome: Outcome, label: tuple[str, ...]) -> None:
    swap = labels_at_end("bot", outcome)
    assert swap.add == label
    assert "bot:running" in swap.remove
    assert "bot" not in swap.remove
    assert not set(swap.add) & set(swap.remove)


CONCLUSIONS = {
    OutcomeKind.RESOLVED: CheckState.SUCCESS,
    OutcomeKind.ANSWERED: CheckState.SUCCESS,
    OutcomeKind.NO_CHANGE: CheckState.NEUTRAL,
    OutcomeKind.NEEDS_INPUT: CheckState.ACTION_REQUIRED,
    OutcomeKind.PLAN_POSTED: CheckState.ACTION_REQUIRED,
    OutcomeKind.REFUSED: CheckState.NEUTRAL,
    OutcomeKind.OVER_BUDGET: CheckState.FAILURE,
    OutcomeKind.OVER_LIMIT: CheckState.FAILURE,
    OutcomeKind.TIMED_OUT: CheckState.FAILURE,
    OutcomeKind.STUCK: CheckState.FAILURE,
    OutcomeKind.STOPPED: CheckState.CANCELLED,
    OutcomeKind.FAILED: CheckState.FAILURE,
}


@pytest.mark.parametrize("kind", OutcomeKind)
def test_every_ending_has_its_place_in_the_list_of_checks(kind: OutcomeKind) -> None:
    assert conclusion_of(proven().replace(kind=kind)) is (CONCLUSIONS[kind])


def test_only_what_is_proven_is_green() -> None:
    unproven = judged(Proof.NOT_PROVEN, ProofReason.NO_COMMAND)
    by_command = judged(Proof.SHOWN_BY_COMMAND, ProofReason.COMMAND_TO_GREEN)
    assert conclusion_of(unproven) is CheckState.NEUTRAL
    assert conclusion_of(by_command) is CheckState.NEUTRAL
    assert conclusion_of(contradicted()) is CheckState.FAILURE
    assert conclusion_of(QUESTION) is CheckState.ACTION_REQUIRED


def test_a_check_links_the_run_and_says_what_the_comment_says() -> None:
    frame = FRAME.replace(run_url="https://bot.test/runs/7")
    begun = check_at_start(frame, START)
    delivered = DeliveryResult(branch="b", pull_request=12)
    ended_so = check_at_end(proven(), delivered, frame, START)
    assert begun.key == ended_so.key == frame.run_id
    assert begun.url == ended_so.url == "https://bot.test/runs/7"
    assert begun.state is CheckState.IN_PROGRESS
    assert ended_so.title == "Done, proven · #12"
    assert "The total ignored the pieces." in ended_so.summary
    failed = ended(OutcomeKind.FAILED, "x", reason="sandbox")
    title = check_at_end(failed, DeliveryResult(), frame, START).title
    assert title == "Failed (sandbox)"


def test_whoever_asked_is_called_when_the_comment_was_only_edited() -> None:
    assert wants_ping(proven(), ALICE, is_edit=True, since_asked_s=2)
    assert wants_ping(QUESTION, ALICE, is_edit=True, since_asked_s=2)
    slow = ended(OutcomeKind.ANSWERED, "42")
    assert wants_ping(slow, ALICE, is_edit=True, since_asked_s=31)


def test_nobody_is_called_twice_for_the_same_news() -> None:
    quick = ended(OutcomeKind.ANSWERED, "42")
    assert not wants_ping(quick, ALICE, is_edit=True, since_asked_s=29)
    assert not wants_ping(proven(), ALICE, is_edit=False, since_asked_s=90)


@pytest.mark.parametrize(
    "outcome",
    [
        ended(OutcomeKind.STOPPED, "x", reason="asked"),
        ended(OutcomeKind.NEEDS_INPUT, "x", reason="paused", waits=True),
    ],
)
def test_what_people_have_just_asked_for_calls_nobody(outcome: Outcome) -> None:
    assert not wants_ping(outcome, ALICE, is_edit=True, since_asked_s=90)


def test_s08_bots_are_never_called() -> None:
    bot = Actor(service="github", login="linter[bot]", is_bot=True)
    assert not wants_ping(proven(), bot, is_edit=True, since_asked_s=90)


def test_the_call_is_one_line() -> None:
    delivered = DeliveryResult(branch="b", pull_request=12, draft=True)
    frame = FRAME.replace(run_url="https://bot.test/runs/7")
    assert ping_text(proven(), delivered, "@alice", frame) == (
        "@alice **Done, proven** · #12 (draft) · [run](https://bot.test/runs/7)\n\n"
        f"<!-- patchwright:ping run={FRAME.run_id} resolved@7 -->"
    )


@pytest.mark.parametrize(
    ("outcome", "delivered", "words"),
    [
        (QUESTION, DeliveryResult(), "please answer the question in the comment above"),
        (
            ended(OutcomeKind.PLAN_POSTED, "plan"),
            DeliveryResult(),
            "please approve it or say what to change, in the comment above",
        ),
        (
            ended(OutcomeKind.NEEDS_INPUT, "protected-paths"),
            DeliveryResult(),
            "see above what is missing",
        ),
        (
            proven(),
            DeliveryResult(refusal="no"),
            "see above why",
        ),
        (ended(OutcomeKind.STUCK, "x"), DeliveryResult(), "see above"),
    ],
)
def test_the_call_says_where_to_look(
    outcome: Outcome, delivered: DeliveryResult, words: str
) -> None:
    assert f"· {words}" in ping_text(outcome, delivered, "@alice", FRAME)


def test_the_call_is_not_taken_for_the_status_comment() -> None:
    text = ping_text(proven(), DeliveryResult(), "@alice", FRAME)
    assert mark(FRAME.run_id) not in text
    assert ping_mark(proven(), FRAME.run_id) in text
