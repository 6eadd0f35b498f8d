"""What changes around our work: threads close, branches move, access is taken away."""

from datetime import datetime, timedelta
from typing import Any

import pytest
from pydantic import SecretStr

from patchwright.core.events.actions import ChangeState
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.system.crypto import KeyRing
from patchwright.core.types.base import JobId
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.triggers import (
    BaseMoved,
    InstallationChanged,
    RepositoryMoved,
    StatusReported,
    ThreadClosed,
    Trigger,
    TriggerKind,
)
from patchwright.core.types.work import Outcome
from patchwright.core.webhook import DeliveryVerdict
from patchwright.resolver.job import JobState
from patchwright.resolver.rounds import PENDING
from patchwright.workers.db.tables import conversations, deliveries
from patchwright.workers.inbox.lifecycle_events import CLOSED
from patchwright.workers.store.secrets import SecretStore
from tests.adapters.store.world import ISSUE, REPO, World, trigger

PULL = ForgeThread(repo=REPO, kind=ThreadKind.PULL_REQUEST, number=8)
NOBODY = Actor(service="github", login="")
MOVED = BaseMoved(repo=REPO, branch="main", sha="b" * 40, installation="5")
STOPPED = ChangeState(state=AgentState.STOPPED, reason=CLOSED)


def install(world: World, key: str, number: int, installation: str = "5") -> JobId:
    """Start a job for a request that came through an installation."""
    thread = ISSUE.replace(number=number)
    asked = trigger(key).replace(thread=thread, installation=installation)
    job_id = world.deliver(asked).job_id
    assert job_id is not None
    return job_id


def checks(key: str = "checks-1", thread: ForgeThread = PULL) -> Trigger:
    return Trigger(
        key=key,
        kind=TriggerKind.CHECKS,
        actor=NOBODY,
        thread=thread,
        request="",
        head_sha="a" * 40,
    )


def finish(world: World, job_id: JobId) -> None:
    world.outcomes.finish(world.claim(job_id), JobState.DONE, world.clock.now())
    world.clock.advance(1)


def with_pull(world: World, base: str = "main") -> JobId:
    """Let a run end that has opened a pull request."""
    job_id = world.ask()
    finish(world, job_id)
    now = world.clock.now()
    assert world.threads.link(world.conversation(job_id), PULL, now, base)
    return job_id


def test_failed_checks_of_our_pull_request_start_a_job_for_who_asked(
    world: World,
) -> None:
    first = with_pull(world)
    stored = world.deliver(checks())
    assert stored.verdict is DeliveryVerdict.ACCEPTED
    assert stored.job_id is not None
    job = world.job(stored.job_id)
    assert (job.trigger.kind, job.trigger.actor.login) == ("checks", "alice")
    assert job.conversation_id == world.conversation(first)


def test_failed_checks_of_somebody_elses_pull_request_are_nothing_to_us(
    world: World,
) -> None:
    assert world.deliver(checks()).verdict is DeliveryVerdict.IGNORED
    assert world.rows(deliveries)[0]["reason"] == "not-ours"
    world.deliver(trigger().replace(thread=PULL))
    world.deliver(checks("checks-2"))
    assert world.rows(deliveries)[-1]["reason"] == "not-ours"


def test_failed_checks_do_not_join_a_run_and_count_once_it_is_over(
    world: World,
) -> None:
    with_pull(world)
    job_id = world.ask("k2")
    assert world.deliver(checks()).verdict is DeliveryVerdict.IGNORED
    assert world.rows(deliveries)[-1]["reason"] == "busy"
    assert world.log(job_id) == []
    finish(world, job_id)
    assert world.deliver(checks()).verdict is DeliveryVerdict.ACCEPTED


def test_the_second_word_of_the_same_checks_is_a_duplicate(world: World) -> None:
    with_pull(world)
    stored = world.deliver(checks())
    assert world.deliver(checks()).verdict is DeliveryVerdict.DUPLICATE
    assert stored.job_id is not None
    finish(world, stored.job_id)
    assert world.deliver(checks()).verdict is DeliveryVerdict.DUPLICATE


def test_what_nobody_asked_for_uses_up_nothing_and_is_found_by_its_kind(
    world: World,
) -> None:
    conversation = world.conversation(with_pull(world))
    for number in range(3):
        stored = world.deliver(checks(f"checks-{number}"))
        assert stored.job_id is not None
        finish(world, stored.job_id)
    hour_ago = world.clock.now() - timedelta(hours=1)
    assert world.jobs.count_since(conversation, hour_ago) == 1
    since = world.jobs.list_since_last_request(conversation, TriggerKind.CHECKS)
    assert [job.trigger.key for job in since] == ["checks-0", "checks-1", "checks-2"]


def reported(number: int = 1, **fields: Any) -> StatusReported:
    usual: dict[str, Any] = {
        "repo": REPO,
        "id": number,
        "sha": "a" * 40,
        "branches": ("fix/1",),
        "has_passed": False,
        "installation": "5",
    }
    return StatusReported(**(usual | fields))


def with_pull_from(world: World, head: str) -> JobId:
    job_id = world.ask()
    finish(world, job_id)
    now, conversation = world.clock.now(), world.conversation(job_id)
    assert world.threads.link(conversation, PULL, now, "main", head)
    return job_id


def test_a_failed_status_on_the_head_of_our_pull_request_starts_a_look_at_its_checks(
    world: World,
) -> None:
    with_pull_from(world, "fix/1")
    [job_id] = world.deliver(reported()).due
    started = world.job(job_id).trigger
    assert (started.kind, started.actor.login) == ("checks", "alice")
    assert (started.thread, started.head_sha) == (PULL, "a" * 40)
    assert started.installation == "5"


def test_a_failed_status_for_another_branch_or_a_closed_pull_request_starts_nothing(
    world: World,
) -> None:
    with_pull_from(world, "fix/1")
    assert world.deliver(reported(branches=("main", "fix/10"))).due == ()
    elsewhere = RepoRef(forge="github", full_name="acme/shop2")
    assert world.deliver(reported(2, repo=elsewhere)).due == ()
    world.deliver(ThreadClosed(thread=PULL, is_open=False))
    assert world.deliver(reported(3)).due == ()


def test_a_pull_request_whose_head_was_not_kept_may_be_meant(world: World) -> None:
    with_pull(world)
    assert len(world.deliver(reported()).due) == 1


def test_the_same_status_starts_one_look(world: World) -> None:
    with_pull_from(world, "fix/1")
    [job_id] = world.deliver(reported(), "d-status").due
    assert world.deliver(reported(2)).due == ()
    finish(world, job_id)
    assert world.deliver(reported(), "d-again").due == ()
    assert world.deliver(reported(2), "d-other").due != ()


def test_a_status_that_passed_is_news_only_where_it_was_waited_for(
    world: World,
) -> None:
    with_pull_from(world, "fix/1")
    assert world.deliver(reported(1, has_passed=True)).due == ()
    [look] = world.deliver(reported(2)).due
    waits = Outcome(kind=OutcomeKind.NO_CHANGE, reason=PENDING)
    lease = world.claim(look)
    now = world.clock.now()
    world.outcomes.store(lease, waits, [], read_up_to=0, now=now)
    world.outcomes.finish(lease, JobState.DONE, now)
    assert world.deliver(reported(3, has_passed=True, sha="b" * 40)).due == ()
    assert len(world.deliver(reported(4, has_passed=True)).due) == 1


def test_a_base_that_moves_starts_one_job_for_each_open_pull_request(
    world: World,
) -> None:
    with_pull(world)
    stored = world.deliver(MOVED)
    [job_id] = stored.due
    started = world.job(job_id).trigger
    assert (started.kind, started.actor.login) == ("conflict", "alice")
    assert started.key == f"{PULL}:conflict:{MOVED.sha}"
    assert (started.thread, started.installation) == (PULL, "5")
    finish(world, job_id)
    assert world.deliver(MOVED, "again").due == ()


@pytest.mark.parametrize(
    "moved",
    [
        MOVED.replace(branch="dev"),
        MOVED.replace(repo=RepoRef(forge="github", full_name="a/b")),
    ],
)
def test_another_branch_that_moves_starts_nothing(
    world: World, moved: BaseMoved
) -> None:
    with_pull(world)
    assert world.deliver(moved).due == ()


def test_a_base_that_moves_under_a_closed_pull_request_starts_nothing(
    world: World,
) -> None:
    with_pull(world)
    world.deliver(ThreadClosed(thread=PULL, is_open=False))
    assert world.deliver(MOVED).due == ()
    world.deliver(ThreadClosed(thread=PULL, is_open=True))
    assert len(world.deliver(MOVED, "later").due) == 1


def test_what_came_of_a_delivery_is_submitted_after_the_commit(world: World) -> None:
    with_pull(world)
    world.dispatched.clear()
    with world.open_intake() as inbox:
        stored = inbox.submit(world.delivery(MOVED)).result()
    assert world.dispatched == list(stored.due)


def test_closing_a_thread_stops_the_run_that_was_asked_for_there(world: World) -> None:
    job_id = world.ask()
    world.claim(job_id)
    conversation = world.conversation(job_id)
    with world.notifier.listen(conversation) as wakeup, world.open_intake() as inbox:
        inbox.submit(world.delivery(ThreadClosed(thread=ISSUE, is_open=False)))
        assert wakeup.wait(10)
    [event] = world.log(job_id)
    assert (event.source, event.payload) == (Source.SYSTEM, STOPPED)
    assert world.threads.closed_at(ISSUE) == world.clock.now()


def test_closing_a_thread_wakes_the_run_that_waits_there_to_end_it(
    world: World,
) -> None:
    job_id = world.ask()
    world.outcomes.wait(world.claim(job_id))
    stored = world.deliver(ThreadClosed(thread=ISSUE, is_open=False))
    assert stored.due == (job_id,)
    assert world.job(job_id).state is JobState.QUEUED
    assert [event.payload for event in world.log(job_id)] == [STOPPED]


def test_closing_an_issue_does_not_stop_the_run_for_its_pull_request(
    world: World,
) -> None:
    with_pull(world)
    job_id = world.deliver(trigger("k2").replace(thread=PULL)).job_id
    assert job_id is not None
    world.claim(job_id)
    world.deliver(ThreadClosed(thread=ISSUE, is_open=False))
    assert world.log(job_id) == []


def test_a_thread_that_is_opened_again_stops_nothing(world: World) -> None:
    job_id = world.ask()
    world.claim(job_id)
    world.deliver(ThreadClosed(thread=ISSUE, is_open=True))
    assert world.log(job_id) == []
    assert world.threads.closed_at(ISSUE) is None


def closed(at: datetime, *, is_open: bool = False) -> ThreadClosed:
    return ThreadClosed(thread=ISSUE, is_open=is_open, at=at)


def test_m11_a_notice_that_is_older_than_the_request_stops_nothing(
    world: World,
) -> None:
    now = world.clock.now()
    job_id = world.deliver(trigger("k1").replace(at=now)).job_id
    assert job_id is not None
    world.claim(job_id)
    assert world.deliver(closed(now - timedelta(days=1))).other_conversations == ()
    assert (world.log(job_id), world.threads.closed_at(ISSUE)) == ([], None)
    assert world.deliver(closed(now + timedelta(seconds=1))).other_conversations != ()


def test_m11_notices_out_of_order_leave_what_the_newest_says(world: World) -> None:
    now, job_id = world.clock.now(), world.ask()
    world.claim(job_id)
    world.deliver(closed(now + timedelta(seconds=2), is_open=True))
    assert world.deliver(closed(now)).other_conversations == ()
    assert (world.log(job_id), world.threads.closed_at(ISSUE)) == ([], None)


def test_m11_a_notice_that_comes_again_is_known_by_its_meaning(world: World) -> None:
    now = world.clock.now()
    world.ask()
    assert world.deliver(closed(now)).verdict is DeliveryVerdict.NOTED
    assert world.deliver(closed(now), "another id").verdict is DeliveryVerdict.DUPLICATE


def test_a_thread_that_nobody_asked_in_may_close(world: World) -> None:
    assert (
        world.deliver(ThreadClosed(thread=ISSUE, is_open=False)).other_conversations
        == ()
    )
    assert world.rows(deliveries)[0]["verdict"] == "noted"


def test_the_jobs_of_an_installation_end_when_it_is_gone(world: World) -> None:
    queued = install(world, "k1", 1)
    waiting = install(world, "k2", 2)
    running = install(world, "k3", 3)
    other = install(world, "k4", 4, installation="6")
    world.outcomes.wait(world.claim(waiting))
    world.claim(running)
    stored = world.deliver(InstallationChanged(installation="5", gone=True))
    jobs = (queued, waiting, running, other)
    assert [world.job(one).state for one in jobs] == [
        JobState.CANCELLED,
        JobState.CANCELLED,
        JobState.RUNNING,
        JobState.QUEUED,
    ]
    assert stored.other_conversations == (world.conversation(running),)
    assert world.jobs.take_unfinished(0.0) == (other,)


def test_only_the_repositories_that_were_lost_count(world: World) -> None:
    job_id = install(world, "k1", 1)
    elsewhere = RepoRef(forge="github", full_name="acme/other")
    for repo, state in ((elsewhere, JobState.QUEUED), (REPO, JobState.CANCELLED)):
        world.deliver(InstallationChanged(installation="5", gone=False, repos=(repo,)))
        assert world.job(job_id).state is state


def test_the_tokens_of_an_installation_that_changed_are_forgotten(
    world: World,
) -> None:
    secrets = SecretStore(world.database, KeyRing({"k": bytes(32)}, "k"), world.clock)
    for number in (5, 6):
        secrets.put(f"github-installation-{number}", SecretStr("ghs_1"))
    world.deliver(InstallationChanged(installation="5", gone=True))
    assert secrets.fetch("github-installation-5") is None
    assert secrets.fetch("github-installation-6") is not None


def test_a_conversation_follows_its_repository_to_a_new_name(world: World) -> None:
    job_id = world.ask()
    new = RepoRef(forge="github", full_name="acme/store")
    world.deliver(RepositoryMoved(old=REPO, new=new))
    there = ISSUE.replace(repo=new)
    assert world.threads.conversation_of(there) == world.conversation(job_id)
    assert world.threads.conversation_of(ISSUE) is None
    assert world.rows(conversations)[0]["repo"] == "github:acme/store"
    assert world.job(job_id).trigger.thread == there


def test_a_thread_that_has_begun_under_the_new_name_stays_apart(world: World) -> None:
    world.ask()
    new = RepoRef(forge="github", full_name="acme/store")
    there = ISSUE.replace(repo=new)
    stored = world.deliver(trigger("k2").replace(thread=there))
    world.deliver(RepositoryMoved(old=REPO, new=new))
    assert world.threads.conversation_of(there) == stored.conversation_id
