"""One git directory on this host, and commands run in it."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.errors import GitError, NotFoundError
from patchwright.integrations.git.command import (
    PLUMBING_TIMEOUT_S,
    GitResult,
    call_git,
    read_git,
    run_git,
)


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
