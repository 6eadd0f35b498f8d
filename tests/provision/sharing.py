"""Which tests stay in one process, since they share what takes long to make."""

from typing import Final

from xdist.scheduler import LoadScopeScheduling  # type: ignore[import-untyped]

# Two stacks at once would take each other's sandboxes for their own.
STACK: Final = "the Compose stack"
TOGETHER: Final = {
    "tests/deploy/test_backup.py": STACK,
    "tests/deploy/test_stack.py": STACK,
    "tests/deploy/test_upgrade.py": STACK,
    "tests/tutorials/test_tutorials.py::test_with_compose": STACK,
    "tests/release/test_release.py": "what is released first",
    "tests/adapters/mcp/test_real.py": "the sandbox with real servers",
}


def shared_by(node_id: str) -> str:
    """Return what a test shares with others, or its own id."""
    for begins, shared in TOGETHER.items():
        if node_id.startswith(begins):
            return shared
    return node_id


class SharingScheduling(LoadScopeScheduling):  # type: ignore[misc]
    """Gives each process one test after the other, and those that share to one process.

    The groups of xdist itself are lost with the node ids of pytest 9.2.
    """

    def _split_scope(self, nodeid: str) -> str:
        return shared_by(nodeid)
