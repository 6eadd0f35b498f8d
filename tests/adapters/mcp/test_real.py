"""A published server does its work: in the sandbox, and as a service of its own."""

import io
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from patchwright.core.clock import SystemClock
from patchwright.core.events.types import CommandOutput, RunCommand
from patchwright.core.runtime import Runtime, SandboxSpec
from patchwright.core.settings.mcp import McpSettings
from patchwright.core.settings.model import Settings
from patchwright.core.types.ids import RandomIds
from patchwright.integrations.mcp.opening import open_servers
from patchwright.integrations.mcp.running import RunningServers
from patchwright.sandbox.docker import engine
from patchwright.sandbox.docker.runtimes import DockerRuntimes
from tests.adapters.mcp.serving import names, result, running
from tests.provision.waiting import wait_until
from tests.provision.wheels import fetch_wheels, unpack_wheels

pytestmark = [pytest.mark.real, pytest.mark.timeout(240)]

SITE = "/workspace/site"
UNPACK = f"""\
import glob, tarfile, zipfile
tarfile.open("/workspace/wheels.tar").extractall("/workspace/wheels")
for wheel in glob.glob("/workspace/wheels/*.whl"):
    zipfile.ZipFile(wheel).extractall("{SITE}")
"""
SERVE = """\
import sys
from mcp_server_time.server import create_server
create_server("UTC").run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""
QUESTION = {
    "source_timezone": "Asia/Tokyo",
    "time": "16:30",
    "target_timezone": "Asia/Kolkata",
}


@pytest.fixture(scope="module")
def container(sandbox_image: str) -> Iterator[Runtime]:
    """Run a sandbox without a network that has the server and all it needs."""
    runtimes = DockerRuntimes(engine.connect(), SystemClock(), sandbox_image)
    with closing(runtimes), closing(runtimes.start(_spec())) as runtime:
        version = "import sys; print('%d.%d' % sys.version_info[:2])"
        python = _run(runtime, f'python3 -c "{version}"').strip()
        runtime.upload("/workspace/wheels.tar", _tar(fetch_wheels(python)))
        runtime.upload("/workspace/unpack.py", UNPACK.encode())
        _run(runtime, "python3 /workspace/unpack.py")
        yield runtime


@pytest.fixture(scope="module")
def address(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """Run the server as a process that speaks HTTP on loopback."""
    site = tmp_path_factory.mktemp("site")
    unpack_wheels(site)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    argv = ["env", f"PYTHONPATH={site}", sys.executable, "-c", SERVE, str(port)]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _listens(port), "the MCP server", 60)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def test_a_published_server_answers_from_within_the_sandbox(
    container: Runtime, tmp_path: Path
) -> None:
    command = ["python3", "-m", "mcp_server_time", "--local-timezone", "UTC"]
    table = {"command": command, "env": {"PYTHONPATH": SITE}}
    settings = Settings.model_validate(
        {
            "state_dir": tmp_path,
            "database": {"url": "sqlite://"},
            "mcp": McpSettings.model_validate({"servers": {"time": table}}),
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
    # Neither zone has had summer time for seventy years.
    assert 'T13:00:00+05:30"' in answer.text
    assert '"time_difference": "-3.5h"' in answer.text

    wrong = {**QUESTION, "time": "25:00"}
    refused = result(servers, "convert_time", server="time", **wrong)
    assert refused.failed
    assert "Invalid time format" in refused.text


def _spec() -> SandboxSpec:
    return SandboxSpec(run_id=RandomIds().new(), memory="1g")


def _run(runtime: Runtime, command: str) -> str:
    output = runtime.run(RunCommand(command=command), RandomIds().new())
    assert isinstance(output, CommandOutput), output
    assert output.exit_code == 0, output
    return output.output


def _tar(folder: Path) -> bytes:
    packed = io.BytesIO()
    with tarfile.open(fileobj=packed, mode="w") as tar:
        tar.add(folder, arcname=".")
    return packed.getvalue()


def _listens(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False
