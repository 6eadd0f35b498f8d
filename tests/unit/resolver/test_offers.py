"""Buttons offer what the words of a message say, and nothing else."""

import pytest

from patchwright.core.channel import Offer
from patchwright.core.commands import parse_command
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits, Outcome
from patchwright.resolver.messages.short_status import (
    offers_at_end,
    offers_while_running,
)
from patchwright.resolver.messages.status import DeliveryResult, MessageHeader, Progress
from tests.unit.resolver.endings import ended, proven

PULL = "https://github.com/acme/shop/pull/8"
NOTHING = DeliveryResult()
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
    delivered = DeliveryResult(pull_request=8, pull_request_url=PULL)
    offered = (Offer(words="Open pull request", url=PULL),)
    assert offers_at_end(proven(), delivered) == offered


def test_what_is_pressed_is_a_command_of_its_own() -> None:
    plan = ended(OutcomeKind.PLAN_POSTED, "x", reason="plan", waits=True)
    offered = [*offers_at_end(plan, NOTHING), *_while_running(2.0)]
    assert [(one.command, bool(one.asks)) for one in offered] == [
        ("approve", False),
        ("plan", True),
        ("stop", False),
        ("stop", False),
        ("budget", True),
    ]
    assert all(parse_command(f"{one.command} 2") for one in offered if one.asks)


@pytest.mark.parametrize(
    ("most_usd", "raised_usd", "example"),
    [
        (3.0, 0.0, "+2"),
        (2.0, 0.0, "+2"),
        (0.5, 0.0, "+0.5"),
        (3.0, 2.7, "+0.3"),
        (0.029, 0.0, "+0.02"),
        (None, 7.0, "+2"),
    ],
)
def test_the_form_for_the_budget_shows_an_amount_that_may_be_added(
    most_usd: float | None, raised_usd: float, example: str
) -> None:
    assert _while_running(most_usd, raised_usd)[1].asks == (
        f"US dollars to add, as {example}"
    )


@pytest.mark.parametrize(("most_usd", "raised_usd"), [(0.0, 0.0), (3.0, 3.0), (1, 9)])
def test_the_form_for_the_budget_says_who_may_add_more(
    most_usd: float, raised_usd: float
) -> None:
    asks = _while_running(most_usd, raised_usd)[1].asks
    assert asks == "US dollars to add (admins of the repository only)"


def _while_running(
    max_raise_usd: float | None, raised_usd: float = 0.0
) -> tuple[Offer, ...]:
    frame = MessageHeader(
        run_id="r",
        requester="alice",
        handle="@patchwright",
        model="m",
        limits=Limits(),
        max_raise_usd=max_raise_usd,
    )
    return offers_while_running(frame, Progress(more_cost_usd=raised_usd))


def test_a_row_has_no_more_buttons_than_slack_shows() -> None:
    many = "\n".join(f"{number}. Way" for number in range(1, 10))
    offered = offers_at_end(waiting("question", many), NOTHING)
    assert [one.words for one in offered] == ["1", "2", "3", "4", "Stop"]
