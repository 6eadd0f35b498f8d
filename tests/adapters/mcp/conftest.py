"""A sandbox for the servers of all tests here."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.types.base import RandomIds
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes
from tests.adapters.mcp.serving import PROGRAM
from tests.fakes.mcp import program


@pytest.fixture(scope="session")
def sandbox() -> Iterator[Runtime]:
    runtime = BubblewrapRuntimes().start(SandboxSpec(run_id=RandomIds().new()))
    runtime.upload(PROGRAM, Path(program.__file__).read_bytes())
    yield runtime
    runtime.close()
