"""A merge is told apart from what was done by hand, and submodules follow it alone."""

from datetime import UTC, datetime

import pytest

from patchwright.core.types.errors import GitError
from patchwright.integrations.git.commits import Signature
from tests.adapters.git.workshop import WorkTree

NAME = Signature("Bot", "bot@example.test")
NOW = datetime(2026, 1, 1, tzinfo=UTC)
FIRST, SECOND, THIRD = "1" * 40, "2" * 40, "3" * 40


def link(origin: WorkTree, path: str, sha: str) -> None:
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{sha},{path}")
    origin.git("commit", "--quiet", "--message", f"Submodule at {sha[:4]}")


def links(origin: WorkTree, tree: str) -> list[str]:
    listed = origin.git("ls-tree", "-r", tree).splitlines()
    return [line.split(" ", 2)[2] for line in listed if line.startswith("160000")]


def branch_off(origin: WorkTree) -> None:
    """From here on there are two sides: `ours` is checked out, `trunk` is theirs."""
    origin.git("switch", "--quiet", "--create", "ours")


def to_trunk(origin: WorkTree) -> str:
    """End our side as it is, and return it."""
    origin.git("commit", "--quiet", "--allow-empty", "--message", "Ours")
    ours = origin.head
    origin.git("switch", "--quiet", "trunk")
    return ours


def test_a_merge_commit_has_both_sides_as_parents(origin: WorkTree) -> None:
    base = origin.head
    branch_off(origin)
    ours = origin.commit("Ours")
    tree = origin.objects.tree_of(ours)
    made = origin.objects.commit(
        tree, ours, base, message="Join\n", author=NAME, committer=NAME, when=NOW
    )
    assert origin.git("rev-list", "--parents", "-1", made) == f"{made} {ours} {base}"


def test_what_comes_in_by_the_merge_is_not_by_hand(origin: WorkTree) -> None:
    branch_off(origin)
    origin.write("ours.txt", b"ours\n")
    origin.write("src/app.py", b"def add(a, b):\n    return b + a\n")
    origin.git("add", "--all")
    ours = to_trunk(origin)
    origin.write("theirs.txt", b"theirs\n")
    origin.write("src/app.py", b"def add(a, b):\n    return a + b\n")
    theirs = origin.commit("Theirs")
    origin.write("ours.txt", b"ours\n")
    origin.write("src/app.py", b"def add(*both):\n    return sum(both)\n")
    head = origin.commit("As merged by hand")
    merge = origin.objects.merge(ours, theirs)
    assert [change.path for change in merge.own_changes(head)] == ["src/app.py"]


@pytest.mark.parametrize(
    ("text", "is_found"),
    [
        (b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n", True),
        (b"<<<<<<<<<< HEAD\na\n==========\nb\n>>>>>>>>>> theirs\n", True),
        (b"Title\n=======\n", False),
        (b">>>>>>> a quoted line\n", False),
        (b"x = '<<<<<<< HEAD'\ny = '>>>>>>> theirs'\n", False),
    ],
)
def test_left_over_marks_of_a_conflict_are_found(
    origin: WorkTree, text: bytes, *, is_found: bool
) -> None:
    ours = origin.head
    origin.write("src/app.py", text)
    head = origin.commit()
    found = origin.objects.merge(ours, ours).find_conflict_markers(head)
    assert [change.path for change in found] == (["src/app.py"] if is_found else [])


def test_marks_that_a_side_has_always_had_are_its_own(origin: WorkTree) -> None:
    example = b"<<<<<<< HEAD\na\n=======\nb\n>>>>>>> theirs\n"
    origin.write("docs.md", example)
    ours = origin.commit()
    origin.write("docs.md", b"How it looks:\n" + example)
    head = origin.commit()
    assert origin.objects.merge(ours, ours).find_conflict_markers(head) == ()


def test_s28_a_submodule_follows_the_side_that_moved_it(origin: WorkTree) -> None:
    link(origin, "module", FIRST)
    link(origin, "gone", FIRST)
    branch_off(origin)
    ours = to_trunk(origin)
    link(origin, "module", SECOND)
    link(origin, "new", THIRD)
    origin.git("rm", "--quiet", "--cached", "gone")
    origin.git("commit", "--quiet", "--message", "Without it")
    joined = origin.objects.merge(ours, origin.head).merge_submodules(
        origin.objects.tree_of(ours)
    )
    assert links(origin, joined.tree) == [f"{SECOND}\tmodule", f"{THIRD}\tnew"]
    assert joined.conflicting == ()


def test_s28_a_submodule_that_both_sides_moved_stays_where_ours_is(
    origin: WorkTree,
) -> None:
    link(origin, "module", FIRST)
    branch_off(origin)
    link(origin, "module", SECOND)
    ours = to_trunk(origin)
    link(origin, "module", THIRD)
    tree = origin.objects.tree_of(ours)
    joined = origin.objects.merge(ours, origin.head).merge_submodules(tree)
    assert (joined.tree, joined.conflicting) == (tree, ("module",))


def test_s28_files_in_place_of_a_submodule_come_with_the_merge(
    origin: WorkTree,
) -> None:
    link(origin, "module", FIRST)
    branch_off(origin)
    ours = to_trunk(origin)
    origin.git("rm", "--quiet", "--cached", "module")
    origin.write("module/inside.txt", b"flat\n")
    theirs = origin.commit("Flat")
    joined = origin.objects.merge(ours, theirs).merge_submodules(
        origin.objects.tree_of(ours)
    )
    assert joined.tree == origin.objects.tree_of(theirs)


def test_sides_without_a_common_commit_are_not_merged(origin: WorkTree) -> None:
    ours = origin.head
    origin.git("switch", "--quiet", "--orphan", "other")
    other = origin.commit("Alone")
    tree = origin.objects.tree_of(ours)
    with pytest.raises(GitError, match="no commit in common"):
        origin.objects.merge(ours, other).merge_submodules(tree)
