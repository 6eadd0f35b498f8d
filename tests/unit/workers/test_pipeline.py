"""The steps of a run: their order, and what becomes of one that ends it."""

from collections.abc import Iterator
from concurrent.futures import Future
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Final, cast

import pytest

from patchwright.core.events.jsonl import JsonlEventLog
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import ConversationId, JobId
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.resolver.job import Job, JobState
from patchwright.resolver.run import End, Run, Step, follow, skipped_on_resume
from patchwright.resolver.run_plan import AttemptResult, MovedResult, RunPlan
from patchwright.resolver.run_store import RunStore
from patchwright.resolver.services import StepServices
from patchwright.resolver.steps import STEPS, run_job
from patchwright.resolver.work import WORK_STEPS
from tests.unit.resolver.runs import FRAME, TRIGGER

# The steps of these tests need neither.
NO_SERVICES: Final = cast("StepServices", None)
NO_STORE: Final = cast("RunStore", None)
ONCE: Final = (
    "stop_if_cancelled",
    "answer_anyone",
    "acknowledge_in_chat",
    "start_thread",
    "find_requester",
    "find_repository",
    "read_configuration",
    "require_sign_in",
    "answer_if_known",
    "stop_if_closed",
    "stop_if_answered_before_move",
    "skip_round_if_not_due",
    "link_conversation",
    "check_visibility",
    "move_to_other_conversation",
    "require_disk_space",
    "acknowledge",
    "move_tickets",
    "read_conversation",
    "ask_back",
    "stop_if_competing",
    "prepare_task",
    "show_check",
    "read_follow_ups",
    "keep_plan",
)


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Run]:
    now = datetime(2026, 1, 31, 14, 2, tzinfo=UTC)
    job = Job(
        id=JobId("0f9e"),
        conversation_id=ConversationId("c"),
        state=JobState.RUNNING,
        trigger=TRIGGER,
        created_at=now,
        attempts=1,
        outcome=None,
    )
    path = tmp_path / "events.jsonl"
    with JsonlEventLog(path, lambda value: value, SystemClock()) as log:
        yield Run(job, 1, NO_STORE, log, Future(), RunPlan(frame=FRAME))


def ends_with(end: End) -> Step:
    return lambda _services, _run: end


def breaks_with(error: Exception) -> Step:
    def step(_services: StepServices, _run: Run) -> Run | End:
        raise error

    return step


def finds(key: str) -> Step:
    """Return a step that finds something out: it adds to what is known already."""

    def step(_services: StepServices, run: Run) -> Run | End:
        return run.with_trigger(run.trigger.replace(key=run.trigger.key + key))

    return step


def test_t9_the_steps_come_in_this_order() -> None:
    assert [step.__name__ for step in (*STEPS, *WORK_STEPS)] == [
        "mark_start",
        "give_up_if_lost",
        "move_tickets_after_merge",
        *ONCE[:7],
        "prove_after_push",
        "admit",
        *ONCE[7:18],
        "show_status",
        "show_cross_posts",
        "work",
        *ONCE[18:],
        "resolve_task",
    ]


def test_t9_a_run_that_was_planned_takes_these_steps_again() -> None:
    steps = (*STEPS, *WORK_STEPS)
    once = [step.__name__ for step in steps if hasattr(step, "__wrapped__")]
    assert once == list(ONCE)


@pytest.mark.parametrize("place", range(len(STEPS)))
def test_t9_whichever_step_ends_the_run_is_the_last(run: Run, place: int) -> None:
    moved = MovedResult(JobId("other"))
    never = breaks_with(AssertionError("a step after the end"))
    before = [finds("+")] * place
    after = [never] * (len(STEPS) - place - 1)
    assert run_job(NO_SERVICES, run, (*before, ends_with(moved), *after)) == moved


def test_t9_each_step_knows_what_those_before_it_have_found(run: Run) -> None:
    found = follow(NO_SERVICES, run, (finds("1"), finds("2"), finds("3")))
    assert isinstance(found, Run)
    assert found.trigger.key == "k123"


def test_t9_a_step_that_breaks_ends_the_run_with_what_was_known(run: Run) -> None:
    def plan(_services: StepServices, run: Run) -> Run | End:
        return replace(run, plan=run.plan.replace(status_post="7"))

    broken = run_job(NO_SERVICES, run, (plan, breaks_with(ValueError("no"))))
    assert isinstance(broken, AttemptResult)
    assert (broken.outcome.kind, broken.outcome.reason, broken.plan.status_post) == (
        OutcomeKind.FAILED,
        "internal",
        "7",
    )


def test_t9_a_lost_lease_is_no_end_of_the_run(run: Run) -> None:
    with pytest.raises(LeaseLostError):
        run_job(NO_SERVICES, run, (breaks_with(LeaseLostError("gone")),))


def test_t9_the_last_step_must_end_the_run(run: Run) -> None:
    with pytest.raises(ValueError, match="the last step ends every run"):
        run_job(NO_SERVICES, run, (finds("1"),))


@pytest.mark.parametrize("has_begun", [False, True])
def test_t9_what_was_planned_is_not_planned_again(run: Run, *, has_begun: bool) -> None:
    stopped = Outcome(kind=OutcomeKind.STOPPED, reason="asked")
    step = skipped_on_resume(ends_with(AttemptResult(stopped, run.plan, 0)))
    taken = replace(run, has_begun=has_begun)
    assert isinstance(step(NO_SERVICES, taken), Run) is has_begun
