"""Check undated notices of GitHub against its API."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final, assert_never

import structlog

from patchwright.core.forge import Forge
from patchwright.core.types.errors import (
    AuthenticationError,
    NotFoundError,
    PermissionDeniedError,
    ServiceError,
)
from patchwright.core.types.people import Actor
from patchwright.core.types.threads import RepoRef
from patchwright.core.types.triggers import (
    ConsentRevoked,
    Ignored,
    InstallationChanged,
    RepositoryMoved,
    UndatedNotice,
)
from patchwright.core.webhook import NotReadyError
from patchwright.integrations.github.auth import AppTokens

FindAffected = Callable[[InstallationChanged], frozenset[RepoRef | None]]

log = structlog.get_logger(__name__)

NO_LONGER_TRUE: Final = Ignored(reason="no-longer-so")


@dataclass(frozen=True)
class EventConfirmation:
    """Asks GitHub, with its App if there is one.

    `find_affected` returns where runs are at work that an installation's end would
    stop, and `consents` tells whether somebody lets us act in their name. Each call
    takes its time, and raises `NotReadyError` where GitHub does not answer: such a
    delivery is fetched later. Whom GitHub does not know any more has lost what there
    was to lose.
    """

    app: AppTokens | None
    forge: Forge
    find_affected: FindAffected
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
            raise NotReadyError(f"GitHub did not answer: {error}") from error

    def _installation(self, notice: InstallationChanged) -> UndatedNotice | Ignored:
        """Ask only about what a job of ours needs; of the rest nothing is known."""
        if self.app is None:
            return notice
        needed = self.find_affected(notice)
        if not needed:
            return notice
        if notice.gone:
            return (
                NO_LONGER_TRUE if self.app.is_installed(notice.installation) else notice
            )
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
        """Ignore the rename of a repository that has its old name again."""
        try:
            found = self.forge.fetch_repository(notice.old)
        except (NotFoundError, PermissionDeniedError):
            return notice
        is_back = found.ref == notice.old and found.id == notice.id
        return NO_LONGER_TRUE if is_back else notice
