"""Buttons offer what the words of a message say, and nothing else."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.text.commands import parse_command
from patchwright.core.types.work import Outcome, OutcomeKind
from patchwright.resolver.messages.offers import WHILE_RUNNING, offers_at_end
from patchwright.resolver.messages.status import Delivered
from tests.unit.resolver.endings import ended, proven

PULL = "https://github.com/acme/shop/pull/8"
NOTHING = Delivered()
CHOICE = "Which one?\n\n1. Tabs\n2. Blanks\n"


def waiting(reason: str, summary: str = "Which?") -> Outcome:
    return ended(OutcomeKind.NEEDS_INPUT, summary, reason=reason, waits=True)


@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        (waiting("question"), ["Stop"]),
        (waiting("question", CHOICE), ["1", "2", "Stop"]),
        (waiting("confirmation"), ["Approve", "Reject", "Stop"]),
        (waiting("paused"), ["Resume", "Stop"]),
        (
            ended(OutcomeKind.PLAN_POSTED, "1. Look", reason="plan", waits=True),
            ["Approve plan", "Change", "Stop"],
        ),
        (ended(OutcomeKind.PLAN_POSTED, "1. Look"), ["Approve plan", "Change"]),
        (ended(OutcomeKind.OVER_BUDGET, "x"), ["Retry"]),
        (ended(OutcomeKind.OVER_LIMIT, "x"), ["Retry"]),
        (ended(OutcomeKind.TIMED_OUT, "x"), ["Retry"]),
        (ended(OutcomeKind.STUCK, "x"), ["Retry"]),
        (ended(OutcomeKind.STOPPED, "x"), ["Retry"]),
        (ended(OutcomeKind.FAILED, "x"), ["Retry"]),
        (ended(OutcomeKind.ANSWERED, "x"), []),
        (ended(OutcomeKind.NO_CHANGE, "x"), []),
        (ended(OutcomeKind.REFUSED, "x"), []),
        (proven(), []),
    ],
)
def test_each_end_offers_what_can_be_done_about_it(
    outcome: Outcome, words: list[str]
) -> None:
    assert [one.words for one in offers_at_end(outcome, NOTHING)] == words


def test_a_pull_request_is_opened_where_it_is() -> None:
    delivered = Delivered(pull_request=8, pull_request_url=PULL)
    offered = (Offer(words="Open pull request", url=PULL),)
    assert offers_at_end(proven(), delivered) == offered


def test_what_is_pressed_is_a_command_of_its_own() -> None:
    plan = ended(OutcomeKind.PLAN_POSTED, "x", reason="plan", waits=True)
    offered = [*offers_at_end(plan, NOTHING), *WHILE_RUNNING]
    assert [(one.command, bool(one.asks)) for one in offered] == [
        ("approve", False),
        ("plan", True),
        ("stop", False),
        ("stop", False),
        ("budget", True),
    ]
    assert all(parse_command(f"{one.command} 2") for one in offered if one.asks)


def test_a_row_has_no_more_buttons_than_slack_shows() -> None:
    many = "\n".join(f"{number}. Way" for number in range(1, 10))
    offered = offers_at_end(waiting("question", many), NOTHING)
    assert [one.words for one in offered] == ["1", "2", "3", "4", "Stop"]
