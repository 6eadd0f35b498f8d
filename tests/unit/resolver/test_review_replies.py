"""What a reviewer is told in a thread where the agent has said nothing."""

from datetime import UTC, datetime

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    ReviewThread,
    ThreadKind,
    ThreadPost,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.core.types.work import Outcome, ReviewAnswer, ReviewVerdict
from patchwright.resolver.context.thread_sections import (
    order_review_threads,
    reopen_requesting_threads,
    requesting_threads,
)
from patchwright.resolver.messages.pull_request import (
    answer_requesting_threads,
    review_reply,
)
from tests.unit.resolver.endings import HANDLE, ended

ALICE = Actor(service="github", login="alice", external_id="1")
MOMENT = datetime(2030, 1, 1, tzinfo=UTC)
PULL = ForgeThread(
    repo=RepoRef(forge="github", full_name="acme/shop"),
    kind=ThreadKind.PULL_REQUEST,
    number=7,
)
MARK = "<!-- patchwright:review run=r1 thread=1 -->"


def replied(outcome: Outcome) -> str:
    """Return the reply to the first thread, which has asked."""
    (answer,) = answer_requesting_threads(outcome, [1]).reviews
    return review_reply(answer, run_id="r1", commit="", handle=HANDLE)


def test_our_own_words_are_not_said_to_be_the_agents() -> None:
    why = "Stopped by @alice."
    stopped = ended(OutcomeKind.STOPPED, why, service_text=why, by="alice")
    assert replied(stopped) == f"{why}\n\n{MARK}"


def test_the_agents_words_are_quoted_where_it_gave_no_answer_of_its_own() -> None:
    answered = ended(OutcomeKind.ANSWERED, "## Proven by @bob")
    quotation = "> **Proven by @ bob**"
    assert replied(answered) == f"The agent wrote:\n\n{quotation}\n\n{MARK}"


def test_an_objection_of_ours_stands_before_the_words_of_the_agent() -> None:
    objected = ended(
        OutcomeKind.NEEDS_INPUT,
        "It has a key.\n\nAll done.",
        service_text="It has a key.",
    )
    assert replied(objected) == (
        f"It has a key.\n\nThe agent wrote:\n\n> All done.\n\n{MARK}"
    )


def test_an_answer_of_the_agents_is_quoted_and_kept() -> None:
    said = ReviewAnswer(
        thread=1, verdict=ReviewVerdict.NOT_ADDRESSED, text="As wanted."
    )
    answered = ended(OutcomeKind.ANSWERED, "Else.", reviews=(said,))
    assert replied(answered) == (
        f"**Not addressed.**\n\nThe agent wrote:\n\n> As wanted.\n\n{MARK}"
    )


def test_a_resolved_thread_that_asks_is_open_again_and_answered_as_such() -> None:
    def thread(name: str, post_id: str) -> ReviewThread:
        post = ThreadPost(id=post_id, author=ALICE, at=MOMENT, text="x")
        return ReviewThread(
            id=name, path="cart.py", line=1, is_resolved=True, posts=(post,)
        )

    asked = Trigger(
        key="k",
        kind=TriggerKind.COMMENT_MENTION,
        actor=ALICE,
        thread=PULL,
        request="and this",
        post_id="review-comment:2",
    )
    shown = (thread("a", "review-comment:1"), thread("b", "review-comment:2"))
    opened = reopen_requesting_threads(shown, asked)
    assert [one.is_resolved for one in opened] == [True, False]
    # Those that are open come first, and are known by that number.
    assert [one.id for one in order_review_threads(opened)] == ["b", "a"]
    assert requesting_threads(opened, asked) == (1,)
