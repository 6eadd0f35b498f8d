"""A worker that stood still past its lease writes nothing over its successor's words.

While a request of the first worker is held up, its lease runs out and a second one does
the whole job. Then the first one goes on.
"""

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from patchwright.core.settings.model import secret_values
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import JobId
from patchwright.core.types.errors import LeaseLostError
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.work import Outcome
from patchwright.integrations.settings import load_settings
from patchwright.resolver.job import is_over
from patchwright.resolver.publish.effects import Effect, FinalMessage, SwapLabels
from patchwright.workers.compose import make_worker, open_service_parts
from patchwright.workers.jobs.guarded_services import with_lease_checks
from patchwright.workers.jobs.lease import LeaseGuard
from patchwright.workers.jobs.worker import JobWorker
from patchwright.workers.store.effects import EffectState
from tests.fakes.github.faults import Moment
from tests.fakes.llm.turns import TurnLike, call
from tests.flow.script import Request
from tests.flow.story import Story, telling

WISH = "@patchwright please fix the sum"
COMMENTS = r"/issues/(\d+/)?comments"
LEASE_S = 30.0
# Who asked so long ago does not look at the thread any more, and is called.
NOT_LOOKING_S = 60.0


def look(_request: Request) -> TurnLike:
    return call("finish", summary="The sum is right.")


@dataclass(frozen=True)
class Scene:
    """A story with a second worker, which has connections of its own."""

    story: Story
    second: JobWorker

    def take_over(self) -> None:
        """Let the lease run out, and the second worker do the whole job."""
        [job] = self.story.jobs()
        self.story.clock.advance(2 * LEASE_S)
        self.second.run(job.id)


@pytest.fixture
def scene(tmp_path: Path) -> Iterator[Scene]:
    with telling(tmp_path, look) as story:
        settings = load_settings(story.environment, flags={}, cwd=tmp_path)
        redactor = Redactor(secret_values(settings))
        with open_service_parts(
            settings, redactor, lambda _job: None, story.clock
        ) as opened:
            yield Scene(story, make_worker(replace(opened, clock=story.clock)))


def test_h3_what_a_frozen_worker_writes_over_the_final_message_is_repaired(
    scene: Scene,
) -> None:
    story = scene.story
    number = story.ask(WISH)
    story.github.interrupt_next(
        "PATCH",
        COMMENTS,
        scene.take_over,
        moment=Moment.BEFORE,
        body_regex="state=running",
    )
    story.work()
    story.clock.advance(2 * LEASE_S)
    story.runner.sweep()
    assert "**No change**" in story.reply(number)
    assert len(story.pings(number)) == 1


def test_m12_a_worker_frozen_between_look_up_and_call_calls_nobody_again(
    scene: Scene,
) -> None:
    story = scene.story
    number = story.ask(WISH)
    story.clock.advance(NOT_LOOKING_S)

    def look_up_is_answered() -> None:
        # The next look into the thread is the one before the call.
        story.github.interrupt_next(
            "GET", COMMENTS, scene.take_over, moment=Moment.AFTER
        )

    story.github.interrupt_next(
        "PATCH",
        COMMENTS,
        look_up_is_answered,
        moment=Moment.AFTER,
        body_regex="state=no-change",
    )
    story.work()
    assert len(story.pings(number)) == 1
    assert "**No change**" in story.reply(number)


@pytest.mark.parametrize("moment", list(Moment))
def test_m12_a_call_that_is_made_after_all_is_taken_back(
    scene: Scene, moment: Moment
) -> None:
    story = scene.story
    number = story.ask(WISH)
    story.clock.advance(NOT_LOOKING_S)
    story.github.interrupt_next(
        "POST",
        COMMENTS,
        scene.take_over,
        moment=moment,
        body_regex="patchwright:ping",
    )
    story.work()
    assert len(story.pings(number)) == 1
    assert "**No change**" in story.reply(number)


@pytest.mark.parametrize("moment", list(Moment))
def test_m12_a_second_status_comment_is_taken_back(
    scene: Scene, moment: Moment
) -> None:
    story = scene.story
    number = story.ask(WISH)
    story.github.interrupt_next(
        "POST",
        COMMENTS,
        scene.take_over,
        moment=moment,
        body_regex="state=running",
    )
    story.work()
    assert "**No change**" in story.reply(number)
    assert len(story.pings(number)) == 1


def test_h3_a_worker_whose_lease_ran_out_changes_nothing(scene: Scene) -> None:
    story = scene.story
    number = story.ask(WISH)
    [job] = story.jobs()
    stores, clock = story.base.stores, story.clock
    asked_at = clock.monotonic()
    lease = stores.leases.claim(job.id, "frozen", LEASE_S)
    assert lease is not None
    guard = LeaseGuard(
        stores.leases, stores.jobs, lease, clock, LEASE_S, asked_at=asked_at
    )
    channel = with_lease_checks(story.runner._services, guard).channel
    thread = job.trigger.thread
    post = channel.post(thread, "Working on it")
    scene.take_over()
    said = story.replies(number)
    for write in (
        lambda: channel.post(thread, "late"),
        lambda: channel.edit(thread, post, "late"),
        lambda: channel.swap_labels(thread, ("late",), ()),
        lambda: channel.acknowledge(job.trigger),
    ):
        with pytest.raises(LeaseLostError):
            write()
    assert story.replies(number) == said


def test_h3_a_lease_that_ran_out_while_nobody_wanted_the_job_is_taken_again(
    tmp_path: Path,
) -> None:
    def idle(request: Request) -> TurnLike:
        story.clock.advance(2 * LEASE_S)
        return look(request)

    with telling(tmp_path, idle) as story:
        number = story.ask(WISH)
        story.work()
        assert "**No change**" in story.reply(number)
        assert len(story.pings(number)) == 1


def test_m13_a_clock_that_steps_ahead_starts_no_second_run_of_a_job(
    tmp_path: Path,
) -> None:
    def step(request: Request) -> TurnLike:
        [job] = story.jobs()
        story.clock.advance(2 * LEASE_S)
        story.runner.run(job.id)
        return look(request)

    with telling(tmp_path, step) as story:
        number = story.ask(WISH)
        story.work()
        assert "**No change**" in story.reply(number)
        assert len(story.provider.requests) == 1


def _stored(story: Story, *planned: Effect) -> JobId:
    """Let a worker keep an outcome with a plan that nobody can read, and be lost."""
    stores = story.base.stores
    [job] = story.jobs()
    lease = stores.leases.claim(job.id, "lost", LEASE_S)
    assert lease is not None
    outcome = Outcome(kind=OutcomeKind.NO_CHANGE, summary="The sum is right.")
    now, plan = story.clock.now(), {"plan": b'{"of": "another version"}'}
    stores.outcomes.store(
        lease, outcome, planned, read_up_to=0, now=now, artifacts=plan
    )
    story.clock.advance(2 * LEASE_S)
    return job.id


def test_a_plan_that_cannot_be_read_does_not_keep_a_run_from_its_end(
    scene: Scene,
) -> None:
    story = scene.story
    number = story.ask(WISH)
    job_id = _stored(story, FinalMessage())
    story.work()
    assert "The sum is right." in story.reply(number)
    job = story.base.stores.jobs.load(job_id)
    assert job is not None
    assert is_over(job)


def test_an_effect_over_which_workers_are_lost_is_given_up_and_the_thread_told(
    scene: Scene,
) -> None:
    story = scene.story
    number = story.ask(WISH)
    job_id = _stored(story, SwapLabels(), FinalMessage())
    for _ in range(3):
        assert story.base.stores.leases.claim(job_id, "lost", LEASE_S) is not None
        story.clock.advance(2 * LEASE_S)
    story.work()
    assert "The sum is right." in story.reply(number)
    labels, _told = story.base.stores.effects.of_job(job_id)
    assert labels.state is EffectState.ABANDONED
