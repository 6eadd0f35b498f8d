"""The API of a process, put together from the parts of its web side."""

from collections.abc import Callable, Iterator
from concurrent.futures import Future
from dataclasses import dataclass
from datetime import timedelta
from functools import cached_property
from typing import Final

from fastapi import FastAPI

from patchwright.core.plugin import ServiceProfile
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import Clock
from patchwright.core.text.redaction import Redactor
from patchwright.core.types.base import JobId, RandomIds
from patchwright.core.webhook import Delivery, InboxResult
from patchwright.workers.api.conversations import (
    VisibleConversations,
    conversation_operations,
)
from patchwright.workers.api.installation import Installation, installation_operations
from patchwright.workers.api.operations import (
    AnyOperation,
    ApiAccess,
    add_operation,
)
from patchwright.workers.api.problems import add_api_errors
from patchwright.workers.api.reference import ApiReference, add_reference
from patchwright.workers.api.requests import RequestWriter, request_operations
from patchwright.workers.api.runs import VisibleRuns, run_operations
from patchwright.workers.api.streams import EventFeed, add_event_streams
from patchwright.workers.db.database import Database
from patchwright.workers.runs.administration import ServiceRuns
from patchwright.workers.runs.commands import CommandOrigin, RunCommands
from patchwright.workers.runs.listing import RunListing
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.store.run_store import Stores
from patchwright.workers.web.frame import Site
from patchwright.workers.web.rate_limit import AttemptLimit
from patchwright.workers.web.run_access import RunAccess

_MINUTE: Final = timedelta(minutes=1)


@dataclass(frozen=True)
class Api:
    """The API; `submit` stores a delivery, and `dispatch` hands a job to the queue.

    `wrong_tokens` are counted where `access` recognizes people.
    """

    settings: Settings
    database: Database
    stores: Stores
    redactor: Redactor
    forge: ServiceProfile
    clock: Clock
    access: RunAccess
    site: Site
    submit: Callable[[Delivery], "Future[InboxResult]"]
    dispatch: Callable[[JobId], None]
    wrong_tokens: AttemptLimit | None = None

    def add_to(self, app: FastAPI) -> None:
        """Add it to an application that has its pages for errors."""
        operations = tuple(self._operations())
        for one in operations:
            add_operation(app, self._caller, one)
        add_event_streams(app, self.feed)
        add_reference(app, ApiReference(operations, self._caller, self.site))
        add_api_errors(app)

    @cached_property
    def feed(self) -> EventFeed:
        return EventFeed(self._conversations, self._caller, self.clock)

    @cached_property
    def _caller(self) -> ApiAccess:
        server = self.settings.server
        most = server.api_requests_per_minute
        requests = AttemptLimit(self.clock, most, _MINUTE) if most else None
        return ApiAccess(
            self.access.find_principal, server.public_url, requests, self.wrong_tokens
        )

    def _operations(self) -> Iterator[AnyOperation]:
        yield from conversation_operations(self._conversations)
        yield from request_operations(self._writer())
        yield from run_operations(self._runs)
        installation = Installation(
            self.database, self.settings, self.redactor, self.access, self.clock
        )
        yield from installation_operations(installation)

    @cached_property
    def _reader(self) -> RunReader:
        stores = self.stores
        return RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)

    @cached_property
    def _runs(self) -> VisibleRuns:
        return VisibleRuns(
            self.database,
            self._reader,
            RunListing(self.database, self._reader),
            self.access,
        )

    @cached_property
    def _conversations(self) -> VisibleConversations:
        service = ServiceRuns(
            self.settings, self.database, self._reader, self.stores.events, self.clock
        )
        return VisibleConversations(
            self._runs, service, self.stores.threads, self.redactor
        )

    def _writer(self) -> RequestWriter:
        commands = RunCommands(
            origin=CommandOrigin.API,
            database=self.database,
            events=self.stores.events,
            clock=self.clock,
            submit=self.submit,
            dispatch=self.dispatch,
        )
        return RequestWriter(
            conversations=self._conversations,
            commands=commands,
            submit=self.submit,
            may_read=self.access.may_read,
            find_conversation=self.stores.threads.conversation_of,
            forge=self.forge,
            clock=self.clock,
            ids=RandomIds(),
        )
