"""A repository's objects: read, compared, made and carried, with no work tree."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from pydantic import SecretStr

from patchwright.core.types.errors import GitError
from patchwright.core.types.work import DiffStat, FileStat
from patchwright.integrations.git.bundles import (
    AcceptedCommit,
    find_ends,
    make_bundle,
    make_partial_bundle,
    release,
    require_files,
    take_bundle,
    take_without_refused,
)
from patchwright.integrations.git.changes import (
    ChangedPath,
    count_by_file,
    count_changes,
    list_changes,
)
from patchwright.integrations.git.command import GitDir
from patchwright.integrations.git.commits import (
    Signature,
    make_commit,
    rebase,
    replace_paths,
    with_files,
    with_tests_of,
    without_history,
)
from patchwright.integrations.git.hunks import ChangePart, list_parts
from patchwright.integrations.git.merge import Merge
from patchwright.integrations.git.trees import (
    FilteredFile,
    UnreadReason,
    find_filtered,
    list_blobs,
    list_files,
    read_files,
)

READABLE_DIFF = ("diff-tree", "-r", "-p", "-M", "--no-ext-diff", "--no-textconv")
MAILED_PATCH = (
    "format-patch",
    "--stdout",
    "--binary",
    "--full-index",
    "-M",
    "--no-signature",
    "--no-ext-diff",
)


@dataclass(frozen=True, slots=True)
class ObjectStore:
    """What a cached mirror and a user's own checkout have in common.

    Commits are named by their full ids; `resolve` finds the id of anything else.
    """

    git: GitDir

    @classmethod
    def at(cls, git_dir: Path) -> "ObjectStore":
        return cls(GitDir(git_dir))

    def resolve(self, revision: str) -> str:
        """Return the full id of a commit; raises NotFoundError."""
        return self.git.resolve(revision)

    def tree_of(self, commit: str) -> str:
        return self.git.run_text(["rev-parse", "--verify", f"{commit}^{{tree}}"])

    def merge_base(self, ours: str, theirs: str) -> str | None:
        """Return the best commit that both histories contain, if there is one."""
        done = self.git.call(["merge-base", ours, theirs])
        if done.exit_code not in (0, 1):
            raise GitError(f"git cannot compare the commits: {done.error_summary}")
        return done.output.decode("ascii").strip() or None

    def is_shallow(self) -> bool:
        """Tell whether older commits were left out when this was fetched."""
        asked = ["rev-parse", "--is-shallow-repository"]
        return self.git.run_text(asked) == "true"

    def read_file(self, commit: str, path: str) -> bytes | None:
        """Return a file's bytes, or None if the commit has no file there."""
        done = self.git.call(["cat-file", "blob", f"{commit}:{path}"])
        return done.output if done.exit_code == 0 else None

    def size_of(self, commit: str, path: str) -> int | None:
        """Return how large a file or link is, or None if there is none."""
        done = self.git.call(["cat-file", "-s", f"{commit}:{path}"])
        return int(done.output) if done.exit_code == 0 else None

    def list_files(self, commit: str) -> tuple[str, ...]:
        """Return the paths of all files and links of a commit."""
        return list_files(self.git, commit)

    def list_blobs(self, commit: str) -> Mapping[str, str]:
        """Return what identifies the content of each file of a commit, by path."""
        return list_blobs(self.git, commit)

    def read_files(
        self, commit: str, paths: Sequence[str], max_bytes: int
    ) -> Mapping[str, bytes | UnreadReason]:
        """Read files of at most that size; links are followed inside the commit."""
        return read_files(self.git, commit, paths, max_bytes)

    def bundle(
        self,
        commit: str,
        branch: str = "base",
        also: Sequence[str] = (),
        base: str = "",
    ) -> bytes:
        """Pack a commit and its history; a clone of it checks out `branch`.

        The commits of `also` and their histories come with it. History that is not
        here is left out: `find_ends` says from where.
        """
        ends = self.find_ends(commit, also, base)
        return make_bundle(self.git, commit, branch, also, ends)

    def find_ends(
        self, commit: str, also: Sequence[str] = (), base: str = ""
    ) -> Sequence[str]:
        """Return the commits at which the history in a bundle of `commit` ends.

        There are none where it is whole. A partial clone's ends at `base`, by default
        the commit itself.
        """
        return find_ends(self.git, [commit, *also], [base or commit, *also])

    def require_files(self, commit: str) -> None:
        """Raise GitError where a partial clone lacks files of the commit."""
        require_files(self.git, commit)

    def partial_bundle(self, base_sha: str, sha: str) -> bytes:
        """Pack what a commit adds to `base_sha`; `take` unpacks it elsewhere."""
        return make_partial_bundle(self.git, base_sha, sha)

    def take(self, bundle: bytes, base_sha: str, run_id: str) -> str:
        """Accept the commits of a bundle; raises GitError unless all are valid."""
        return take_bundle(self.git, bundle, base_sha, run_id)

    def take_without_refused(
        self, bundle: bytes, base_sha: str, run_id: str
    ) -> AcceptedCommit:
        """Accept the commits of a bundle, without files that git itself refuses."""
        return take_without_refused(self.git, bundle, base_sha, run_id)

    def release(self, run_id: str) -> None:
        """Remove what `take` stored for a run."""
        release(self.git, run_id)

    def changed_paths(self, base: str, head: str) -> tuple[ChangedPath, ...]:
        return list_changes(self.git, base, head)

    def list_parts(
        self, base: str, head: str, changes: Sequence[ChangedPath]
    ) -> tuple[ChangePart, ...]:
        """Return the parts of these changes, each of which can be taken out alone."""
        return list_parts(self.git, base, head, changes)

    def diff_stat(self, base: str, head: str) -> DiffStat:
        return count_changes(self.git, base, head)

    def count_by_file(self, base: str, head: str) -> tuple[FileStat, ...]:
        return count_by_file(self.git, base, head)

    def diff(self, base: str, head: str, most_bytes: int | None = None) -> bytes:
        """Return the patch from `base` to `head`, for reading, or its beginning."""
        return self._output([*READABLE_DIFF, base, head], most_bytes)

    def replace_paths(self, onto: str, source: str, paths: Collection[str]) -> str:
        """Return the tree of `onto` in which `paths` are as `source` has them."""
        return replace_paths(self.git, onto, source, paths)

    def find_filtered(
        self, tree: str, changes: Sequence[ChangedPath]
    ) -> tuple[FilteredFile, ...]:
        """Return the changed files that a filter should have rewritten."""
        return find_filtered(self.git, tree, changes)

    def merge(self, ours: str, theirs: str) -> Merge:
        """Look at a merge of two commits, however its files were put together."""
        return Merge(self.git, ours, theirs)

    def with_tests_of(self, base: str, head: str, paths: Collection[str]) -> str:
        """Return a commit on `base` with these paths as `head` has them."""
        return with_tests_of(self.git, base, head, paths)

    def with_files(self, commit: str, contents: Mapping[str, bytes | None]) -> str:
        """Return a commit in which these files have other contents, or are gone."""
        return with_files(self.git, commit, contents)

    def without_history(self, commit: str) -> str:
        """Return a commit of the same files that looks like any other such commit."""
        return without_history(self.git, commit)

    def commit(
        self,
        tree: str,
        *parents: str,
        message: str,
        author: Signature,
        committer: Signature,
        when: datetime,
        signing_key: SecretStr | None = None,
    ) -> str:
        """Make a commit; a merge names the branch that it is made on first.

        `signing_key` is an OpenSSH private key.
        """
        return make_commit(
            self.git,
            tree,
            *parents,
            message=message,
            author=author,
            committer=committer,
            when=when,
            signing_key=signing_key,
        )

    def rebase(self, commit: str, onto: str) -> str | None:
        """Return a commit like this one on top of another, None where that fails.

        It fails where the two conflict, where `onto` does not build on the commit's
        only parent, and where the commit is signed.
        """
        return rebase(self.git, commit, onto)

    def parents_of(self, commit: str) -> tuple[str, ...]:
        line = self.git.run_text(["rev-list", "--parents", "--max-count=1", commit])
        return tuple(line.split()[1:])

    def message_of(self, commit: str) -> str:
        shown = self.git.run(["show", "--no-patch", "--format=%B", commit])
        return shown.decode("utf-8", "replace").strip()

    def format_patch(
        self, base: str, head: str, most_bytes: int | None = None
    ) -> bytes:
        """Return the commits as mails that `git am` applies, binary files included."""
        return self._output([*MAILED_PATCH, f"{base}..{head}"], most_bytes)

    def _output(self, args: Sequence[str], most_bytes: int | None) -> bytes:
        return (
            self.git.run(args)
            if most_bytes is None
            else self.git.read(args, most_bytes)
        )
