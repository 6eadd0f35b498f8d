"""Listen to GitHub, also where it does not say yet who we are there."""

import threading
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Self

import structlog

from patchwright.core.errors import ServiceError
from patchwright.core.settings.github import GitHubSettings
from patchwright.core.types.triggers import Reading
from patchwright.integrations.github.adapter import GitHub
from patchwright.integrations.github.reading.listening import SERVICE
from patchwright.integrations.github.receiver import Receiver
from patchwright.integrations.github.webhook import Listening
from patchwright.workers.talk.trying import GRACE_S, keep_trying
from patchwright.workers.web.receiver import NotReadyError

log = structlog.get_logger(__name__)


class GitHubEar:
    """Asks in a thread of its own until it is answered; used as a context.

    The texts of an App are a bot's, which starts nothing, so that it listens at once.
    Those of a user must be told apart: until that is known, whoever delivers is asked
    to come again, and what it does not send again is fetched later.
    """

    def __init__(self, settings: GitHubSettings, github: GitHub) -> None:
        self._settings, self._github = settings, github
        self._receiver = self._receive_as("") if settings.app_id else None
        self._is_tried = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep_asking, name="github-ear", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_tried.wait(GRACE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(GRACE_S)

    @property
    def receiver(self) -> Receiver:
        """What reads deliveries; raises `NotReadyError`."""
        if self._receiver is None:
            raise NotReadyError("GitHub has not told yet who we are there")
        return self._receiver

    def _keep_asking(self) -> None:
        if keep_trying(SERVICE, self._ask, self._is_over):
            self._warn_of_missing()

    def _ask(self) -> None:
        try:
            own = self._github.fetch_identity()
            self._receiver = self._receive_as(own.login if own else "")
        finally:
            self._is_tried.set()

    def _receive_as(self, login: str) -> Receiver:
        github = self._settings
        listening = Listening(
            mention=github.mention, label=github.label, own_login=login
        )
        return Receiver(github.webhook_secret, listening)

    def _warn_of_missing(self) -> None:
        try:
            missing = self._github.fetch_missing()
        except ServiceError as error:
            log.warning("permissions_unknown", reason=error.reason, error=str(error))
            return
        for line in missing:
            log.warning("permission_missing", missing=line)


@dataclass(frozen=True)
class LateReceiver:
    """Refuses what comes too early, so that it is sent again."""

    ear: GitHubEar

    def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        return self.ear.receiver.read(headers, body)
