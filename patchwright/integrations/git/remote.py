"""Fetch from and push to a repository elsewhere, and read its refusals."""

import base64
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from urllib.parse import urlsplit

from patchwright.core.forge import GitCredential
from patchwright.core.types import errors
from patchwright.integrations.git.bundles import TRANSFER_TIMEOUT_S
from patchwright.integrations.git.command import (
    TIMED_OUT,
    GitDir,
    GitResult,
    check_branch,
    check_ref,
)

# Git has no codes for these; the words below are those of its C locale, in
# remote-curl.c, http.c, credential.c and connect.c, and hold since Git 2.30.
_UNANSWERED = (
    r"Could not resolve|Failed to connect|Connection (refused|reset|timed out)"
    r"|error: (429|5\d\d)|RPC failed|early EOF|hung up|[Tt]imed? ?out|too slow"
    r"|Empty reply|TLS|SSL"
)
_MEANINGS: tuple[tuple[str, type[errors.PatchwrightError], str], ...] = (
    (
        r"Authentication failed|could not read (Username|Password)|error: 401",
        errors.AuthenticationError,
        "the credential is not accepted",
    ),
    (
        r"error: 403|Permission to \S+ denied|Write access to repository not granted",
        errors.PermissionDeniedError,
        "the credential does not allow this",
    ),
    (
        r"mismatched algorithms",
        errors.ObjectFormatError,
        "the repository uses another object format",
    ),
    (
        r"couldn't find remote ref",
        errors.NotFoundError,
        "the remote repository has no such branch",
    ),
    (
        r"[Rr]epository .*not found|error: 404|does not appear to be a git repository",
        errors.NotFoundError,
        "there is no such repository, or the bot cannot see it",
    ),
    (
        _UNANSWERED,
        errors.ServiceUnavailableError,
        "the remote sent an unexpected answer",
    ),
)
_NO_REASON = re.compile(r"hook declined|declined due to repository rule violations")
# One branch cannot be a folder of another: the words of git, and those of GitHub.
_BLOCKED = re.compile(
    r"exists; cannot create|refname conflict|directory[/ ]file conflict"
)
# https://git-scm.com/docs/git-receive-pack
_PROGRESS = re.compile(r"(?:Resolving deltas|Counting|Compressing|Checking)\b.*: +\d+%")
_REJECTED = re.compile(r"^!\t[^\t]*\t\[(?P<by>(remote )?)rejected\] \((?P<why>.*)\)$")


def map_remote_error(done: GitResult) -> errors.PatchwrightError:
    """Turn a failed fetch or push into an error that says what its catcher can do."""
    if done.exit_code == TIMED_OUT:
        return errors.ServiceUnavailableError(
            f"the remote is too slow: {done.error_output}"
        )
    for pattern, error, meaning in _MEANINGS:
        if re.search(pattern, done.error_output):
            return error(f"{meaning}: {done.error_summary}")
    return errors.GitError(f"git failed: {done.error_summary}")


def map_push_error(done: GitResult, branch: str) -> errors.PatchwrightError:
    """Read the report of `git push --porcelain`, and fall back on its complaints."""
    for line in done.output.decode("utf-8", "replace").splitlines():
        found = _REJECTED.match(line)
        if found is None:
            continue
        if not found["by"]:
            return errors.BranchMovedError(
                f"the branch {branch} has changed ({found['why']})"
            )
        words = "\n".join(_reasons(done.error_output, found["why"]))
        blocked = _BLOCKED.search(f"{done.error_output}\n{found['why']}")
        error = errors.BranchBlockedError if blocked else errors.PushRefusedError
        return error(f"the remote refuses to update {branch}: {words}")
    return map_remote_error(done)


def _reasons(error_output: str, why: str) -> Iterator[str]:
    """Yield the remote's output and its reason.

    The reason is often only the name of a hook.
    """
    lines = (line.strip() for line in error_output.splitlines())
    lines_of_remote = [
        line.removeprefix("remote:").strip() for line in lines if "remote:" in line
    ]
    words = [line for line in lines_of_remote if line and not _PROGRESS.match(line)]
    yield from words
    if not words or not _NO_REASON.search(why):
        yield why


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
            raise errors.GitError(
                "a repository is cloned over https, http or file only"
            )
        if "@" in parts.netloc:
            raise errors.GitError("a clone URL must not contain a credential")

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
    done = _run_remote(
        store, remote, [*fetch, "--no-recurse-submodules", remote.url, *specs]
    )
    if done.exit_code == 0:
        return
    error = map_remote_error(done)
    if isinstance(error, errors.NotFoundError) and _is_empty(store, remote):
        raise errors.EmptyRepositoryError(
            "there is nothing to work on: the repository has no commit yet. Push a "
            "first commit, then ask again"
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
            raise errors.PushRefusedError(
                f"the branch {self.branch} is not a branch that the bot may write"
            )
        return ref


# Raises as `push_commit` does.
Push = Callable[[GitDir, Remote, BranchUpdate], None]


def push_commit(store: GitDir, remote: Remote, update: BranchUpdate) -> None:
    """Push one commit to one branch.

    Raises BranchMovedError, PushRefusedError, PermissionDeniedError,
    AuthenticationError or another error of `core.types.errors`.
    """
    ref = update.ref()
    lease = f"--force-with-lease={ref}:{update.expect or ''}"
    push = ["push", "--porcelain", "--no-verify", "--no-recurse-submodules", lease]
    done = _run_remote(store, remote, [*push, remote.url, f"{update.sha}:{ref}"])
    if done.exit_code != 0:
        raise map_push_error(done, update.branch)
