"""What happens to our pull request while a run is at work waits until that ends."""

from patchwright.core.types.base import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, ThreadKind
from patchwright.core.types.triggers import BaseMoved, Trigger, TriggerKind
from patchwright.core.webhook import DeliveryVerdict
from patchwright.resolver.job import Job, JobState
from tests.adapters.store.world import REPO, World

PULL = ForgeThread(repo=REPO, kind=ThreadKind.PULL_REQUEST, number=8)
CAROL = Actor(service="github", login="carol", external_id="9")
MOVED = BaseMoved(repo=REPO, branch="main", sha="b" * 40, installation="5")


def happening(kind: TriggerKind, name: str) -> Trigger:
    return Trigger(
        key=f"{PULL}:{kind}:{name}",
        kind=kind,
        actor=CAROL,
        thread=PULL,
        request="",
        head_sha=name * 40,
    )


def push(name: str) -> Trigger:
    return happening(TriggerKind.PUSHED, name)


def finish(world: World, job_id: JobId) -> Job | None:
    """End the job; return the one that comes of what has waited for that."""
    lease = world.claim(job_id)
    following = world.outcomes.finish(lease, JobState.DONE, world.clock.now())
    world.clock.advance(1)
    return world.job(following) if following else None


def with_pull(world: World) -> JobId:
    job_id = world.ask()
    finish(world, job_id)
    now = world.clock.now()
    assert world.threads.link(world.conversation(job_id), PULL, now, "main")
    return job_id


def test_a_push_starts_a_job_in_the_name_of_who_asked(world: World) -> None:
    with_pull(world)
    stored = world.deliver(push("a"))
    assert stored.verdict is DeliveryVerdict.ACCEPTED
    assert stored.job_id is not None
    job = world.job(stored.job_id)
    assert (job.trigger.kind, job.trigger.actor.login) == ("pushed", "alice")


def test_a_push_to_somebody_elses_pull_request_is_nothing_to_us(world: World) -> None:
    assert world.deliver(push("a")).verdict is DeliveryVerdict.IGNORED


def test_pushes_during_a_run_are_looked_at_after_it_together(world: World) -> None:
    with_pull(world)
    job_id = world.ask("k2")
    for name in "abc":
        assert world.deliver(push(name)).verdict is DeliveryVerdict.IGNORED
        world.clock.advance(1)
    following = finish(world, job_id)
    assert following is not None
    assert following.trigger.head_sha == "c" * 40
    assert following.trigger.actor.login == "alice"
    assert finish(world, following.id) is None


def test_who_asks_comes_first_and_the_push_is_not_forgotten(world: World) -> None:
    with_pull(world)
    job_id = world.ask("k2")
    world.deliver(push("a"))
    assert world.ask("k3") == job_id
    asked = finish(world, job_id)
    assert asked is not None
    assert not asked.trigger.kind.is_automatic
    pushed = finish(world, asked.id)
    assert pushed is not None
    assert pushed.trigger.kind is TriggerKind.PUSHED


def test_checks_and_conflicts_are_not_lost_to_a_proof(world: World) -> None:
    with_pull(world)
    proof = world.deliver(push("a")).job_id
    assert proof is not None
    assert world.deliver(happening(TriggerKind.CHECKS, "c")).job_id is None
    world.deliver(MOVED)
    world.deliver(push("d"))
    kinds = []
    following = finish(world, proof)
    while following is not None:
        kinds.append(following.trigger.kind)
        following = finish(world, following.id)
    assert kinds == ["pushed", "checks", "conflict"]


def test_a_request_that_joins_is_not_taken_for_what_was_postponed(
    world: World,
) -> None:
    with_pull(world)
    job_id = world.ask("k2")
    world.deliver(push("a"))
    assert world.requests.joined(job_id) == ()


def test_runs_that_nobody_asked_for_are_counted_by_kind(world: World) -> None:
    conversation = world.conversation(with_pull(world))
    since = world.clock.now()
    for name in "ab":
        job_id = world.deliver(push(name)).job_id
        assert job_id is not None
        finish(world, job_id)
    count = world.jobs.count_kind_since
    assert count(conversation, TriggerKind.PUSHED, since) == 2
    assert count(conversation, TriggerKind.CHECKS, since) == 0
