"""Show how a run stands in the other threads of its conversation."""

from contextlib import ExitStack
from dataclasses import dataclass
from typing import Self

from patchwright.core.events.types import Event
from patchwright.core.types.threads import ForgeThread, TalkThread, ThreadRef
from patchwright.resolver.delivering.destination import CrossPostTarget
from patchwright.resolver.messages.mirrors import cross_post_progress
from patchwright.resolver.placing.surfaces import may_show_words
from patchwright.resolver.progress import ProgressTracker
from patchwright.workers.run.framing import handle_of
from patchwright.workers.run.plan import RunPlan
from patchwright.workers.run.services import RunServices
from patchwright.workers.run.status import StatusComment
from patchwright.workers.store.job import Job


@dataclass(frozen=True)
class _CrossPost:
    """A status comment elsewhere, and where that is."""

    thread: ThreadRef
    comment: StatusComment


class CrossPosts:
    """The short status comments of a run; a context, as each of them is.

    Our own pull requests have none: they show what becomes of them in their own ways.
    """

    def __init__(self, services: RunServices, job: Job, plan: RunPlan) -> None:
        self._services, self._job, self._plan = services, job, plan
        self._mirrored = self._open()
        self._stack = ExitStack()

    def __enter__(self) -> Self:
        for one in self._mirrored:
            self._stack.enter_context(one.comment)
        return self

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    @property
    def saved(self) -> tuple[CrossPostTarget, ...]:
        """What their delivery needs of them."""
        return tuple(
            self._as_cross_post(one.thread, one.comment.post_id) for one in self._mirrored
        )

    def list_current(self) -> tuple[CrossPostTarget, ...]:
        """Return those, and the threads that were tied while the run worked."""
        begun = {str(one.thread) for one in self._mirrored}
        late = [ref for ref in self._refs() if str(ref) not in begun]
        return (*self.saved, *(self._as_cross_post(ref) for ref in late))

    def show(self, event: Event) -> None:
        for one in self._mirrored:
            one.comment.show(event)

    def _open(self) -> tuple[_CrossPost, ...]:
        """Post each of them, or take over what an earlier attempt has posted."""
        posted = {str(one.thread): one.post for one in self._plan.mirrors}
        shown = tuple(_CrossPost(ref, self._comment(ref)) for ref in self._refs())
        for one in shown:
            one.comment.begin(posted.get(str(one.thread), ""))
        return shown

    def _refs(self) -> list[ThreadRef]:
        own = self._job.trigger.thread
        linked = self._services.stores.threads.threads_of(self._job.conversation_id)
        others = [one.ref for one in linked if not one.is_own_pull]
        return [ref for ref in others if _gets_cross_posts(ref, own)]

    def _as_cross_post(self, ref: ThreadRef, post: str = "") -> CrossPostTarget:
        openness, own = self._plan.openness, self._job.trigger.thread
        shows_words = may_show_words(
            own,
            ref,
            source_is_private=any(isinstance(one, TalkThread) for one in (own, ref)),
            mirror_is_public=isinstance(ref, ForgeThread) and openness.is_public,
            consent=openness.consent,
        )
        handle = handle_of(self._services.settings, ref)
        return CrossPostTarget(thread=ref, post=post, shows_words=shows_words, handle=handle)

    def _comment(self, ref: ThreadRef) -> StatusComment:
        services = self._services
        handle = handle_of(services.settings, ref)
        frame = self._plan.frame.without_link_key().replace(handle=handle, label="")
        watch = ProgressTracker(services.sandboxes.kind, services.clock.now())
        return StatusComment(
            services.channel,
            ref,
            frame,
            watch,
            services.clock,
            write=cross_post_progress,
            shown=self._plan.config.progress_comment,
        )


def _gets_cross_posts(ref: ThreadRef, own: ThreadRef) -> bool:
    """Tell whether a thread gets a short status of a run that another one asked for.

    What happens beside the code is linked there by the forge itself.
    """
    is_beside = isinstance(ref, ForgeThread) and isinstance(own, ForgeThread)
    return str(ref) != str(own) and not is_beside
