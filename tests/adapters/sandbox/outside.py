"""A web server outside of all sandboxes, where those of a kind could reach it."""

import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import NamedTuple

import docker

from patchwright.core.runtime import SandboxSpec
from patchwright.core.security.hosts import read_domain
from tests.adapters.sandbox.box import Box

PORT = 8080
# Not the address that programs in a sandbox take for their own.
LOOPBACK = "127.0.0.2"
FETCH = (
    "python3 -c 'import sys, urllib.request as u; print(u.urlopen(sys.argv[1]).read())'"
)


class Outside(NamedTuple):
    """Serves a page `/hello.txt`, and a git repository at `/code.git`."""

    host: str
    port: int

    def url(self, path: str = "/hello.txt") -> str:
        return f"http://{self.host}:{self.port}{path}"

    def opened_in(self, spec: SandboxSpec) -> SandboxSpec:
        """Return a sandbox that may reach this server."""
        listed = read_domain(f"{self.host}:{self.port}")
        return spec.replace(domains=(listed,))


def fetch(box: Box, url: str) -> str:
    return box.sh(f"{FETCH} '{url}' 2>&1 | tail -n 1").output


def fill(folder: Path) -> None:
    (folder / "hello.txt").write_text("hello from outside\n")
    work, code = folder / "work", folder / "code.git"
    _git("init", "--quiet", str(work))
    who = ["-c", "user.name=a", "-c", "user.email=a@example.test"]
    _git(*who, "-C", str(work), "commit", "--quiet", "--allow-empty", "-m", "first")
    _git("clone", "--quiet", "--bare", str(work), str(code))
    # For those who read it as plain files.
    _git("-C", str(code), "update-server-info")


def _git(*words: str) -> None:
    subprocess.run(["git", *words], check=True, capture_output=True)


class _Silent(SimpleHTTPRequestHandler):
    def log_message(self, *words: object) -> None:
        """Say nothing."""


@contextmanager
def on_this_machine(folder: Path) -> Iterator[Outside]:
    handler = partial(_Silent, directory=str(folder))
    with ThreadingHTTPServer((LOOPBACK, 0), handler) as server:
        thread = threading.Thread(target=partial(server.serve_forever, 0.02))
        thread.start()
        yield Outside(LOOPBACK, server.server_port)
        server.shutdown()
        thread.join()


# Serves the tar that comes in, and says so.
_SERVE = f"""
import sys, tarfile
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
tarfile.open("/srv/files.tar").extractall("/tmp/files")
import os
os.chdir("/tmp/files")
server = ThreadingHTTPServer(("0.0.0.0", {PORT}), SimpleHTTPRequestHandler)
print("serving", flush=True)
server.serve_forever()
"""


@contextmanager
def in_a_container(
    client: docker.DockerClient, image: str, folder: Path
) -> Iterator[Outside]:
    """Run the server on the bridge to which containers are attached by default."""
    packed = folder.parent / "files.tar"
    _tar(folder, packed)
    outer = folder.parent / "outer.tar"
    _tar(packed, outer)
    container = client.containers.create(
        image, entrypoint=["python3", "-c", _SERVE], auto_remove=True
    )
    try:
        container.put_archive("/srv", outer.read_bytes())
        lines = container.attach(stream=True, logs=True)
        container.start()
        assert next(lines) == b"serving\n"
        container.reload()
        networks = container.attrs["NetworkSettings"]["Networks"]
        yield Outside(networks["bridge"]["IPAddress"], PORT)
    finally:
        container.remove(force=True)


def _tar(source: Path, packed: Path) -> None:
    where, what = (source, ".") if source.is_dir() else (source.parent, source.name)
    command = ["tar", "-cf", str(packed), "-C", str(where), what]
    subprocess.run(command, check=True, capture_output=True)
