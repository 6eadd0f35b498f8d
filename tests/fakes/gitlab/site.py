"""The running server around a world: addresses, TLS, log, failures, contract."""

import contextlib
import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids
from tests.fakes.github.exchange import Request
from tests.fakes.github.faults import Faults
from tests.fakes.github.server import Server, Wire
from tests.fakes.gitlab.contract import Contract
from tests.fakes.gitlab.dispatch import Dispatch
from tests.fakes.gitlab.state import World
from tests.fakes.tls import Authority, tls_before


@dataclass(frozen=True)
class Place:
    """Where a server listens: below `prefix`, over TLS where it has an authority.

    `name` is what it calls itself where others bring its clients to it.
    """

    prefix: str = ""
    port: int = 0
    host: str = "127.0.0.1"
    authority: Authority | None = None
    name: str = ""


class Site:
    """Listens from the start, answers within its `with` block, leaves nothing."""

    def __init__(self, place: Place, clock: Clock, ids: Ids) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fake-gitlab-")
        self._around = contextlib.ExitStack()
        self._server = Server(self._respond, place.port, place.host)
        self.address = self._server.address
        url = place.name or self._server.url
        if place.authority is not None:
            # It speaks from now on, or nobody would know by what port.
            url = self._around.enter_context(tls_before(self.address, place.authority))
        self.world = World(
            clock=clock,
            ids=ids,
            folder=Path(self._folder.name),
            base_url=f"{url}{place.prefix}",
        )
        self.faults = Faults()
        self.contract = Contract()
        self.dispatch = Dispatch(
            world=self.world, faults=self.faults, watch=self.contract.note
        )

    def _respond(self, request: Request) -> Wire:
        return self.dispatch.respond(request)

    def __enter__(self) -> Self:
        self._server.__enter__()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        problem: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        with self._folder, self._around:
            self._server.__exit__(kind, problem, trace)
        if problem is None:
            self.contract.check()
