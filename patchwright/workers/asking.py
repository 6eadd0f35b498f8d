"""Whether people can ask on a page of this service, and with what."""

from collections.abc import Callable
from concurrent.futures import Future
from urllib.parse import urlsplit

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import JobId
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import ForgeThread
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.workers.intake.delivery import Delivery, InboxResult
from patchwright.workers.run.services import Stores
from patchwright.workers.web.asking.door import RequestFormRoutes
from patchwright.workers.web.asking.pace import FormRateLimit
from patchwright.workers.web.readers import FetchPermission, RepositoryAccessCache
from patchwright.workers.web.sign_in import LOGIN_PATH, SignInRoutes


def make_request_form(
    settings: Settings,
    stores: Stores,
    *,
    secret: bytes | None,
    sign_in: SignInRoutes | None,
    fetch_permission: FetchPermission,
    offer_to: Callable[[Actor], tuple[str, ...]],
    submit: "Callable[[Delivery], Future[Stored]]",
    clock: Clock,
) -> RequestFormRoutes | None:
    """Return the door, or None where nobody can sign in."""
    if sign_in is None or secret is None:
        return None

    def find_job(thread: ForgeThread) -> JobId | None:
        found = stores.threads.conversation_of(thread)
        job = stores.jobs.last_job_of(found) if found else None
        return job.id if job else None

    return RequestFormRoutes(
        secret=secret,
        clock=clock,
        find_viewer=sign_in.sessions.viewer_of,
        may_read=RepositoryAccessCache(fetch_permission, clock).is_allowed,
        submit=submit,
        find_job=find_job,
        offer_to=offer_to,
        forge=SERVICE,
        site=settings.github.web_url,
        rate_limit=FormRateLimit(clock),
        login_path=LOGIN_PATH,
        prefix=urlsplit(settings.server.public_url).path,
    )
