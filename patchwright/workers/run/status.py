"""Keep a run's status comment up to date while it works."""

import structlog

from patchwright.core.channel import Channel
from patchwright.core.clock import Clock
from patchwright.core.errors import ServiceError
from patchwright.core.events.types import Event, StateChanged
from patchwright.core.types.threads import ThreadRef
from patchwright.resolver.messages.status import Frame, Progress, progress_comment
from patchwright.resolver.progress import Throttle, Watch

# GitHub wants at least a second between writes; people do not read faster than this.
EDIT_EVERY_S = 4.0

log = structlog.get_logger(__name__)


class StatusComment:
    """One comment in one thread; what cannot be shown does not hold up the work."""

    def __init__(
        self,
        channel: Channel,
        thread: ThreadRef,
        frame: Frame,
        watch: Watch,
        clock: Clock,
    ) -> None:
        self._channel, self._thread = channel, thread
        self._frame, self._watch = frame, watch
        self._throttle = Throttle(self._edit, clock.monotonic, EDIT_EVERY_S)
        self._shown = ""
        self.post_id = ""

    def begin(self, earlier_post: str) -> None:
        """Post the comment, or take over the one an earlier attempt has made."""
        if earlier_post:
            self.post_id = earlier_post
            return
        try:
            text = progress_comment(Progress(state="running"), self._frame)
            self.post_id = self._channel.post(self._thread, text)
        except ServiceError as error:
            log.warning("status_not_posted", reason=error.reason, error=str(error))

    def show(self, event: Event) -> None:
        # After a change of state it may be long until something else happens.
        is_change = isinstance(event.payload, StateChanged)
        self._throttle.offer(self._watch.add(event), at_once=is_change)

    def _edit(self, progress: Progress) -> None:
        text = progress_comment(progress, self._frame)
        if not self.post_id or text == self._shown:
            return
        try:
            self._channel.edit(self._thread, self.post_id, text)
            self._shown = text
        except ServiceError as error:
            log.warning("status_not_edited", reason=error.reason, error=str(error))
