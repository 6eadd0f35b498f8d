"""What is true of every end of a run, whatever it is."""

from typing import Final

from patchwright.core.types.outcome_kind import OutcomeKind
from patchwright.resolver.job import Job, JobState
from patchwright.workers.store.effects import EffectState
from tests.flow.story import Story

_STATES: Final = {
    OutcomeKind.FAILED: JobState.FAILED,
    OutcomeKind.STOPPED: JobState.CANCELLED,
}


def final_message(
    story: Story, number: int, kind: OutcomeKind, reason: str = "", *, calls: int = 0
) -> str:
    """Return the one thing that the only run has said when it had ended.

    Its requester must have been called so often, its mark must be there for machines,
    and nothing may be left to do.
    """
    [job] = story.jobs()
    said = story.reply(number)
    assert job.outcome is not None
    assert (job.outcome.kind, job.outcome.reason) == (kind, reason), said
    assert job.state is _state_after(job)
    state = "waiting" if job.outcome.waits else kind
    assert said.endswith(f"\n\n<!-- patchwright:state={state} run={job.id} -->")
    assert said.count("patchwright:state=") == 1
    assert len(story.pings(number)) == calls
    left = story.base.stores.effects.of_job(job.id)
    assert {effect.state for effect in left} == {EffectState.DONE}
    return said


def _state_after(job: Job) -> JobState:
    assert job.outcome is not None
    if job.outcome.waits:
        return JobState.WAITING_USER
    return _STATES.get(job.outcome.kind, JobState.DONE)
