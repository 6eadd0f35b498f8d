"""python-gitlab as programs use it, pointed at the fake."""

import json
import urllib.error
import urllib.request
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import gitlab

from tests.fakes.gitlab.fake import FakeGitLab


def python_gitlab(fake: FakeGitLab, token: str) -> gitlab.Gitlab:
    """Return a client that tries nothing twice."""
    return gitlab.Gitlab(
        fake.base_url, private_token=token, retry_transient_errors=False
    )


def git_url(fake: FakeGitLab, path: str, token: str = "", user: str = "oauth2") -> str:
    """Return the address of a project for git, with a credential where there is one."""
    if not token:
        return f"{fake.base_url}/{path}.git"
    scheme, _, rest = fake.base_url.partition("://")
    return f"{scheme}://{user}:{token}@{rest}/{path}.git"


@dataclass(frozen=True)
class Said:
    """An answer as it came; `body` is what its JSON says, or its bytes."""

    status: int
    headers: Mapping[str, str]
    body: Any


@dataclass(frozen=True)
class Caller:
    """Asks without any library, and follows no redirect."""

    fake: FakeGitLab
    token: str = ""
    headers: Mapping[str, str] = field(default_factory=dict)

    def ask(self, method: str, path: str, body: object = None) -> Said:
        """Ask the API, `path` being what comes after `/api/v4`."""
        return self.fetch(method, f"{self.fake.base_url}/api/v4{path}", body)

    def fetch(self, method: str, url: str, body: object = None) -> Said:
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data=data, method=method)
        request.add_header("Content-Type", "application/json")
        if self.token:
            request.add_header("PRIVATE-TOKEN", self.token)
        for name, value in self.headers.items():
            request.add_header(name, value)
        try:
            with _OPENER.open(request) as answer:
                return _said(answer.status, dict(answer.headers), answer.read())
        except urllib.error.HTTPError as problem:
            return _said(problem.code, dict(problem.headers), problem.read())


class _StayHere(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_: object) -> None:
        """Leave it to the caller to go elsewhere."""


_OPENER = urllib.request.build_opener(_StayHere)


def _said(status: int, headers: Mapping[str, str], data: bytes) -> Said:
    try:
        body = json.loads(data)
    except ValueError:
        body = data
    return Said(status, headers, body)
