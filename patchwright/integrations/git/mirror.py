"""Cached bare mirrors of remote repositories, shared by every worker on a host."""

import fcntl
import hashlib
import os
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from patchwright.core.forge import GitCredential
from patchwright.core.system.folder_removal import remove_tree
from patchwright.core.types.errors import GitError, ObjectFormatError
from patchwright.integrations.git.command import GitDir, run_git
from patchwright.integrations.git.objects import ObjectStore
from patchwright.integrations.git.remote import (
    BranchUpdate,
    Push,
    Remote,
    fetch_refs,
    push_commit,
)


@dataclass(frozen=True, slots=True)
class Mirror:
    """One repository's mirror: its objects, and the way back to the remote."""

    clone_url: str
    objects: ObjectStore
    environment: Mapping[str, str]
    push_by: Push

    def resolve(self, ref: str) -> str:
        """Return the commit at a fetched ref such as `refs/heads/trunk`."""
        return self.objects.resolve(ref)

    def push(
        self, clone_url: str, credential: GitCredential | None, update: BranchUpdate
    ) -> None:
        """Push as `push_commit` does; `clone_url` is the fork's for a fork's branch."""
        remote = Remote(clone_url, credential, self.environment)
        self.push_by(self.objects.git, remote, update)


class MirrorCache:
    """The mirrors in one folder, which only the bot writes.

    Nothing is ever pruned from a mirror while it is in use: a commit that was seen
    stays, also when its branch was rewritten at the remote.
    """

    def __init__(
        self,
        root: Path,
        environment: Mapping[str, str] | None = None,
        push: Push = push_commit,
    ) -> None:
        """`environment` reaches the transports of git: proxies, private CAs."""
        self._root = root
        self._environment = dict(environment or {})
        self._push = push

    @property
    def push_by(self) -> Push:
        """How its mirrors push."""
        return self._push

    def with_push(self, push: Push) -> "MirrorCache":
        """Return the same mirrors with another way to push."""
        return MirrorCache(self._root, self._environment, push)

    def fetch(
        self, clone_url: str, credential: GitCredential | None, refs: Sequence[str]
    ) -> Mirror:
        """Bring the mirror up to date for full refs such as `refs/pull/7/head`."""
        remote = Remote(clone_url, credential, self._environment)
        self._root.mkdir(parents=True, exist_ok=True)
        path = self._root / hashlib.sha256(clone_url.encode()).hexdigest()[:32]
        with _locked(path.with_suffix(".lock")):
            self._refresh(path, remote, refs)
        store = ObjectStore.at(path)
        return Mirror(clone_url, store, self._environment, self._push)

    def _refresh(self, path: Path, remote: Remote, refs: Sequence[str]) -> None:
        if not path.exists():
            _build(path, remote, refs)
            return
        try:
            _fetch_whole(GitDir(path), remote, refs)
        except GitError:
            # A killed worker or a full disk left it damaged. Only a mirror's own
            # trouble ends here: what the remote refuses is a ServiceError.
            _build(path, remote, refs)


@contextmanager
def _locked(lock: Path) -> Iterator[None]:
    descriptor = os.open(lock, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _build(path: Path, remote: Remote, refs: Sequence[str]) -> None:
    fresh, worn = path.with_suffix(".new"), path.with_suffix(".old")
    for leftover in (fresh, worn):
        _remove_if_possible(leftover)
    try:
        _create(fresh, remote, refs, "sha1")
    except ObjectFormatError:
        remove_tree(fresh)
        _create(fresh, remote, refs, "sha256")
    if path.exists():
        _keep_run_refs(GitDir(fresh), path)
        path.rename(worn)
    fresh.rename(path)
    _remove_if_possible(worn)


def _create(fresh: Path, remote: Remote, refs: Sequence[str], kind: str) -> None:
    init = ["init", "--quiet", "--bare", "--template=", f"--object-format={kind}"]
    run_git([*init, str(fresh)], cwd=fresh.parent)
    _fetch_whole(GitDir(fresh), remote, refs)


def _remove_if_possible(folder: Path) -> None:
    with suppress(OSError):
        remove_tree(folder)


def _keep_run_refs(fresh: GitDir, damaged: Path) -> None:
    # Whatever can still be read of runs under way; none of it is needed to go on.
    kept = "+refs/patchwright/*:refs/patchwright/*"
    fresh.call(["fetch", "--quiet", "--no-write-fetch-head", str(damaged), kept])


def _fetch_whole(store: GitDir, remote: Remote, refs: Sequence[str]) -> None:
    fetch_refs(store, remote, refs)
    for ref in refs:
        store.run(["cat-file", "-e", f"{ref}^{{tree}}"])
