"""What differs between commits is read from git, whatever the names are."""

from datetime import UTC, datetime

from patchwright.core.types.work import DiffStat
from patchwright.integrations.git.changes import ChangedPath, ChangeKind
from patchwright.integrations.git.commits import Signature
from tests.adapters.git.workshop import WorkTree

ANN = Signature("Ann", "ann@example.test")
BOT = Signature("bot", "bot@example.test")
NOON = datetime(2030, 1, 1, 12, tzinfo=UTC)


def changes_of(tree: WorkTree) -> tuple[ChangedPath, ...]:
    base = tree.head
    return tree.objects.changed_paths(base, tree.commit())


def test_no_change_is_an_empty_list(origin: WorkTree) -> None:
    assert origin.objects.changed_paths(origin.head, origin.head) == ()
    assert origin.objects.diff_stat(origin.head, origin.head) == DiffStat()


def test_s23_pure_rename_is_one_change(origin: WorkTree) -> None:
    origin.git("mv", "src/app.py", "src/tab\tname.py")
    assert changes_of(origin) == (
        ChangedPath(
            path="src/tab\tname.py",
            kind=ChangeKind.RENAMED,
            mode=0o100644,
            size=32,
            old_path="src/app.py",
            old_mode=0o100644,
        ),
    )


def test_sizes_modes_and_kinds_are_told(origin: WorkTree) -> None:
    (origin.path / "dos.txt").unlink()
    (origin.path / "scripts/run.sh").chmod(0o644)
    (origin.path / "link").symlink_to("notes.txt")
    origin.write("empty", b"")
    found = {c.path: (c.kind, c.mode, c.size) for c in changes_of(origin)}
    assert found == {
        "dos.txt": (ChangeKind.DELETED, 0, 0),
        "scripts/run.sh": (ChangeKind.MODIFIED, 0o100644, 19),
        "link": (ChangeKind.ADDED, 0o120000, 9),
        "empty": (ChangeKind.ADDED, 0o100644, 0),
    }


def test_name_that_is_no_utf8_can_be_shown_and_given_back(origin: WorkTree) -> None:
    base = origin.head
    (origin.path / "caf\udce9.py").write_bytes(b"x = 1\n")
    head = origin.commit()
    (change,) = origin.objects.changed_paths(base, head)
    assert change.shown == "caf\\xe9.py"
    grafted = origin.objects.replace_paths(base, head, [change.path])
    assert grafted == origin.objects.tree_of(head)


def test_s28_a_gitlink_has_no_size(origin: WorkTree) -> None:
    base = origin.head
    origin.git("update-index", "--add", "--cacheinfo", f"160000,{'1' * 40},lib")
    origin.git("commit", "--quiet", "--message", "Point")
    (change,) = origin.objects.changed_paths(base, origin.head)
    assert (change.path, change.mode, change.size) == ("lib", 0o160000, 0)


def test_lines_are_counted_through_renames_and_binaries(origin: WorkTree) -> None:
    base = origin.head
    origin.git("mv", "src/app.py", "src/sums.py")
    origin.write("logo.png", bytes(range(256)))
    origin.write("notes.txt", b"caf\xe9\nnew\nthird\n")
    head = origin.commit()
    assert origin.objects.diff_stat(base, head) == DiffStat(
        files=3, insertions=2, deletions=1
    )


def test_diff_keeps_its_trailing_blanks(origin: WorkTree) -> None:
    base = origin.head
    origin.write("src/app.py", b"def add(a, b):\n    return a - b\n \n\n")
    diff = origin.objects.diff(base, origin.commit())
    assert diff.endswith(b"+ \n+\n")


def test_new_tests_are_put_on_the_old_code(origin: WorkTree) -> None:
    origin.write("tests/test_old.py", b"old\n")
    base = origin.commit()
    origin.write("src/app.py", b"fixed\n")
    origin.write("tests/test_new.py", b"new\n")
    (origin.path / "tests/test_old.py").unlink()
    head = origin.commit()
    paths = ["tests/test_new.py", "tests/test_old.py"]
    before = origin.objects.with_tests_of(base, head, paths)
    changed = origin.objects.changed_paths(base, before)
    assert [(c.kind, c.path) for c in changed] == [
        (ChangeKind.ADDED, "tests/test_new.py"),
        (ChangeKind.DELETED, "tests/test_old.py"),
    ]
    assert origin.git("rev-parse", f"{before}^") == base
    assert origin.objects.with_tests_of(base, head, paths) == before


def test_folder_takes_the_place_of_a_file(origin: WorkTree) -> None:
    origin.write("tests", b"a file\n")
    base = origin.commit()
    (origin.path / "tests").unlink()
    origin.write("tests/test_new.py", b"new\n")
    head = origin.commit()
    tree = origin.objects.replace_paths(base, head, ["tests/test_new.py"])
    assert tree == origin.objects.tree_of(head)


def test_s29_generated_files_are_removed_from_the_change(origin: WorkTree) -> None:
    base = origin.head
    origin.write("__pycache__/app.pyc", b"\0")
    origin.write("src/app.py", b"fixed\n")
    head = origin.commit()
    tree = origin.objects.replace_paths(head, base, ["__pycache__/app.pyc"])
    clean = origin.objects.commit(
        tree, base, message="Fix\n", author=ANN, committer=BOT, when=NOON
    )
    changed = origin.objects.changed_paths(base, clean)
    assert [change.path for change in changed] == ["src/app.py"]


def test_commit_says_who_and_when(origin: WorkTree) -> None:
    made = origin.objects.commit(
        origin.objects.tree_of(origin.head),
        origin.head,
        message="Fix `$(id)` & more\n\nCloses #7\n",
        author=ANN,
        committer=BOT,
        when=NOON,
    )
    shown = origin.git("show", "--no-patch", "--format=%an|%ce|%aI|%B", made)
    assert shown == (
        "Ann|bot@example.test|2030-01-01T12:00:00+00:00|Fix `$(id)` & more\n\nCloses #7"
    )


def test_making_trees_leaves_the_work_tree_and_index_alone(origin: WorkTree) -> None:
    base = origin.head
    origin.write("src/app.py", b"fixed\n")
    head = origin.commit()
    origin.write("staged.txt", b"staged\n")
    origin.git("add", "staged.txt")
    origin.objects.with_tests_of(base, head, ["src/app.py"])
    assert origin.git("status", "--porcelain") == "A  staged.txt"


def test_read_file_knows_what_is_missing(origin: WorkTree) -> None:
    assert origin.objects.read_file(origin.head, "no/such/file") is None
    assert origin.objects.read_file(origin.head, "src") is None
    assert origin.objects.read_file(origin.head, "dos.txt") == b"one\r\ntwo\r\n"
