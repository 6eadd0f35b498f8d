"""A published server does its work: in the sandbox, and as a service of its own."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.settings.mcp import McpSettings
from patchwright.core.settings.model import Settings
from patchwright.core.system.clock import SystemClock
from patchwright.core.types.base import RandomIds
from patchwright.integrations.mcp.launcher import open_servers
from patchwright.integrations.mcp.servers import RunningServers
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from tests.adapters.mcp.published import (
    ANSWER,
    IN_SANDBOX,
    QUESTION,
    install,
    serving,
)
from tests.adapters.mcp.serving import names, result, running

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]


@pytest.fixture(scope="module")
def container(sandbox_image: str) -> Iterator[Runtime]:
    """Run a sandbox without a network that has the server and all it needs."""
    runtimes = DockerRuntimes(engine.connect(), SystemClock(), sandbox_image)
    spec = SandboxSpec(run_id=RandomIds().new(), memory="1g")
    with closing(runtimes), closing(runtimes.start(spec)) as runtime:
        install(runtime)
        yield runtime


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with serving(tmp_path_factory.mktemp("site")) as url:
        yield url


def test_a_published_server_answers_from_within_the_sandbox(
    container: Runtime, tmp_path: Path
) -> None:
    settings = Settings.model_validate(
        {
            "state_dir": tmp_path,
            "database": {"url": "sqlite://"},
            "mcp": McpSettings.model_validate({"servers": {"time": IN_SANDBOX}}),
        }
    )
    with closing(open_servers(settings, container)) as servers:
        assert isinstance(servers, RunningServers)
        _check(servers)


def test_a_published_server_answers_over_http(sandbox: Runtime, address: str) -> None:
    with running(sandbox, time={"url": address}) as servers:
        _check(servers)


def _check(servers: RunningServers) -> None:
    assert servers.faults() == ()
    assert names(servers) == ["time__get_current_time", "time__convert_time"]
    convert = servers.tools()[1]
    assert convert.description == "Convert time between timezones"
    required = convert.parameters["required"]
    assert required == ["source_timezone", "time", "target_timezone"]

    answer = result(servers, "convert_time", server="time", **QUESTION)
    assert not answer.failed
    assert ANSWER in answer.text
    assert '"time_difference": "-3.5h"' in answer.text

    wrong = {**QUESTION, "time": "25:00"}
    refused = result(servers, "convert_time", server="time", **wrong)
    assert refused.failed
    assert "Invalid time format" in refused.text
