"""A published server as it is on PyPI: put into a sandbox, or served over HTTP."""

import io
import socket
import subprocess
import sys
import tarfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from patchwright.core.events.actions import RunCommand
from patchwright.core.events.observations import CommandOutput
from patchwright.core.runtime import Runtime
from patchwright.core.types.base import RandomIds
from tests.provision.waiting import wait_until
from tests.provision.wheels import fetch_wheels, unpack_wheels

SITE = "/workspace/site"
IN_SANDBOX: dict[str, Any] = {
    "command": ["python3", "-m", "mcp_server_time", "--local-timezone", "UTC"],
    "env": {"PYTHONPATH": SITE},
}
QUESTION = {
    "source_timezone": "Asia/Tokyo",
    "time": "16:30",
    "target_timezone": "Asia/Kolkata",
}
# Neither zone has had summer time for seventy years.
ANSWER = 'T13:00:00+05:30"'
_UNPACK = f"""\
import glob, tarfile, zipfile
tarfile.open("/workspace/wheels.tar").extractall("/workspace/wheels")
for wheel in glob.glob("/workspace/wheels/*.whl"):
    zipfile.ZipFile(wheel).extractall("{SITE}")
"""
_SERVE = """\
import sys
from mcp_server_time.server import create_server
create_server("UTC").run("streamable-http", host="127.0.0.1", port=int(sys.argv[1]))
"""


def install(runtime: Runtime) -> None:
    """Put the server and all it needs into a sandbox, which has no network."""
    version = "import sys; print('%d.%d' % sys.version_info[:2])"
    python = _run(runtime, f'python3 -c "{version}"').strip()
    runtime.upload("/workspace/wheels.tar", _tar(fetch_wheels(python)))
    runtime.upload("/workspace/unpack.py", _UNPACK.encode())
    _run(runtime, "python3 /workspace/unpack.py")


@contextmanager
def serving(site: Path) -> Iterator[str]:
    """Run the server as a process that speaks HTTP on loopback; yield its address."""
    unpack_wheels(site)
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    argv = ["env", f"PYTHONPATH={site}", sys.executable, "-c", _SERVE, str(port)]
    with subprocess.Popen(argv, stderr=subprocess.DEVNULL) as process:
        try:
            wait_until(lambda: _listens(port), "the MCP server", 60)
            yield f"http://127.0.0.1:{port}/mcp"
        finally:
            process.terminate()


def _run(runtime: Runtime, command: str) -> str:
    action = RunCommand(command=command, session="provision")
    output = runtime.run(action, RandomIds().new())
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
