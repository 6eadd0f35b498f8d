"""A merge is under way in the sandbox before the agent sees it, conflicts and all."""

from dataclasses import dataclass
from pathlib import Path

import pytest

from patchwright.core.types.errors import SandboxError
from patchwright.integrations.git.objects import ObjectStore
from patchwright.sandbox.workspace import Workspace
from tests.adapters.sandbox.box import Box
from tests.adapters.sandbox.test_workspace import SUBMODULE_SHA, Origin

MOVED_SHA = "2" * 40


@dataclass(frozen=True)
class Fork:
    """Two branches of a repository that conflict: `ours`, and `theirs` to merge."""

    origin: Origin
    ours: str
    theirs: str

    @property
    def objects(self) -> ObjectStore:
        return ObjectStore.at(self.origin.path / ".git")

    def bundle(self) -> bytes:
        return self.objects.bundle(self.ours, also=(self.theirs,))


@pytest.fixture
def fork(tmp_path: Path) -> Fork:
    """Both change a line, a binary file, and what the other side renames or deletes."""
    origin = Origin(tmp_path / "origin")
    put(origin, {"data.bin": b"\0base", "gone.txt": b"old\n", "moved.txt": b"1\n2\n"})
    origin.git("switch", "--quiet", "--create", "ours")
    origin.git("mv", "moved.txt", "renamed.txt")
    put(
        origin,
        {
            "tracked.txt": b"ours\ntwo\n",
            "data.bin": b"\0ours",
            "gone.txt": b"new\n",
        },
    )
    ours = origin.git("rev-parse", "HEAD")
    origin.git("switch", "--quiet", "trunk")
    origin.git("rm", "--quiet", "gone.txt")
    gitlink = f"160000,{MOVED_SHA},module"
    origin.git("update-index", "--cacheinfo", gitlink)
    (origin.path / "kept.pyc").write_bytes(b"of theirs")
    origin.git("add", "--force", "kept.pyc")
    put(
        origin,
        {
            "tracked.txt": b"theirs\ntwo\n",
            "data.bin": b"\0theirs",
            "moved.txt": b"1\n2\n3\n",
            "added.txt": b"of theirs\n",
        },
    )
    return Fork(origin, ours, origin.git("rev-parse", "HEAD"))


def put(origin: Origin, files: dict[str, bytes]) -> None:
    for name, content in files.items():
        (origin.path / name).write_bytes(content)
    origin.git("add", "--", *files)
    origin.git("commit", "--quiet", "--message", "Change")


def test_conflicts_lie_in_the_work_tree_as_git_leaves_them(
    fresh: Box, fork: Fork
) -> None:
    workspace = Workspace.check_out(fresh.runtime, fork.bundle(), fork.ours, "work")
    workspace.begin_merge(fork.theirs)
    status = fresh.sh("git status --short | sort").output.splitlines()
    assert status == [
        "A  added.txt",
        "A  kept.pyc",
        "M  module",
        "M  renamed.txt",
        "UD gone.txt",
        "UU data.bin",
        "UU tracked.txt",
    ]
    assert fresh.sh("head -2 tracked.txt; cat renamed.txt").output == (
        "<<<<<<< HEAD\nours\n1\n2\n3\n"
    )
    assert fresh.sh("git rev-parse MERGE_HEAD").output.strip() == fork.theirs
    assert fresh.sh("git remote; git branch").output == "* work\n"


def test_s28_what_was_resolved_arrives_and_submodules_follow_the_merge(
    fresh: Box, fork: Fork
) -> None:
    workspace = Workspace.check_out(fresh.runtime, fork.bundle(), fork.ours, "work")
    workspace.begin_merge(fork.theirs)
    fresh.sh(
        "printf 'both\\ntwo\\n' > tracked.txt; git rm -q gone.txt;"
        "git checkout -q --theirs data.bin; git add -A; git commit -qm Merged"
    )
    bundle = workspace.export(fork.ours).bundle
    assert bundle is not None
    head = fork.origin.take(bundle)
    merge = fork.objects.merge(fork.ours, fork.theirs)
    joined = merge.merge_submodules(fork.objects.tree_of(head))
    listed = fork.origin.git("ls-tree", "-r", joined.tree).splitlines()
    assert f"160000 commit {MOVED_SHA}\tmodule" in listed
    assert SUBMODULE_SHA not in "\n".join(listed)
    own = [change.path for change in merge.own_changes(joined.tree)]
    assert own == ["renamed.txt", "tracked.txt"]
    assert merge.find_conflict_markers(joined.tree) == ()
    assert merge.find_lost(joined.tree) == ()
    assert fork.objects.read_file(joined.tree, "kept.pyc") == b"of theirs"
    assert fork.objects.read_file(joined.tree, "data.bin") == b"\0theirs"


def test_a_merge_that_was_not_resolved_shows(fresh: Box, fork: Fork) -> None:
    workspace = Workspace.check_out(fresh.runtime, fork.bundle(), fork.ours, "work")
    workspace.begin_merge(fork.theirs)
    bundle = workspace.export(fork.ours).bundle
    assert bundle is not None
    merge = fork.objects.merge(fork.ours, fork.theirs)
    unfinished = merge.find_conflict_markers(fork.origin.take(bundle))
    assert [change.path for change in unfinished] == ["tracked.txt"]


def test_a_merge_without_conflicts_is_under_way_too(fresh: Box, fork: Fork) -> None:
    base = fork.origin.git("merge-base", fork.ours, fork.theirs)
    packed = fork.objects.bundle(base, also=(fork.theirs,))
    workspace = Workspace.check_out(fresh.runtime, packed, base, "work")
    workspace.begin_merge(fork.theirs)
    assert fresh.sh("git rev-parse HEAD MERGE_HEAD").output.split() == [
        base,
        fork.theirs,
    ]
    assert fresh.sh("cat added.txt").output == "of theirs\n"


def test_a_merge_is_marked_where_its_work_is_there_already(
    fresh: Box, fork: Fork
) -> None:
    workspace = Workspace.check_out(fresh.runtime, fork.bundle(), fork.ours, "work")
    fresh.sh("echo both > tracked.txt")
    workspace.mark_merge(fork.theirs)
    assert fresh.sh("git rev-parse MERGE_HEAD").output.strip() == fork.theirs
    assert fresh.sh("cat tracked.txt; git commit -qam Merged").output == "both\n"
    parents = fresh.sh("git rev-list --parents -1 HEAD").output.split()[1:]
    assert parents == [fork.ours, fork.theirs]


def test_what_has_no_common_commit_is_not_merged(fresh: Box, fork: Fork) -> None:
    fork.origin.git("switch", "--quiet", "--orphan", "alone")
    put(fork.origin, {"alone.txt": b"x\n"})
    alone = fork.origin.git("rev-parse", "HEAD")
    packed = fork.objects.bundle(fork.ours, also=(alone,))
    workspace = Workspace.check_out(fresh.runtime, packed, fork.ours, "work")
    with pytest.raises(SandboxError, match="unrelated histories"):
        workspace.begin_merge(alone)
