"""Sandboxes of both kinds, started once; each test gets shell sessions of its own."""

import tarfile
from collections.abc import Iterator
from io import BytesIO

import docker
import pytest

from patchwright.core.runtime import Runtime, RuntimeFactory, SandboxSpec
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import RandomIds
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from patchwright.sandbox.local.runtimes import BubblewrapRuntimes
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.outside import (
    Outside,
    fill,
    in_a_container,
    on_this_machine,
)

KINDS = ("docker", "bubblewrap")
_EMPTY_IMAGE = "patchwright-empty:test"
SPEC = SandboxSpec(run_id="", memory="512m", command_timeout_s=20)


@pytest.fixture(scope="session")
def docker_runtimes(sandbox_image: str) -> Iterator[DockerRuntimes]:
    runtimes = DockerRuntimes(engine.connect(), SystemClock(), sandbox_image)
    yield runtimes
    runtimes.close()


@pytest.fixture(scope="session")
def bubblewrap_runtimes() -> BubblewrapRuntimes:
    return BubblewrapRuntimes()


@pytest.fixture(scope="session", params=KINDS)
def factory(request: pytest.FixtureRequest) -> RuntimeFactory:
    runtimes: RuntimeFactory = request.getfixturevalue(f"{request.param}_runtimes")
    return runtimes


@pytest.fixture
def spec() -> SandboxSpec:
    return SPEC.replace(run_id=RandomIds().new())


@pytest.fixture(scope="session")
def shared_runtime(factory: RuntimeFactory) -> Iterator[Runtime]:
    spec = SPEC.replace(run_id=RandomIds().new())
    runtime = factory.start(spec)
    yield runtime
    runtime.close()


@pytest.fixture
def box(shared_runtime: Runtime) -> Box:
    return Box(shared_runtime)


@pytest.fixture
def fresh(factory: RuntimeFactory, spec: SandboxSpec) -> Iterator[Box]:
    runtime = factory.start(spec)
    yield Box(runtime)
    runtime.close()


@pytest.fixture
def client(
    docker_engine: None,  # noqa: ARG001 - it has to run
) -> Iterator[docker.DockerClient]:
    connected = engine.connect()
    yield connected
    connected.close()


@pytest.fixture
def empty_image(client: docker.DockerClient) -> Iterator[str]:
    content = BytesIO()
    with tarfile.open(fileobj=content, mode="w") as tar:
        tar.addfile(tarfile.TarInfo("nothing"))
    name, tag = _EMPTY_IMAGE.split(":")
    client.api.import_image_from_data(content.getvalue(), repository=name, tag=tag)
    yield _EMPTY_IMAGE
    client.images.remove(_EMPTY_IMAGE)


@pytest.fixture(scope="session")
def outside(
    factory: RuntimeFactory,
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
) -> Iterator[Outside]:
    folder = tmp_path_factory.mktemp("outside") / "files"
    folder.mkdir()
    fill(folder)
    if factory.kind != "docker":
        with on_this_machine(folder) as served:
            yield served
        return
    client = engine.connect()
    image = request.getfixturevalue("sandbox_image")
    with in_a_container(client, image, folder) as served:
        yield served
    client.close()
