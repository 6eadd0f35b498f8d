"""PyGithub and git as programs use them, pointed at the fake."""

import subprocess
from collections.abc import Iterator
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path

from github import Auth, Github, GithubIntegration

from tests.fakes.github import bare
from tests.fakes.github.fake import FakeGitHub


@contextmanager
def pygithub(github: FakeGitHub, token: str) -> Iterator[Github]:
    """Yield a client that neither waits between calls nor tries any twice."""
    client = Github(
        auth=Auth.Token(token),
        base_url=github.api_url,
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    with closing(client):
        yield client


@contextmanager
def integration(
    github: FakeGitHub, app_id: int, private_key: str
) -> Iterator[GithubIntegration]:
    """Yield a client that speaks as an App."""
    client = GithubIntegration(
        auth=Auth.AppAuth(app_id, private_key),
        base_url=github.api_url,
        retry=None,
        seconds_between_requests=0,
        seconds_between_writes=0,
    )
    with closing(client):
        yield client


def git_url(github: FakeGitHub, full_name: str, token: str) -> str:
    host = github.web_url.partition("://")[2]
    return f"http://x-access-token:{token}@{host}/{full_name}.git"


@dataclass(frozen=True)
class Clone:
    """A working copy, and git's last words where a command of it failed."""

    folder: Path

    @classmethod
    def of(cls, url: str, folder: Path) -> "Clone":
        bare.git(folder.parent, "clone", "--quiet", url, str(folder))
        return cls(folder)

    def run(self, *args: str) -> str:
        return bare.git(self.folder, *args).decode().strip()

    def failure(self, *args: str) -> str:
        """Run what must fail and return what git says to it."""
        try:
            said = self.run(*args)
        except subprocess.CalledProcessError as problem:
            return str(problem.stderr.decode())
        raise AssertionError(f"git {args[0]} succeeded: {said}")

    def commit(self, path: str, content: str, *, branch: str) -> str:
        """Commit one file on a branch, new or the one at hand; return the commit."""
        self.run("checkout", "--quiet", "-B", branch)
        target = self.folder / path
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(content)
        self.run("add", "--all")
        who = ("-c", "user.name=Dev", "-c", "user.email=dev@example.test")
        self.run(*who, "commit", "--quiet", "-m", f"Change {path}")
        return self.run("rev-parse", "HEAD")
