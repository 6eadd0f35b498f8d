"""The running servers around a world: the site itself, and its host for files."""

from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Server, Wire
from tests.fakes.jira.contract import Contract
from tests.fakes.jira.dispatch import Dispatch
from tests.fakes.jira.files import serve_media
from tests.fakes.jira.state import Way, World

# A data center is often one of several things on a host.
CONTEXT_PATH = "/jira"
_WAYS = (
    Way(id="11", name="Start progress", sources=("To Do",), target="In Progress"),
    Way(id="21", name="Review", sources=("In Progress",), target="In Review"),
    Way(id="31", name="Close", sources=(), target="Done"),
)


class Site:
    """Listens from the start, answers within its `with` block."""

    def __init__(
        self, *, cloud: bool, port: int, name: str, clock: Clock, ids: Ids
    ) -> None:
        self._server = Server(self._respond, port)
        self.address = self._server.address
        self._media = Server(self._respond_media)
        prefix = "" if cloud else CONTEXT_PATH
        self.world = World(
            clock=clock,
            ids=ids,
            base_url=f"{name or self._server.url}{prefix}",
            media_url=self._media.url,
            is_cloud=cloud,
            ways=list(_WAYS),
        )
        self._contract = Contract()
        self.dispatch = Dispatch(
            world=self.world, prefix=prefix, contract=self._contract
        )

    def __enter__(self) -> Self:
        self._server.__enter__()
        self._media.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._media.__exit__(kind, problem, trace)
        self._server.__exit__(kind, problem, trace)
        if problem is None:
            self._contract.check()

    def _respond(self, request: Request) -> Wire:
        return self.dispatch.respond(request)

    def _respond_media(self, request: Request) -> Wire:
        return serve_media(self.world, request)
