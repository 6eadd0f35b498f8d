"""A merge that the agent has resolved is looked over before it is committed."""

from patchwright.resolver.clean import check_merge
from tests.adapters.git.workshop import WorkTree

FIRST, SECOND, THIRD = "1" * 40, "2" * 40, "3" * 40


def link(origin: WorkTree, sha: str) -> None:
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{sha},module")
    origin.git("commit", "--quiet", "--message", f"Submodule at {sha[:4]}")


def test_what_is_resolved_is_the_only_work_in_a_merge(origin: WorkTree) -> None:
    base = origin.head
    origin.write("src/app.py", b"theirs\n")
    origin.write("theirs.txt", b"theirs\n")
    theirs = origin.commit()
    origin.git("switch", "--quiet", "--detach", base)
    origin.write("src/app.py", b"ours\n")
    ours = origin.commit()
    origin.write("src/app.py", b"both\n")
    origin.write("theirs.txt", b"theirs\n")
    head = origin.commit()
    merged = check_merge(origin.objects, ours, theirs, head)
    assert merged.tree == origin.objects.tree_of(head)
    assert [change.path for change in merged.changes] == ["src/app.py"]
    assert (merged.notes, merged.objection) == ((), "")


def test_conflict_markers_are_objected_to(origin: WorkTree) -> None:
    ours = origin.head
    text = b"<<<<<<< HEAD\nours\n=======\ntheirs\n>>>>>>> trunk\n"
    for name in ("a", "b"):
        origin.write(f"{name}.txt", text)
    merged = check_merge(origin.objects, ours, ours, origin.commit())
    assert merged.objection == (
        "Conflict markers were left in `a.txt`, `b.txt`, so the merge was not "
        "committed."
    )


def test_a_merge_that_leaves_out_the_other_side_is_objected_to(
    origin: WorkTree,
) -> None:
    base = origin.head
    origin.write("src/app.py", b"theirs\n")
    origin.git("mv", "notes.txt", "moved.txt")
    theirs = origin.commit()
    origin.git("switch", "--quiet", "--detach", base)
    origin.write("src/app.py", b"ours\n")
    ours = origin.commit()
    merged = check_merge(origin.objects, ours, theirs, ours)
    assert merged.objection == (
        "What the base branch changed in `moved.txt`, `notes.txt` was left out, so the "
        "merge was not committed."
    )


def test_s28_a_submodule_that_both_sides_moved_is_reported(origin: WorkTree) -> None:
    link(origin, FIRST)
    base = origin.head
    link(origin, SECOND)
    theirs = origin.head
    origin.git("switch", "--quiet", "--detach", base)
    link(origin, THIRD)
    merged = check_merge(origin.objects, origin.head, theirs, origin.head)
    assert merged.notes == (
        "Both sides moved 1 submodule, which stays as in this branch: `module`.",
    )
