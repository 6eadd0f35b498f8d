"""The channel of requests without a thread: a run's own page shows the answers."""

from collections.abc import Callable
from dataclasses import dataclass

from patchwright.core.channel import Offers
from patchwright.core.types.errors import InvalidRequestError, NotFoundError
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread, Thread, ThreadPost
from patchwright.core.types.triggers import Trigger
from patchwright.resolver.job import Job


@dataclass(frozen=True)
class PageChannel:
    """A channel whose threads are the pages of their runs.

    A page shows the log itself, so that there is nothing to post or to edit.
    `find_first` returns the job that such a thread began with.
    """

    find_first: Callable[[ForgeThread], Job | None]

    def acknowledge(self, trigger: Trigger) -> None:
        """Leave it to the page."""

    def decline(self, trigger: Trigger) -> None:
        """Leave it to the page."""

    def fetch_thread(self, ref: ForgeThread) -> Thread:
        job = self.find_first(ref)
        if job is None:
            raise NotFoundError(f"there is no request {ref.token}")
        asked = job.trigger
        opening = ThreadPost(
            id="", author=asked.actor, text=asked.body, at=job.created_at
        )
        return Thread(ref=ref, title=asked.title, url="", posts=(opening,))

    def fetch_opening(self, ref: ForgeThread) -> Thread:
        return self.fetch_thread(ref)

    def find_post(self, _ref: ForgeThread, _mark: str) -> str | None:
        return None

    def post(self, _ref: ForgeThread, _text: str, _offers: Offers = ()) -> str:
        return ""

    def edit(
        self, ref: ForgeThread, post_id: str, text: str, offers: Offers = ()
    ) -> None:
        """Leave it to the page."""

    def delete(self, ref: ForgeThread, post_id: str) -> None:
        """Have posted nothing."""

    def tell_privately(
        self, _ref: ForgeThread, actor: Actor, _text: str, _offers: Offers = ()
    ) -> None:
        raise InvalidRequestError(f"nobody else reads what {actor.login} has asked")

    def swap_labels(
        self, ref: ForgeThread, add: tuple[str, ...], remove: tuple[str, ...]
    ) -> None:
        """Have none."""

    def fetch_attachment(
        self, _ref: ForgeThread, url: str, _max_bytes: int, _post_id: str = ""
    ) -> bytes:
        raise InvalidRequestError(f"{url} was not sent with the request")
