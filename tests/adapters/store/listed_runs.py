"""Runs for lists: asked for in issues, begun, and ended."""

from patchwright.core.events.observations import (
    AttemptStart,
    RunStarted,
    StateChanged,
)
from patchwright.core.events.payload import AgentState, Source
from patchwright.core.types.base import JobId
from patchwright.core.types.evidence import Proof
from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, RepoRef, ThreadKind
from patchwright.core.types.work import Limits, Outcome, Task, Usage
from patchwright.resolver.job import JobState, Lease
from tests.adapters.store.world import ALICE, REPO, World, trigger

SPENT = Usage(cost_usd=0.41, tokens_in=9_000, tokens_out=800)
RESOLVED = Outcome(
    kind=OutcomeKind.RESOLVED, proof=Proof.PROVEN, usage=SPENT, iterations=7
)


def ask(
    world: World,
    number: int,
    *,
    repo: RepoRef = REPO,
    actor: Actor = ALICE,
    title: str = "It is broken",
) -> JobId:
    """Ask in an issue of its own, a second later."""
    world.clock.advance(1)
    thread = ForgeThread(repo=repo, kind=ThreadKind.ISSUE, number=number)
    wanted = trigger(f"k{number}").replace(thread=thread, actor=actor, title=title)
    job_id = world.deliver(wanted).job_id
    assert job_id is not None
    return job_id


def begin(world: World, job_id: JobId, title: str = "Wrong sum") -> Lease:
    lease = world.claim(job_id)
    log = world.events.open(world.conversation(job_id), lease)
    task = Task(text="Fix it.", base_sha="a" * 40, title=title)
    log.append(Source.SYSTEM, _loading(job_id))
    started = RunStarted(run_id=job_id, task=task, limits=Limits())
    log.append(Source.SYSTEM, started)
    return lease


def _loading(job_id: JobId) -> StateChanged:
    attempt = AttemptStart(run_id=job_id, number=1)
    return StateChanged(
        state=AgentState.LOADING, reason=f"run {job_id}, attempt 1", attempt=attempt
    )


def end(world: World, lease: Lease, outcome: Outcome = RESOLVED) -> None:
    kept = world.outcomes.store(
        lease, outcome, (), read_up_to=99, now=world.clock.now()
    )
    world.outcomes.finish(kept, JobState.DONE, world.clock.now())
