"""The host that gives out single files of repositories, without a page around them."""

import re
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

from tests.fakes.github import bare
from tests.fakes.github.exchange import Request
from tests.fakes.github.fake import FakeGitHub
from tests.fakes.github.server import Server, Wire
from tests.tutorials.front import Address

ADDRESS = re.compile(r"/(?P<repo>[^/]+/[^/]+)/(?P<ref>[^/]+)/(?P<path>.+)")
TEXT = {"Content-Type": "text/plain; charset=utf-8"}


@contextmanager
def raw_files(github: FakeGitHub) -> Iterator[Address]:
    """Serve the public repositories of a GitHub."""
    with Server(lambda request: _respond(github, request)) as server:
        yield server.address


def _respond(github: FakeGitHub, request: Request) -> Wire:
    found = ADDRESS.fullmatch(request.path)
    if found is None or github.world.repo(found["repo"]).private:
        return Wire(404, TEXT, b"404: Not Found")
    folder = github.git_folder(found["repo"])
    try:
        content = bare.git(folder, "show", f"{found['ref']}:{found['path']}")
    except subprocess.CalledProcessError:
        return Wire(404, TEXT, b"404: Not Found")
    return Wire(200, TEXT, content)
