"""GitHub: receive its deliveries, and check undated events against its API."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Final, assert_never

import structlog

from patchwright.core.errors import (
    AuthenticationError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.forge import Forge
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import (
    ConsentRevoked,
    Ignored,
    InstallationChanged,
    ParsedWebhook,
    RepositoryMoved,
    UndatedNotice,
)
from patchwright.core.webhook import NotReadyError
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.auth import AppTokens
from patchwright.integrations.github.webhooks.reader import (
    GitHubReceiver,
    GitHubTriggerRules,
)
from patchwright.integrations.github.webhooks.triggers import SERVICE
from patchwright.integrations.retry import BackgroundLookup
from patchwright.workers.db.database import Database
from patchwright.workers.inbox.lifecycle_events import has_lost_access
from patchwright.workers.store.jobs import list_active_jobs

log = structlog.get_logger(__name__)


class GitHubReceiverLookup(BackgroundLookup[GitHubReceiver]):
    """Reads deliveries, once GitHub has told who we are there.

    The texts of an App are a bot's, which starts nothing, so that it listens at once.
    Those of a user must be told apart: until that is known, whoever delivers is asked
    to come again, and what it does not send again is fetched later.
    """

    def __init__(self, settings: GitHubSettings, github: GitHub) -> None:
        self._github = github
        unnamed = _receive_as(settings, None) if settings.app_id else None
        super().__init__(
            SERVICE, lambda: _receive_as(settings, github.fetch_identity()), unnamed
        )

    def read(self, headers: Mapping[str, str], body: bytes) -> ParsedWebhook:
        """Read a delivery; raises `NotReadyError` where it must be sent again."""
        return self.known().read(headers, body)

    def _follow(self) -> None:
        try:
            missing = self._github.fetch_missing()
        except ServiceError as error:
            log.warning("permissions_unknown", reason=error.reason, error=str(error))
            return
        for line in missing:
            log.warning("permission_missing", missing=line)


def _receive_as(github: GitHubSettings, own: Actor | None) -> GitHubReceiver:
    listening = GitHubTriggerRules(
        mention=github.mention, label=github.label, own_login=own.login if own else ""
    )
    return GitHubReceiver(github.webhook_secret, listening)


NO_LONGER_TRUE: Final = Ignored(reason="no-longer-so")


@dataclass(frozen=True)
class EventConfirmation:
    """Asks GitHub, with its App if there is one.

    `consents` tells whether somebody lets us act in their name. Each call takes its
    time, and raises `NotReadyError` where GitHub does not answer: such a delivery is
    fetched later. Whom GitHub does not know any more has lost what there was to lose.
    """

    app: AppTokens | None
    forge: Forge
    database: Database
    consents: Callable[[Actor], bool]

    def confirm(self, notice: UndatedNotice) -> UndatedNotice | Ignored:
        """Return what is left of a notice."""
        try:
            match notice:
                case InstallationChanged():
                    return self._installation(notice)
                case RepositoryMoved():
                    return self._move(notice)
                case ConsentRevoked():
                    return NO_LONGER_TRUE if self.consents(notice.person) else notice
                case _:
                    assert_never(notice)
        except AuthenticationError:
            return notice
        except ServiceError as error:
            log.warning("notice_not_confirmed", reason=error.reason, error=str(error))
            raise NotReadyError(f"GitHub cannot be asked: {error}") from error

    def _installation(self, notice: InstallationChanged) -> UndatedNotice | Ignored:
        """Ask only about what a job of ours needs; of the rest nothing is known."""
        if self.app is None:
            return notice
        with self.database.reading() as connection:
            jobs = [
                one
                for one in list_active_jobs(connection)
                if has_lost_access(notice, one)
            ]
        if not jobs:
            return notice
        if notice.gone:
            return (
                NO_LONGER_TRUE if self.app.is_installed(notice.installation) else notice
            )
        needed = {one.trigger.place for one in jobs}
        lost = tuple(
            repo
            for repo in notice.repos
            if repo in needed and not self.app.reaches(notice.installation, repo)
        )
        if not lost:
            return NO_LONGER_TRUE
        return InstallationChanged(
            installation=notice.installation, gone=False, repos=lost
        )

    def _move(self, notice: RepositoryMoved) -> UndatedNotice | Ignored:
        """Heed no move of a repository that has its old name again."""
        try:
            found = self.forge.fetch_repository(notice.old)
        except (NotFoundError, PermissionDeniedError):
            return notice
        is_back = found.ref == notice.old and found.id == notice.id
        return NO_LONGER_TRUE if is_back else notice
