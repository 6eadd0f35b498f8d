"""A user's own repository: its work tree is untouched until its user says so."""

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.types.errors import GitError, NotFoundError
from patchwright.integrations.git.command import GitDir, call_git, check_branch, run_git
from patchwright.integrations.git.objects import ObjectStore

_WHOLE_DIFF = (
    "diff-tree",
    "-r",
    "-p",
    "--binary",
    "--full-index",
    "--no-ext-diff",
    "--no-textconv",
)
# Where git finds its user's own settings, and whether that is who has called sudo.
_USER_VARIABLES = ("HOME", "XDG_CONFIG_HOME", "GIT_CONFIG_GLOBAL", "SUDO_UID")


@dataclass(frozen=True, slots=True)
class LocalRepository:
    """A repository on this machine. `root` is its work tree, None for a bare one."""

    objects: ObjectStore
    root: Path | None

    @classmethod
    def open(cls, path: Path) -> "LocalRepository":
        """Find the repository that `path` is in.

        Raises GitError for a plain folder, and for a repository of another owner that
        git itself refuses.
        """
        git = GitDir(Path(_rev_parse(path, "--absolute-git-dir")))
        bare = _rev_parse(path, "--is-bare-repository") == "true"
        root = None if bare else Path(_rev_parse(path, "--show-toplevel"))
        return cls(ObjectStore(git), root)

    def find_branch(self) -> str | None:
        """Return the checked-out branch, or None for a detached HEAD."""
        named = self.objects.git.call(["symbolic-ref", "--quiet", "--short", "HEAD"])
        return named.output.decode().strip() if named.exit_code == 0 else None

    def remotes(self) -> dict[str, str]:
        """Return the addresses to fetch from, as its user's git rewrites them."""
        git = self.objects.git.path
        asked = {"GIT_DIR": str(git), **_as_its_user()}
        done = call_git(["remote", "--verbose"], cwd=git, environment=asked)
        if done.exit_code != 0:
            raise GitError(f"cannot list the remotes: {done.error_summary}")
        lines = done.output.decode("utf-8", "surrogateescape").splitlines()
        remotes = (line.split("\t", 1) for line in lines if "\t" in line)
        return {
            name: address.split(" (fetch)", 1)[0]
            for name, address in remotes
            if " (fetch)" in address
        }

    def resolve(self, revision: str = "HEAD") -> str:
        """Return the commit to work from: uncommitted changes are no part of it."""
        try:
            return self.objects.resolve(revision)
        except NotFoundError:
            if revision != "HEAD":
                raise
            raise GitError(self._say_unborn()) from None

    def _say_unborn(self) -> str:
        branch = self.find_branch() or "HEAD"
        what = f"there is nothing to work on: the branch {branch} has no commit yet"
        if self.objects.git.run(["for-each-ref", "--count=1"]):
            return f"{what}. Check out one that has"
        return f"{what}, and the repository has no other. Make a commit first"

    def has_uncommitted_changes(self) -> bool:
        if self.root is None:
            return False
        work_tree = {"GIT_WORK_TREE": str(self.root)}
        status = ["status", "--porcelain", "-z", "--ignore-submodules=dirty"]
        return bool(self.objects.git.run(status, environment=work_tree))

    def tracked_among(self, sha: str, paths: Sequence[str]) -> frozenset[str]:
        """Return which of these files and folders a commit has."""
        if not paths:
            return frozenset()
        listed = self.objects.git.run(
            ["ls-tree", "--name-only", "-z", sha, "--", *paths]
        )
        return frozenset(listed.decode("utf-8", "surrogateescape").split("\0")) - {""}

    def create_branch(self, branch: str, sha: str) -> None:
        """Make a branch; raises GitError when one of that name exists already."""
        ref = check_branch(branch)
        nothing = "0" * len(sha)
        create = ["update-ref", "-m", "patchwright: new branch", ref, sha, nothing]
        done = self.objects.git.call(create)
        if done.exit_code != 0:
            raise GitError(f"cannot make the branch {branch}: {done.error_summary}")

    def apply(self, base_sha: str, head_sha: str) -> None:
        """Bring a change into the work tree, uncommitted and not staged.

        Raises GitError, and changes nothing, where that would overwrite something: git
        itself looks at every file first. What is changed elsewhere in a file stays.
        """
        if self.root is None:
            raise GitError("the repository has no work tree")
        change = self.objects.git.run([*_WHOLE_DIFF, base_sha, head_sha])
        named = {"GIT_DIR": str(self.objects.git.path), "GIT_WORK_TREE": str(self.root)}
        apply = ["apply", "--whitespace=nowarn", "-"]
        run_git(apply, cwd=self.root, environment=named, stdin=change)


def _rev_parse(path: Path, question: str) -> str:
    if not path.is_dir():
        raise GitError(f"{path} is not a folder")
    done = call_git(["rev-parse", question], cwd=path, environment=_as_its_user())
    if done.exit_code == 0:
        return done.output.decode("utf-8", "surrogateescape").rstrip("\n")
    if "dubious ownership" in done.error_output:
        raise GitError(
            f"{path} belongs to another user. Git says: {done.error_summary}"
        )
    raise GitError(f"{path} is not a git repository: {done.error_summary}")


def _as_its_user() -> dict[str, str | None]:
    """Return what git needs to judge whose repository it is, as it does for the user.

    A repository can name programs that git runs: filters, for example. Git refuses one
    of another owner, unless its user's own `safe.directory` allows it.
    https://git-scm.com/docs/git-config#Documentation/git-config.txt-safedirectory
    """
    here = os.environ  # noqa: TID251 - these are settings of git, not of ours
    known = {name: here.get(name) for name in _USER_VARIABLES}
    return {"GIT_CONFIG_NOSYSTEM": None, **known}
