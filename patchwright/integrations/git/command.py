"""Run git in a git directory, with nothing of the user's own set-up."""

import os
import re
import signal
import subprocess
import tempfile
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from patchwright.core.types.errors import GitError, NotFoundError

PLUMBING_TIMEOUT_S = 120.0
TIMED_OUT = 124
SHOWN_LINES = 8

_SETTINGS = {
    "core.hooksPath": os.devnull,
    "core.fsmonitor": "false",
    "credential.helper": "",
    "gc.auto": "0",
    "maintenance.auto": "false",
    # A redirect could lead our Authorization header to another host.
    "http.followRedirects": "false",
    "http.lowSpeedLimit": "1",
    "http.lowSpeedTime": "120",
    "transfer.credentialsInUrl": "die",
}

_ENVIRONMENT = {
    "GIT_ALLOW_PROTOCOL": "http:https:file",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "GIT_COMMITTER_EMAIL": "patchwright@localhost",
    "GIT_COMMITTER_NAME": "Patchwright",
    "GIT_LITERAL_PATHSPECS": "1",
    # What a partial clone lacks is fetched by its user, with the user's own settings.
    "GIT_NO_LAZY_FETCH": "1",
    "GIT_NO_REPLACE_OBJECTS": "1",
    "GIT_OPTIONAL_LOCKS": "0",
    "GIT_TERMINAL_PROMPT": "0",
    # No configuration, no netrc and no credential store can be found from here.
    "HOME": "/nonexistent",
    "LC_ALL": "C",
}

_USER_INFO = re.compile(r"(?<=://)[^/@\s]+@")
_AUTHORIZATION = re.compile(r"(?i)(authorization:\s*\w+\s+)\S+")


@dataclass(frozen=True, slots=True)
class GitResult:
    """How a git command ended; its texts are safe to show."""

    exit_code: int
    output: bytes
    error_output: str

    @property
    def error_summary(self) -> str:
        return "\n".join(self.error_output.strip().splitlines()[-SHOWN_LINES:])


def run_git(
    args: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float = PLUMBING_TIMEOUT_S,
) -> bytes:
    """Return what git wrote, byte for byte; raises GitError when it fails."""
    done = call_git(
        args, cwd=cwd, environment=environment, stdin=stdin, timeout_s=timeout_s
    )
    if done.exit_code != 0:
        raise GitError(f"git {args[0]} failed: {done.error_summary}")
    return done.output


def read_git(
    args: Sequence[str],
    most_bytes: int,
    *,
    cwd: Path,
    environment: Mapping[str, str] | None = None,
    timeout_s: float = PLUMBING_TIMEOUT_S,
) -> bytes:
    """Return the beginning of what git writes, and end git where there is more of it.

    What is beyond takes no memory here. Raises GitError when git fails.
    """
    variables = _environment({}) | dict(environment or {})
    with (
        tempfile.TemporaryFile() as error_file,
        subprocess.Popen(
            ["git", *args],
            cwd=cwd,
            env={name: value for name, value in variables.items() if value is not None},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=error_file,
            start_new_session=True,
        ) as process,
        _ended_after(process, timeout_s),
    ):
        output = process.stdout.read(most_bytes) if process.stdout else b""
        if len(output) == most_bytes:
            _kill(process)
            return output
        if process.wait() == 0:
            return output
        error_file.seek(0)
        errors = error_file.read().decode("utf-8", "replace")
        done = GitResult(process.returncode, b"", without_credentials(errors, ()))
        raise GitError(f"git {args[0]} failed: {done.error_summary}")


@contextmanager
def _ended_after(process: subprocess.Popen[bytes], seconds: float) -> Iterator[None]:
    timer = threading.Timer(seconds, _kill, (process,))
    timer.start()
    try:
        yield
    finally:
        timer.cancel()


def _kill(process: subprocess.Popen[bytes]) -> None:
    with suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)


def call_git(
    args: Sequence[str],
    *,
    cwd: Path,
    environment: Mapping[str, str | None] | None = None,
    settings: Mapping[str, str] | None = None,
    stdin: bytes = b"",
    timeout_s: float = PLUMBING_TIMEOUT_S,
    secrets: Sequence[str] = (),
) -> GitResult:
    """Run git until it ends.

    `settings` are configuration that exists for this call alone: it is passed in the
    environment, so that it shows neither in an argument list nor in a file. `secrets`
    are removed from git's error output. A variable of `environment` that is None is not
    set at all.
    """
    variables = _environment(settings or {}) | dict(environment or {})
    process = subprocess.Popen(
        ["git", *args],
        cwd=cwd,
        env={name: value for name, value in variables.items() if value is not None},
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    with process:
        try:
            output, error_output = process.communicate(stdin, timeout=timeout_s)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return GitResult(TIMED_OUT, b"", f"it did not end in {timeout_s:g} s")
    shown = without_credentials(error_output.decode("utf-8", "replace"), secrets)
    return GitResult(process.returncode, output, shown)


def without_credentials(text: str, secrets: Sequence[str]) -> str:
    for secret in secrets:
        text = text.replace(secret, "***")
    return _AUTHORIZATION.sub(r"\1***", _USER_INFO.sub("***@", text))


def _environment(settings: Mapping[str, str]) -> dict[str, str | None]:
    # https://git-scm.com/docs/git-config#ENVIRONMENT
    configured = _SETTINGS | dict(settings)
    numbered: dict[str, str | None] = {"GIT_CONFIG_COUNT": str(len(configured))}
    for number, (key, value) in enumerate(configured.items()):
        numbered[f"GIT_CONFIG_KEY_{number}"] = key
        numbered[f"GIT_CONFIG_VALUE_{number}"] = value
    path = os.pathsep.join(os.get_exec_path())
    return _ENVIRONMENT | numbered | {"PATH": path}


@dataclass(frozen=True, slots=True)
class GitDir:
    """A git directory, named outright.

    Git looks for the owner of a repository only when it has to find it; one that is
    named may belong to any user, as files written in a container do.
    """

    path: Path

    def run(
        self,
        args: Sequence[str],
        *,
        environment: Mapping[str, str] | None = None,
        stdin: bytes = b"",
        timeout_s: float = PLUMBING_TIMEOUT_S,
    ) -> bytes:
        return run_git(
            args,
            cwd=self.path,
            environment=self._named() | dict(environment or {}),
            stdin=stdin,
            timeout_s=timeout_s,
        )

    def read(self, args: Sequence[str], most_bytes: int) -> bytes:
        """Return the beginning of what git writes; the rest takes no memory here."""
        return read_git(args, most_bytes, cwd=self.path, environment=self._named())

    def call(
        self,
        args: Sequence[str],
        *,
        settings: Mapping[str, str] | None = None,
        environment: Mapping[str, str] | None = None,
        timeout_s: float = PLUMBING_TIMEOUT_S,
        secrets: Sequence[str] = (),
    ) -> GitResult:
        return call_git(
            args,
            cwd=self.path,
            environment=self._named() | dict(environment or {}),
            settings=settings,
            timeout_s=timeout_s,
            secrets=secrets,
        )

    def run_text(self, args: Sequence[str]) -> str:
        return self.run(args).decode("ascii").strip()

    def resolve(self, revision: str) -> str:
        """Return the full id of the commit that `revision` names."""
        wanted = f"{revision}^{{commit}}"
        verify = ["rev-parse", "--verify", "--quiet", "--end-of-options", wanted]
        done = self.call(verify)
        if done.exit_code != 0:
            raise NotFoundError(f"the repository has no commit {revision!r}")
        return done.output.decode("ascii").strip()

    def contains(self, ancestor: str, commit: str) -> bool:
        """Say whether the history of `commit` contains `ancestor`."""
        done = self.call(["merge-base", "--is-ancestor", ancestor, commit])
        if done.exit_code not in (0, 1):
            raise GitError(f"git cannot compare the commits: {done.error_summary}")
        return done.exit_code == 0

    def _named(self) -> dict[str, str]:
        return {"GIT_DIR": str(self.path)}


def check_branch(branch: str) -> str:
    """Return the full ref of a branch; raises GitError for a name git would refuse."""
    if branch.startswith(("-", "refs/")) or branch == "HEAD":
        raise GitError(f"{branch!r} is not a valid branch name")
    return check_ref(f"refs/heads/{branch}")


def check_ref(ref: str) -> str:
    # https://git-scm.com/docs/git-check-ref-format
    if "\0" in ref or not ref.startswith("refs/"):
        raise GitError(f"{ref!r} is not a valid name for a ref")
    if not _is_valid(ref):
        raise GitError(f"{ref!r} is not a valid name for a ref")
    return ref


# A run asks about its few refs again and again.
@lru_cache(maxsize=1024)
def _is_valid(ref: str) -> bool:
    done = call_git(["check-ref-format", ref], cwd=Path("/"))
    if done.exit_code not in (0, 1):
        raise GitError(f"git cannot judge a name: {done.error_summary}")
    return done.exit_code == 0


def is_tracked(file: Path) -> bool:
    """Ask git whether it tracks a file; it does not without a repository, or git.

    A link counts as what it leads to. The index alone is read, so that the owner of
    the repository does not matter.
    """
    real = file.resolve()
    try:
        done = call_git(
            ["ls-files", "--error-unmatch", "--", real.name],
            cwd=real.parent,
            settings={"safe.directory": "*"},
        )
    except OSError:
        return False
    return done.exit_code == 0
