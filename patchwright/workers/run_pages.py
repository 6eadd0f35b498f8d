"""The pages of runs, composed for a process, and who may see them."""

from functools import partial

import structlog

from patchwright.core.clock import Clock
from patchwright.core.settings.model import Settings
from patchwright.core.types.people import Permission
from patchwright.core.types.threads import TalkThread
from patchwright.workers.run.services import Stores
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.store.job import Job
from patchwright.workers.store.threads import ThreadStore
from patchwright.workers.web.pages.access import RunAccess
from patchwright.workers.web.pages.live import LiveUpdates
from patchwright.workers.web.pages.routes import RunPages
from patchwright.workers.web.readers import FetchPermission, RepositoryAccessCache
from patchwright.workers.web.sign_in import LOGIN_PATH, SignInRoutes

log = structlog.get_logger(__name__)


def make_run_pages(
    settings: Settings,
    stores: Stores,
    *,
    secret: bytes | None,
    sign_in: SignInRoutes | None,
    fetch_permission: FetchPermission,
    clock: Clock,
) -> RunPages:
    """Compose them; without a secret no link opens any, and none is given out."""
    if settings.server.public_url and secret is None:
        log.warning("no_links_to_runs", missing="security.session_secret")
    token = settings.security.admin_token
    reader = RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)
    access = RunAccess(
        secret=secret,
        admin_token=token.get_secret_value() if token else "",
        public_url=settings.server.public_url,
        clock=clock,
        find_viewer=sign_in.sessions.viewer_of if sign_in else _nobody,
        may_read=RepositoryAccessCache(fetch_permission, clock).is_allowed,
        may_write=RepositoryAccessCache(fetch_permission, clock, Permission.WRITE).is_allowed,
        is_private=partial(_is_private, stores.threads),
    )
    return RunPages(
        reader=reader,
        access=access,
        live=LiveUpdates(reader, stores.events.notifier, clock),
        clock=clock,
        site=settings.github.web_url,
        login_path=LOGIN_PATH if sign_in else "",
    )


def _is_private(threads: ThreadStore, job: Job) -> bool:
    """Tell whether its log has words from where no code lives."""
    linked = (one.ref for one in threads.threads_of(job.conversation_id))
    return any(isinstance(one, TalkThread) for one in (job.trigger.thread, *linked))


def _nobody(_request: object) -> None:
    """Tell that nobody is signed in where nobody can be."""
