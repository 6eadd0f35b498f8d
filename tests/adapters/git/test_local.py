"""A user's own repository gets a branch, and nothing else of it changes."""

import os
from pathlib import Path

import pytest

from patchwright.core.types.errors import GitError, NotFoundError
from patchwright.integrations.git.local import LocalRepository
from tests.adapters.git.workshop import WorkTree


def test_new_branch_leaves_work_tree_index_and_head_alone(origin: WorkTree) -> None:
    origin.write("staged.txt", b"staged\n")
    origin.git("add", "staged.txt")
    origin.write("src/app.py", b"half done\n")
    before = origin.git("status", "--porcelain=v2", "--branch")
    index = (origin.path / ".git/index").read_bytes()
    local = LocalRepository.open(origin.path)
    assert local.has_uncommitted_changes()
    local.create_branch("bot/fix", local.resolve())
    assert origin.git("rev-parse", "bot/fix") == origin.head
    assert (origin.path / ".git/index").read_bytes() == index
    assert origin.git("status", "--porcelain=v2", "--branch") == before


def test_clean_work_tree_is_known_as_such(origin: WorkTree) -> None:
    assert not LocalRepository.open(origin.path).has_uncommitted_changes()


def test_existing_branch_is_never_overwritten(origin: WorkTree) -> None:
    local = LocalRepository.open(origin.path)
    local.create_branch("bot/fix", origin.head)
    newer = origin.commit("Newer")
    with pytest.raises(GitError, match="cannot make the branch bot/fix"):
        local.create_branch("bot/fix", newer)
    assert origin.git("rev-parse", "bot/fix") != newer


def test_branch_checked_out_is_told(origin: WorkTree) -> None:
    local = LocalRepository.open(origin.path)
    assert local.find_branch() == "trunk"
    origin.git("checkout", "--quiet", "--detach")
    assert local.find_branch() is None


def test_base_may_be_named(origin: WorkTree) -> None:
    first = origin.head
    origin.git("branch", "older")
    origin.commit("Newer")
    assert LocalRepository.open(origin.path).resolve("older") == first


@pytest.mark.parametrize("revision", ["nowhere", "--help", "$(id)"])
def test_unknown_base_is_not_found(origin: WorkTree, revision: str) -> None:
    with pytest.raises(NotFoundError, match="has no commit"):
        LocalRepository.open(origin.path).resolve(revision)


def test_work_tree_of_git_worktree_and_subfolder_serve_too(
    origin: WorkTree, tmp_path: Path
) -> None:
    origin.git("worktree", "add", "--quiet", "-b", "side", str(tmp_path / "side"))
    side = LocalRepository.open(tmp_path / "side" / "src")
    assert (side.root, side.find_branch()) == (tmp_path / "side", "side")
    assert side.objects.bundle(side.resolve())
    assert not side.has_uncommitted_changes()


def test_plain_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a git repository"):
        LocalRepository.open(tmp_path)


def test_missing_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(GitError, match="is not a folder"):
        LocalRepository.open(tmp_path / "none")


def test_repository_without_a_commit_is_refused(tmp_path: Path) -> None:
    tree = WorkTree.start(tmp_path / "empty")
    remedy = "the branch trunk has no commit yet, .* Make a commit first"
    with pytest.raises(GitError, match=remedy):
        LocalRepository.open(tree.path).resolve()


def test_a_branch_without_a_commit_among_others_is_refused(origin: WorkTree) -> None:
    origin.git("checkout", "--quiet", "--orphan", "fresh")
    remedy = "the branch fresh has no commit yet. Check out one that has"
    with pytest.raises(GitError, match=remedy):
        LocalRepository.open(origin.path).resolve()


@pytest.mark.parametrize("options", [("--depth=2",), ("--filter=blob:none",)])
def test_what_is_made_on_a_clone_without_its_whole_history_is_taken(
    origin: WorkTree, tmp_path: Path, options: tuple[str, ...]
) -> None:
    for number in range(3):
        origin.write("src/app.py", f"n = {number}\n".encode())
        origin.commit(f"Number {number}")
    origin.git("config", "uploadpack.allowFilter", "true")
    source = origin.path.as_uri()
    origin.git("clone", "--quiet", *options, source, str(tmp_path / "clone"))
    clone = WorkTree(tmp_path / "clone")
    origin.path.rename(tmp_path / "away")
    objects, base = clone.objects, clone.head
    sandbox = WorkTree.start(tmp_path / "sandbox")
    ends = "".join(f"{one}\n" for one in objects.find_ends(base))
    (sandbox.path / ".git/shallow").write_text(ends)
    (tmp_path / "base.bundle").write_bytes(objects.bundle(base))
    sandbox.git("bundle", "unbundle", str(tmp_path / "base.bundle"))
    sandbox.git("reset", "--quiet", "--hard", base)
    sandbox.write("src/app.py", b"n = 4\n")
    head = sandbox.commit("Work")
    assert objects.take(sandbox.bundle(f"{base}..HEAD"), base, "run1") == head
    assert objects.diff_stat(base, head).files == 1
    assert b"n = 4" in objects.format_patch(base, head)
    again = objects.bundle(head, base=base)
    (tmp_path / "again.bundle").write_bytes(again)
    clone.git("bundle", "verify", "--quiet", str(tmp_path / "again.bundle"))


def give_away(tree: WorkTree) -> None:
    for path in [tree.path, *tree.path.rglob("*")]:
        os.chown(path, 12345, 12345, follow_symlinks=False)


# Each of these is a way in which a repository names a program for git to run.
PROGRAMS = {
    "filter": ("filter.evil.clean", "* filter=evil"),
    "process filter": ("filter.evil.process", "* filter=evil"),
    "external diff": ("diff.evil.command", "* diff=evil"),
    "text conversion": ("diff.evil.textconv", "* diff=evil"),
    "monitor": ("core.fsmonitor", ""),
    "hook": ("core.hooksPath", ""),
}


@pytest.mark.parametrize("way", PROGRAMS)
def test_m5_nothing_of_somebody_elses_repository_is_run(
    origin: WorkTree, tmp_path: Path, way: str
) -> None:
    key, attributes = PROGRAMS[way]
    program = origin.path / "evil" / "post-index-change"
    program.parent.mkdir()
    program.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\ncat\n")
    program.chmod(0o755)
    value = program.parent if way == "hook" else program
    origin.git("config", key, str(value))
    (origin.path / ".git/info").mkdir(exist_ok=True)
    (origin.path / ".git/info/attributes").write_text(f"{attributes}\n")
    origin.write("src/app.py", b"half done\n")
    give_away(origin)
    with pytest.raises(GitError, match=r"(?s)another user.*safe\.directory"):
        LocalRepository.open(origin.path).has_uncommitted_changes()
    assert not (tmp_path / "ran").exists()


def test_m5_a_repository_that_its_user_calls_safe_is_worked_on(
    origin: WorkTree, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    give_away(origin)
    home = tmp_path / "home"
    home.mkdir()
    (home / ".gitconfig").write_text(f"[safe]\n\tdirectory = {origin.path}\n")
    monkeypatch.setenv("HOME", str(home))
    local = LocalRepository.open(origin.path)
    head = local.resolve()
    sandbox = WorkTree.unpack(tmp_path / "sandbox", local.objects.bundle(head))
    sandbox.commit("Work")
    taken = local.objects.take(sandbox.bundle(f"{head}..HEAD"), head, "run1")
    local.create_branch("bot/fix", taken)
    assert not local.has_uncommitted_changes()
    assert local.resolve("bot/fix") == sandbox.head


def test_hooks_of_the_repository_are_not_run(origin: WorkTree, tmp_path: Path) -> None:
    hook = origin.path / ".git/hooks/reference-transaction"
    hook.parent.mkdir(exist_ok=True)
    hook.write_text(f"#!/bin/sh\ntouch {tmp_path}/ran\n")
    hook.chmod(0o755)
    LocalRepository.open(origin.path).create_branch("bot/fix", origin.head)
    assert not (tmp_path / "ran").exists()


def test_patch_applies_elsewhere_to_the_same_tree(
    origin: WorkTree, tmp_path: Path
) -> None:
    base = origin.head
    elsewhere = WorkTree.unpack(tmp_path / "else", origin.objects.bundle(base))
    origin.git("mv", "src/app.py", "src/sums.py")
    origin.write("logo.png", bytes(range(256)))
    origin.write("notes.txt", b"caf\xe9\nlast line without an end")
    head = origin.commit("Fix")
    patch = LocalRepository.open(origin.path).objects.format_patch(base, head)
    elsewhere.git("am", "--quiet", stdin=patch)
    assert elsewhere.git("rev-parse", "HEAD^{tree}") == origin.objects.tree_of(head)
