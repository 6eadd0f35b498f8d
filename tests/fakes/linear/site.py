"""The running server around a world: API, sign-in, files and pages on one address."""

from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids
from tests.fakes.github.exchange import Request
from tests.fakes.github.server import Server, Wire
from tests.fakes.linear.contract import Contract
from tests.fakes.linear.dispatch import Dispatch
from tests.fakes.linear.graphql import GraphQL
from tests.fakes.linear.state import World


class Site:
    """Listens from the start, answers within its `with` block."""

    def __init__(self, *, port: int, name: str, clock: Clock, ids: Ids) -> None:
        self._server = Server(self._respond, port)
        self.address = self._server.address
        self.world = World(clock=clock, ids=ids, url=name or self._server.url)
        self._contract = Contract()
        self.graphql = GraphQL(world=self.world, contract=self._contract)
        self.dispatch = Dispatch(world=self.world, graphql=self.graphql)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._server.__exit__(kind, problem, trace)
        if problem is None:
            self._contract.check(self.world)

    def _respond(self, request: Request) -> Wire:
        return self.dispatch.respond(request)
