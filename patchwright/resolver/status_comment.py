"""Keep a run's status comment up to date, under the header of its messages."""

import threading
from collections.abc import Callable
from functools import partial
from typing import Final, Self

import structlog

from patchwright.core.channel import Channel
from patchwright.core.events.observations import StateChanged
from patchwright.core.events.types import Event
from patchwright.core.forge import Forge
from patchwright.core.settings.repository import RepositoryConfig
from patchwright.core.system.clock import Clock, with_log_context
from patchwright.core.text.escape import plain_name
from patchwright.core.types.errors import LeaseLostError, ServiceError
from patchwright.core.types.threads import (
    ForgeThread,
    RepoRef,
    ThreadKind,
    ThreadRef,
)
from patchwright.core.types.triggers import Trigger, TriggerKind
from patchwright.resolver.configuration import apply_configuration, max_raise_usd_of
from patchwright.resolver.job import Job
from patchwright.resolver.messages.short_status import (
    check_at_start,
    cross_post_progress,
    labels_at_start,
    offers_while_running,
)
from patchwright.resolver.messages.status import (
    MessageHeader,
    Progress,
    mark,
    progress_comment,
)
from patchwright.resolver.progress import ProgressTracker, Throttle
from patchwright.resolver.publish.effects import BeginCheck, SetStartLabels, ShowStatus
from patchwright.resolver.publish.live import LivePublisher, without_trace
from patchwright.resolver.run_plan import RunPlan
from patchwright.resolver.services import StepServices
from patchwright.resolver.visibility import RunVisibility


def make_message_header(
    services: StepServices, job: Job, config: RepositoryConfig
) -> MessageHeader:
    settings = apply_configuration(services.settings, config).settings
    by_label = job.trigger.kind is TriggerKind.LABEL
    is_beside_code = isinstance(job.trigger.thread, ForgeThread)
    return MessageHeader(
        run_id=job.id,
        requester=_name_of(job.trigger),
        handle=services.directory.mention_in(job.trigger.thread),
        model=services.find_models(settings.agent.model).main.name,
        limits=settings.limits.of_a_run(),
        asked_at=job.created_at,
        label=services.directory.label_in(job.trigger.thread) if by_label else "",
        # In a chat or a ticket, people may read who cannot read the repository.
        run_url=services.find_link(job.id, job.created_at)
        if is_beside_code
        else services.find_page(job.id),
        is_beside_code=is_beside_code,
        is_chat=job.trigger.thread.kind is ThreadKind.CHAT,
        repo=_repo_of(job.trigger),
        config_file=config.file,
        forge_url=services.directory.forge.web_url,
        max_raise_usd=max_raise_usd_of(services.settings.limits),
        work_at=services.overrides.work_at.format(run=job.id[:8]),
        shown_name=_name_in_thread(job.trigger),
        reader=services.overrides.reader,
    )


def _repo_of(trigger: Trigger) -> str:
    """Return the name of the repository, if the thread does not show it."""
    if isinstance(trigger.thread, ForgeThread) or trigger.repo is None:
        return ""
    return trigger.repo.full_name


def _name_of(trigger: Trigger) -> str:
    """Return who asked; a person without a forge account can have any name."""
    if isinstance(trigger.thread, ForgeThread) or trigger.person is not None:
        return trigger.asker.login
    return plain_name(trigger.actor.login)


def _name_in_thread(trigger: Trigger) -> str:
    """Return what people of a chat or a tracker call who asked; else nothing.

    A service that names nobody knows a person by an id, which is a name to no one.
    """
    actor = trigger.actor
    if isinstance(trigger.thread, ForgeThread) or actor.login == actor.external_id:
        return ""
    return plain_name(actor.login)


def without_ticket_key(
    frame: MessageHeader, visibility: RunVisibility
) -> MessageHeader:
    """Return the header with a link that only people with permission can open.

    The usual link opens for everybody who has it, and the page shows private words.
    """
    return frame.without_link_key() if visibility.keeps_out else frame


# A forge asks for some time between writes; people do not read faster than this.
EDIT_EVERY_S: Final = 4.0
# How often the elapsed time is updated if nothing else happens.
REFRESH_S: Final = 30.0
# Writes the text of a comment from the progress of a run.
Write = Callable[[Progress, MessageHeader], str]

log = structlog.get_logger(__name__)


class StatusComment:
    """One comment in one thread; an error when it is posted does not stop the run.

    It is a context manager. Inside, progress that comes too soon after an edit is shown
    a little later. After the context ends, nothing is edited. A comment that is not
    `shown` is never posted or edited, but it still computes the progress.
    """

    def __init__(
        self,
        channel: Channel,
        thread: ThreadRef,
        frame: MessageHeader,
        watch: ProgressTracker,
        clock: Clock,
        *,
        publisher: LivePublisher,
        write: Write = progress_comment,
        shown: bool = True,
        every_s: float = EDIT_EVERY_S,
    ) -> None:
        self._channel, self._publisher = channel, publisher
        self._thread = thread
        self._frame, self._watch = frame, watch
        self._clock, self._every_s = clock, every_s
        self._write, self._is_shown = write, shown
        self._throttle = Throttle(self._edit, clock.monotonic, every_s)
        self._shown = Progress()
        self._text = ""
        self._shown_at = float("-inf")
        self._lock = threading.Lock()
        self._has_ended = threading.Event()
        self._updater = threading.Thread(
            target=with_log_context(self._beat), name="status", daemon=True
        )
        self.post_id = ""

    def __enter__(self) -> Self:
        self._updater.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._has_ended.set()
        self._updater.join()

    @property
    def last(self) -> Progress:
        """The progress of the run."""
        return self._watch.progress(self._clock.now())

    def begin(self, earlier_post: str) -> None:
        """Post the comment, or reuse the comment of an earlier attempt."""
        self._swap_labels()
        self.post_id = earlier_post
        if not self._is_shown:
            return

        def post() -> str:
            begun = Progress(state="running")
            text = self._write(begun, self._frame)
            offers = offers_while_running(self._frame, begun)
            return earlier_post or self._channel.post(self._thread, text, offers)

        def find() -> str | None:
            own = mark(self._frame.run_id)
            return earlier_post or self._channel.find_post(self._thread, own)

        try:
            shown = ShowStatus(thread=self._thread)
            self.post_id = self._publisher.publish(shown, post, find)
        except ServiceError as error:
            log.warning("status_not_posted", reason=error.reason, error=str(error))

    def show(self, event: Event) -> None:
        # After a change of state, the next event may come much later.
        is_change = isinstance(event.payload, StateChanged)
        with self._lock:
            self._throttle.offer(self._watch.add(event), at_once=is_change)

    def _beat(self) -> None:
        while not self._has_ended.wait(self._every_s):
            with self._lock:
                self._catch_up()

    def _catch_up(self) -> None:
        """Show new progress, and from time to time only the elapsed time."""
        newest = self.last
        since_s = self._clock.monotonic() - self._shown_at
        if not _is_same(newest, self._shown) or since_s >= REFRESH_S:
            self._throttle.offer(newest)

    def _edit(self, progress: Progress) -> None:
        text = self._write(progress, self._frame)
        if not (self._is_shown and self.post_id) or text == self._text:
            return
        self._shown, self._text = progress, text
        self._shown_at = self._clock.monotonic()
        offers = offers_while_running(self._frame, progress)
        try:
            self._channel.edit(self._thread, self.post_id, text, offers)
        except LeaseLostError:
            # Another worker shows it now; the run notices that at its next write.
            self._is_shown = False
        except ServiceError as error:
            log.warning("status_not_edited", reason=error.reason, error=str(error))

    def _swap_labels(self) -> None:
        if not self._frame.label:
            return
        swap = labels_at_start(self._frame.label)
        try:
            self._publisher.publish(
                SetStartLabels(),
                without_trace(
                    partial(
                        self._channel.swap_labels, self._thread, swap.add, swap.remove
                    )
                ),
            )
        except ServiceError as error:
            log.warning("labels_not_swapped", reason=error.reason, error=str(error))


def open_status(services: StepServices, job: Job, plan: RunPlan) -> StatusComment:
    """Post the comment, or reuse the comment of an earlier attempt.

    The agent's plan may repeat private words.
    """
    thread = job.trigger.thread
    hides = isinstance(thread, ForgeThread) and plan.openness.keeps_out
    status = StatusComment(
        services.channel,
        thread,
        plan.frame,
        ProgressTracker(services.sandboxes.kind, services.clock.now()),
        services.clock,
        publisher=services.live,
        write=cross_post_progress if hides else progress_comment,
        shown=plan.config.progress_comment,
    )
    status.begin(plan.status_post)
    return status


def begin_check(
    forge: Forge,
    repo: RepoRef,
    sha: str,
    frame: MessageHeader,
    clock: Clock,
    *,
    publisher: LivePublisher,
) -> None:
    """Report a running check on a commit of a pull request, if we may."""
    if forge.checks is None:
        return
    report = check_at_start(frame, clock.now())
    show = partial(forge.checks.report_check, repo, sha, report)
    try:
        publisher.publish(BeginCheck(sha=sha), without_trace(show))
    except ServiceError as error:
        log.info("check_not_begun", reason=error.reason, error=str(error))


def _is_same(one: Progress, other: Progress) -> bool:
    return one == other.replace(seconds=one.seconds)
