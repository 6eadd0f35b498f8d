"""Listen in Jira, but not before it has told who we are there."""

import threading
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Self

from pydantic import SecretStr

from patchwright.core.settings.jira import JiraSettings
from patchwright.core.types.people import Actor
from patchwright.core.types.triggers import Reading
from patchwright.integrations.jira.listening import SERVICE, Listening
from patchwright.integrations.jira.receiver import Receiver
from patchwright.workers.talk.trying import GRACE_S, keep_trying
from patchwright.workers.web.receiver import NotReadyError


class JiraEar:
    """Asks in a thread of its own until it is answered; used as a context.

    Whoever does not know their own name does not know their own words either, and might
    answer them for ever. A Jira that answers is heard from the beginning.
    """

    def __init__(
        self, settings: JiraSettings, fetch_identity: Callable[[], Actor]
    ) -> None:
        self._settings = settings
        self._fetch_identity = fetch_identity
        self._known: Listening | None = None
        self._is_tried = threading.Event()
        self._is_over = threading.Event()
        self._thread = threading.Thread(
            target=self._keep_asking, name="jira-ear", daemon=True
        )

    def __enter__(self) -> Self:
        self._thread.start()
        self._is_tried.wait(GRACE_S)
        return self

    def __exit__(self, *_: object) -> None:
        self._is_over.set()
        self._thread.join(GRACE_S)

    @property
    def is_ready(self) -> bool:
        return self._known is not None

    def listening(self) -> Listening:
        """Return what counts as asking; raises `NotReadyError`."""
        if self._known is None:
            raise NotReadyError("Jira has not told yet who we are there")
        return self._known

    def _keep_asking(self) -> None:
        keep_trying(SERVICE, self._ask, self._is_over)

    def _ask(self) -> None:
        try:
            own = self._fetch_identity()
            self._known = self._listening_as(own)
        finally:
            self._is_tried.set()

    def _listening_as(self, own: Actor) -> Listening:
        jira = self._settings
        return Listening(
            host=jira.host,
            projects=frozenset(jira.projects),
            mention=jira.mention,
            label=jira.label,
            own_ids=frozenset({own.external_id}),
        )


@dataclass(frozen=True)
class LateReceiver:
    """Refuses what comes too early, so that it is sent again."""

    secrets: Sequence[SecretStr]
    ear: JiraEar

    def read(self, headers: Mapping[str, str], body: bytes) -> Reading:
        return Receiver(self.secrets, self.ear.listening()).read(headers, body)
