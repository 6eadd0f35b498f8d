"""Answer people who ask about a run while it works."""

from collections.abc import Callable
from functools import partial

import structlog

from patchwright.core.background import start_call
from patchwright.core.channel import Channel
from patchwright.core.errors import ServiceError
from patchwright.core.events.log import EventLog
from patchwright.core.text.commands import Verb
from patchwright.core.types.threads import ForgeThread
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.messages.answers import RunStatus, answer_running
from patchwright.workers.run.standing import RunDetails, load_run_status

log = structlog.get_logger(__name__)


class QuestionAnswerer:
    """Posts one answer to each question, from what the run's log says.

    The run does not wait for that: whoever says stop next must be heard.
    """

    def __init__(
        self, channel: Channel, log: EventLog, about: Callable[[], RunDetails]
    ) -> None:
        self._channel, self._log, self._about = channel, log, about

    def standing(self) -> RunStatus:
        return load_run_status(self._log, self._about())

    def answer(self, verb: Verb, trigger: Trigger, event_id: int) -> None:
        """Answer the question that is the event of that id."""
        hides = self._about().keeps_out and isinstance(trigger.thread, ForgeThread)
        standing = self.standing().replace(shows_words=not hides)
        self.say(answer_running(verb, standing), trigger, event_id)

    def say(self, text: str, trigger: Trigger, event_id: int) -> None:
        frame = self._about().frame
        mark = f"<!-- patchwright:answer={frame.run_id}:{event_id} -->"
        said = f"{text}\n\n{mark}"
        start_call(partial(self._post, trigger, said, mark))

    def _post(self, trigger: Trigger, text: str, mark: str) -> None:
        """Post it, unless a worker that was lost has done so."""
        try:
            if self._channel.find_post(trigger.thread, mark) is None:
                self._channel.post(trigger.thread, text)
        except ServiceError as error:
            log.warning("question_not_answered", reason=error.reason)
