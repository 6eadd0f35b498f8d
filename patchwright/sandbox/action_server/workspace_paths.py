"""The folders of a workspace, its paths, and names for short-lived files."""

from __future__ import annotations

import os

from patchwright.sandbox.action_server.protocol import ActionError


def new_name() -> str:
    return f".patchwright-{os.urandom(8).hex()}"


def remove_if_there(path: str) -> None:
    try:
        os.unlink(path)
    except OSError:
        return


# How the host and the model name the workspace, wherever it really is.
WORKSPACE = "/workspace"
FOLDERS = ("repo", "home", "logs")


class WorkspacePaths:
    """Resolves paths, and refuses those that lead out, also through a symlink."""

    def __init__(self, workspace: str) -> None:
        self.workspace = os.path.realpath(workspace)
        self.repo = os.path.join(self.workspace, "repo")

    def create(self) -> None:
        for name in FOLDERS:
            os.makedirs(os.path.join(self.workspace, name), exist_ok=True)

    def in_repo(self, path: str) -> str:
        """Resolve a path that is relative to the repository, or absolute."""
        outside = ActionError(
            "outside", f"{path} leads out of the repository; only files in it are open"
        )
        return _resolve(self._moved(path), self.repo, outside)

    def in_workspace(self, path: str) -> str:
        outside = ActionError("outside", f"{path} is not under {WORKSPACE}")
        return _resolve(self._moved(path), self.workspace, outside)

    def shown(self, path: str) -> str:
        """Return a resolved path as the model knows it: relative to the repository."""
        return os.path.relpath(path, self.repo)

    def _moved(self, path: str) -> str:
        if "\0" in path:
            raise ActionError("bad-request", "a path cannot hold a NUL byte")
        if path == WORKSPACE or path.startswith(WORKSPACE + "/"):
            return self.workspace + path[len(WORKSPACE) :]
        return path


def _resolve(path: str, root: str, outside: ActionError) -> str:
    real = os.path.realpath(os.path.join(root, path))
    if real != root and not real.startswith(root + "/"):
        raise outside
    return real
