"""Fetching from and pushing to a repository elsewhere."""

import base64
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from patchwright.core.errors import (
    EmptyRepositoryError,
    GitError,
    NotFoundError,
    PushRefusedError,
)
from patchwright.core.forge import GitCredential
from patchwright.integrations.git.bundles import TRANSFER_TIMEOUT_S
from patchwright.integrations.git.command import GitResult
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.names import check_branch, check_ref
from patchwright.integrations.git.refusals import map_remote_error, map_push_error


@dataclass(frozen=True, slots=True)
class Remote:
    """Where a repository is, and what opens it.

    `environment` carries what the network needs and git reads from there, such as
    `GIT_SSL_CAINFO` and `https_proxy`.
    """

    url: str
    credential: GitCredential | None = None
    environment: Mapping[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        parts = urlsplit(self.url)
        if parts.scheme not in ("http", "https", "file"):
            raise GitError("a repository is cloned over https, http or file only")
        if "@" in parts.netloc:
            raise GitError("a clone URL must not carry a credential")

    def settings(self) -> dict[str, str]:
        """Return the configuration that shows the credential to this host alone."""
        if self.credential is None:
            return {}
        parts = urlsplit(self.url)
        key = f"http.{parts.scheme}://{parts.netloc}/.extraHeader"
        return {key: f"Authorization: Basic {self._basic()}"}

    def secrets(self) -> tuple[str, ...]:
        if self.credential is None:
            return ()
        return (self.credential.token.get_secret_value(), self._basic())

    def _basic(self) -> str:
        if self.credential is None:
            return ""
        token = self.credential.token.get_secret_value()
        return base64.b64encode(f"{self.credential.username}:{token}".encode()).decode()


def fetch_refs(store: GitDir, remote: Remote, refs: Sequence[str]) -> None:
    """Bring full refs such as `refs/heads/trunk` here, under the same names."""
    specs = [f"+{check_ref(ref)}:{ref}" for ref in refs]
    fetch = ["fetch", "--quiet", "--no-tags", "--no-write-fetch-head"]
    done = _run_remote(store, remote, [*fetch, "--no-recurse-submodules", remote.url, *specs])
    if done.exit_code == 0:
        return
    error = map_remote_error(done)
    if isinstance(error, NotFoundError) and _is_empty(store, remote):
        raise EmptyRepositoryError(
            "there is nothing to work on: the repository has no commit yet. "
            "Push a first one, then ask again"
        )
    raise error


def _is_empty(store: GitDir, remote: Remote) -> bool:
    """Tell whether the remote answers that it has no branch or tag at all."""
    done = _run_remote(store, remote, ["ls-remote", "--quiet", remote.url])
    return done.exit_code == 0 and not done.output.strip()


def _run_remote(store: GitDir, remote: Remote, args: Sequence[str]) -> GitResult:
    return store.call(
        args,
        settings=remote.settings(),
        environment=remote.environment,
        timeout_s=TRANSFER_TIMEOUT_S,
        secrets=remote.secrets(),
    )


@dataclass(frozen=True, slots=True)
class BranchUpdate:
    """Sets a branch to the commit `sha`, if it still is at `expect`.

    None for `expect` means that the branch must not exist yet. One that is at `sha`
    already is left alone, and so are `forbidden_branches`.
    """

    branch: str
    sha: str
    expect: str | None
    forbidden_branches: Collection[str]

    def ref(self) -> str:
        """Return the full ref of the branch, if it is ours: `PushRefusedError`."""
        ref = check_branch(self.branch)
        if self.branch in self.forbidden_branches:
            raise PushRefusedError(f"the branch {self.branch} is not ours to write")
        return ref


# Raises as `push_commit` does.
Push = Callable[[GitDir, Remote, BranchUpdate], None]


def push_commit(store: GitDir, remote: Remote, update: BranchUpdate) -> None:
    """Push one commit to one branch.

    Raises BranchMovedError, PushRefusedError, PermissionDeniedError,
    AuthenticationError or another error of `core.errors`.
    """
    ref = update.ref()
    lease = f"--force-with-lease={ref}:{update.expect or ''}"
    push = ["push", "--porcelain", "--no-verify", "--no-recurse-submodules", lease]
    done = _run_remote(store, remote, [*push, remote.url, f"{update.sha}:{ref}"])
    if done.exit_code != 0:
        raise map_push_error(done, update.branch)
