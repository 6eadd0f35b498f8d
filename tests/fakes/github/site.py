"""The running server around a world: addresses, log, failures, contract."""

import tempfile
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import Self

from patchwright.core.system.clock import Clock
from patchwright.core.types.base import Ids
from tests.fakes.github.contract import Contract, Journal
from tests.fakes.github.dispatch import ENTERPRISE_API, Dispatch
from tests.fakes.github.exchange import Request
from tests.fakes.github.faults import Faults
from tests.fakes.github.server import Server, Wire
from tests.fakes.github.state import World


@dataclass(frozen=True)
class Names:
    """What a GitHub calls itself in all that it says."""

    api_url: str
    web_url: str


class Site:
    """Listens from the start, answers within its `with` block, leaves nothing."""

    def __init__(
        self,
        *,
        enterprise: bool,
        port: int,
        host: str,
        names: Names | None,
        clock: Clock,
        ids: Ids,
        contract: Contract | None,
    ) -> None:
        self._folder = tempfile.TemporaryDirectory(prefix="fake-github-")
        self._server = Server(self._respond, port, host)
        self.address = self._server.address
        url = self._server.url
        names = names or Names(url + (ENTERPRISE_API if enterprise else ""), url)
        self.world = World(
            clock=clock,
            ids=ids,
            folder=Path(self._folder.name),
            api_url=names.api_url,
            web_url=names.web_url,
            enterprise=enterprise,
        )
        self.faults = Faults()
        self.journal = Journal(contract or Contract.from_corpus())
        self.dispatch = Dispatch(
            world=self.world, faults=self.faults, watch=self.journal.note
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
        with self._folder:
            self._server.__exit__(kind, problem, trace)
        if problem is None:
            self.journal.check()
