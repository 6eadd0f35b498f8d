"""The other threads of a conversation show where a run stands, in a few lines."""

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Usage
from patchwright.resolver.messages.short_status import (
    cross_post_progress,
    cross_post_result,
)
from patchwright.resolver.messages.status import DeliveryResult, Progress, mark
from tests.unit.resolver.endings import FRAME, ended, proven

AT = FRAME.replace(run_url="https://bot.example/runs/7")
FACTS = "7 steps · 2m 10s · $0.41 of $3.00 · [run](https://bot.example/runs/7)"
FOOTER = "<sub>run 7f3a9c1e</sub>"
PULL = DeliveryResult(
    branch="patchwright/7-sum",
    pull_request=12,
    pull_request_url="https://example.com/pull/12",
)
QUESTION = ended(OutcomeKind.NEEDS_INPUT, "Round up or down?", waits=True)


def state(name: str) -> str:
    return f"<!-- patchwright:state={name} run={FRAME.run_id} -->"


def test_k1_a_run_that_works() -> None:
    progress = Progress(
        state="running",
        doing="Reading what jane said",
        iterations=4,
        usage=Usage(cost_usd=0.41),
        seconds=130.4,
    )
    assert cross_post_progress(progress, AT) == (
        "**Working on it** · step 4 of 50 · 2m 10s · $0.41 of $3.00 · "
        "[live log](https://bot.example/runs/7) · reply `@patchwright stop` to stop"
        f"\n\n{FOOTER}\n\n{state('running')}"
    )


def test_k1_a_run_that_is_queued() -> None:
    assert cross_post_progress(Progress(), FRAME) == (
        "**Queued** · reply `@patchwright stop` to stop"
        f"\n\n{FOOTER}\n\n{state('queued')}"
    )


def test_k1_a_pull_request_is_linked_to() -> None:
    draft = PULL.replace(draft=True)
    assert cross_post_result(proven(), draft, AT, shows_words=False) == (
        f"**Done, proven** · [pull request #12](https://example.com/pull/12) "
        f"(draft) · {FACTS}\n\n{FOOTER}\n\n{state('resolved')}"
    )


def test_k1_a_question_can_be_answered_here() -> None:
    assert cross_post_result(QUESTION, DeliveryResult(), AT, shows_words=True) == (
        f"**Needs you** · {FACTS}\n\nThe agent wrote:\n\n> Round up or down?\n\n"
        "Reply here with your answer. The run waits for it and costs nothing.\n\n"
        f"{FOOTER}\n\n"
        f"{state('waiting')}"
    )


def test_c7_a_question_stays_where_it_may_be_read() -> None:
    assert cross_post_result(QUESTION, DeliveryResult(), AT, shows_words=False) == (
        f"**Needs you** · {FACTS}\n\nThe run waits for an answer. The question is not "
        "shown here, because this thread is public. Answer it in the thread of the "
        f"request.\n\n{FOOTER}\n\n{state('waiting')}"
    )


def test_c7_a_mirror_names_nobody_and_tells_nothing_of_the_work() -> None:
    outcome = proven("Jane's cart was empty.")
    text = cross_post_result(outcome, PULL, FRAME, shows_words=False)
    assert "alice" not in text
    assert "cart" not in text


def test_a_result_that_was_not_delivered_links_to_nothing() -> None:
    refused = PULL.replace(refusal="no", pull_request=None)
    text = cross_post_result(proven(), refused, FRAME, shows_words=True)
    assert text.startswith("**Done, proven** · not delivered · 7 steps")


def test_a_mirror_is_found_again_by_its_run() -> None:
    assert mark(FRAME.run_id) in cross_post_progress(Progress(), FRAME)
    ending = cross_post_result(proven(), PULL, FRAME, shows_words=False)
    assert ending.endswith(mark(FRAME.run_id))
