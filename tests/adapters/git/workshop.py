"""Work trees as people and sandboxes keep them, made with real git."""

import os
import subprocess
from dataclasses import dataclass
from pathlib import Path

from patchwright.integrations.git.objects import ObjectStore

IDENTITY = {
    "GIT_AUTHOR_EMAIL": "ann@example.test",
    "GIT_AUTHOR_NAME": "Ann",
    "GIT_COMMITTER_EMAIL": "ann@example.test",
    "GIT_COMMITTER_NAME": "Ann",
    "GIT_CONFIG_GLOBAL": os.devnull,
    "GIT_CONFIG_NOSYSTEM": "1",
    "HOME": "/nonexistent",
    "PATH": os.pathsep.join(os.get_exec_path()),
}


@dataclass(frozen=True)
class WorkTree:
    path: Path

    @classmethod
    def start(cls, path: Path, branch: str = "trunk") -> "WorkTree":
        path.mkdir(parents=True)
        tree = cls(path)
        tree.git("init", "--quiet", "--initial-branch", branch)
        return tree

    @classmethod
    def unpack(cls, path: Path, bundle: bytes) -> "WorkTree":
        """Clone from a bundle, as a sandbox does."""
        partial_bundle = path.with_suffix(".bundle")
        partial_bundle.write_bytes(bundle)
        tree = cls(path.parent)
        tree.git("clone", "--quiet", str(partial_bundle), str(path))
        return cls(path)

    def git(self, *args: str, stdin: bytes = b"") -> str:
        done = subprocess.run(
            ["git", *args],
            cwd=self.path,
            env=IDENTITY,
            input=stdin,
            capture_output=True,
            check=False,
        )
        assert done.returncode == 0, done.stderr.decode("utf-8", "replace")
        return done.stdout.decode("utf-8", "surrogateescape").strip()

    def write(self, name: str, content: bytes) -> None:
        file = self.path / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_bytes(content)

    def commit(self, message: str = "Change") -> str:
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", message)
        return self.head

    @property
    def head(self) -> str:
        return self.git("rev-parse", "HEAD")

    @property
    def objects(self) -> ObjectStore:
        return ObjectStore.at(self.path / ".git")

    def bundle(self, *revisions: str) -> bytes:
        partial_bundle = self.path.with_suffix(".out")
        self.git("bundle", "create", "--quiet", str(partial_bundle), *revisions)
        return partial_bundle.read_bytes()
