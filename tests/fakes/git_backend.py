"""Git's own `http-backend`, which serves the bare repositories of a fake forge.

https://git-scm.com/docs/git-http-backend
"""

import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from tests.fakes.github import bare
from tests.fakes.github.exchange import Request


@dataclass(frozen=True)
class Asked:
    """Which repository below `root` is asked for what, and by whom.

    `rules` are what the guard of the repository reads, as environment variables.
    """

    root: Path
    repository: Path
    service: str
    pusher: str
    rules: Mapping[str, str]


def run_backend(asked: Asked, request: Request) -> tuple[int, dict[str, str], bytes]:
    """Let git answer; return status, headers and body."""
    folder = asked.repository.relative_to(asked.root)
    query = "&".join(f"{name}={value}" for name, value in request.query.items())
    environment = {
        **bare.git_environment(),
        "GIT_PROJECT_ROOT": str(asked.root),
        "GIT_HTTP_EXPORT_ALL": "1",
        "PATH_INFO": f"/{folder}/{asked.service}",
        "QUERY_STRING": query,
        "REQUEST_METHOD": request.method,
        "REMOTE_ADDR": "127.0.0.1",
        "CONTENT_TYPE": request.headers.get("content-type", ""),
        "CONTENT_LENGTH": str(len(request.body)),
        "HTTP_CONTENT_ENCODING": request.headers.get("content-encoding", ""),
        "GIT_PROTOCOL": request.headers.get("git-protocol", ""),
        **asked.rules,
    }
    if asked.pusher:
        # This name is what makes the backend accept a push at all.
        environment["REMOTE_USER"] = asked.pusher
    done = subprocess.run(
        [_backend()],
        input=request.body,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        check=True,
        env=environment,
    )
    return _read_cgi(done.stdout)


def _read_cgi(output: bytes) -> tuple[int, dict[str, str], bytes]:
    head, _, body = output.partition(b"\r\n\r\n")
    lines = [line.partition(": ") for line in head.decode().split("\r\n")]
    headers = {name: value for name, _, value in lines}
    status = int(headers.pop("Status", "200").split(" ")[0])
    return status, headers, body


@cache
def _backend() -> str:
    folder = bare.git(Path("/"), "--exec-path").decode().strip()
    return str(Path(folder, "git-http-backend"))
