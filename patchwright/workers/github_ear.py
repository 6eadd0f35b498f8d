"""Listen to GitHub, also where it does not say yet who we are there."""

from collections.abc import Mapping

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import ParsedWebhook
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.integrations.github.receiver import GitHubReceiver
from patchwright.integrations.github.webhook import GitHubTriggerRules
from patchwright.workers.talk.trying import BackgroundLookup

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
