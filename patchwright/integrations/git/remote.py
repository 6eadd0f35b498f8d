"""Fetching from and pushing to a repository elsewhere."""

import base64
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol
from urllib.parse import urlsplit

from patchwright.core.errors import GitError, PushRefusedError
from patchwright.core.forge import GitCredential
from patchwright.integrations.git.bundles import TRANSFER_TIMEOUT_S
from patchwright.integrations.git.gitdir import GitDir
from patchwright.integrations.git.names import check_branch, check_ref
from patchwright.integrations.git.refusals import explain, explain_push


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
    done = store.call(
        [
            "fetch",
            "--quiet",
            "--no-tags",
            "--no-write-fetch-head",
            "--no-recurse-submodules",
            remote.url,
            *specs,
        ],
        settings=remote.settings(),
        environment=remote.environment,
        timeout_s=TRANSFER_TIMEOUT_S,
        secrets=remote.secrets(),
    )
    if done.exit_code != 0:
        raise explain(done)


def check_ours(branch: str, forbidden: Collection[str]) -> str:
    """Return the full ref of a branch, unless it is not ours: `PushRefusedError`."""
    ref = check_branch(branch)
    if branch in forbidden:
        raise PushRefusedError(f"the branch {branch} is not ours to write")
    return ref


class Push(Protocol):
    """Pushes as `push_commit` does."""

    def __call__(
        self,
        store: GitDir,
        remote: Remote,
        *,
        sha: str,
        branch: str,
        expect: str | None,
        forbidden_branches: Collection[str],
    ) -> None: ...


def push_commit(
    store: GitDir,
    remote: Remote,
    *,
    sha: str,
    branch: str,
    expect: str | None,
    forbidden_branches: Collection[str],
) -> None:
    """Set a remote branch to a commit, if it still is at `expect`.

    None for `expect` means that the branch must not exist yet. A branch that is at
    `sha` already is left alone. Raises BranchMovedError, PushRefusedError,
    PermissionDeniedError, AuthenticationError or another error of `core.errors`.
    """
    ref = check_ours(branch, forbidden_branches)
    done = store.call(
        [
            "push",
            "--porcelain",
            "--no-verify",
            "--no-recurse-submodules",
            f"--force-with-lease={ref}:{expect or ''}",
            remote.url,
            f"{sha}:{ref}",
        ],
        settings=remote.settings(),
        environment=remote.environment,
        timeout_s=TRANSFER_TIMEOUT_S,
        secrets=remote.secrets(),
    )
    if done.exit_code != 0:
        raise explain_push(done, branch)
