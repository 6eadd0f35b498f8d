"""What of a process counts as working, and since when it does not."""

from datetime import timedelta

import pytest

from patchwright.workers.ops.health import (
    START_UP,
    AnswerCheck,
    HealthCheck,
    HealthPart,
    LoopActivity,
    LoopCheck,
    StuckCheck,
    failing_parts,
    parts_as_json,
    run_health_checks,
)
from tests.fakes.clock import START, FakeClock

WITHIN_S = 60.0


@pytest.fixture
def clock() -> FakeClock:
    return FakeClock()


def moving(pulse: LoopActivity, *, is_busy: bool = False) -> LoopCheck:
    return LoopCheck("loop", pulse, lambda: WITHIN_S, "stands still", lambda: is_busy)


def test_what_does_not_answer_is_red_since_it_was_first_asked_in_vain(
    clock: FakeClock,
) -> None:
    answers = [True, False, False, True]
    check = AnswerCheck("database", lambda: answers.pop(0), "away")
    seen = []
    for _ in range(4):
        seen.append(check(clock.now()).since)
        clock.advance(10)
    first = START + timedelta(seconds=10)
    assert seen == [None, first, first, None]


def test_a_loop_that_stands_still_is_red_since_it_last_moved(clock: FakeClock) -> None:
    pulse = LoopActivity(clock)
    clock.advance(5)
    pulse.touch()
    clock.advance(WITHIN_S)
    assert moving(pulse)(clock.now()).since is None
    clock.advance(0.1)
    assert moving(pulse)(clock.now()) == HealthPart(
        "loop", START + timedelta(seconds=5), "stands still"
    )
    pulse.touch()
    assert moving(pulse)(clock.now()).since is None


def test_a_loop_that_has_never_moved_is_red_since_its_start(clock: FakeClock) -> None:
    pulse = LoopActivity(clock)
    clock.advance(START_UP.total_seconds() + WITHIN_S)
    assert moving(pulse)(clock.now()).since == START


def test_who_has_both_hands_full_does_not_stand_still(clock: FakeClock) -> None:
    pulse = LoopActivity(clock)
    clock.advance(10 * WITHIN_S)
    assert moving(pulse, is_busy=True)(clock.now()).since is None
    assert moving(pulse)(clock.now()).since is None, "it has just become free"


def _fine(_now: object) -> HealthPart:
    return HealthPart("broker")


def _away(_now: object) -> HealthPart:
    return HealthPart("broker", START, "away")


@pytest.mark.parametrize(("needed", "is_stuck"), [(_fine, True), (_away, False)])
def test_a_loop_is_stuck_where_nothing_that_it_needs_is_away(
    clock: FakeClock, needed: HealthCheck, *, is_stuck: bool
) -> None:
    check = StuckCheck(moving(LoopActivity(clock)), (needed,))
    assert check(clock.now()).since is None
    clock.advance(10 * WITHIN_S)
    assert (check(clock.now()).since is not None) is is_stuck


def test_parts_are_told_by_name(clock: FakeClock) -> None:
    parts = run_health_checks((_away, lambda _: HealthPart("database")), clock.now())
    assert failing_parts(parts) == ("broker",)
    assert parts_as_json(parts) == {
        "broker": {"ok": False, "since": "2030-01-01T12:00:00Z", "why": "away"},
        "database": {"ok": True},
    }
