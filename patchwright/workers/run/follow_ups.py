"""Take in what people have said while a job waited to begin."""

from patchwright.core.events.types import AgentState, ChangeState, Message
from patchwright.core.types.people import login_in_mention
from patchwright.core.types.threads import TalkThread
from patchwright.core.types.triggers import Trigger
from patchwright.core.types.work import Outcome, OutcomeKind, Task
from patchwright.resolver.placing.answers import is_answer
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.steering import Steering
from patchwright.workers.store.job import Job


def with_follow_ups(
    services: RunServices, job: Job, steering: Steering, task: Task, start_id: int
) -> tuple[Task, Outcome | None]:
    """Add it to the task, or return how the job ends too, if somebody said `stop`."""
    for request in services.stores.requests.joined(job.id):
        if request.event_id > start_id:
            break
        if _answers_earlier_question(services, request.trigger):
            continue
        heard = steering.judge(request.trigger, request.event_id)
        if isinstance(heard, ChangeState) and heard.state is AgentState.STOPPED:
            return task, _stopped(heard.reason, task.removed)
        if isinstance(heard, Message):
            task = _with_message(task, heard)
    return task, None


def _answers_earlier_question(services: RunServices, trigger: Trigger) -> bool:
    """Tell whether it has answered what was asked before the run could begin."""
    if not isinstance(trigger.thread, TalkThread):
        return False
    return is_answer(trigger.request, services.chat.find_places())


def _stopped(who: str, removed: int) -> Outcome:
    text = f"Stopped by {who} before it had begun."
    return Outcome(
        kind=OutcomeKind.STOPPED,
        reason="asked",
        summary=text,
        service_text=text,
        by=login_in_mention(who),
        removed=removed,
    )


def _with_message(task: Task, said: Message) -> Task:
    text = f"{task.text}\n\n{said.text}"
    return task.replace(text=text, removed=task.removed + said.removed)
