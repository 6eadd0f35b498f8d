"""The API of a process, put together from the parts of its web side."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property

from fastapi import FastAPI

from patchwright.core.types.base import JobId, RandomIds
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
from patchwright.workers.compose import ServiceParts
from patchwright.workers.inbox.inbox import Inbox
from patchwright.workers.runs.administration import ServiceRuns
from patchwright.workers.runs.commands import CommandOrigin, RunCommands
from patchwright.workers.runs.reader import RunReader
from patchwright.workers.web.pages.access import RunAccess
from patchwright.workers.web.site.frame import Site


@dataclass(frozen=True)
class Api:
    """The API; `dispatch` hands a job to the queue."""

    base: ServiceParts
    access: RunAccess
    site: Site
    inbox: Inbox
    dispatch: Callable[[JobId], None]

    def add_to(self, app: FastAPI) -> None:
        """Add it to an application that has its pages for errors."""
        caller = ApiAccess(
            self.access.find_principal, self.base.settings.server.public_url
        )
        operations = tuple(self._operations())
        for one in operations:
            add_operation(app, caller, one)
        add_event_streams(app, EventFeed(self._conversations, caller, self.base.clock))
        add_reference(app, ApiReference(operations, caller, self.site))
        add_api_errors(app)

    def _operations(self) -> Iterator[AnyOperation]:
        yield from conversation_operations(self._conversations)
        yield from request_operations(self._writer())
        yield from run_operations(self._runs)
        base = self.base
        installation = Installation(
            base.database, base.settings, base.redactor, self.access, base.clock
        )
        yield from installation_operations(installation)

    @cached_property
    def _reader(self) -> RunReader:
        stores = self.base.stores
        return RunReader(stores.jobs, stores.events, stores.outcomes, stores.effects)

    @cached_property
    def _runs(self) -> VisibleRuns:
        return VisibleRuns(self.base.database, self._reader, self.access)

    @cached_property
    def _conversations(self) -> VisibleConversations:
        base = self.base
        service = ServiceRuns(
            base.settings, base.database, self._reader, base.stores.events, base.clock
        )
        return VisibleConversations(
            self._runs, service, base.stores.threads, base.redactor
        )

    def _writer(self) -> RequestWriter:
        base = self.base
        commands = RunCommands(
            origin=CommandOrigin.API,
            database=base.database,
            events=base.stores.events,
            clock=base.clock,
            submit=self.inbox.submit,
            dispatch=self.dispatch,
        )
        return RequestWriter(
            conversations=self._conversations,
            commands=commands,
            submit=self.inbox.submit,
            may_read=self.access.may_read,
            find_conversation=base.stores.threads.conversation_of,
            forge=base.directory.forge,
            clock=base.clock,
            ids=RandomIds(),
        )
