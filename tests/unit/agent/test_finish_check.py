"""A finish counts, or the agent hears what its change lacks, or how its proof fails."""

from dataclasses import replace
from pathlib import Path

import pytest

from patchwright.core.agent.controller import Controller
from patchwright.core.agent.endings import AgentEnding
from patchwright.core.agent.results import LEFT_OUT, PROOF_SHORT, FinishTry, HeldBack
from patchwright.core.events.observations import ErrorObservation
from patchwright.core.llm.errors import ModelError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Limits
from tests.fakes.scripted_model import Step, reply
from tests.unit.agent.scene import FINISH, Scene, playing

ECHO = reply(calls=[("shell", {"command": "echo hello"})])


class Reviews:
    """Answers each finish in turn, and keeps what it was asked."""

    def __init__(self, *answers: str) -> None:
        self.tries: list[FinishTry] = []
        self._answers = list(answers)

    def __call__(self, attempt: FinishTry) -> HeldBack | None:
        self.tries.append(attempt)
        reason = self._answers.pop(0) if self._answers else ""
        return HeldBack(reason, f"No: {reason}.") if reason else None


def run(scene: Scene, reviews: Reviews) -> AgentEnding:
    dependencies = replace(scene.dependencies, review_finish=reviews)
    return Controller(scene.run_log, dependencies).run()


def told(scene: Scene) -> list[str]:
    errors = [event.payload for event in scene.payloads("error")]
    return [one.reason for one in errors if isinstance(one, ErrorObservation)]


def test_the_review_knows_what_the_agent_was_told_before(tmp_path: Path) -> None:
    reviews = Reviews(LEFT_OUT, PROOF_SHORT, PROOF_SHORT, "")
    steps = [FINISH, FINISH, ECHO, FINISH, ECHO, FINISH]
    with playing(tmp_path, steps) as scene:
        ending = run(scene, reviews)
        assert told(scene) == [LEFT_OUT, PROOF_SHORT, PROOF_SHORT]
        assert "No: proof-short." in str(scene.asked()[2][-1])
    assert ending.kind is OutcomeKind.RESOLVED
    known = [(one.was_told_lacks, one.rounds) for one in reviews.tries]
    assert known == [(False, 0), (True, 0), (True, 1), (True, 2)]
    assert not any(one.is_last for one in reviews.tries)


def test_the_next_worker_knows_it_too(tmp_path: Path) -> None:
    first, then = Reviews(PROOF_SHORT), Reviews()
    with playing(tmp_path, [FINISH, ModelError("lost"), FINISH]) as scene:
        run(scene, first)
        again = scene.next_worker(review_finish=then)
        assert again.run().kind is OutcomeKind.RESOLVED
    assert [one.rounds for one in then.tries] == [1]


def test_at_a_limit_the_finish_counts_whatever_the_review_says(tmp_path: Path) -> None:
    reviews = Reviews(PROOF_SHORT)
    with playing(tmp_path, [FINISH], limits=Limits(max_iterations=1)) as scene:
        assert run(scene, reviews).kind is OutcomeKind.RESOLVED
        assert told(scene) == []
    assert [one.is_last for one in reviews.tries] == [True]


def test_the_time_of_a_review_counts_too(tmp_path: Path) -> None:
    class Slow(Reviews):
        def __call__(self, attempt: FinishTry) -> HeldBack | None:
            scene.clock.advance(31 * 60)
            return super().__call__(attempt)

    reviews = Slow(PROOF_SHORT)
    with playing(tmp_path, [FINISH], limits=Limits(max_minutes=30)) as scene:
        assert run(scene, reviews).kind is OutcomeKind.RESOLVED
        assert told(scene) == []
    assert [one.is_last for one in reviews.tries] == [False]


@pytest.mark.parametrize(
    ("reason", "then", "kind"),
    [
        (PROOF_SHORT, ECHO, OutcomeKind.RESOLVED),
        (LEFT_OUT, ECHO, OutcomeKind.OVER_LIMIT),
        (LEFT_OUT, reply(calls=[("think", {"thought": "?"})]), OutcomeKind.RESOLVED),
    ],
)
def test_a_run_that_ends_before_the_next_finish(
    reason: str, then: Step, kind: OutcomeKind, tmp_path: Path
) -> None:
    limits = Limits(max_iterations=2)
    with playing(tmp_path, [FINISH, then], limits=limits) as scene:
        ending = run(scene, Reviews(reason))
    assert ending.kind is kind
    assert (ending.finish is None) is (kind is OutcomeKind.OVER_LIMIT)


def test_an_agent_that_runs_in_circles_after_it_has_finished_has_finished(
    tmp_path: Path,
) -> None:
    with playing(tmp_path, [FINISH, *[ECHO] * 8]) as scene:
        ending = run(scene, Reviews(PROOF_SHORT))
        assert scene.payloads("loop_detected")
    assert (ending.kind, ending.text) == (OutcomeKind.RESOLVED, "Done.")


def test_a_proof_that_falls_short_is_no_loop(tmp_path: Path) -> None:
    with playing(tmp_path, [FINISH] * 5) as scene:
        ending = run(scene, Reviews(*[PROOF_SHORT] * 4))
        assert scene.payloads("loop_detected") == []
    assert ending.kind is OutcomeKind.RESOLVED
