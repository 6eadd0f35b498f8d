"""Commits travel as bundles, byte for byte, and only good ones are let in."""

from pathlib import Path

import pytest

from patchwright.core.types.errors import GitError, NotFoundError
from tests.adapters.git.workshop import WorkTree


@pytest.fixture
def sandbox(origin: WorkTree, tmp_path: Path) -> WorkTree:
    return WorkTree.unpack(tmp_path / "sandbox", origin.objects.bundle(origin.head))


def carry(sandbox: WorkTree, origin: WorkTree) -> str:
    bundle = sandbox.bundle(f"{origin.head}..HEAD")
    return origin.objects.take(bundle, origin.head, "run1")


def test_clone_of_a_bundle_has_the_history_and_the_branch(
    origin: WorkTree, tmp_path: Path
) -> None:
    first = origin.head
    second = origin.commit("Second")
    bundle = origin.objects.bundle(second, "feature/x")
    clone = WorkTree.unpack(tmp_path / "clone", bundle)
    assert clone.git("rev-parse", "--abbrev-ref", "HEAD") == "feature/x"
    assert clone.git("log", "--format=%H").split() == [second, first]


def test_making_a_bundle_leaves_no_ref_behind(origin: WorkTree) -> None:
    before = origin.git("for-each-ref")
    origin.objects.bundle(origin.head)
    assert origin.git("for-each-ref") == before


def test_s23_rename_binary_mode_symlink_and_odd_bytes_arrive_as_made(
    sandbox: WorkTree, origin: WorkTree
) -> None:
    sandbox.git("mv", "src/app.py", "src/sums.py")
    sandbox.write("logo.png", bytes(range(256)) * 40)
    sandbox.write("new.sh", b"#!/bin/sh\n")
    (sandbox.path / "new.sh").chmod(0o755)
    (sandbox.path / "link").symlink_to("src/sums.py")
    sandbox.write("dos.txt", b"one\r\nthree\r\nno final newline")
    sandbox.write("tab\tand \xe4 name", b"")
    sandbox.commit()
    head = carry(sandbox, origin)
    assert head == sandbox.head
    assert origin.objects.tree_of(head) == sandbox.git("rev-parse", "HEAD^{tree}")


def test_s24_blank_context_lines_survive(sandbox: WorkTree, origin: WorkTree) -> None:
    sandbox.write("src/app.py", b"\n\ndef add(a, b):\n\n    return a + b\n\n\n")
    sandbox.commit()
    head = carry(sandbox, origin)
    text = origin.objects.read_file(head, "src/app.py")
    assert text == b"\n\ndef add(a, b):\n\n    return a + b\n\n\n"


@pytest.mark.parametrize("end", [b"x = 1  \t", b"x = 1\n\n\n \n", b"x = 1\r", b"\x1a"])
def test_s25_what_ends_a_change_is_not_trimmed(
    end: bytes, sandbox: WorkTree, origin: WorkTree
) -> None:
    sandbox.write("zz.py", b"one\n" + end)
    sandbox.commit()
    head = carry(sandbox, origin)
    assert origin.objects.read_file(head, "zz.py") == b"one\n" + end


def test_s26_latin1_byte_stays(sandbox: WorkTree, origin: WorkTree) -> None:
    sandbox.write("notes.txt", b"caf\xe9\nanother second line\n")
    sandbox.commit()
    head = carry(sandbox, origin)
    text = origin.objects.read_file(head, "notes.txt")
    assert text == b"caf\xe9\nanother second line\n"


def test_s27_executable_bit_stays(sandbox: WorkTree, origin: WorkTree) -> None:
    sandbox.write("scripts/run.sh", b"#!/bin/sh\necho walk\n")
    sandbox.commit()
    head = carry(sandbox, origin)
    assert origin.git("ls-tree", head, "scripts/run.sh").startswith("100755 ")


def test_s28_submodule_pointer_is_carried_as_it_is(
    sandbox: WorkTree, origin: WorkTree
) -> None:
    pointer = "1" * 40
    sandbox.git("update-index", "--add", "--cacheinfo", f"160000,{pointer},lib")
    sandbox.git("commit", "--quiet", "--message", "Point to lib")
    head = carry(sandbox, origin)
    assert origin.git("ls-tree", head, "lib") == f"160000 commit {pointer}\tlib"


def test_taking_a_bundle_twice_is_harmless(sandbox: WorkTree, origin: WorkTree) -> None:
    sandbox.commit("Work")
    assert carry(sandbox, origin) == carry(sandbox, origin)
    kept = origin.git("for-each-ref", "--format=%(refname)", "refs/patchwright")
    assert kept == f"refs/patchwright/run/run1/{sandbox.head}"


def test_release_drops_the_refs_of_one_run_only(
    sandbox: WorkTree, origin: WorkTree
) -> None:
    sandbox.commit("Work")
    bundle = sandbox.bundle(f"{origin.head}..HEAD")
    origin.objects.take(bundle, origin.head, "run1")
    origin.objects.take(bundle, origin.head, "run10")
    origin.objects.release("run1")
    origin.objects.release("run1")
    kept = origin.git("for-each-ref", "--format=%(refname)", "refs/patchwright")
    assert kept == f"refs/patchwright/run/run10/{sandbox.head}"


def test_bundle_with_two_refs_is_refused(sandbox: WorkTree, origin: WorkTree) -> None:
    sandbox.commit("Work")
    sandbox.git("branch", "other")
    bundle = sandbox.bundle(f"{origin.head}..HEAD", "other")
    with pytest.raises(GitError, match="must offer one ref, and offers 2"):
        origin.objects.take(bundle, origin.head, "run1")


def test_bundle_with_unrelated_history_is_refused(
    origin: WorkTree, tmp_path: Path
) -> None:
    stranger = WorkTree.start(tmp_path / "stranger")
    stranger.commit("Elsewhere")
    with pytest.raises(GitError, match="do not build on"):
        origin.objects.take(stranger.bundle("HEAD"), origin.head, "run1")


@pytest.mark.parametrize("rubbish", [b"", b"no bundle", b"# v2 git bundle\n\n"])
def test_rubbish_is_no_bundle(origin: WorkTree, rubbish: bytes) -> None:
    with pytest.raises(GitError):
        origin.objects.take(rubbish, origin.head, "run1")


def test_truncated_bundle_is_refused(sandbox: WorkTree, origin: WorkTree) -> None:
    sandbox.write("big.bin", bytes(range(256)) * 400)
    sandbox.commit()
    bundle = sandbox.bundle(f"{origin.head}..HEAD")
    with pytest.raises(GitError):
        origin.objects.take(bundle[:-50], origin.head, "run1")


def test_bundle_with_a_git_folder_in_its_tree_is_refused(
    sandbox: WorkTree, origin: WorkTree
) -> None:
    blob = sandbox.git("hash-object", "-w", "--stdin", stdin=b"[core]\n")
    inner = sandbox.git("mktree", stdin=f"100644 blob {blob}\tconfig\n".encode())
    tree = sandbox.git("mktree", stdin=f"040000 tree {inner}\t.git\n".encode())
    evil = sandbox.git("commit-tree", tree, "-p", "HEAD", stdin=b"Evil\n")
    sandbox.git("update-ref", "HEAD", evil)
    with pytest.raises(GitError, match="not accepted"):
        carry(sandbox, origin)
    with pytest.raises(NotFoundError):
        origin.objects.resolve(evil)


def test_take_moves_no_branch_of_the_receiver(
    sandbox: WorkTree, origin: WorkTree
) -> None:
    before = origin.git("for-each-ref", "refs/heads")
    sandbox.git("checkout", "--quiet", "-b", "trunk")
    sandbox.commit("Work")
    origin.objects.take(sandbox.bundle("trunk"), origin.head, "run1")
    assert origin.git("for-each-ref", "refs/heads") == before
